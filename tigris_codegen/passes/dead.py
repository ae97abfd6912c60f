"""Drops operators whose outputs nothing uses. No operator of a graph has other effects."""

from __future__ import annotations

from dataclasses import replace

from tigris_codegen.ir.edit import without_dead_tensors
from tigris_codegen.ir.graph import Graph


def drop_dead_operators(graph: Graph) -> Graph:
    """Only the operators that the outputs need, and their tensors."""
    needed, live = set(graph.outputs), []
    for op in reversed(graph.ops):
        if needed.intersection(op.outputs):
            needed.update(op.inputs)
            live.append(op)
    return without_dead_tensors(replace(graph, ops=tuple(live[::-1])))
