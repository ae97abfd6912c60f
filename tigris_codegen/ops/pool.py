"""AVERAGE_POOL_2D and MAX_POOL_2D."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tigris_codegen.ir.graph import DType, Graph, Op, Tensor
from tigris_codegen.numerics import Activation, float_activation_range, int8_activation_range
from tigris_codegen.ops import rules as common
from tigris_codegen.ops.conv import batch, explicit_padding, padding
from tigris_codegen.ops.geometry import Axis, Plane, base_rows, input_tensor, operand, output_tensor, plane
from tigris_codegen.ops.spec import Constant, Kernel, OpSpec, Work
from tigris_codegen.plan.fields import Field, Struct, Value

POOL_2D_S8 = Struct(
    "pool_2d_s8_params",
    "AVERAGE_POOL_2D and MAX_POOL_2D, int8.",
    (
        Field("in_h", "u16", "input height (the band axis)"),
        Field("in_w", "u16", "input width"),
        Field("channels", "u16", "channels"),
        Field("out_h", "u16", "output height"),
        Field("out_w", "u16", "output width"),
        Field("kernel_h", "u16", "window height"),
        Field("kernel_w", "u16", "window width"),
        Field("stride_h", "u16", "vertical stride"),
        Field("stride_w", "u16", "horizontal stride"),
        Field("pad_top", "u16", "implicit rows above the input"),
        Field("pad_left", "u16", "implicit columns left of the input"),
        Field("act_min", "i8", "smallest output value"),
        Field("act_max", "i8", "largest output value"),
    ),
)

POOL_2D_F32 = Struct(
    "pool_2d_f32_params",
    "AVERAGE_POOL_2D and MAX_POOL_2D, float.",
    (
        Field("in_h", "u16", "input height (the band axis)"),
        Field("in_w", "u16", "input width"),
        Field("channels", "u16", "channels"),
        Field("out_h", "u16", "output height"),
        Field("out_w", "u16", "output width"),
        Field("kernel_h", "u16", "window height"),
        Field("kernel_w", "u16", "window width"),
        Field("stride_h", "u16", "vertical stride"),
        Field("stride_w", "u16", "horizontal stride"),
        Field("pad_top", "u16", "implicit rows above the input"),
        Field("pad_left", "u16", "implicit columns left of the input"),
        Field("reserved", "u16", "0"),
        Field("act_min", "f32", "smallest output value"),
        Field("act_max", "f32", "largest output value"),
    ),
)

K_AVERAGE_POOL_2D_S8 = Kernel(7, "average_pool_2d_s8", POOL_2D_S8, "pool", "average pooling, int8")
K_AVERAGE_POOL_2D_F32 = Kernel(8, "average_pool_2d_f32", POOL_2D_F32, "pool", "average pooling, float")
K_MAX_POOL_2D_S8 = Kernel(9, "max_pool_2d_s8", POOL_2D_S8, "pool", "maximum pooling, int8")
K_MAX_POOL_2D_F32 = Kernel(10, "max_pool_2d_f32", POOL_2D_F32, "pool", "maximum pooling, float")


@dataclass(frozen=True)
class PoolAttributes:
    """Padding is explicit, as in convolutions."""

    kernel_h: int
    kernel_w: int
    stride_h: int
    stride_w: int
    pad_top: int
    pad_left: int
    pad_bottom: int
    pad_right: int
    activation: Activation


def image_rank(graph: Graph, op: Op) -> str | None:
    """an input or output that is not four-dimensional"""
    wrong = next((t for t in common.operands(graph, op) if len(t.shape) != 4), None)
    return f": {wrong.name!r} is {common.shape_text(wrong.shape)}" if wrong else None


def window(graph: Graph, op: Op) -> str | None:
    """a window size or stride below 1"""
    a: PoolAttributes = op.attributes
    return "" if min(a.kernel_h, a.kernel_w, a.stride_h, a.stride_w) < 1 else None


def channels(graph: Graph, op: Op) -> str | None:
    """an input and an output with different channel counts"""
    wanted, found = input_tensor(graph, op, 0).shape[3], output_tensor(graph, op).shape[3]
    return None if wanted == found else f": {wanted} and {found}"


def output_shape(graph: Graph, op: Op) -> str | None:
    """an output height or width that the input, stride and padding do not give"""
    image = Plane(*_pool_axes(graph, op))
    return common.axis_output("height", image.vertical) or common.axis_output("width", image.horizontal)


def outside(graph: Graph, op: Op) -> str | None:
    """a window that lies in the padding altogether"""
    _, vertical, horizontal = _pool_axes(graph, op)
    return "" if vertical.misses_input or horizontal.misses_input else None


def size(graph: Graph, op: Op) -> str | None:
    """a dimension, or the rows of all images, above 65535; or a stride, dilation or padding above 32767"""
    return common.plane_fault(Plane(*_pool_axes(graph, op)), (input_tensor(graph, op, 0).shape[3],))


def same_quantization(graph: Graph, op: Op) -> str | None:
    """an int8 input and output with different scales or zero points"""
    a, b = input_tensor(graph, op, 0).quantization, output_tensor(graph, op).quantization
    if input_tensor(graph, op, 0).dtype is not DType.S8 or a is None or b is None:
        return None
    difference = abs(float(np.float32(a.scale) - np.float32(b.scale)))
    return None if difference <= 1.0e-6 and a.zero_point == b.zero_point else ""


def _pool_axes(graph: Graph, op: Op) -> tuple[int, Axis, Axis]:
    a: PoolAttributes = op.attributes
    images, in_h, in_w, _ = input_tensor(graph, op, 0).shape
    _, out_h, out_w, _ = output_tensor(graph, op).shape
    vertical = Axis(in_h, out_h, a.kernel_h, a.stride_h, 1, a.pad_top, a.pad_bottom)
    return images, vertical, Axis(in_w, out_w, a.kernel_w, a.stride_w, 1, a.pad_left, a.pad_right)


class _Pool(OpSpec):
    """What both pools share."""

    options = "Pool2DOptions"
    attributes = PoolAttributes
    requirements = (common.activation_type, common.same_type, image_rank, window, padding, common.quantized_streams)
    rules = (
        common.fused_activation,
        same_quantization,
        batch,
        channels,
        output_shape,
        outside,
        size,
    )

    def read_attributes(self, options: Any, inputs: Sequence[Tensor | None]) -> PoolAttributes:
        kernel = options.FilterHeight(), options.FilterWidth()
        stride = options.StrideH(), options.StrideW()
        shape = inputs[0].shape if inputs and inputs[0] is not None else ()
        pads = (0, 0, 0, 0)
        if len(shape) == 4:
            pads = explicit_padding(options.Padding(), (shape[1], shape[2]), kernel, stride, (1, 1))
        return PoolAttributes(*kernel, *stride, *pads, common.read_activation(options.FusedActivationFunction()))

    def lower(self, graph: Graph, op: Op) -> tuple[Work, ...]:
        data, output = input_tensor(graph, op, 0), output_tensor(graph, op)
        image = plane(*_pool_axes(graph, op))
        depth, item = data.shape[3], data.dtype.bytes
        params: dict[str, Value | Constant | None] = {**image.params(), "channels": depth}
        if data.dtype is DType.S8:
            assert output.quantization
            q = output.quantization
            kernel = self.kernels[0]
            low, high = int8_activation_range(op.attributes.activation, q.scale, q.zero_point)
            params |= {"act_min": low, "act_max": high}
        else:
            kernel = self.kernels[1]
            float_low, float_high = float_activation_range(op.attributes.activation)
            params |= {"act_min": float_low, "act_max": float_high, "reserved": 0}
        in_rows, out_rows = image.input_rows(depth, item), image.output_rows(depth, item)
        parts = out_rows.count == 1 and in_rows.count > 1 and base_rows(graph, op.inputs[0]).bytes == in_rows.bytes
        return (
            Work(
                kernel=kernel,
                params=params,
                output=operand(graph, op.outputs[0], out_rows),
                inputs=(operand(graph, op.inputs[0], in_rows),),
                maps=(image.vertical.window,),
                source=op.source,
                first_row=0,
                row_count=out_rows.count,
                parts=parts,
                accumulator_bytes=4 * output.elements if parts else 0,
            ),
        )


class AveragePool2D(_Pool):
    kind = "AVERAGE_POOL_2D"
    doc = "Average over a window; padding does not count."
    kernels = (K_AVERAGE_POOL_2D_S8, K_AVERAGE_POOL_2D_F32)


class MaxPool2D(_Pool):
    kind = "MAX_POOL_2D"
    doc = "Maximum over a window."
    kernels = (K_MAX_POOL_2D_S8, K_MAX_POOL_2D_F32)
