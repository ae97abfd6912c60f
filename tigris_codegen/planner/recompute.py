"""Values computed again: a tensor that waits for a late reader need not wait if it is computed once more for it.

In a streamed chain no row is worth computing twice: when a kernel takes the last of the rows that it needs, it needs
the others too, computed again or not. What can be saved is a tensor that is read once and then waits, while others go
on, to be read again; so whole works are run again, in bands like all others.
"""

from __future__ import annotations

from collections.abc import Iterator

from tigris_codegen.planner.cuts import Costs, Cuts, Progress
from tigris_codegen.planner.problem import Problem, compute_again

#: How far back from the tensor works are run again.
DEPTHS = (1, 2, 3, 4, 6)
#: Tensors tried at the tightest section, the largest first.
TENSORS = 2


def relieved(problem: Problem, macs: int, costs: Costs, progress: Progress) -> Problem | None:
    """A problem with at most `macs` multiply-accumulates under less strain, None where there is none.

    Of those that compute one tensor again, which is alive at the tightest section, the one under the least strain:
    where several places are equally tight, relieving one of them is progress, though the memory needed is the same.
    """
    cuts = Cuts(problem, costs, progress)
    best: tuple[int, int, Problem] | None = None
    ways = [way for way in _ways(problem, cuts) if way.macs <= macs]
    for done, way in enumerate(ways):
        progress("computing again", done, len(ways))
        strain = Cuts(way, costs, progress).strain
        # A hundredth of such a high power is next to nothing: less would be noise.
        if strain * 100 < cuts.strain * 99 and (best is None or (strain, way.macs) < best[:2]):
            best = strain, way.macs, way
    return best[2] if best else None


def _ways(problem: Problem, cuts: Cuts) -> Iterator[Problem]:
    section = cuts.tightest
    if section is None:
        return
    waiting = [
        tensor
        for tensor, readers in problem.readers.items()
        if len(readers) > 1
        and tensor not in problem.inputs
        and problem.first_write[tensor] < section.end
        and readers[-1] >= section.begin
    ]
    for tensor in sorted(waiting, key=lambda t: (-problem.stored[t].bytes, t))[:TENSORS]:
        for reader in problem.readers[tensor][1:]:
            works = 0
            for depth in DEPTHS:
                again = compute_again(problem, tensor, reader, depth)
                if again is not None and len(again.works) > works:
                    works = len(again.works)
                    yield again
