"""Other orders of the works: where a graph has branches, the order decides which tensors wait for one another."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tigris_codegen.plan.layout import Space
from tigris_codegen.planner.problem import Problem

#: Sets of finished works that are followed up at a time. Where there are no more, the best order is found.
WIDTH = 64


@dataclass(frozen=True)
class _State:
    """Works run so far; `peak` is the most that was alive, `alive` what is, in bytes of whole tensors."""

    done: frozenset[int]
    order: tuple[int, ...]
    peak: int
    alive: int


def orders(problem: Problem) -> tuple[Problem, ...]:
    """The problem as it is, and in the order whose whole tensors take the least memory, where that is less."""
    own = tuple(range(len(problem.works)))
    best = _best(problem)
    if best.order == own or best.peak >= order_peak(problem, own):
        return (problem,)
    return problem, replace(problem, works=tuple(problem.works[index] for index in best.order))


def _best(problem: Problem) -> _State:
    """By breadth: of all orders that have run the same works, only the one of least peak goes on."""
    after = _dependencies(problem)
    states = [_start(problem)]
    for _ in problem.works:
        found: dict[frozenset[int], _State] = {}
        for state in states:
            for work in range(len(problem.works)):
                if work not in state.done and after[work] <= state.done:
                    reached = _run(problem, state, work)
                    known = found.get(reached.done)
                    if known is None or _rank(reached) < _rank(known):
                        found[reached.done] = reached
        states = sorted(found.values(), key=_rank)[:WIDTH]
    return states[0]


def _start(problem: Problem) -> _State:
    return _State(frozenset(), (), 0, sum(_fast_bytes(problem, tensor) for tensor in problem.inputs))


def _rank(state: _State) -> tuple[int, int, tuple[int, ...]]:
    return state.peak, state.alive, state.order


def _dependencies(problem: Problem) -> list[frozenset[int]]:
    """Per work, the works that write what it reads."""
    return [
        frozenset(p for operand in work.inputs for p in problem.producers.get(operand.tensor, ()))
        for work in problem.works
    ]


def _run(problem: Problem, state: _State, work: int) -> _State:
    done = state.done | {work}
    made = problem.works[work].output.tensor
    first = not any(p in state.done for p in problem.producers[made])
    during = state.alive + (_fast_bytes(problem, made) if first else 0)
    dead = 0
    for tensor in {operand.tensor for operand in problem.works[work].inputs}:
        if tensor in problem.stored and tensor not in problem.kept and done.issuperset(problem.readers[tensor]):
            dead += _fast_bytes(problem, tensor)
    peak = during + problem.works[work].scratch_bytes
    return _State(done, (*state.order, work), max(state.peak, peak), during - dead)


def order_peak(problem: Problem, order: tuple[int, ...]) -> int:
    """The most bytes of whole fast tensors that are alive at once when the works run in this order."""
    state = _start(problem)
    for work in order:
        state = _run(problem, state, work)
    return state.peak


def _fast_bytes(problem: Problem, tensor: int) -> int:
    stored = problem.stored[tensor]
    return stored.bytes if stored.space is Space.FAST else 0
