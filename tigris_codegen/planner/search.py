"""Which works to compute together, in bands of which height, in which order: fewest records within the memory.

The candidates do not depend on the pool: they are put in order once, by records executed, and a pool gets the first
whose layout fits. So a larger pool never gets a plan of more records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from tigris_codegen.plan.layout import Space
from tigris_codegen.planner.cuts import Candidate, Costs, Cuts, Progress
from tigris_codegen.planner.memory import Layout, join, pack
from tigris_codegen.planner.problem import Problem
from tigris_codegen.planner.schedule import Section, Step

#: Placement orders tried per candidate, where nothing else is asked for.
EFFORT = 64


@dataclass(frozen=True)
class Schedule:
    """Steps with an address for everything they touch, in the fast pool and in the slow one."""

    problem: Problem
    steps: tuple[Step, ...]
    fast: Layout
    slow: Layout


class Search:
    """The candidates of one problem in one or several orders of its works; asking again costs nothing."""

    def __init__(
        self,
        orders: Sequence[Problem],
        effort: int = EFFORT,
        progress: Progress | None = None,
        fewest_records: int = 0,
        costs: Costs | None = None,
    ) -> None:
        """`effort` counts placement orders per candidate; candidates of fewer than `fewest_records` are left out."""
        self._fewest_records = fewest_records
        self._effort = effort
        self._progress = progress or (lambda what, done, total: None)
        self._cuts = [Cuts(problem, costs or Costs(), self._progress) for problem in orders]
        self._layouts: dict[int, Layout] = {}

    def within(self, fast: int, slow: int | None = None) -> Schedule | None:
        """The schedule of fewest records whose layouts take at most `fast` and `slow` bytes; None where none does."""
        for index, candidate in enumerate(self._candidates):
            if candidate.peak <= fast and self._layout(index).bytes <= fast:
                schedule = self._schedule(index)
                if slow is None or schedule.slow.bytes <= slow:
                    return schedule
            if index == self._smallest:
                break
        return None

    def smallest(self) -> Schedule | None:
        """The schedule that takes the least fast memory of those found; of equal ones that of fewest records.

        None where all have fewer than the fewest records asked for.
        """
        return None if self._smallest is None else self._schedule(self._smallest)

    @property
    def most_records(self) -> int:
        """Records executed by the smallest schedule: no schedule that `within` gives has more."""
        return self._fewest_records if self._smallest is None else self._candidates[self._smallest].records

    @cached_property
    def _smallest(self) -> int | None:
        best: int | None = None
        for index in sorted(range(len(self._candidates)), key=lambda i: self._candidates[i].peak):
            if best is None:
                best = index
            elif self._candidates[index].peak <= self._layout(best).bytes:
                best = min(best, index, key=lambda i: (self._layout(i).bytes, i))
        return best

    def frontier(self) -> tuple[Schedule, ...]:
        """Schedules of ever more records in ever less fast memory, from whole operators to the smallest."""
        found: list[int] = []
        for index, candidate in enumerate(self._candidates):
            least = self._layout(found[-1]).bytes if found else candidate.peak + 1
            if candidate.peak < least and (not found or self._layout(index).bytes < least):
                found.append(index)
        return tuple(self._schedule(index) for index in found)

    def roomy(self) -> Schedule:
        """Every work in one step, in the order that takes the least memory."""
        found = []
        for cuts in self._cuts:
            candidate = cuts.whole()
            slow = pack(candidate.of(Space.SLOW), self._effort)
            found.append(Schedule(candidate.problem, candidate.steps, self._pack(candidate), slow))
        return min(found, key=lambda schedule: (schedule.fast.bytes, len(schedule.steps)))

    @property
    def least_peak(self) -> int:
        """The least live bytes of any schedule: no layout takes less."""
        return min(cuts.least_peak for cuts in self._cuts)

    def tightest(self) -> tuple[Problem, Section] | None:
        """The problem of least live bytes with the section that needs most; None without works."""
        cuts = min(self._cuts, key=lambda cuts: cuts.least_peak)
        return None if cuts.tightest is None else (cuts.problem, cuts.tightest)

    def _pack(self, candidate: Candidate) -> Layout:
        """The fast pool: outputs in the memory of their inputs where that can be, unless it is better without."""
        apart = candidate.of(Space.FAST)
        joined = join(candidate.problem, candidate.steps, apart)
        layout = pack(joined, self._effort, candidate.peak)
        if len(joined) < len(apart) and layout.bytes > candidate.peak:
            layout = min(layout, pack(apart, self._effort, candidate.peak), key=lambda found: found.bytes)
        return layout

    def _schedule(self, index: int) -> Schedule:
        candidate = self._candidates[index]
        slow = pack(candidate.of(Space.SLOW), self._effort)
        return Schedule(candidate.problem, candidate.steps, self._layout(index), slow)

    def _layout(self, index: int) -> Layout:
        if index not in self._layouts:
            self._progress("placing", len(self._layouts), len(self._candidates))
            self._layouts[index] = self._pack(self._candidates[index])
        return self._layouts[index]

    @cached_property
    def _candidates(self) -> tuple[Candidate, ...]:
        """All candidates, those of fewest records first."""
        made = [c for cuts in self._cuts for c in cuts.candidates(only_low_bands=self._fewest_records > 0)]
        found = sorted(made, key=lambda c: (c.records, c.peak))
        return tuple(c for c in found if c.records >= self._fewest_records)


def bottleneck(schedule: Schedule) -> tuple[int, tuple[tuple[str, int, int], ...]]:
    """The work at which a schedule has most fast memory alive, and what is alive there.

    The work is -1 where there is none; what is alive as (kind, number, bytes): a tensor's number, or that of the work
    whose accumulator or scratch it is, largest first.
    """
    layout = schedule.fast
    alive = [0] * max(len(schedule.steps), 1)
    for block in layout.blocks.values():
        for i, size in enumerate(block.high - block.low):
            alive[block.first + i] += int(size)
    for source, heir in (pair for group in layout.joined for pair in pairwise(group)):
        alive[layout.blocks[heir].first] -= min(layout.blocks[heir].bytes, layout.blocks[source].bytes)
    tick = max(range(len(alive)), key=lambda t: alive[t])
    held = [
        (*block.key, int(block.high[tick - block.first] - block.low[tick - block.first]))
        for block in layout.blocks.values()
        if block.first <= tick <= block.last
    ]
    work = schedule.steps[tick].work if schedule.steps else -1
    return work, tuple(sorted((h for h in held if h[2]), key=lambda h: (-h[2], h[:2])))
