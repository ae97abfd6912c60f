"""The committed files are what the cases and the interpreter give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.corpus import expectations
from tests.corpus.cases import CASES, FAMILIES, build


def committed(family: str) -> dict[str, NDArray[Any]]:
    with np.load(expectations.DATA / f"{family}.npz") as archive:
        return dict(archive)


def test_files_are_those_of_the_cases() -> None:
    names = {path.name for path in expectations.DATA.iterdir()}
    assert names == {f"{c}.tflite" for c in CASES} | {f"{f}.npz" for f in FAMILIES} | {"VERSIONS.json"}


@pytest.mark.parametrize("family", FAMILIES)
def test_models_are_current(family: str) -> None:
    stale = [
        case for case in FAMILIES[family] if build(case).data != (expectations.DATA / f"{case}.tflite").read_bytes()
    ]
    assert not stale


@pytest.mark.parametrize("family", FAMILIES)
def test_inputs_are_current(family: str) -> None:
    arrays = committed(family)
    for case in FAMILIES[family]:
        for number in range(expectations.SETS):
            for index, values in enumerate(expectations.inputs(case, build(case).inputs, number)):
                stored = arrays[expectations.key(case, "in", index, number)]
                assert stored.tobytes() == values.tobytes() and stored.shape == values.shape, case


@pytest.mark.parametrize("family", FAMILIES)
def test_outputs_are_those_of_the_interpreter(family: str) -> None:
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")
    generate = pytest.importorskip("tests.corpus.generate")
    arrays = committed(family)
    fresh: dict[str, NDArray[Any]] = {}
    for case in FAMILIES[family]:
        fresh.update(generate.expected(build(case)))
    assert arrays.keys() == fresh.keys()
    stale = [name for name in arrays if arrays[name].tobytes() != fresh[name].tobytes()]
    assert not stale


def test_8_bit_inputs_reach_both_ends() -> None:
    for family in FAMILIES:
        arrays = committed(family)
        for case in FAMILIES[family]:
            for index, tensor in enumerate(build(case).inputs):
                if tensor.dtype == "float32":
                    continue
                sets = [arrays[expectations.key(case, "in", index, n)] for n in range(expectations.SETS)]
                limits = np.iinfo(tensor.dtype)
                assert min(s.min() for s in sets) == limits.min and max(s.max() for s in sets) == limits.max, case
