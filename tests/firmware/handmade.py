"""Plans written by hand, for tests that need a plan and no compiler: they look every byte up in a table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tigris_codegen.codegen import TestVector
from tigris_codegen.plan.codec import encode
from tigris_codegen.plan.kernel_table import KERNEL_FORMS
from tigris_codegen.plan.layout import Backend, DTypeId, Kind, Space
from tigris_codegen.plan.plan import Operand, Operator, Plan, Port, Record

ROWS, ROW_BYTES = 8, 24
TENSOR_BYTES = ROWS * ROW_BYTES
TABLE = bytes((7 * value + 3) % 256 for value in range(256))
STATE_BYTES = 64
KERNEL_IDS = {form.name: number for number, form in KERNEL_FORMS.items()}


def lookup_plan(*, slow: bool = False) -> Plan:
    """One lookup in two bands; input and output side by side, or the input in the slow arena."""
    return Plan(
        backend=Backend.REFERENCE,
        model_hash=bytes(range(16)),
        fast_bytes=TENSOR_BYTES if slow else 2 * TENSOR_BYTES,
        slow_bytes=TENSOR_BYTES if slow else 0,
        state_bytes=0,
        scratch_bytes=0,
        tolerance=0.0,
        operators=(Operator(KERNEL_IDS["lookup_s8"], 0, {"elements": TENSOR_BYTES, "table": 0}, 1, (0,)),),
        operands=(
            Operand(Space.SLOW if slow else Space.FAST, 0, ROW_BYTES, ROWS, tensor=0),
            Operand(Space.FAST, 0 if slow else TENSOR_BYTES, ROW_BYTES, ROWS, tensor=1),
        ),
        records=(Record(Kind.RUN, row=0, rows=5), Record(Kind.RUN, row=5, rows=3)),
        inputs=(Port("image", 0, DTypeId.S8, (1, ROWS, ROW_BYTES), 1 / 255, -128),),
        outputs=(Port("scores", 1, DTypeId.S8, (1, ROWS, ROW_BYTES), 1 / 256, -128),),
        constants=TABLE,
    )


def lookup_vectors(count: int = 3) -> list[TestVector]:
    """Inputs that hold many different bytes, with what the table makes of them."""
    inputs = [bytes((31 * n + 5 * i) % 256 for i in range(TENSOR_BYTES)) for n in range(count)]
    return [TestVector((data,), (data.translate(TABLE),)) for data in inputs]


def lookup_bytes(*, slow: bool = False) -> bytes:
    return encode(lookup_plan(slow=slow))


def clamp_plan(tolerance: float) -> Plan:
    """A clamp of floats to 0 ... 6, with a tolerance as if a libm function were in it."""
    elements = ROWS * 4
    row_bytes = 16
    return replace(
        lookup_plan(),
        fast_bytes=2 * 4 * elements,
        tolerance=tolerance,
        operators=(
            Operator(KERNEL_IDS["clamp_f32"], 0, {"elements": elements, "act_min": 0.0, "act_max": 6.0}, 1, (0,)),
        ),
        operands=(
            Operand(Space.FAST, 0, row_bytes, ROWS, tensor=0),
            Operand(Space.FAST, 4 * elements, row_bytes, ROWS, tensor=1),
        ),
        inputs=(Port("x", 0, DTypeId.F32, (1, ROWS, 4), 0.0, 0),),
        outputs=(Port("y", 1, DTypeId.F32, (1, ROWS, 4), 0.0, 0),),
        constants=b"",
    )


def clamp_vector(off_by: float = 0.0) -> TestVector:
    """An input with the clamped values, each expected to be `off_by` more than it is."""
    values = np.linspace(-8, 8, ROWS * 4, dtype=np.float32)
    return TestVector((values.tobytes(),), ((np.clip(values, 0, 6) + np.float32(off_by)).tobytes(),))


def delay_plan() -> Plan:
    """The output is the input of the run before: two copies through the state, no kernel."""
    rows, row_bytes = 4, STATE_BYTES // 4
    return replace(
        lookup_plan(),
        fast_bytes=2 * STATE_BYTES,
        state_bytes=STATE_BYTES,
        operators=(),
        operands=(
            Operand(Space.FAST, 0, row_bytes, rows, tensor=0),
            Operand(Space.FAST, STATE_BYTES, row_bytes, rows, tensor=1),
            Operand(Space.STATE, 0, row_bytes, rows, tensor=2),
        ),
        records=(
            Record(Kind.COPY, target=1, channel=2, rows=rows),
            Record(Kind.COPY, target=2, channel=0, rows=rows),
        ),
        inputs=(Port("x", 0, lookup_plan().inputs[0].dtype, (rows, row_bytes), 0.0, 0),),
        outputs=(Port("y", 1, lookup_plan().inputs[0].dtype, (rows, row_bytes), 0.0, 0),),
        constants=b"",
    )
