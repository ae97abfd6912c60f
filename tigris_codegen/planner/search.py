"""Which works to compute together, in bands of which height: fewest records within the memory.

Two ways to cut the works into sections give candidates, both by dynamic programming over the cuts: the fewest steps
whose live bytes stay within a limit, for a grid of limits, and, for a given band height and longest section, the least
live bytes. The candidates do not depend on the pool: they are put in order once, by records executed, and a pool gets
the first whose layout fits. So a larger pool never gets a plan of more records. Costs are integers and everything is
deterministic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from tigris_codegen.plan.layout import Space
from tigris_codegen.planner.memory import Block, Layout, join, make_blocks, pack
from tigris_codegen.planner.problem import Problem
from tigris_codegen.planner.schedule import WHOLE, Section, Step, section_peak, section_steps

#: Band heights tried, fewest steps first.
HEIGHTS = (WHOLE, 32, 16, 8, 4, 2, 1)
#: Longest sections tried, in works.
LENGTHS = (1, 2, 3, 4, 6, 8, 12, 24)
#: Limits of live bytes tried between the least possible and that of whole operators.
LIMITS = 24
#: Placement orders tried per candidate, where nothing else is asked for.
EFFORT = 64

Cut = tuple[Section, ...]

#: Told what is going on: what, how much of it is done, how much there is.
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Schedule:
    """Steps with an address for everything they touch, in the fast pool and in the slow one."""

    steps: tuple[Step, ...]
    fast: Layout
    slow: Layout


@dataclass(frozen=True)
class _Cost:
    peak: int
    steps: int


@dataclass(frozen=True)
class _Candidate:
    """A cut with its steps and blocks; `records` counts what is executed, `peak` the fast bytes alive at once."""

    steps: tuple[Step, ...]
    blocks: tuple[Block, ...]
    records: int
    peak: int

    def of(self, space: Space) -> list[Block]:
        return [block for block in self.blocks if block.space is space]


class Search:
    """The candidates of one problem; asking again costs nothing."""

    def __init__(
        self,
        problem: Problem,
        effort: int = EFFORT,
        progress: Progress | None = None,
        fewest_records: int = 0,
    ) -> None:
        """`effort` counts placement orders per candidate; candidates of fewer than `fewest_records` are left out."""
        self.problem = problem
        self._fewest_records = fewest_records
        self._effort = effort
        self._progress = progress or (lambda what, done, total: None)
        self._costs: dict[Section, _Cost] = {}
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

    def smallest(self) -> Schedule:
        """The schedule that takes the least fast memory of those found; of equal ones that of fewest records."""
        assert self._smallest is not None
        return self._schedule(self._smallest)

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
        """Every work in one step."""
        candidate = self._candidate(self._whole)
        slow = pack(candidate.of(Space.SLOW), self._effort)
        return Schedule(candidate.steps, self._pack(candidate), slow)

    def _pack(self, candidate: _Candidate) -> Layout:
        """The fast pool: outputs in the memory of their inputs where that can be, unless it is better without."""
        apart = candidate.of(Space.FAST)
        joined = join(self.problem, candidate.steps, apart)
        layout = pack(joined, self._effort, candidate.peak)
        if len(joined) < len(apart) and layout.bytes > candidate.peak:
            layout = min(layout, pack(apart, self._effort, candidate.peak), key=lambda found: found.bytes)
        return layout

    def bottleneck(self) -> tuple[int, tuple[tuple[str, int], ...]]:
        """The work at which the smallest schedule has most alive, and what is alive there: names and bytes."""
        schedule = self.smallest()
        blocks = schedule.fast.blocks.values()
        alive = [0] * max(len(schedule.steps), 1)
        for block in blocks:
            for i, size in enumerate(block.high - block.low):
                alive[block.first + i] += int(size)
        for source, heir in (pair for group in schedule.fast.joined for pair in pairwise(group)):
            shared = schedule.fast.blocks[heir]
            alive[shared.first] -= min(shared.bytes, schedule.fast.blocks[source].bytes)
        tick = max(range(len(alive)), key=lambda t: alive[t])
        held = []
        for block in blocks:
            if block.first <= tick <= block.last:
                size = int(block.high[tick - block.first] - block.low[tick - block.first])
                kind, number = block.key
                held.append((self.problem.stored[number].name if kind == "tensor" else kind, size))
        work = schedule.steps[tick].work if schedule.steps else -1
        return work, tuple(sorted((h for h in held if h[1]), key=lambda h: (-h[1], h[0])))

    def tightest(self) -> Section:
        """The section that needs most in the cut that needs least."""
        cut = min(self._tight_cuts(1), key=lambda cut: self._peak(cut))
        return max(cut, key=lambda section: self._cost(section).peak)

    def _schedule(self, index: int) -> Schedule:
        candidate = self._candidates[index]
        return Schedule(candidate.steps, self._layout(index), pack(candidate.of(Space.SLOW), self._effort))

    def _layout(self, index: int) -> Layout:
        if index not in self._layouts:
            self._progress("placing", len(self._layouts), len(self._candidates))
            candidate = self._candidates[index]
            self._layouts[index] = self._pack(candidate)
        return self._layouts[index]

    @property
    def _whole(self) -> Cut:
        return tuple(Section(i, i + 1, WHOLE) for i in range(len(self.problem.works)))

    @cached_property
    def _candidates(self) -> tuple[_Candidate, ...]:
        """All candidates, those of fewest records first."""
        # Where few records are ruled out, so are all but the lowest bands.
        heights = HEIGHTS[-2:] if self._fewest_records else HEIGHTS[1:]
        tight = [cut for height in reversed(heights) for cut in self._tight_cuts(height)]
        least, most = min(map(self._peak, tight), default=0), self._peak(self._whole)
        limits = [round(least * (most / least) ** (k / LIMITS)) for k in range(LIMITS)] if 0 < least < most else []
        if self._fewest_records:
            limits = []
        cuts = {self._whole: None, **dict.fromkeys(tight), **dict.fromkeys(map(self._relaxed, tight))}
        for done, limit in enumerate(limits):
            self._progress("scheduling", done, len(limits))
            cut = self._cut(limit)
            if cut is not None:
                cuts[cut] = None
        found = sorted(map(self._candidate, cuts), key=lambda c: (c.records, c.peak))
        return tuple(c for c in found if c.records >= self._fewest_records)

    def _candidate(self, cut: Cut) -> _Candidate:
        steps = tuple(step for section in cut for step in section_steps(self.problem, section))
        blocks = make_blocks(self.problem, steps)
        records = len(steps) + sum(len(block.window.shifts) for block in blocks if block.window)
        return _Candidate(steps, blocks, records, self._peak(cut))

    def _cost(self, section: Section) -> _Cost:
        if section not in self._costs:
            steps = section_steps(self.problem, section)
            self._costs[section] = _Cost(section_peak(self.problem, section, steps), len(steps))
        return self._costs[section]

    def _peak(self, cut: Cut) -> int:
        return max((self._cost(section).peak for section in cut), default=0)

    def _heights(self, begin: int, end: int) -> tuple[int, ...]:
        rows = max(self.problem.works[w].row_count for w in range(begin, end))
        parts = max((w.inputs[0].rows.count for w in self.problem.works[begin:end] if w.parts), default=1)
        return tuple(h for h in HEIGHTS if h < max(rows, parts) and (h != WHOLE or end == begin + 1))

    def _cut(self, limit: int) -> Cut | None:
        """The cut of fewest steps with every section's peak within the limit; None where there is none."""
        count = len(self.problem.works)
        alone = [self._cost(section).peak <= limit for section in self._whole]
        best: list[tuple[int, Section | None] | None] = [(0, None)] + [None] * count
        for end in range(1, count + 1):
            for begin in range(end - 1, max(end - 1 - LENGTHS[-1], -1), -1):
                before = best[begin]
                if before is None:
                    continue
                # Only works that do not fit alone are worth computing in bands.
                if end == begin + 1 and alone[begin]:
                    heights: tuple[int, ...] = (WHOLE,)
                elif all(alone[begin:end]):
                    continue
                else:
                    heights = self._heights(begin, end)
                for height in heights:
                    section = Section(begin, end, height)
                    cost = self._cost(section)
                    if cost.peak <= limit:
                        here, now = before[0] + cost.steps, best[end]
                        if now is None or here < now[0]:
                            best[end] = (here, section)
                        break
        return None if best[count] is None else _sections([None if entry is None else entry[1] for entry in best])

    def _relaxed(self, cut: Cut) -> Cut:
        """The cut with sections in higher bands, or in whole works, where the peak of the whole cut allows that."""
        limit = self._peak(cut)
        found: list[Section] = []
        for section in cut:
            whole = [Section(w, w + 1, WHOLE) for w in range(section.begin, section.end)]
            if all(self._cost(s).peak <= limit for s in whole):
                found += whole
                continue
            higher = (Section(section.begin, section.end, h) for h in HEIGHTS if h > section.height != WHOLE)
            found.append(next((s for s in higher if self._cost(s).peak <= limit), section))
        return tuple(found)

    def _tight_cuts(self, height: int) -> list[Cut]:
        """Per longest section, the cut of least live bytes into sections in bands of `height` rows."""
        return list(dict.fromkeys(self._tight_cut(longest, height) for longest in LENGTHS))

    def _tight_cut(self, longest: int, height: int) -> Cut:
        count = len(self.problem.works)
        best: list[tuple[int, Section | None]] = [(0, None)]
        best += [(1 << 62, None)] * count
        for end in range(1, count + 1):
            for begin in range(max(end - longest, 0), end):
                for tried in (WHOLE, height) if end == begin + 1 else (height,):
                    section = Section(begin, end, tried)
                    if best[begin][0] < best[end][0] and (peak := self._cost(section).peak) < best[end][0]:
                        best[end] = (max(best[begin][0], peak), section)
        return _sections([entry[1] for entry in best])


def _sections(last: Sequence[Section | None]) -> Cut:
    """The cut whose last section before each place is `last[place]`."""
    found: list[Section] = []
    place = len(last) - 1
    while place > 0:
        section = last[place]
        assert section is not None
        found.append(section)
        place = section.begin
    return tuple(reversed(found))
