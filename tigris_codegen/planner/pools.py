"""Two pools: which tensors go to the slow one, so that the rest fits the fast one.

Tensors are spilled in one order that does not depend on the pools' sizes: again and again the largest that waits at the
tightest section. So there is one chain of plans, first all of the fast pool alone, then those with one tensor spilled,
and so on; along it slow traffic never falls, and neither do the records executed, because plans of fewer records than
the smallest before them are left out. Pools get the first plan of the chain that fits both: where one pool grows,
neither records nor traffic grow.
"""

from __future__ import annotations

from dataclasses import dataclass

from tigris_codegen.plan.layout import Space
from tigris_codegen.planner.problem import Problem, spill
from tigris_codegen.planner.schedule import Section
from tigris_codegen.planner.search import EFFORT, Progress, Schedule, Search


@dataclass(frozen=True)
class _Link:
    """A set of spilled tensors with the search over its plans."""

    spilled: tuple[int, ...]
    problem: Problem
    search: Search


class Pools:
    """The chain of plans of one problem; asking again costs nothing."""

    def __init__(self, problem: Problem, effort: int = EFFORT, progress: Progress | None = None) -> None:
        self._problem = problem
        self._effort, self._progress = effort, progress
        self._links = [self._link((), 0)]

    @property
    def single(self) -> Search:
        """The search over plans of the fast pool alone."""
        return self._links[0].search

    def within(self, fast: int, slow: int) -> tuple[Problem, Schedule] | None:
        """The first plan of the chain within both pools, with the problem that it solves; None where none fits."""
        number = 0
        while number < len(self._links) or self._extend():
            link = self._links[number]
            schedule = link.search.within(fast, slow)
            if schedule is not None:
                return link.problem, schedule
            number += 1
        return None

    def _link(self, spilled: tuple[int, ...], fewest_records: int) -> _Link:
        problem = spill(self._problem, spilled)
        return _Link(spilled, problem, Search(problem, self._effort, self._progress, fewest_records))

    def _extend(self) -> bool:
        last = self._links[-1]
        tensor = _waiting(self._problem, last.problem, last.search.tightest())
        if tensor is None:
            return False
        self._links.append(self._link((*last.spilled, tensor), last.search.most_records))
        return True


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
