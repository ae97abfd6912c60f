"""CONV_2D and DEPTHWISE_CONV_2D."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tigris_codegen.ir.graph import DType, Graph, Op, Tensor
from tigris_codegen.numerics import (
    Activation,
    convolution_multipliers,
    float_activation_range,
    int8_activation_range,
)
from tigris_codegen.ops import rules as common
from tigris_codegen.ops.geometry import (
    Axis,
    Plane,
    input_tensor,
    int32_constant,
    operand,
    optional_input,
    output_tensor,
    plane,
    same_padding,
    tensor_constant,
)
from tigris_codegen.ops.spec import Constant, Kernel, OpSpec, Rule, Work
from tigris_codegen.plan.fields import Field, Struct, Value

#: Parameters that all four kernels share, then those of each element type.
_GEOMETRY = (
    Field("in_h", "u16", "input height (the band axis)"),
    Field("in_w", "u16", "input width"),
    Field("in_c", "u16", "input channels"),
    Field("out_h", "u16", "output height"),
    Field("out_w", "u16", "output width"),
    Field("out_c", "u16", "output channels"),
    Field("kernel_h", "u16", "filter height"),
    Field("kernel_w", "u16", "filter width"),
    Field("stride_h", "u16", "vertical stride"),
    Field("stride_w", "u16", "horizontal stride"),
    Field("dilation_h", "u16", "vertical dilation"),
    Field("dilation_w", "u16", "horizontal dilation"),
    Field("pad_top", "u16", "implicit rows above the input"),
    Field("pad_left", "u16", "implicit columns left of the input"),
)
_INT8 = (
    Field("weights", "const", "int8 weights"),
    Field("bias", "const", "int32 per output channel; absent = 0"),
    Field("quantization", "const", "out_c int32 multipliers, then out_c int32 shifts"),
    Field("input_offset", "i16", "added to each input value; 0 where it is folded into the bias"),
    Field("output_offset", "i16", "added to each output value"),
    Field("act_min", "i8", "smallest output value"),
    Field("act_max", "i8", "largest output value"),
    Field("reserved", "u16", "0"),
)
_FLOAT = (
    Field("weights", "const", "float weights"),
    Field("bias", "const", "float per output channel; absent = 0"),
    Field("act_min", "f32", "smallest output value"),
    Field("act_max", "f32", "largest output value"),
)

CONV_2D_S8 = Struct(
    "conv_2d_s8_params",
    "CONV_2D, int8: weights [out_c, kernel_h, kernel_w, in_c].",
    (*_GEOMETRY, *_INT8),
)
CONV_2D_F32 = Struct(
    "conv_2d_f32_params",
    "CONV_2D, float: weights [out_c, kernel_h, kernel_w, in_c].",
    (*_GEOMETRY, *_FLOAT),
)
DEPTHWISE_CONV_2D_S8 = Struct(
    "depthwise_conv_2d_s8_params",
    "DEPTHWISE_CONV_2D, int8: weights [kernel_h, kernel_w, out_c]; out_c is a multiple of in_c.",
    (*_GEOMETRY, *_INT8),
)
DEPTHWISE_CONV_2D_F32 = Struct(
    "depthwise_conv_2d_f32_params",
    "DEPTHWISE_CONV_2D, float: weights [kernel_h, kernel_w, out_c]; out_c is a multiple of in_c.",
    (*_GEOMETRY, *_FLOAT),
)

K_CONV_2D_S8 = Kernel(1, "conv_2d_s8", CONV_2D_S8, "window", "2-D convolution, int8")
K_CONV_2D_F32 = Kernel(2, "conv_2d_f32", CONV_2D_F32, "window", "2-D convolution, float")
K_DEPTHWISE_CONV_2D_S8 = Kernel(
    3, "depthwise_conv_2d_s8", DEPTHWISE_CONV_2D_S8, "window", "depthwise 2-D convolution, int8"
)
K_DEPTHWISE_CONV_2D_F32 = Kernel(
    4, "depthwise_conv_2d_f32", DEPTHWISE_CONV_2D_F32, "window", "depthwise 2-D convolution, float"
)


@dataclass(frozen=True)
class ConvAttributes:
    """Padding is explicit: positions added on each side of the input; -1 where the file's scheme is unknown."""

    stride_h: int
    stride_w: int
    dilation_h: int
    dilation_w: int
    pad_top: int
    pad_left: int
    pad_bottom: int
    pad_right: int
    activation: Activation


