"""One pool or two: the chain of problems whose plans take ever less fast memory.

First the problem as it is. Then, if values may be computed again, with ever more of that. Then, if there is a slow
pool, with ever more tensors in it: again and again the largest that waits at the tightest section. The chain does not
depend on the pools' sizes. Along it slow traffic never falls, and neither do the records executed, because plans of
fewer records than the smallest before them are left out. Pools get the first plan of the chain that fits both: where
one pool grows, neither records nor traffic grow, and nothing is computed again or spilled that need not be.
"""

from __future__ import annotations

from dataclasses import dataclass

from tigris_codegen.plan.layout import Space
from tigris_codegen.planner.cuts import Costs, Progress
from tigris_codegen.planner.order import orders
from tigris_codegen.planner.problem import Problem, join_parts, spill
from tigris_codegen.planner.recompute import relieved
from tigris_codegen.planner.schedule import Section
from tigris_codegen.planner.search import EFFORT, Schedule, Search


@dataclass(frozen=True)
class _Link:
    """The search over plans of one problem with these tensors spilled."""

    problem: Problem
    search: Search
    spilled: tuple[int, ...] = ()

    def within(self, fast: int, slow: int | None) -> Schedule | None:
        return self.search.within(fast, slow) if self.search.least_peak <= fast else None


class Pools:
    """The chain of one problem; asking again costs nothing."""

    def __init__(
        self, problem: Problem, effort: int = EFFORT, progress: Progress | None = None, recompute: int = 0
    ) -> None:
        """`recompute`: multiply-accumulates that may be spent on values computed again."""
        self._effort, self._progress = effort, progress or (lambda what, done, total: None)
        self._costs = Costs()
        self._most_macs = problem.macs + recompute
        self._recompute = recompute > 0
        self._singles = [_Link(problem, self._search(_forms(problem), 0))]
        self._spills: list[_Link] = []

    def roomy(self) -> Schedule:
        """Every work in one step."""
        return self._singles[0].search.roomy()

    def smallest(self) -> Schedule:
        """The schedule of least fast memory, in one pool."""
        while self._extend_singles():
            pass
        found = [schedule for link in self._singles if (schedule := link.search.smallest()) is not None]
        return min(found, key=lambda schedule: schedule.fast.bytes)

    def frontier(self) -> tuple[Schedule, ...]:
        """Schedules of one pool, of ever more records in ever less fast memory."""
        self.smallest()
        found: list[Schedule] = []
        for link in self._singles:
            found += [s for s in link.search.frontier() if not found or s.fast.bytes < found[-1].fast.bytes]
        return tuple(found)

    def within(self, fast: int, slow: int | None = None) -> Schedule | None:
        """The first plan of the chain within the fast pool and, where there is one, the slow; None where none fits."""
        number = 0
        while number < len(self._singles) or self._extend_singles():
            schedule = self._singles[number].within(fast, slow)
            if schedule is not None:
                return schedule
            number += 1
        number = 0
        while slow is not None and (number < len(self._spills) or self._extend_spills()):
            schedule = self._spills[number].within(fast, slow)
            if schedule is not None:
                return schedule
            number += 1
        return None

    def _search(self, problems: tuple[Problem, ...], fewest_records: int) -> Search:
        return Search(problems, self._effort, self._progress, fewest_records, self._costs)

    def _extend_singles(self) -> bool:
        """Adds the problem that computes one tensor more again."""
        if not self._recompute or self._spills:
            return False
        last = self._singles[-1]
        problem = relieved(last.problem, self._most_macs, self._costs, self._progress)
        if problem is None:
            self._recompute = False
            return False
        self._singles.append(_Link(problem, self._search((problem,), last.search.most_records)))
        return True

    def _extend_spills(self) -> bool:
        """Adds the problem with one tensor more in the slow pool."""
        last = self._spills[-1] if self._spills else self._singles[-1]
        found = last.search.tightest()
        if found is None:
            return False
        tight, section = found
        original = last.problem if self._spills else tight
        tensor = _waiting(original, tight, section)
        if tensor is None:
            return False
        spilled = (*last.spilled, tensor)
        search = self._search((spill(original, spilled),), last.search.most_records)
        self._spills.append(_Link(original, search, spilled))
        return True


def _forms(problem: Problem) -> tuple[Problem, ...]:
    """The problem in other orders, and with concatenations made in place."""
    joined = join_parts(problem)
    return orders(problem) if joined is problem else (*orders(problem), *orders(joined))


def _waiting(original: Problem, spilled: Problem, section: Section) -> int | None:
    """The largest tensor that a section holds for others, or else that it works on."""
    alive = [
        tensor
        for tensor in original.stored
        if spilled.stored[tensor].space is Space.FAST
        and spilled.first_write[tensor] < section.end
        and spilled.last_use[tensor] >= section.begin
    ]
    crossing = [t for t in alive if spilled.first_write[t] < section.begin or spilled.last_use[t] >= section.end]
    return max(crossing or alive, key=lambda t: (spilled.stored[t].bytes, -t), default=None)
