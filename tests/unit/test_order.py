"""Orders of works: where branches let the order decide how much waits, the better one is among the candidates."""

from __future__ import annotations

from itertools import permutations

from tests.corpus import layers
from tests.corpus.writer import ModelWriter, Tensor
from tests.unit.test_planner_random import outputs_of
from tigris_codegen.pipeline import Model
from tigris_codegen.planner.order import order_peak, orders
from tigris_codegen.planner.problem import Problem


def _wide_then_narrow(m: ModelWriter, x: Tensor, channels: int) -> Tensor:
    return layers.conv_2d(m, layers.conv_2d(m, x, channels, (1, 1)), 1, (1, 1))


def _badly_ordered() -> bytes:
    """Two branches that widen and narrow again, written so that both are wide at once."""
    m = ModelWriter("branches")
    x = layers.activation_input(m, [1, 6, 6, 2], "int8")
    left, right = (layers.conv_2d(m, x, channels, (1, 1)) for channels in (20, 24))
    left, right = layers.conv_2d(m, left, 2, (1, 1)), layers.conv_2d(m, right, 2, (1, 1))
    return m.finish([x], [layers.binary(m, left, right, "ADD")])


def _possible(problem: Problem, order: tuple[int, ...]) -> bool:
    seen: set[int] = set()
    for work in order:
        if any(p not in seen for o in problem.works[work].inputs for p in problem.producers.get(o.tensor, ())):
            return False
        seen.add(work)
    return True


def test_a_better_order_is_found_and_used() -> None:
    model = Model(_badly_ordered(), "branches")
    own, other = orders(model.problem)
    assert own is model.problem
    assert [work.source for work in own.works] == [0, 1, 2, 3, 4]
    best = min(order_peak(own, p) for p in permutations(range(5)) if _possible(own, p))
    assert order_peak(other, tuple(range(5))) == best < order_peak(own, tuple(range(5)))
    whole = model.roomy()
    assert whole.plan.fast_bytes < best + 3 * 16 < order_peak(own, tuple(range(5)))
    assert outputs_of(whole, 5, 0x00) == outputs_of(model.smallest(), 5, 0xAA)


def test_without_branches_there_is_one_order() -> None:
    m = ModelWriter("chain")
    x = layers.activation_input(m, [1, 6, 6, 2], "int8")
    problem = Model(m.finish([x], [_wide_then_narrow(m, x, 8)]), "chain").problem
    assert orders(problem) == (problem,)


def test_every_work_runs_once_behind_what_it_reads() -> None:
    m = ModelWriter("many")
    x = layers.activation_input(m, [1, 6, 6, 2], "int8")
    parts = [_wide_then_narrow(m, x, channels) for channels in (4, 12, 8)]
    model = Model(m.finish([x], [layers.concatenation(m, parts, 3)]), "many")
    for problem in orders(model.problem):
        assert sorted(map(id, problem.works)) == sorted(map(id, model.problem.works))
        assert _possible(problem, tuple(range(len(problem.works))))