@dataclass(frozen=True)
class DepthwiseConvAttributes(ConvAttributes):
    """`depth_multiplier` output channels per input channel."""

    depth_multiplier: int


SAME, VALID = 0, 1  # padding schemes of the TFLite schema


def explicit_padding(
    scheme: int, sizes: tuple[int, int], kernel: tuple[int, int], stride: tuple[int, int], dilation: tuple[int, int]
) -> tuple[int, int, int, int]:
    """Top, left, bottom and right padding of a scheme; -1 for one that the schema does not have."""
    if scheme == VALID:
        return 0, 0, 0, 0
    if scheme != SAME or min(stride) < 1 or min(dilation) < 1:
        return -1, -1, -1, -1
    extents = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    (top, bottom), (left, right) = (
        same_padding(size, extent, step) for size, extent, step in zip(sizes, extents, stride, strict=True)
    )
    return top, left, bottom, right


def image_rank(graph: Graph, op: Op) -> str | None:
    """an input, weights or output that is not four-dimensional"""
    tensors = (input_tensor(graph, op, 0), input_tensor(graph, op, 1), output_tensor(graph, op))
    wrong = next((t for t in tensors if len(t.shape) != 4), None)
    return f": {wrong.name!r} is {common.shape_text(wrong.shape)}" if wrong else None


def stride(graph: Graph, op: Op) -> str | None:
    """a stride or dilation below 1"""
    a: ConvAttributes = op.attributes
    return "" if min(a.stride_h, a.stride_w, a.dilation_h, a.dilation_w) < 1 else None


def padding(graph: Graph, op: Op) -> str | None:
    """a padding scheme other than SAME and VALID"""
    return "" if op.attributes.pad_top < 0 else None


def batch(graph: Graph, op: Op) -> str | None:
    """an input and an output with different batch sizes"""
    images, results = input_tensor(graph, op, 0).shape[0], output_tensor(graph, op).shape[0]
    return None if images == results else f": {images} and {results}"


def output_shape(graph: Graph, op: Op) -> str | None:
    """an output height or width that the input, stride and padding do not give"""
    image = conv_plane(graph, op)
    return common.axis_output("height", image.vertical) or common.axis_output("width", image.horizontal)


def _conv_axes(graph: Graph, op: Op) -> tuple[int, Axis, Axis]:
    a: ConvAttributes = op.attributes
    images, in_h, in_w, _ = input_tensor(graph, op, 0).shape
    _, kernel_h, kernel_w, _ = input_tensor(graph, op, 1).shape
    _, out_h, out_w, _ = output_tensor(graph, op).shape
    vertical = Axis(in_h, out_h, kernel_h, a.stride_h, a.dilation_h, a.pad_top, a.pad_bottom)
    horizontal = Axis(in_w, out_w, kernel_w, a.stride_w, a.dilation_w, a.pad_left, a.pad_right)
    return images, vertical, horizontal


def conv_plane(graph: Graph, op: Op) -> Plane:
    """Height and width as the file has them."""
    return Plane(*_conv_axes(graph, op))


def size(graph: Graph, op: Op) -> str | None:
    """a dimension, or the rows of all images, above 65535; or a stride, dilation or padding above 32767"""
    channels = (input_tensor(graph, op, 0).shape[3], output_tensor(graph, op).shape[3])
    return common.plane_fault(conv_plane(graph, op), channels)


