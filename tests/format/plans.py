"""Plans of corpus cases and of the digits example, with the inputs and the interpreter's outputs of the cases."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.corpus import expectations
from tests.corpus.cases import FAMILIES
from tests.support import REPOSITORY, assert_equal
from tigris_codegen.pipeline import Compiled, Model
from tigris_codegen.session import Session

#: Few small plans that together have what schedules have: windows and shifts, REPEATs, parts, broadcasts, views,
#: concatenation, constants as operands, float and mixed kernels, and copies between two pools.
SMALL = (
    ("chain_residual_s8", "smallest"),
    ("chain_squeeze_and_excite_s8", "smallest"),
    ("chain_conv_global_mean_s8", "smallest"),
    ("chain_two_branches_concatenated_s8", "smallest"),
    ("chain_pad_beyond_kernel_batch2_s8", "smallest"),
    ("chain_conv_fully_connected_flattening_f32", "smallest"),
    ("chain_float_classifier", "roomy"),
    ("concatenation_constant_s8", "roomy"),
    ("mean_height_s8", "smallest"),
    ("chain_inverted_residual_s8", "400+4096"),
)
DIGITS = REPOSITORY / "examples" / "digits" / "digits.tflite"

_FAMILY_OF = {case: family for family, cases in FAMILIES.items() for case in cases}


@cache
def model(case: str) -> Model:
    """The model of a corpus case, or `digits`."""
    path = DIGITS if case == "digits" else expectations.DATA / f"{case}.tflite"
    return Model(path.read_bytes(), case)


@cache
def compiled(case: str, budget: str) -> Compiled:
    """At `roomy`, `smallest`, or in pools of so many bytes, as in `400` or `400+4096`."""
    if budget in ("roomy", "smallest"):
        made: Compiled = getattr(model(case), budget)()
        return made
    return model(case).within(*map(int, budget.split("+")))


@cache
def _arrays(family: str) -> dict[str, NDArray[Any]]:
    with np.load(expectations.DATA / f"{family}.npz") as archive:
        return dict(archive)


def expected(case: str, side: str, index: int, number: int = 0) -> NDArray[Any]:
    """Array of a corpus case: side `in` or `out`, of input set `number`."""
    return _arrays(_FAMILY_OF[case])[expectations.key(case, side, index, number)]


def assert_gives_the_bytes(case: str, plan: bytes, tolerance: float) -> None:
    """Runs a case's plan on both input sets, from memory full of garbage, against the interpreter's outputs."""
    with Session(plan) as session:
        for number in range(expectations.SETS):
            inputs = {name: expected(case, "in", i, number) for i, name in enumerate(session.inputs)}
            outputs = session.run(inputs, poison=0xAA)
            for i, name in enumerate(session.outputs):
                assert_equal(outputs[name], expected(case, "out", i, number), tolerance)
