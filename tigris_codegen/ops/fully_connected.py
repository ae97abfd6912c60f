"""FULLY_CONNECTED."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tigris_codegen.ir.graph import DType, Graph, Op, Tensor
from tigris_codegen.ir.rows import rows_of
from tigris_codegen.numerics import (
    Activation,
    bias_scale_fits,
    convolution_multipliers,
    float_activation_range,
    int8_activation_range,
    matrix_multiplier,
)
from tigris_codegen.ops import rules as common
from tigris_codegen.ops.geometry import (
    base_rows,
    element_map,
    input_tensor,
    int32_constant,
    operand,
    optional_input,
    output_tensor,
    tensor_constant,
)
from tigris_codegen.ops.spec import Constant, Kernel, OpSpec, Work
from tigris_codegen.plan.fields import Field, Struct, Value

FULLY_CONNECTED_S8 = Struct(
    "fully_connected_s8_params",
    "FULLY_CONNECTED, int8: weights [out_features, in_features]; the bias holds the input zero point already.",
    (
        Field("positions", "u32", "vectors multiplied (batch and leading dimensions)"),
        Field("in_features", "u32", "elements of an input vector"),
        Field("out_features", "u32", "elements of an output vector"),
        Field("weights", "const", "int8 weights"),
        Field("bias", "const", "int32 per output feature; absent = 0"),
        Field("quantization", "const", "multipliers, then shifts: int32, one per channel or one each"),
        Field("output_offset", "i16", "added to each output value"),
        Field("act_min", "i8", "smallest output value"),
        Field("act_max", "i8", "largest output value"),
        Field("per_channel", "u16", "1: out_features multipliers and shifts, 0: one of each"),
        Field("reserved", "u16", "0"),
    ),
)

FULLY_CONNECTED_F32 = Struct(
    "fully_connected_f32_params",
    "FULLY_CONNECTED, float: weights [out_features, in_features].",
    (
        Field("positions", "u32", "vectors multiplied (batch and leading dimensions)"),
        Field("in_features", "u32", "elements of an input vector"),
        Field("out_features", "u32", "elements of an output vector"),
        Field("weights", "const", "float weights"),
        Field("bias", "const", "float per output channel; absent = 0"),
        Field("act_min", "f32", "smallest output value"),
        Field("act_max", "f32", "largest output value"),
    ),
)

K_FULLY_CONNECTED_S8 = Kernel(5, "fully_connected_s8", FULLY_CONNECTED_S8, "matrix", "matrix product, int8")
K_FULLY_CONNECTED_F32 = Kernel(6, "fully_connected_f32", FULLY_CONNECTED_F32, "matrix", "matrix product, float")


@dataclass(frozen=True)
class FullyConnectedAttributes:
    """`default_weights`: weights in plain row-major order."""

    activation: Activation
    default_weights: bool


def weights_rank(graph: Graph, op: Op) -> str | None:
    """weights that are not two-dimensional"""
    shape = input_tensor(graph, op, 1).shape
    return None if len(shape) == 2 else f": {common.shape_text(shape)}"


def weights_format(graph: Graph, op: Op) -> str | None:
    """shuffled weights"""
    return None if op.attributes.default_weights else ""


def output_shape(graph: Graph, op: Op) -> str | None:
    """an output that does not hold one vector of output features per input vector"""
    data, output = input_tensor(graph, op, 0), output_tensor(graph, op)
    out_features, in_features = input_tensor(graph, op, 1).shape
    positions, left = divmod(data.elements, in_features)
    if not left and output.shape[-1:] == (out_features,) and output.elements == positions * out_features:
        return None
    shapes = (common.shape_text(t.shape) for t in (data, input_tensor(graph, op, 1), output))
    return ": input {}, weights {}, output {}".format(*shapes)


def weights_quantization(graph: Graph, op: Op) -> str | None:
    """int8 weights without one scale, or one per output feature, and zero points of 0"""
    return common.weights_quantization(0, graph, op)


def bias(graph: Graph, op: Op) -> str | None:
    """a bias other than one int32 (in a float operator float32) per output feature"""
    return common.bias_form(input_tensor(graph, op, 1).shape[0], graph, op)


def bias_scale(graph: Graph, op: Op) -> str | None:
    """a bias scale that is not the product of the input's and the weights' scales"""
    data, weights = input_tensor(graph, op, 0).quantization, input_tensor(graph, op, 1).quantization
    vector, output = optional_input(graph, op, 2), output_tensor(graph, op).quantization
    if not (data and weights and output and vector) or len(weights.scales) > 1:
        return None
    scale = vector.quantization.scale if vector.quantization else 0.0
    fits = output.scale > 0 and bias_scale_fits(data.scale, weights.scale, scale, output.scale)
    return None if fits else f": {scale:g}, not {data.scale * weights.scale:g}"


class FullyConnected(OpSpec):
    kind = "FULLY_CONNECTED"
    doc = "Matrix product over the last axis, any leading shape, weights quantized per tensor or per output feature."
    kernels = (K_FULLY_CONNECTED_S8, K_FULLY_CONNECTED_F32)
    options = "FullyConnectedOptions"
    attributes = FullyConnectedAttributes
    inputs = (2, 3)
    optional = 2
    requirements = (
        common.hybrid,
        common.activation_type,
        common.same_type,
        common.weights_type,
        common.weights_constant,
        weights_rank,
        common.quantized_streams,
        weights_quantization,
    )
    rules = (
        common.fused_activation,
        weights_format,
        common.product_ratio,
        output_shape,
        bias,
        bias_scale,
    )

    def read_attributes(self, options: Any, inputs: Sequence[Tensor | None]) -> FullyConnectedAttributes:
        activation = common.read_activation(options.FusedActivationFunction())
        return FullyConnectedAttributes(activation, options.WeightsFormat() == 0)

    def lower(self, graph: Graph, op: Op) -> tuple[Work, ...]:
        data, weights, vector = (input_tensor(graph, op, 0), input_tensor(graph, op, 1), optional_input(graph, op, 2))
        output = output_tensor(graph, op)
        out_features, in_features = weights.shape
        positions = data.elements // in_features
        params: dict[str, Value | Constant | None] = {
            "positions": positions,
            "in_features": in_features,
            "out_features": out_features,
            "weights": tensor_constant(weights),
        }
        if data.dtype is DType.S8:
            kernel = K_FULLY_CONNECTED_S8
            params |= _quantized(data, weights, vector, output, op.attributes.activation)
        else:
            kernel = K_FULLY_CONNECTED_F32
            low, high = float_activation_range(op.attributes.activation)
            params |= {"bias": tensor_constant(vector), "act_min": low, "act_max": high}
        item = data.dtype.bytes
        in_rows, out_rows = base_rows(graph, op.inputs[0]), rows_of(output)
        parts = positions == 1 and in_rows.count > 1
        return (
            Work(
                kernel=kernel,
                params=params,
                output=operand(graph, op.outputs[0], out_rows),
                inputs=(operand(graph, op.inputs[0], in_rows),),
                maps=(element_map(in_rows, in_features * item, out_rows, out_features * item),),
                source=op.source,
                first_row=0,
                row_count=out_rows.count,
                parts=parts,
                accumulator_bytes=4 * output.elements if parts else 0,
                macs=output.elements * in_features,
            ),
        )


def _quantized(
    data: Tensor, weights: Tensor, vector: Tensor | None, output: Tensor, activation: Activation
) -> dict[str, Value | Constant | None]:
    """Parameters of the int8 kernel; the input zero point is part of the bias."""
    assert data.quantization and weights.quantization and output.quantization
    input_scale, output_scale = data.quantization.scale, output.quantization.scale
    scales = weights.quantization.scales
    if len(scales) > 1:
        factors = convolution_multipliers(input_scale, scales, output_scale)
    else:
        factors = [matrix_multiplier(input_scale, scales[0], output_scale)]
    folded = tensor_constant(vector)
    if data.quantization.zero_point:
        sums = weights.array().astype(np.int64).sum(axis=1) * -data.quantization.zero_point
        folded = int32_constant(sums if vector is None else sums + vector.array().reshape(-1))
    low, high = int8_activation_range(activation, output_scale, output.quantization.zero_point)
    return {
        "bias": folded,
        "quantization": int32_constant([f.value for f in factors] + [f.shift for f in factors]),
        "output_offset": output.quantization.zero_point,
        "act_min": low,
        "act_max": high,
        "per_channel": int(len(scales) > 1),
        "reserved": 0,
    }
