"""CONCATENATION: one piece of work per input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from tigris_codegen.ir.graph import DType, Graph, Op, Tensor
from tigris_codegen.ir.rows import Rows, rows_of
from tigris_codegen.numerics import Activation
from tigris_codegen.ops import rules as common
from tigris_codegen.ops.geometry import MAX_U16, input_tensor, leading_axes, operand, output_tensor, same_rows
from tigris_codegen.ops.spec import MANY_INPUTS, Constant, Kernel, OpSpec, Window, Work
from tigris_codegen.plan.fields import Field, Struct, Value

CONCATENATION = Struct(
    "concatenation_params",
    "One input of CONCATENATION, copied to its place in the output.",
    (
        Field("in_rows", "u32", "rows of the input in one image"),
        Field("out_rows", "u32", "rows of the output in one image"),
        Field("first_row", "u32", "row of the output's image where the input's first row goes"),
        Field("blocks", "u32", "blocks in a row"),
        Field("in_block", "u32", "bytes of the input's block"),
        Field("out_block", "u32", "bytes from one block of the output to the next"),
        Field("offset", "u32", "bytes in front of the input's data in the output's block"),
    ),
)

K_CONCATENATION_S8 = Kernel(26, "concatenation_s8", CONCATENATION, "place", "one input of a concatenation, int8")
K_CONCATENATION_F32 = Kernel(27, "concatenation_f32", CONCATENATION, "place", "one input of a concatenation, float")


@dataclass(frozen=True)
class ConcatenationAttributes:
    """`axis` as the file has it; negative counts from the end."""

    axis: int
    activation: Activation


def axis(graph: Graph, op: Op) -> str | None:
    """an axis that the output does not have"""
    rank = len(output_tensor(graph, op).shape)
    return None if -rank <= op.attributes.axis < rank else f": {op.attributes.axis}"


def no_activation(graph: Graph, op: Op) -> str | None:
    """a fused activation"""
    return None if op.attributes.activation is Activation.NONE else ""


def output_shape(graph: Graph, op: Op) -> str | None:
    """inputs whose shapes do not add up to the output's along the axis"""
    output = output_tensor(graph, op).shape
    along = op.attributes.axis % len(output)
    shapes = [input_tensor(graph, op, i).shape for i in range(len(op.inputs))]
    fits = all(len(s) == len(output) for s in shapes) and all(
        sum(s[i] for s in shapes) == n if i == along else all(s[i] == n for s in shapes) for i, n in enumerate(output)
    )
    return None if fits else f": {', '.join(map(common.shape_text, shapes))} to {common.shape_text(output)}"


def same_quantization(graph: Graph, op: Op) -> str | None:
    """int8 inputs with another scale or zero point than the output"""
    output = output_tensor(graph, op).quantization
    if output_tensor(graph, op).dtype is not DType.S8 or output is None:
        return None
    for tensor in common.operands(graph, op):
        q = tensor.quantization
        if q is not None and (q.scale, q.zero_point) != (output.scale, output.zero_point):
            return f": {tensor.name!r}"
    return None


def image_count(graph: Graph, op: Op) -> str | None:
    """more than 65535 indices in front of the axis"""
    output = output_tensor(graph, op).shape
    images = prod(output[: op.attributes.axis % len(output)])
    return None if images <= MAX_U16 else f": {images}"


class Concatenation(OpSpec):
    kind = "CONCATENATION"
    doc = "Any number of inputs along any axis."
    kernels = (K_CONCATENATION_S8, K_CONCATENATION_F32)
    options = "ConcatenationOptions"
    attributes = ConcatenationAttributes
    inputs = (1, MANY_INPUTS)
    requirements = (common.activation_type, common.one_type, common.quantized_operands, axis, output_shape)
    rules = (no_activation, same_quantization, image_count)

    def read_attributes(self, options: Any, inputs: Sequence[Tensor | None]) -> ConcatenationAttributes:
        return ConcatenationAttributes(options.Axis(), common.read_activation(options.FusedActivationFunction()))

    def lower(self, graph: Graph, op: Op) -> tuple[Work, ...]:
        output = output_tensor(graph, op)
        shape, item = output.shape, output.dtype.bytes
        along = op.attributes.axis % len(shape)
        rows = rows_of(output)
        leading = leading_axes(shape, rows)
        if along < leading and prod(shape[:along]) > 1:
            # Each image receives a piece: an image is a row then.
            leading = along
            rows = Rows(prod(shape[:along]), prod(shape[along:]) * item, 1)
        kernel = K_CONCATENATION_S8 if output.dtype is DType.S8 else K_CONCATENATION_F32
        works, position = [], 0
        for number, tensor in enumerate(input_tensor(graph, op, i) for i in range(len(op.inputs))):
            size = tensor.shape[along]
            params: dict[str, Value | Constant | None]
            if along < leading:
                step = prod(shape[along + 1 : leading])
                first, count = position * step, size * step
                params = _place(count, rows.count, first, 1, rows.bytes, rows.bytes, 0)
                seen, band_map = Rows(count, rows.bytes, count), Window(1, 1, first, count, rows.count)
            else:
                first, count = 0, rows.count
                inner = prod(shape[along + 1 :]) * item
                blocks = prod(shape[leading:along])
                block, out_block = size * inner, shape[along] * inner
                params = _place(count, count, 0, blocks, block, out_block, position * inner)
                seen, band_map = Rows(count, blocks * block, rows.per_image), same_rows(count)
            works.append(
                Work(
                    kernel=kernel,
                    params=params,
                    output=operand(graph, op.outputs[0], rows),
                    inputs=(operand(graph, op.inputs[number], seen),),
                    maps=(band_map,),
                    source=op.source,
                    first_row=first,
                    row_count=count,
                )
            )
            position += size
        return tuple(works)


def _place(*values: int) -> dict[str, Value | Constant | None]:
    return dict(zip((f.name for f in CONCATENATION.fields), values, strict=True))
