"""Good plans, broken in every way a planner could break them: noticed, or without effect on a single byte."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.format.plans import assert_gives_the_bytes, compiled
from tigris_codegen.plan.codec import encode
from tigris_codegen.plan.layout import Flag, Kind, Space
from tigris_codegen.plan.plan import Operand, Plan, Record
from tigris_codegen.plan.verify import PlanFault, verify
from tigris_codegen.session import load_status

PLANS = (
    ("chain_residual_s8", "smallest"),
    ("chain_squeeze_and_excite_s8", "smallest"),
    ("chain_conv_global_mean_s8", "smallest"),
    ("chain_two_branches_concatenated_s8", "smallest"),
    ("chain_conv_fully_connected_flattening_f32", "smallest"),
    ("chain_inverted_residual_s8", "400+4096"),
    ("chain_batch_chain_s8", "smallest"),
)
#: Ways that sometimes change nothing that is computed, and why.
HARMLESS = {
    "offset": "it is now in memory that nothing else uses at that time",
    "space": "it is now in memory that nothing else uses at that time",
    "window": "a window's rows bound accesses, they do not move them: one row more may fit behind it",
    "row_bytes": "working memory of one row, with room behind it",
    "twice": "a COPY of the same rows to the same place",
    "swapped": "neighbours that do not depend on each other",
}
Broken = tuple[str, Plan]


def broken_operands(plan: Plan) -> Iterator[Broken]:
    """What constants hold has no labels, and a wrong one is no fault of a schedule: they are left alone."""

    def changed(index: int, operand: Operand) -> Plan:
        operands = list(plan.operands)
        operands[index] = operand
        return replace(plan, operands=tuple(operands))

    for index, operand in enumerate(plan.operands):
        if operand.space is Space.CONSTANTS:
            continue
        for offset in (operand.offset - 16, operand.offset + 16):
            if offset >= 0:
                yield "offset", changed(index, replace(operand, offset=offset))
        if operand.window:
            for window in (operand.window - 1, operand.window + 1):
                yield "window", changed(index, replace(operand, window=window))
        yield "row_bytes", changed(index, replace(operand, row_bytes=operand.row_bytes + 1))
        if operand.tensor is not None:
            yield "tensor", changed(index, replace(operand, tensor=0 if operand.tensor else 1))
            space = Space.SLOW if operand.space is Space.FAST else Space.FAST
            yield "space", changed(index, replace(operand, space=space))


def windowed(plan: Plan, record: Record) -> list[int]:
    """The slots of a record that mean something: those of operands in windows."""
    if record.kind is Kind.RUN:
        op = plan.operators[record.target]
        operands = (op.output, *op.inputs[:2])
    else:
        operands = (record.target, record.channel) if record.kind is Kind.COPY else ()
    return [place for place, operand in enumerate(operands) if plan.operands[operand].window]


def broken_records(plan: Plan) -> Iterator[Broken]:
    def changed(at: int, *records: Record) -> Plan:
        return replace(plan, records=(*plan.records[:at], *records, *plan.records[at + 1 :]))

    for at, record in enumerate(plan.records):
        if record.kind is Kind.REPEAT:
            for passes in (record.row - 1, record.row + 1):
                yield "passes", changed(at, replace(record, row=passes))
            for body in (record.target - 1, record.target + 1):
                yield "body", changed(at, replace(record, target=body))
            continue
        for name in ("row", "rows", "advance"):
            for value in (getattr(record, name) - 1, getattr(record, name) + 1):
                if value >= 0 and (name != "advance" or record.advance):
                    yield name, changed(at, replace(record, **{name: value}))
        for place in windowed(plan, record):
            for value in (record.slot[place] - 1, record.slot[place] + 1):
                if value >= 0:
                    slot = (*record.slot[:place], value, *record.slot[place + 1 :])
                    yield "slot", changed(at, replace(record, slot=(slot[0], slot[1], slot[2])))
        if record.kind is Kind.RUN:
            for flag in Flag:
                yield flag.name or "flag", changed(at, replace(record, flags=record.flags ^ flag))
        yield "dropped", changed(at)
        yield "twice", changed(at, record, record)
        after = plan.records[at + 1] if at + 1 < len(plan.records) else record
        if after != record and after.kind is not Kind.REPEAT:
            yield "swapped", replace(plan, records=(*plan.records[:at], after, record, *plan.records[at + 2 :]))


def broken_operators(plan: Plan) -> Iterator[Broken]:
    for index, op in enumerate(plan.operators):
        others = [
            replace(op, output=(op.output + 1) % len(plan.operands)),
            replace(op, inputs=()),
            *([replace(op, accumulator=None)] if op.accumulator is not None else []),
        ]
        for other in others:
            yield "operator", replace(plan, operators=(*plan.operators[:index], other, *plan.operators[index + 1 :]))


def noticed_by(plan: Plan) -> str | None:
    """Who refuses a plan."""
    try:
        data = encode(plan)
    except Exception:
        return "encoder"
    try:
        verify(plan)
    except PlanFault:
        return "verifier"
    return None if load_status(data) is None else "loader"


@pytest.mark.parametrize(("case", "budget"), PLANS)
def test_broken_plans_are_noticed(case: str, budget: str) -> None:
    plan = compiled(case, budget).plan
    noticed: Counter[str | None] = Counter()
    for way, broken in (*broken_operands(plan), *broken_records(plan), *broken_operators(plan)):
        if broken == plan:
            continue
        who = noticed_by(broken)
        noticed[who] += 1
        if who is None:
            assert way in HARMLESS, way
            assert_gives_the_bytes(case, encode(broken), plan.tolerance)
    assert noticed["verifier"] > 50
    assert noticed[None] < 0.08 * noticed.total(), noticed


def test_the_loader_alone_keeps_broken_plans_inside_their_memory() -> None:
    """It does not prove the bytes, which is the verifier's part, but what it lets pass never leaves the arenas."""
    plan = compiled(*PLANS[0]).plan
    statuses = Counter(load_status(encode(b)) for _, b in broken_records(plan) if all(r.row >= 0 for r in b.records))
    assert statuses[None] > 20
    assert statuses["a record would leave its memory"] > 20
