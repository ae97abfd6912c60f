"""Checks what every pass must keep. A graph that fails is a bug of ours, never of the model."""

from __future__ import annotations

from dataclasses import is_dataclass

from tigris_codegen.ir.graph import Graph


class GraphError(AssertionError):
    """The graph is not well formed."""


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise GraphError(message)


def verify(graph: Graph) -> Graph:
    """The graph itself, where indices, definitions, constants and attributes are sound; else GraphError."""
    count = len(graph.tensors)
    names = [t.name for t in graph.tensors]
    _require(len(set(names)) == count, "two tensors have the same name")
    for tensor in graph.tensors:
        _require(all(n > 0 for n in tensor.shape), f"{tensor.name!r} has the shape {tensor.shape}")
        _require(
            tensor.data is None or len(tensor.data) == tensor.bytes,
            f"{tensor.name!r} takes {tensor.bytes} bytes, its data {len(tensor.data or b'')}",
        )
        q = tensor.quantization
        _require(
            q is None or (len(q.scales) == len(q.zero_points) and len(q.scales) > 0),
            f"{tensor.name!r} has scales and zero points of different numbers",
        )
    for tensor_index in (*graph.inputs, *graph.outputs):
        _require(0 <= tensor_index < count, f"tensor {tensor_index} of {count}")
    _require(len(set(graph.inputs)) == len(graph.inputs), "a tensor is two inputs")
    defined = set(graph.inputs) | {i for i, t in enumerate(graph.tensors) if t.data is not None}
    for number, op in enumerate(graph.ops):
        where = f"operator {number} {op.kind}"
        _require(is_dataclass(op.attributes), f"{where}: attributes of type {type(op.attributes).__name__}")
        hash(op.attributes)  # mutable attributes have none
        for i in op.inputs:
            _require(-1 <= i < count, f"{where}: input tensor {i} of {count}")
            _require(i < 0 or i in defined, f"{where}: input {i} is used before it is defined")
        for i in op.outputs:
            _require(0 <= i < count, f"{where}: output tensor {i} of {count}")
            _require(i not in defined, f"{where}: output {i} is defined twice")
            defined.add(i)
    for i in graph.outputs:
        _require(i in defined, f"output {i} is never defined")
    return graph
