"""Turns PAD in front of convolutions and maximum pools into their explicit padding.

A convolution takes implicit padding as its input's zero point, which is what PAD writes; a maximum pool leaves it out,
which is the same as the lowest value of the type.
"""

from __future__ import annotations

from dataclasses import replace

from tigris_codegen.ir.edit import consumers
from tigris_codegen.ir.graph import DType, Graph, Op
from tigris_codegen.ops import SPECS
from tigris_codegen.ops.conv import ConvAttributes
from tigris_codegen.ops.pool import PoolAttributes

LOWEST_S8 = -128


def fold_padding(graph: Graph) -> Graph:
    """Every PAD whose readers all take explicit padding; the PAD itself is left without a reader."""
    for pad in graph.ops:
        if pad.kind == "PAD" and pad.outputs[0] not in graph.outputs:
            graph = _fold(graph, pad)
    return graph


def _fold(graph: Graph, pad: Op) -> Graph:
    data, padded = (graph.tensors[t] for t in (pad.inputs[0], pad.outputs[0]))
    paddings = pad.attributes.paddings
    if len(paddings) != 4 or any(paddings[0]) or any(paddings[3]) or data.quantization != padded.quantization:
        return graph
    folded = {}
    for op in consumers(graph, pad.outputs[0]):
        candidate = _padded(graph, op, pad)
        if candidate is None or SPECS[op.kind].refusals(graph, candidate):
            return graph
        folded[op.outputs] = candidate
    return replace(graph, ops=tuple(folded.get(op.outputs, op) for op in graph.ops))


def _padded(graph: Graph, op: Op, pad: Op) -> Op | None:
    """The operator with the padding as its own, None where it cannot take it."""
    a = op.attributes
    if not isinstance(a, ConvAttributes | PoolAttributes) or pad.outputs[0] in op.inputs[1:]:
        return None
    if isinstance(a, PoolAttributes) and not _is_lowest(graph, op, pad):
        return None
    _, (top, bottom), (left, right), _ = pad.attributes.paddings
    attributes = replace(
        a,
        pad_top=a.pad_top + top,
        pad_left=a.pad_left + left,
        pad_bottom=a.pad_bottom + bottom,
        pad_right=a.pad_right + right,
    )
    return replace(op, inputs=(pad.inputs[0], *op.inputs[1:]), attributes=attributes)


def _is_lowest(graph: Graph, op: Op, pad: Op) -> bool:
    """Whether the operator is a maximum pool and PAD writes the lowest value there is."""
    padded = graph.tensors[pad.outputs[0]]
    if op.kind != "MAX_POOL_2D" or padded.dtype is not DType.S8 or padded.quantization is None:
        return False
    return padded.quantization.zero_point == LOWEST_S8