class _Convolution(OpSpec):
    """What both convolutions share."""

    inputs = (2, 3)
    optional = 2
    common_requirements: ClassVar[tuple[Rule, ...]] = (
        common.hybrid,
        common.activation_type,
        common.same_type,
        common.weights_type,
        common.weights_constant,
        image_rank,
        stride,
        padding,
        common.quantized_streams,
    )
    common_rules: ClassVar[tuple[Rule, ...]] = (
        common.fused_activation,
        common.product_ratio,
        batch,
        output_shape,
        size,
    )

    @abstractmethod
    def fold_sums(self, weights: NDArray[np.int64]) -> NDArray[np.int64]:
        """The sum of all weights of each output channel."""

    @abstractmethod
    def macs_per_output(self, weights: Tensor) -> int:
        """Multiplications behind one output element."""

    def lower(self, graph: Graph, op: Op) -> tuple[Work, ...]:
        data, weights, bias = input_tensor(graph, op, 0), input_tensor(graph, op, 1), optional_input(graph, op, 2)
        output = output_tensor(graph, op)
        a: ConvAttributes = op.attributes
        images, vertical, horizontal = _conv_axes(graph, op)
        image = plane(images, vertical, horizontal)
        in_c, out_c, item = data.shape[3], output.shape[3], data.dtype.bytes
        params: dict[str, Value | Constant | None] = {
            **image.params(),
            "in_c": in_c,
            "out_c": out_c,
            "dilation_h": image.vertical.dilation,
            "dilation_w": image.horizontal.dilation,
            "weights": tensor_constant(weights),
        }
        if data.dtype is DType.S8:
            kernel = self.kernels[0]
            params |= self._quantized(data, weights, bias, output, a.activation, vertical, horizontal)
        else:
            kernel = self.kernels[1]
            low, high = float_activation_range(a.activation)
            params |= {"bias": tensor_constant(bias), "act_min": low, "act_max": high}
        rows = image.output_rows(out_c, item)
        return (
            Work(
                kernel=kernel,
                params=params,
                output=operand(graph, op.outputs[0], rows),
                inputs=(operand(graph, op.inputs[0], image.input_rows(in_c, item)),),
                maps=(image.vertical.window,),
                source=op.source,
                first_row=0,
                row_count=rows.count,
                macs=output.elements * self.macs_per_output(weights),
            ),
        )

    def _quantized(
        self,
        data: Tensor,
        weights: Tensor,
        bias: Tensor | None,
        output: Tensor,
        activation: Activation,
        vertical: Axis,
        horizontal: Axis,
    ) -> dict[str, Value | Constant | None]:
        assert data.quantization and weights.quantization and output.quantization
        out_c = output.shape[3]
        scales = weights.quantization.scales
        factors = convolution_multipliers(
            data.quantization.scale, scales if len(scales) > 1 else scales * out_c, output.quantization.scale
        )
        offset = -data.quantization.zero_point
        bias_constant = tensor_constant(bias)
        if offset and not (vertical.reads_padding or horizontal.reads_padding):
            sums = self.fold_sums(weights.array().astype(np.int64)) * offset
            if bias is not None:
                sums = sums + bias.array().reshape(-1)
            bias_constant, offset = int32_constant(sums), 0
        low, high = int8_activation_range(activation, output.quantization.scale, output.quantization.zero_point)
        return {
            "bias": bias_constant,
            "quantization": int32_constant([f.value for f in factors] + [f.shift for f in factors]),
            "input_offset": offset,
            "output_offset": output.quantization.zero_point,
            "act_min": low,
            "act_max": high,
            "reserved": 0,
        }


def channels(graph: Graph, op: Op) -> str | None:
    """channels of input, weights and output that do not match (grouped convolution included)"""
    weights = input_tensor(graph, op, 1).shape
    in_c, out_c = input_tensor(graph, op, 0).shape[3], output_tensor(graph, op).shape[3]
    if (weights[3], weights[0]) == (in_c, out_c):
        return None
    return f": weights {common.shape_text(weights)}, {in_c} input and {out_c} output channels"


