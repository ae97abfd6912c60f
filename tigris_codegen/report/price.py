"""What less RAM costs: the frontier of a model, and what a plan's bands read again from flash."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from tigris_codegen.ops.spec import Constant
from tigris_codegen.pipeline import Compiled, Model
from tigris_codegen.plan.layout import Flag, Kind
from tigris_codegen.plan.plan import Plan
from tigris_codegen.plan.verify import expand


@dataclass(frozen=True)
class FrontierPoint:
    """A plan of one pool: its RAM, the kernel calls of one inference and the records in its schedule."""

    ram_bytes: int
    calls: int
    records: int


def frontier_points(plans: Iterable[Compiled]) -> tuple[FrontierPoint, ...]:
    """The plans as points, that of least RAM first."""
    points = {
        FrontierPoint(made.plan.ram_bytes, sum(calls_of_operators(made.plan).values()), len(made.plan.records))
        for made in plans
    }
    return tuple(sorted(points, key=lambda p: (p.ram_bytes, p.calls, p.records)))


def unbeaten(points: Iterable[FrontierPoint]) -> list[FrontierPoint]:
    """Without plans that another beats in both RAM and kernel calls; fewer bytes moved may still speak for those."""
    points = list(points)
    return [p for p in points if not any(o.ram_bytes < p.ram_bytes and o.calls <= p.calls for o in points)]


def calls_of_operators(plan: Plan) -> Counter[int]:
    """Operator of the plan -> its calls in one inference."""
    return Counter(record.target for record, _ in expand(plan.records) if record.kind is Kind.RUN)


def weights_read_again(made: Compiled, model: Model) -> tuple[int, ...]:
    """Per operator of the plan, constant bytes that it reads once more than once.

    Every band reads all weights, biases, multipliers and tables of its operator; the parts of a reduction share them.
    """
    plan = made.plan
    in_parts = {r.target for r in plan.records if r.kind is Kind.RUN and r.flags & Flag.PART}
    calls = calls_of_operators(plan)
    return tuple(
        0 if index in in_parts else (calls[index] - 1) * size for index, size in enumerate(_constant_bytes(made, model))
    )


def _constant_bytes(made: Compiled, model: Model) -> list[int]:
    """Constant bytes of each work: those that its parameters name, and its constant inputs."""
    tensors = model.problem.graph.tensors
    return [
        sum(len(value.data) for value in work.params.values() if isinstance(value, Constant))
        + sum(len(tensors[o.tensor].data or b"") for o in work.inputs if o.tensor < len(tensors))
        for work in made.works
    ]
