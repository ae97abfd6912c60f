"""From the graph to the works that the planner plans."""

from __future__ import annotations

from tigris_codegen.ir.graph import Graph
from tigris_codegen.ops import SPECS
from tigris_codegen.ops.spec import Work


def lower_graph(graph: Graph) -> tuple[Work, ...]:
    """The works of all operators, in execution order."""
    return tuple(work for op in graph.ops for work in SPECS[op.kind].lower(graph, op))