def weights_quantization(graph: Graph, op: Op) -> str | None:
    """int8 weights without one scale, or one per output channel, and zero points of 0"""
    return common.weights_quantization(3 if op.kind == DepthwiseConv2D.kind else 0, graph, op)


def bias(graph: Graph, op: Op) -> str | None:
    """a bias other than one int32 (in a float operator float32) per output channel"""
    return common.bias_form(output_tensor(graph, op).shape[3], graph, op)


class Conv2D(_Convolution):
    kind = "CONV_2D"
    doc = "2-D convolution: strides, dilations, SAME and VALID padding, RELU or RELU6 behind it."
    kernels = (K_CONV_2D_S8, K_CONV_2D_F32)
    options = "Conv2DOptions"
    attributes = ConvAttributes
    requirements = (*_Convolution.common_requirements, weights_quantization)
    rules = (*_Convolution.common_rules, channels, bias)

    def read_attributes(self, options: Any, inputs: Sequence[Tensor | None]) -> ConvAttributes:
        strides = options.StrideH(), options.StrideW()
        dilations = options.DilationHFactor(), options.DilationWFactor()
        pads = _read_padding(options.Padding(), inputs, strides, dilations)
        return ConvAttributes(*strides, *dilations, *pads, common.read_activation(options.FusedActivationFunction()))

    def fold_sums(self, weights: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.asarray(weights.sum(axis=(1, 2, 3)))

    def macs_per_output(self, weights: Tensor) -> int:
        return weights.elements // weights.shape[0]


def _read_padding(
    scheme: int, inputs: Sequence[Tensor | None], strides: tuple[int, int], dilations: tuple[int, int]
) -> tuple[int, int, int, int]:
    shapes = [t.shape for t in inputs[:2] if t is not None and len(t.shape) == 4]
    if len(shapes) < 2:
        return 0, 0, 0, 0
    (_, in_h, in_w, _), (_, kernel_h, kernel_w, _) = shapes
    return explicit_padding(scheme, (in_h, in_w), (kernel_h, kernel_w), strides, dilations)


def depth_multiplier(graph: Graph, op: Op) -> str | None:
    """channels of input, weights and output that the depth multiplier does not connect"""
    weights = input_tensor(graph, op, 1).shape
    in_c, out_c = input_tensor(graph, op, 0).shape[3], output_tensor(graph, op).shape[3]
    multiplier = op.attributes.depth_multiplier
    if weights[0] == 1 and weights[3] == out_c == in_c * multiplier:
        return None
    channels = f"{in_c} input and {out_c} output channels"
    return f": weights {common.shape_text(weights)}, {channels}, depth multiplier {multiplier}"


class DepthwiseConv2D(_Convolution):
    kind = "DEPTHWISE_CONV_2D"
    doc = "Depthwise 2-D convolution with any depth multiplier."
    kernels = (K_DEPTHWISE_CONV_2D_S8, K_DEPTHWISE_CONV_2D_F32)
    options = "DepthwiseConv2DOptions"
    attributes = DepthwiseConvAttributes
    requirements = (*_Convolution.common_requirements, weights_quantization)
    rules = (*_Convolution.common_rules, depth_multiplier, bias)

    def read_attributes(self, options: Any, inputs: Sequence[Tensor | None]) -> DepthwiseConvAttributes:
        strides = options.StrideH(), options.StrideW()
        dilations = options.DilationHFactor(), options.DilationWFactor()
        pads = _read_padding(options.Padding(), inputs, strides, dilations)
        activation = common.read_activation(options.FusedActivationFunction())
        return DepthwiseConvAttributes(*strides, *dilations, *pads, activation, options.DepthMultiplier())

    def fold_sums(self, weights: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.asarray(weights.sum(axis=(0, 1, 2)))

    def macs_per_output(self, weights: Tensor) -> int:
        return weights.shape[1] * weights.shape[2]
