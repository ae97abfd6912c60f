"""Hostile plans that the loader once accepted, or that it took minutes to refuse."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from tests.format.plans import compiled
from tigris_codegen.plan.codec import encode
from tigris_codegen.plan.layout import MAX_STEPS, Flag, Kind, Space
from tigris_codegen.plan.plan import Operand, Plan, Record
from tigris_codegen.plan.verify import PlanFault, verify
from tigris_codegen.session import load_status

OVERLAPS = "memory overlaps that must be apart"
LEAVES = "a record would leave its memory"


def with_operand(plan: Plan, index: int, operand: Operand) -> Plan:
    operands = list(plan.operands)
    operands[index] = operand
    return replace(plan, operands=tuple(operands))


def in_parts() -> tuple[Plan, int]:
    """A plan of which an operator runs in parts, and that operator."""
    plan = compiled("chain_conv_global_mean_s8", "smallest").plan
    return plan, next(r.target for r in plan.records if r.flags & Flag.FIRST)


def assert_refused(plan: Plan, status: str) -> None:
    assert load_status(encode(plan)) == status
    with pytest.raises(PlanFault):
        verify(plan)


@pytest.mark.parametrize("case", ["softmax_batch5_s8", "concatenation_channels_s8", "pad_channels_s8"])
@pytest.mark.parametrize("shift", [0, 16])
def test_output_over_input(case: str, shift: int) -> None:
    """Kernels rely on it: SOFTMAX indexes its table by a difference that is negative once its input has changed."""
    plan = compiled(case, "roomy").plan
    op = plan.operators[0]
    for index, offset in ((op.output, shift), (op.inputs[0], 0)):
        plan = with_operand(plan, index, replace(plan.operands[index], offset=offset))
    plan = replace(plan, fast_bytes=1 << 12)
    assert_refused(plan, OVERLAPS)


def test_accumulator_over_the_input_of_the_first_part() -> None:
    """The rows are dead afterwards, so that only the record itself can notice."""
    plan, target = in_parts()
    op = plan.operators[target]
    assert op.accumulator is not None
    source = plan.operands[op.inputs[0]]
    assert_refused(
        with_operand(plan, op.accumulator, replace(plan.operands[op.accumulator], offset=source.offset)), OVERLAPS
    )


def test_accumulator_over_the_output() -> None:
    plan, target = in_parts()
    op = plan.operators[target]
    assert op.accumulator is not None
    output = plan.operands[op.output]
    assert_refused(
        with_operand(plan, op.accumulator, replace(plan.operands[op.accumulator], offset=output.offset)), OVERLAPS
    )


def test_working_memory_that_names_more_rows_than_it_holds() -> None:
    plan, target = in_parts()
    accumulator = plan.operators[target].accumulator
    assert accumulator is not None
    operand = plan.operands[accumulator]
    hostile = replace(operand, row_bytes=4, rows=operand.row_bytes, window=1)
    assert_refused(with_operand(plan, accumulator, hostile), LEAVES)


def test_scratch_over_the_input() -> None:
    """No kernel of the corpus asks for scratch memory; the verifier must not need one that does."""
    plan = compiled("conv_2d_3x3_same_s8", "roomy").plan
    source = plan.operands[plan.operators[0].inputs[0]]
    operators = (replace(plan.operators[0], scratch=len(plan.operands)), *plan.operators[1:])
    scratch = Operand(Space.FAST, source.offset, 16, 1)
    with pytest.raises(PlanFault, match="overlaps"):
        verify(replace(plan, operators=operators, operands=(*plan.operands, scratch)))


def test_shift_advances_like_every_record() -> None:
    """Loader, executor and verifier once disagreed on SHIFTs inside a REPEAT."""
    plan = compiled("chain_residual_s8", "smallest").plan
    shift = replace(next(r for r in plan.records if r.kind is Kind.SHIFT), advance=1)
    passes = plan.operands[shift.target].window + 1
    assert_refused(replace(plan, records=(Record(Kind.REPEAT, 1, passes), shift)), LEAVES)


@pytest.mark.parametrize(("body", "passes"), [(40000, 65535), (65535, 65535), (17, 65535)])
def test_repeats_have_a_bound(body: int, passes: int) -> None:
    """65535 passes over 65535 records would take the loader minutes, and inference for ever."""
    plan = compiled("conv_2d_3x3_same_s8", "roomy").plan
    tall = Operand(Space.FAST, 0, 1, 65535, 0, 7)
    copy = Record(Kind.COPY, len(plan.operands), 0, 1, channel=len(plan.operands), advance=1)
    records = (Record(Kind.REPEAT, body, passes), copy, *[plan.records[0]] * (body - 1))
    hostile = replace(plan, records=records, operands=(*plan.operands, tall), fast_bytes=1 << 16)
    data = encode(hostile)
    began = time.monotonic()
    assert load_status(data) == "the schedule has a record of unknown form"
    assert time.monotonic() - began < 5
    with pytest.raises(PlanFault, match=f"more than {MAX_STEPS}"):
        verify(replace(hostile, operands=plan.operands))


@pytest.mark.parametrize(("body", "passes"), [(0, 2), (2, 0), (3, 2)])
def test_repeat_without_passes_or_body(body: int, passes: int) -> None:
    plan = compiled("conv_2d_3x3_same_s8", "roomy").plan
    records = (*plan.records, Record(Kind.REPEAT, body, passes), *[replace(plan.records[0], advance=1)] * 2)
    assert_refused(replace(plan, records=records), "the schedule has a record of unknown form")
