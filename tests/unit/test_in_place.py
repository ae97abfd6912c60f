"""An output over its own input: where that is safe, the verifier and the loader allow it, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from tests.corpus import layers
from tests.corpus.writer import ModelWriter, Tensor
from tests.unit.test_planner_random import outputs_of
from tigris_codegen.pipeline import Compiled, Model
from tigris_codegen.plan.codec import encode
from tigris_codegen.plan.plan import Plan
from tigris_codegen.plan.verify import PlanFault, verify
from tigris_codegen.session import load_status

Layer = Callable[[ModelWriter, Tensor], Tensor]
LAYERS: dict[str, tuple[str, Layer]] = {
    "quantize": ("float32", lambda m, x: layers.quantize(m, x)),
    "dequantize": ("int8", layers.dequantize),
    "relu": ("float32", layers.relu),
    "logistic": ("int8", layers.logistic),
    "add": ("int8", lambda m, x: layers.binary(m, x, layers.constant(m, [1, 4, 3, 5], "int8"), "ADD")),
}


def planned(name: str, shape: tuple[int, ...] = (1, 4, 3, 5)) -> Compiled:
    dtype, layer = LAYERS[name]
    m = ModelWriter(name)
    x = layers.activation_input(m, list(shape), dtype)
    return Model(m.finish([x], [layer(m, x)]), name).roomy()


def moved(plan: Plan, output: int, source: int) -> Plan:
    """The plan with its operator's output and first input at these addresses."""
    (op,) = plan.operators
    to = {plan.operands[op.output].tensor: output, plan.operands[op.inputs[0]].tensor: source}
    operands = tuple(replace(o, offset=to[o.tensor]) if o.tensor in to else o for o in plan.operands)
    top = max(o.offset + o.bytes for o in operands if o.tensor in to)
    return replace(plan, operands=operands, fast_bytes=-(-top // 16) * 16)


def is_safe(plan: Plan) -> bool:
    """By the definition: element for element, no write meets an input element that is still to be read."""
    (op,) = plan.operators
    output, source = plan.operands[op.output], plan.operands[op.inputs[0]]
    elements = int(np.prod(plan.outputs[0].shape))
    wide, narrow = output.bytes // elements, source.bytes // elements
    for element in range(elements - 1):
        written = output.offset + wide * element, output.offset + wide * (element + 1)
        unread = source.offset + narrow * (element + 1), source.offset + narrow * elements
        if written[0] < unread[1] and unread[0] < written[1]:
            return False
    return True


@pytest.mark.parametrize("name", LAYERS)
def test_one_tensor_of_memory_is_enough_for_both(name: str) -> None:
    plan = planned(name).plan
    (op,) = plan.operators
    larger = max(plan.operands[o].bytes for o in (op.output, op.inputs[0]))
    assert larger <= plan.fast_bytes < larger + 16


@pytest.mark.parametrize("name", LAYERS)
def test_verifier_and_loader_allow_exactly_what_is_safe(name: str) -> None:
    made = planned(name)
    verdicts = []
    for output in range(0, 336, 16):
        for source in range(0, 336, 16):
            plan = moved(made.plan, output, source)
            try:
                verify(plan)
                proved = True
            except PlanFault as fault:
                assert "overtakes what it reads" in str(fault)
                proved = False
            status = load_status(encode(plan))
            assert status in (None, "memory overlaps that must be apart")
            assert proved == (status is None) == is_safe(plan), (output, source)
            verdicts.append(proved)
    assert set(verdicts) == {True, False}


@pytest.mark.parametrize("name", LAYERS)
def test_every_allowed_overlap_gives_the_same_bytes(name: str) -> None:
    made = planned(name)
    (op,) = made.plan.operators
    sizes = [made.plan.operands[o].bytes for o in (op.output, op.inputs[0])]
    wanted = outputs_of(replace(made, plan_bytes=encode(moved(made.plan, 0, 1024))), 7, 0x00)
    for source in range(0, max(sizes), 16):
        plan = moved(made.plan, 0, source)
        if is_safe(plan):
            assert outputs_of(replace(made, plan=plan, plan_bytes=encode(plan)), 7, 0xAA) == wanted


def test_a_broadcast_operand_is_never_overwritten() -> None:
    m = ModelWriter("gate")
    x = layers.activation_input(m, [1, 1, 1, 5], "int8")
    y = layers.binary(m, x, layers.constant(m, [1, 4, 3, 5], "int8"), "ADD")
    plan = Model(m.finish([x], [y]), "gate").roomy().plan
    assert plan.fast_bytes > 60
    with pytest.raises(PlanFault):
        verify(moved(plan, 0, 0))
    assert load_status(encode(moved(plan, 0, 0))) == "memory overlaps that must be apart"


def test_inputs_that_the_caller_keeps_are_not_overwritten() -> None:
    m = ModelWriter("kept")
    x = layers.activation_input(m, [1, 4, 3, 5], "int8")
    data = m.finish([x], [layers.logistic(m, x)])
    assert Model(data, "kept").smallest().plan.fast_bytes == 60
    assert Model(data, "kept", keep_inputs=True).smallest().plan.fast_bytes == 64 + 60


def test_a_tensor_that_is_read_again_is_not_overwritten() -> None:
    m = ModelWriter("again")
    x = layers.activation_input(m, [1, 4, 3, 5], "int8")
    y = layers.logistic(m, x)
    made = Model(m.finish([x], [layers.binary(m, x, y, "ADD")]), "again").roomy()
    assert made.plan.fast_bytes == 64 + 60
