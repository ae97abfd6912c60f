"""Ways to cut the works of one order into sections: the candidates of the search.

Two kinds of cuts, both by dynamic programming over the places between works: the fewest steps whose live bytes stay
within a limit, for a grid of limits, and, for a given band height and longest section, the least live bytes. Costs are
integers and everything is deterministic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from tigris_codegen.ops.spec import Work
from tigris_codegen.plan.layout import Space
from tigris_codegen.planner.memory import Block, make_blocks
from tigris_codegen.planner.problem import Problem
from tigris_codegen.planner.schedule import WHOLE, Section, Step, section_peak, section_steps

#: Band heights tried, fewest steps first.
HEIGHTS = (WHOLE, 32, 16, 8, 4, 2, 1)
#: Longest sections tried, in works.
LENGTHS = (1, 2, 3, 4, 6, 8, 12, 24)
#: Limits of live bytes tried between the least possible and that of whole operators.
LIMITS = 24

#: Power of a section's peak in the strain, and the longest section that it looks at.
STRAIN_POWER, STRAIN_LENGTH = 16, 12

Cut = tuple[Section, ...]

#: Told what is going on: what, how much of it is done, how much there is.
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Candidate:
    """A cut with its steps and blocks; `records` counts what is executed, `peak` the fast bytes alive at once."""

    problem: Problem
    steps: tuple[Step, ...]
    blocks: tuple[Block, ...]
    records: int
    peak: int

    def of(self, space: Space) -> list[Block]:
        return [block for block in self.blocks if block.space is space]


@dataclass(frozen=True)
class Cost:
    """Live fast bytes of what a section touches, and its steps."""

    peak: int
    steps: int


class Costs:
    """What sections cost. Problems with works in common (other orders, values computed again) share what is known."""

    def __init__(self) -> None:
        self._known: dict[object, Cost] = {}
        self._works: list[Work] = []  # whose identities are in the keys

    def of(self, problem: Problem, section: Section) -> Cost:
        """The cost of a section, without what waits in memory meanwhile."""
        works = problem.works[section.begin : section.end]
        touched = dict.fromkeys(operand.tensor for work in works for operand in (*work.inputs, work.output))
        around = tuple(
            (
                tensor,
                problem.last_use[tensor] >= section.end,
                *((p < section.begin) - (p >= section.end) for p in problem.producers.get(tensor, ())),
            )
            for tensor in touched
            if tensor in problem.stored
        )
        key = section.height, tuple(map(id, works)), around
        if key not in self._known:
            steps = section_steps(problem, section)
            self._known[key] = Cost(section_peak(problem, section, steps), len(steps))
            self._works += works
        return self._known[key]


class Cuts:
    """The cuts of one problem; asking again costs nothing."""

    def __init__(self, problem: Problem, costs: Costs, progress: Progress) -> None:
        self.problem = problem
        self._shared_costs = costs
        self._progress = progress
        self._costs: dict[Section, Cost] = {}

    def candidates(self, *, only_low_bands: bool = False) -> list[Candidate]:
        """What the search chooses from; `only_low_bands` leaves out what has few records."""
        heights = HEIGHTS[-2:] if only_low_bands else HEIGHTS[1:]
        tight = [cut for height in reversed(heights) for cut in self._tight_cuts(height)]
        least, most = min(map(self._peak, tight), default=0), self._peak(self._whole)
        limits = [round(least * (most / least) ** (k / LIMITS)) for k in range(LIMITS)] if 0 < least < most else []
        if only_low_bands:
            limits = []
        cuts = {self._whole: None, **dict.fromkeys(tight), **dict.fromkeys(map(self._relaxed, tight))}
        for done, limit in enumerate(limits):
            self._progress("scheduling", done, len(limits))
            cut = self._cut(limit)
            if cut is not None:
                cuts[cut] = None
        return [self._candidate(cut) for cut in cuts]

    def whole(self) -> Candidate:
        """Every work in one step."""
        return self._candidate(self._whole)

    @cached_property
    def least_peak(self) -> int:
        """The least live bytes in the lowest bands."""
        return min(map(self._peak, self._tight_cuts(1)))

    @property
    def tightest(self) -> Section | None:
        """The section that needs most in the cut under the least strain; None without works."""
        return max(self._least_strain[1], key=lambda section: self._cost(section).peak, default=None)

    @property
    def strain(self) -> int:
        """How tight the cut under the least strain is: a sum over its sections in which the largest counts most."""
        return self._least_strain[0]

    @cached_property
    def _least_strain(self) -> tuple[int, Cut]:
        count = len(self.problem.works)
        best: list[tuple[int, Section | None]] = [(0, None)]
        for end in range(1, count + 1):
            sections = [Section(end - 1, end, WHOLE)]
            sections += [Section(begin, end, 1) for begin in range(max(end - STRAIN_LENGTH, 0), end)]
            best.append(
                min(
                    ((best[s.begin][0] + self._cost(s).peak ** STRAIN_POWER, s) for s in sections),
                    key=lambda found: found[0],
                )
            )
        return best[-1][0], _sections([entry[1] for entry in best])

    @property
    def _whole(self) -> Cut:
        return tuple(Section(i, i + 1, WHOLE) for i in range(len(self.problem.works)))

    def _candidate(self, cut: Cut) -> Candidate:
        steps = tuple(step for section in cut for step in section_steps(self.problem, section))
        blocks = make_blocks(self.problem, steps)
        records = len(steps) + sum(len(block.window.shifts) for block in blocks if block.window)
        return Candidate(self.problem, steps, blocks, records, self._peak(cut))

    def _cost(self, section: Section) -> Cost:
        if section not in self._costs:
            cost = self._shared_costs.of(self.problem, section)
            works = self.problem.works[section.begin : section.end]
            touched = {operand.tensor for work in works for operand in (*work.inputs, work.output)}
            waiting = self.problem.waiting_bytes(section.begin, section.end, touched)
            self._costs[section] = Cost(cost.peak + waiting, cost.steps)
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
