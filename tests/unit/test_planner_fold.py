"""REPEATs are the same schedule, shorter."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tigris_codegen.plan.layout import Kind
from tigris_codegen.plan.plan import Record
from tigris_codegen.plan.verify import expand
from tigris_codegen.planner.emit import fold_repeats

RECORDS = st.builds(
    Record,
    kind=st.sampled_from([Kind.RUN, Kind.SHIFT, Kind.COPY]),
    target=st.integers(0, 2),
    row=st.integers(0, 3),
    rows=st.integers(1, 2),
    slot=st.tuples(st.integers(0, 1), st.just(0), st.just(0)),
)


@st.composite
def schedules(draw: st.DrawFn) -> list[Record]:
    """Bodies that come several times, their rows moving on by some step, with other records between them."""
    found: list[Record] = []
    for _ in range(draw(st.integers(0, 5))):
        body = draw(st.lists(RECORDS, min_size=1, max_size=4))
        steps = [draw(st.sampled_from([0, 0, 1, 2, 255, 256])) for _ in body]
        for number in range(draw(st.integers(1, 6))):
            found += [replace(r, row=r.row + number * step) for r, step in zip(body, steps, strict=True)]
    return found


@settings(derandomize=True, deadline=None, database=None, max_examples=300, suppress_health_check=list(HealthCheck))
@given(records=schedules(), longest=st.integers(1, 6))
@example(records=[Record(Kind.RUN, 0, row) for row in range(400)], longest=3)
@example(records=[Record(Kind.SHIFT, 0, 1, 2)] * 50, longest=3)
def test_folded_records_are_the_same_schedule(records: list[Record], longest: int) -> None:
    folded = fold_repeats(records, longest)
    assert len(folded) <= max(len(records), 1)
    assert [replace(r, row=row, advance=0) for r, row in expand(folded)] == records
    inside = 0
    for record in folded:
        assert record.kind is not Kind.REPEAT or inside == 0, "a REPEAT inside a REPEAT"
        inside = record.target if record.kind is Kind.REPEAT else max(inside - 1, 0)


def test_rows_that_follow_one_another_are_one_repeat() -> None:
    records = [Record(Kind.RUN, q, row, 1) for row in range(0, 60, 2) for q in range(2)]
    assert [(r.kind, r.target, r.row, r.advance) for r in fold_repeats(records)] == [
        (Kind.REPEAT, 2, 30, 0),
        (Kind.RUN, 0, 0, 2),
        (Kind.RUN, 1, 0, 2),
    ]
