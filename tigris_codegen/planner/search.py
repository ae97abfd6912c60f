"""Which works to compute together, in bands of which height: fewest kernel calls within the memory.

Two ways to cut the works into sections give candidates, both by dynamic programming over the cuts: the fewest steps
whose live bytes stay within a limit, and, for a given band height and longest section, the least live bytes. Live bytes
are what rows need; addresses cost a little more, so each candidate is packed, those of fewest steps first, until one
fits the pool. Costs are integers and everything is deterministic.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tigris_codegen.planner.memory import Layout, make_blocks, pack
from tigris_codegen.planner.problem import Problem
from tigris_codegen.planner.schedule import WHOLE, Section, Step, section_peak, section_steps

#: Band heights tried, fewest steps first.
HEIGHTS = (WHOLE, 32, 16, 8, 4, 2, 1)
#: Longest sections tried, in works.
LENGTHS = (1, 2, 3, 4, 6, 8, 12, 24)
#: Placement orders tried per candidate.
TRIES = 64
#: Limits of live bytes tried below the pool, as parts of 1000.
SHRINK = (1000, 970, 930, 880, 820, 750, 650, 500)

Cut = tuple[Section, ...]


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
        cuts = [cut for part in SHRINK if (cut := self._cut(limit * part // 1000)) is not None]
        for cut in self._by_steps(cuts):
            schedule = self._packed(cut, limit)
            if schedule is not None:
                return schedule
        tight = [self._tight_cut(longest, height) for height in HEIGHTS[:0:-1] for longest in LENGTHS]
        for cut in self._by_steps(c for c in tight if self._peak(c) <= limit):
            schedule = self._packed(cut, limit)
            if schedule is not None:
                return schedule
        return None

    def smallest(self) -> Schedule:
        """The schedule that takes the least memory of those found."""
        best = self.roomy()
        for cut in self._by_steps(self._tight_cut(longest, 1) for longest in LENGTHS):
            if self._peak(cut) < best.layout.bytes:
                best = self._packed(cut, best.layout.bytes - 1, best_of_all=True) or best
        while (smaller := self.within(best.layout.bytes - 1)) is not None:
            best = smaller
        return best

    def roomy(self) -> Schedule:
        """Every work in one step."""
        sections = tuple(Section(i, i + 1, WHOLE) for i in range(len(self.problem.works)))
        schedule = self._packed(sections, None)
        assert schedule is not None
        return schedule

    def _packed(self, sections: Cut, limit: int | None, best_of_all: bool = False) -> Schedule | None:
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

    def _cut(self, limit: int) -> Cut | None:
        """The cut of fewest steps with every section's peak within the limit; None where there is none."""
        count = len(self.problem.works)
        alone = [self._cost(Section(w, w + 1, WHOLE)).peak <= limit for w in range(count)]
        best: list[tuple[int, Section | None] | None] = [(0, None)] + [None] * count
        for end in range(1, count + 1):
            for begin in range(end - 1, max(end - 1 - LENGTHS[-1], -1), -1):
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
        return None if best[count] is None else _sections([None if entry is None else entry[1] for entry in best])

    def _tight_cut(self, longest: int, height: int) -> Cut:
        """The cut of least live bytes into sections of at most `longest` works in bands of `height` rows."""
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

    def _by_steps(self, cuts: Iterable[Cut]) -> list[Cut]:
        """Different cuts, those of fewest steps first."""
        return sorted(dict.fromkeys(cuts), key=lambda cut: sum(self._cost(s).steps for s in cut))

    def _peak(self, cut: Cut) -> int:
        return max((self._cost(section).peak for section in cut), default=0)


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
