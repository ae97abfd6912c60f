"""RESHAPE: a view, which costs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tigris_codegen.ir.graph import Graph, Op, Tensor
from tigris_codegen.ops import rules as common
from tigris_codegen.ops.activation import NoAttributes
from tigris_codegen.ops.geometry import input_tensor, output_tensor
from tigris_codegen.ops.spec import OpSpec, Work


def element_type(graph: Graph, op: Op) -> str | None:
    """an input and an output of different types"""
    data, output = input_tensor(graph, op, 0).dtype, output_tensor(graph, op).dtype
    return None if data is output else f": {data.value} and {output.value}"


def element_count(graph: Graph, op: Op) -> str | None:
    """an input and an output with different numbers of elements"""
    data, output = input_tensor(graph, op, 0).shape, output_tensor(graph, op).shape
    if input_tensor(graph, op, 0).elements == output_tensor(graph, op).elements:
        return None
    return f": {common.shape_text(data)} and {common.shape_text(output)}"


class Reshape(OpSpec):
    """The new shape is the output's: the file states it, so the shape operand is not needed."""

    kind = "RESHAPE"
    doc = "A view: the output is the input's memory."
    attributes = NoAttributes
    inputs = (1, 2)
    optional = 1
    used_inputs = 1
    kept_inputs = 1
    is_view = True
    requirements = (element_type, element_count)

    def read_attributes(self, options: Any, inputs: Sequence[Tensor | None]) -> NoAttributes:
        return NoAttributes()

    def constant(self, graph: Graph, op: Op) -> bytes | None:
        broken = element_type(graph, op) is not None or element_count(graph, op) is not None
        return None if broken else input_tensor(graph, op, 0).data

    def lower(self, graph: Graph, op: Op) -> tuple[Work, ...]:
        return ()
