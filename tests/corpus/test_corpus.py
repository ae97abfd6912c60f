"""Every case, compiled for a sweep of memory budgets, gives the interpreter's bytes from memory full of garbage."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.corpus import expectations
from tests.corpus.cases import CASES, FAMILIES, build
from tests.support import assert_equal
from tigris_codegen.errors import FitError
from tigris_codegen.ops import KERNELS, SPECS
from tigris_codegen.pipeline import Compiled, Model, compile_model, smallest_pool
from tigris_codegen.plan.codec import decode
from tigris_codegen.plan.verify import verify
from tigris_codegen.session import Session

BUDGETS = ("roomy", "two thirds", "one third", "smallest")
POISONS = (0xAA, 0x55)
#: Kernels that call the C library's mathematical functions: only with them may a plan state a tolerance.
INEXACT = {"softmax_f32", "logistic_f32"}
FAMILY_OF = {case: family for family, cases in FAMILIES.items() for case in cases}


@cache
def expected(family: str) -> dict[str, NDArray[np.generic]]:
    with np.load(expectations.DATA / f"{family}.npz") as archive:
        return dict(archive)


def model(case: str) -> bytes:
    return (expectations.DATA / f"{case}.tflite").read_bytes()


@cache
def made(case: str) -> Model:
    return Model(model(case), case)


@cache
def roomy(case: str) -> Compiled:
    return made(case).roomy()


@cache
def smallest(case: str) -> Compiled:
    return made(case).smallest()


def between(case: str, third: int) -> int:
    """Bytes of a pool `third` thirds of the way from the smallest to the roomy one."""
    least, most = smallest(case).plan.ram_bytes, roomy(case).plan.ram_bytes
    return least + max(most - least, 0) * third // 3


def compiled_for(case: str, budget: str) -> Compiled:
    if budget == "roomy":
        return roomy(case)
    if budget == "smallest":
        return smallest(case)
    pool = between(case, 2 if budget == "two thirds" else 1)
    compiled = made(case).within(pool)
    assert compiled.plan.ram_bytes <= pool
    return compiled


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("case", CASES)
def test_case(case: str, budget: str) -> None:
    compiled = compiled_for(case, budget)
    plan = decode(compiled.plan_bytes)
    assert plan == compiled.plan
    assert plan.slow_bytes == 0
    assert plan.tolerance == 0 or INEXACT & set(plan.kernels)
    verify(plan)
    arrays = expected(FAMILY_OF[case])
    with Session(compiled.plan_bytes) as session:
        for number in range(expectations.SETS):
            inputs = {name: arrays[expectations.key(case, "in", i, number)] for i, name in enumerate(session.inputs)}
            for poison in POISONS:
                outputs = session.run(inputs, poison=poison)
                assert list(outputs) == list(session.outputs)
                for i, name in enumerate(session.outputs):
                    wanted = arrays[expectations.key(case, "out", i, number)]
                    assert_equal(outputs[name], wanted, plan.tolerance)


@pytest.mark.parametrize("case", CASES)
def test_smallest_is_the_smallest(case: str) -> None:
    least = smallest(case).plan.ram_bytes
    assert least <= roomy(case).plan.ram_bytes
    with pytest.raises(FitError) as caught:
        made(case).within(least - 1)
    assert (caught.value.need, caught.value.have) == (least, least - 1)


@pytest.mark.parametrize("case", FAMILIES["chains"])
def test_a_plan_does_not_depend_on_what_was_planned_before(case: str) -> None:
    assert smallest_pool(model(case), case) == smallest(case).plan.ram_bytes
    pool = between(case, 1)
    assert compile_model(model(case), case, pool).plan_bytes == made(case).within(pool).plan_bytes
    assert compile_model(model(case), case).plan_bytes == roomy(case).plan_bytes


@pytest.mark.parametrize("case", CASES)
def test_interface_is_that_of_the_model(case: str) -> None:
    built = build(case)
    with Session(roomy(case).plan_bytes) as session:
        for tensors, ports in ((built.inputs, session.inputs), (built.outputs, session.outputs)):
            assert [t.name for t in tensors] == list(ports)
            for tensor, port in zip(tensors, ports.values(), strict=True):
                assert (port.shape, port.dtype) == (tensor.shape, tensor.dtype)
                scale, zero_point = (
                    (0.0, 0)
                    if tensor.quantization is None
                    else (tensor.quantization.scale, tensor.quantization.zero_point)
                )
                assert (port.scale, port.zero_point) == (scale, zero_point)


def test_every_kernel_has_a_case() -> None:
    used = {name for case in CASES for name in roomy(case).plan.kernels}
    assert used == {kernel.name for kernel in KERNELS}


def test_every_operator_has_a_case() -> None:
    assert frozenset().union(*(build(case).kinds for case in CASES)) == SPECS.keys()
