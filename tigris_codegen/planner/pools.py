"""Two pools: which tensors go to the slow one, so that the rest fits the fast one."""

from __future__ import annotations

from tigris_codegen.plan.layout import Space
from tigris_codegen.planner.problem import Problem, spill
from tigris_codegen.planner.schedule import Section
from tigris_codegen.planner.search import EFFORT, Progress, Schedule, Search


def in_two_pools(
    problem: Problem, fast: int, slow: int, effort: int = EFFORT, progress: Progress | None = None
) -> tuple[Problem, Schedule] | None:
    """The problem with as few tensors spilled as were found to be needed, and its schedule; None where none fits.

    Tensors that wait at the tightest section are spilled one after the other, the largest first, until the fast pool
    suffices (when none waits, the largest that the section works on); then each that turns out not to have been needed
    is taken back.
    """
    spilled: tuple[int, ...] = ()
    while (found := _fits(problem, spilled, fast, slow, effort, progress)) is None:
        more = _waiting(problem, spilled)
        if more is None:
            return None
        spilled = (*spilled, more)
    for tensor in spilled[:-1]:
        fewer = tuple(t for t in spilled if t != tensor)
        without = _fits(problem, fewer, fast, slow, effort, progress)
        if without is not None:
            spilled, found = fewer, without
    return found


def _fits(
    problem: Problem, spilled: tuple[int, ...], fast: int, slow: int, effort: int, progress: Progress | None
) -> tuple[Problem, Schedule] | None:
    changed = spill(problem, spilled)
    search = Search(changed, effort, progress)
    schedule = search.within(fast) if search.least_peak() <= fast else None
    return (changed, schedule) if schedule is not None and schedule.slow.bytes <= slow else None


def _waiting(problem: Problem, spilled: tuple[int, ...]) -> int | None:
    """The largest tensor that the tightest section of the tightest cut holds for others, or else that it works on."""
    changed = spill(problem, spilled)
    section = Search(changed).tightest()
    unspilled = [t for t in problem.stored if changed.stored[t].space is Space.FAST]
    alive = [t for t in unspilled if _alive(changed, t, section)]
    crossing = [t for t in alive if _crosses(changed, t, section)]
    return max(crossing or alive, key=lambda t: (changed.stored[t].bytes, -t), default=None)


def _alive(problem: Problem, tensor: int, section: Section) -> bool:
    return problem.first_write[tensor] < section.end and problem.last_use[tensor] >= section.begin


def _crosses(problem: Problem, tensor: int, section: Section) -> bool:
    return problem.first_write[tensor] < section.begin or problem.last_use[tensor] >= section.end
