"""From a cut of the works into sections to steps: which work computes which rows, in which order.

A section is a run of works in execution order, computed together: its last work drives, and every other work computes
rows just when they are asked for. Nothing is computed twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tigris_codegen.plan.layout import Flag, Space
from tigris_codegen.plan.plan import NO_FLAGS
from tigris_codegen.planner.problem import Problem

#: A tensor's rows [first, stop).
Range = tuple[int, int, int]

WHOLE = 0


@dataclass(frozen=True)
class Section:
    """Works [begin, end) computed together in bands of at most `height` rows; WHOLE = every work in one step."""

    begin: int
    end: int
    height: int


@dataclass(frozen=True)
class Step:
    """One kernel call. `first`, `count`: rows of the work's output in the kernel's own rows; with PART of its input 0.

    `reads` and `write` are ranges of stored rows.
    """

    work: int
    first: int
    count: int
    flags: Flag
    reads: tuple[Range, ...]
    write: Range


def section_steps(problem: Problem, section: Section) -> list[Step]:
    """The steps of one section, tensors from outside it being complete."""
    inside = range(section.begin, section.end)
    done = {w: problem.output_rows[w][0] for w in inside}
    steps: list[Step] = []

    def ensure_rows(tensor: int, stop: int) -> None:
        for w in problem.producers.get(tensor, ()):
            if w in done and done[w] < stop:
                ensure(w, stop)

    def ensure(w: int, stop: int) -> None:
        first, last = problem.output_rows[w]
        stop = min(stop, last)
        if section.height and problem.in_parts[w]:
            if done[w] < stop:
                run_in_parts(w, first, last)
            return
        if not section.height or not problem.tileable[w]:
            stop = last if done[w] < stop else stop
        while done[w] < stop:
            upto = _band_end(problem, section, w, done[w], stop)
            reads = problem.reads(w, done[w], upto)
            for tensor, _, end in reads:
                ensure_rows(tensor, end)
            work = problem.works[w]
            call = (done[w] - problem.rows_ahead[w], upto - done[w])
            if not problem.tileable[w]:
                call = (work.first_row, work.row_count)
            steps.append(Step(w, *call, NO_FLAGS, reads, (work.output.tensor, done[w], upto)))
            done[w] = upto

    def run_in_parts(w: int, first: int, last: int) -> None:
        work = problem.works[w]
        tensor, rows = work.inputs[0].tensor, work.inputs[0].rows.count
        for begin in range(0, rows, section.height):
            end = min(begin + section.height, rows)
            ensure_rows(tensor, end)
            flags = Flag.PART | (Flag.FIRST if begin == 0 else NO_FLAGS) | (Flag.LAST if end == rows else NO_FLAGS)
            # Only the last part writes; until then the sums are in the accumulator.
            write = (work.output.tensor, first, last) if end == rows else (work.output.tensor, first, first)
            steps.append(Step(w, begin, end - begin, flags, ((tensor, begin, end),), write))
        done[w] = last

    for w in (section.end - 1, *inside):
        ensure(w, problem.output_rows[w][1])
    return steps


def _band_end(problem: Problem, section: Section, w: int, first: int, stop: int) -> int:
    if not section.height or not problem.tileable[w]:
        return stop
    per_image, ahead = problem.works[w].output.rows.per_image, problem.rows_ahead[w]
    return min(first + section.height, stop, ((first - ahead) // per_image + 1) * per_image + ahead)


@dataclass(frozen=True)
class Lifetimes:
    """When each stored row is first written and last read, in ticks (one per step); -1 = never."""

    ticks: int
    written: dict[int, NDArray[np.int64]]
    read: dict[int, NDArray[np.int64]]


def lifetimes(problem: Problem, steps: Sequence[Step]) -> Lifetimes:
    """Lifetimes of the rows of all tensors that the steps touch, before inputs and outputs are accounted for."""
    written: dict[int, NDArray[np.int64]] = {}
    read: dict[int, NDArray[np.int64]] = {}
    for tick, step in enumerate(steps):
        for tensor, first, stop in step.reads:
            if tensor not in read:
                read[tensor] = np.full(problem.stored[tensor].rows, -1, np.int64)
            read[tensor][first:stop] = tick
        tensor, first, stop = step.write
        if tensor not in written:
            written[tensor] = np.full(problem.stored[tensor].rows, -1, np.int64)
        rows = written[tensor][first:stop]
        if len(problem.producers[tensor]) == 1:
            rows[:] = tick
            continue
        again = rows >= 0
        if again.any():
            # Another producer writes its part of these rows: until then they are in use, read or not.
            read.setdefault(tensor, np.full(problem.stored[tensor].rows, -1, np.int64))[first:stop][again] = tick
        rows[~again] = tick
    return Lifetimes(len(steps), written, read)


def work_spans(steps: Sequence[Step]) -> dict[int, tuple[int, int]]:
    """Work -> first and last tick."""
    spans: dict[int, tuple[int, int]] = {}
    for tick, step in enumerate(steps):
        spans[step.work] = (spans.get(step.work, (tick, tick))[0], tick)
    return spans


def section_peak(problem: Problem, section: Section, steps: list[Step]) -> int:
    """Largest sum of live fast bytes during a section, of what it touches: rows, accumulators, scratch."""
    lives = lifetimes(problem, steps)
    change = np.zeros(lives.ticks + 2, np.int64)
    touched = lives.written.keys() | lives.read.keys()
    for tensor in touched:
        stored = problem.stored[tensor]
        if stored.space is not Space.FAST:
            continue
        born = problem.row_born[tensor]
        first = np.where(born < section.begin, 0, lives.written.get(tensor, lives.ticks))
        first[(born >= section.end) | (first < 0)] = lives.ticks
        if problem.last_use[tensor] >= section.end:
            last = np.full(stored.rows, lives.ticks, np.int64)
        else:
            last = np.maximum(first, lives.read.get(tensor, first))
        np.add.at(change, first, stored.row_bytes)
        np.subtract.at(change, last + 1, stored.row_bytes)
    for w, (begin, end) in work_spans(steps).items():
        work = problem.works[w]
        parts = work.accumulator_bytes > 0 and any(s.flags for s in steps[begin : end + 1] if s.work == w)
        extra = work.scratch_bytes + (work.accumulator_bytes if parts else 0)
        change[begin] += extra
        change[end + 1] -= extra
    if len(steps) == 1:
        change[0] -= problem.shared_bytes(section.begin)
        change[1] += problem.shared_bytes(section.begin)
    return int(np.cumsum(change)[: lives.ticks].max())
