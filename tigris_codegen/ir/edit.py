"""Small rewrites that several stages need; each returns a new graph."""

from __future__ import annotations

from dataclasses import replace

from tigris_codegen.ir.graph import Graph, Op


def consumers(graph: Graph, tensor: int) -> tuple[Op, ...]:
    """The operators that read a tensor, in execution order."""
    return tuple(op for op in graph.ops if tensor in op.inputs)


def without_dead_tensors(graph: Graph) -> Graph:
    """Only the tensors that something uses, numbered anew in their order."""
    used = {*graph.inputs, *graph.outputs, *(t for op in graph.ops for t in (*op.inputs, *op.outputs))}
    order = [i for i in range(len(graph.tensors)) if i in used]
    place = {-1: -1} | {old: new for new, old in enumerate(order)}

    def moved(numbers: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(place[n] for n in numbers)

    return Graph(
        graph.name,
        tuple(graph.tensors[i] for i in order),
        tuple(replace(op, inputs=moved(op.inputs), outputs=moved(op.outputs)) for op in graph.ops),
        moved(graph.inputs),
        moved(graph.outputs),
    )
