"""Which works to compute together, in bands of which height: fewest kernel calls within the memory.

The works are cut into sections so that the sum of steps is smallest while no section's live bytes exceed a limit
(dynamic programming over the cuts). Live bytes are what rows need; addresses cost a little more, so the limit is
lowered until the packing fits the pool. Costs are integers and everything is deterministic.
"""

from __future__ import annotations

from dataclasses import dataclass

from tigris_codegen.planner.memory import Layout, make_blocks, pack
from tigris_codegen.planner.problem import Problem
from tigris_codegen.planner.schedule import WHOLE, Section, Step, section_peak, section_steps

#: Band heights tried, fewest steps first.
HEIGHTS = (WHOLE, 32, 16, 8, 4, 2, 1)
#: Most works in one section.
LONGEST = 24
#: Placement orders tried per schedule.
TRIES = 24
#: Limits tried below the pool, as parts of 1000.
SHRINK = (1000, 985, 970, 950, 925, 900, 870, 840, 800, 750, 700, 650, 600, 550, 500)
#: Limits tried above the smallest possible one when looking for the smallest pool, as parts of 1000.
GROW = (1000, 1010, 1020, 1040, 1060, 1080, 1110, 1150, 1200, 1260, 1330, 1420, 1550, 1700, 2000)


@dataclass(frozen=True)
class Schedule:
    """Steps with an address for everything they touch."""

    steps: tuple[Step, ...]
    layout: Layout


@dataclass(frozen=True)
class _Cost:
    peak: int
    steps: int


class Search:
    """The sections of one problem with their costs; asking again costs nothing."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._costs: dict[Section, _Cost] = {}

    def within(self, limit: int) -> Schedule | None:
        """The schedule of fewest steps found whose layout takes at most `limit` bytes; None where none was found."""
        tried: set[tuple[Section, ...]] = set()
        for part in SHRINK:
            sections = self._cut(limit * part // 1000)
            if sections is None:
                return None
            if sections not in tried:
                tried.add(sections)
                schedule = self._packed(sections, limit)
                if schedule is not None:
                    return schedule
        return None

    def smallest(self) -> Schedule:
        """The schedule that takes the least memory of those found."""
        bound = self._least_peak()
        best: Schedule | None = None
        tried: set[tuple[Section, ...]] = set()
        for part in GROW:
            limit = bound * part // 1000
            if best is not None and limit >= best.layout.bytes:
                break
            sections = self._cut(limit)
            if sections is None or sections in tried:
                continue
            tried.add(sections)
            schedule = self._packed(sections, None if best is None else best.layout.bytes - 1, best_of_all=True)
            if schedule is not None:
                best = schedule
        if best is None:
            raise AssertionError("no schedule at the bound of its own sections")
        return best

    def roomy(self) -> Schedule:
        """Every work in one step."""
        sections = tuple(Section(i, i + 1, WHOLE) for i in range(len(self.problem.works)))
        schedule = self._packed(sections, None)
        assert schedule is not None
        return schedule

    def _packed(self, sections: tuple[Section, ...], limit: int | None, best_of_all: bool = False) -> Schedule | None:
        steps = [step for section in sections for step in section_steps(self.problem, section)]
        layout = pack(make_blocks(self.problem, steps), TRIES, limit, best_of_all)
        return None if layout is None else Schedule(tuple(steps), layout)

    def _cost(self, section: Section) -> _Cost:
        if section not in self._costs:
            steps = section_steps(self.problem, section)
            self._costs[section] = _Cost(section_peak(self.problem, section, steps), len(steps))
        return self._costs[section]

    def _heights(self, begin: int, end: int) -> tuple[int, ...]:
        rows = max(self.problem.works[w].row_count for w in range(begin, end))
        parts = max((w.inputs[0].rows.count for w in self.problem.works[begin:end] if w.parts), default=1)
        return tuple(h for h in HEIGHTS if h < max(rows, parts) and (h != WHOLE or end == begin + 1))

    def _cut(self, limit: int) -> tuple[Section, ...] | None:
        """The cut of fewest steps with every section's peak within the limit; None where there is none."""
        count = len(self.problem.works)
        alone = [self._cost(Section(w, w + 1, WHOLE)).peak <= limit for w in range(count)]
        best: list[tuple[int, Section | None] | None] = [(0, None)] + [None] * count
        for end in range(1, count + 1):
            for begin in range(end - 1, max(end - 1 - LONGEST, -1), -1):
                before = best[begin]
                if before is None:
                    continue
                # Only works that do not fit alone are worth computing in bands.
                if end == begin + 1 and alone[begin]:
                    candidates: tuple[int, ...] = (WHOLE,)
                elif all(alone[begin:end]):
                    continue
                else:
                    candidates = self._heights(begin, end)
                for height in candidates:
                    section = Section(begin, end, height)
                    cost = self._cost(section)
                    if cost.peak <= limit:
                        here, now = before[0] + cost.steps, best[end]
                        if now is None or here < now[0]:
                            best[end] = (here, section)
                        break
        if best[count] is None:
            return None
        sections, end = [], count
        while end > 0:
            entry = best[end]
            assert entry is not None and entry[1] is not None
            sections.append(entry[1])
            end = entry[1].begin
        return tuple(reversed(sections))

    def _least_peak(self) -> int:
        """The smallest limit at which a cut exists."""
        count = len(self.problem.works)
        best = [0] + [1 << 62] * count
        for end in range(1, count + 1):
            for begin in range(end - 1, max(end - 1 - LONGEST, -1), -1):
                for height in {WHOLE, 1} if end == begin + 1 else {1}:
                    peak = max(best[begin], self._cost(Section(begin, end, height)).peak)
                    best[end] = min(best[end], peak)
        return best[count]
