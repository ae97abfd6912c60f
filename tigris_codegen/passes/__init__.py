"""Rewrites of the graph: each pass takes a graph and returns a new one. Constants are folded when the file is read."""

from __future__ import annotations

from collections.abc import Callable

from tigris_codegen.ir.graph import Graph
from tigris_codegen.ir.verify import GraphError, verify
from tigris_codegen.ops import SPECS
from tigris_codegen.passes.dead import drop_dead_operators
from tigris_codegen.passes.padding import fold_padding

Pass = Callable[[Graph], Graph]

#: In the order in which they run.
PASSES: tuple[Pass, ...] = (fold_padding, drop_dead_operators)


def run_pass(graph: Graph, rewrite: Pass) -> Graph:
    """The rewritten graph, verified: well formed, and no operator that the importer would have refused."""
    result = verify(rewrite(graph))
    for op in result.ops:
        spec = SPECS.get(op.kind)
        if spec is None or not isinstance(op.attributes, spec.attributes):
            raise GraphError(f"{rewrite.__name__} left {op.kind} with {type(op.attributes).__name__}")
        for refusal in spec.refusals(result, op):
            raise GraphError(f"{rewrite.__name__} left an operator that does not convert: {refusal}")
    return result


def optimize(graph: Graph) -> Graph:
    """The graph after all passes."""
    for rewrite in PASSES:
        graph = run_pass(graph, rewrite)
    return graph
