"""Operators with plausible weights and quantization, one function each: what the cases are built from.

Every function adds one operator to the model and returns its output. int8 or float follows from the input. Weight
scales are chosen so that results spread over some +-8 whatever the depth of the sum, and output scales so that int8
covers about that: outputs then use their whole range instead of sticking to its ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt

import numpy as np
import tflite
from numpy.typing import NDArray

from tests.corpus.writer import ModelWriter, OptionValue, Quantization, Tensor

INPUT_SCALE = 0.05
OUTPUT_SCALE = 0.06
SPREAD = 3.0  # standard deviation aimed at for sums
BYTE_DEVIATION = 73.9  # standard deviation of a uniform int8
UNIT_INTERVAL = Quantization((1 / 256,), (-128,))  # the output that SOFTMAX and LOGISTIC prescribe
Pair = tuple[int, int]


def quantized(scale: float = INPUT_SCALE, zero_point: int = 3) -> Quantization:
    """One scale and zero point for a tensor."""
    return Quantization((scale,), (zero_point,))


def activation_input(
    m: ModelWriter,
    shape: Sequence[int],
    dtype: str,
    *,
    scale: float = INPUT_SCALE,
    zero_point: int = 3,
    name: str = "x",
) -> Tensor:
    """A model input."""
    return m.tensor(name, shape, dtype, None if dtype == "float32" else quantized(scale, zero_point))


def constant(
    m: ModelWriter,
    shape: Sequence[int],
    dtype: str,
    *,
    scale: float = INPUT_SCALE,
    zero_point: int = 3,
    name: str = "constant",
) -> Tensor:
    """A constant operand with random values."""
    if dtype == "float32":
        return m.tensor(name, shape, dtype, None, m.random.uniform(-2, 2, shape).astype(np.float32).reshape(shape))
    data = m.random.randint(-128, 128, shape).astype(np.int8).reshape(shape)
    return m.tensor(name, shape, dtype, quantized(scale, zero_point), data)


def _integers(m: ModelWriter, name: str, values: Sequence[int], shape: Sequence[int] | None = None) -> Tensor:
    data: NDArray[np.int32] = np.array(values, np.int32).reshape(len(values) if shape is None else tuple(shape))
    return m.tensor(name, data.shape, "int32", None, data)


def _output(
    m: ModelWriter, x: Tensor, shape: Sequence[int], scale: float | None = None, zero_point: int | None = None
) -> Tensor:
    """The output of an operator: quantized like `x` but for what is given."""
    if x.quantization is None:
        return m.tensor("y", shape, x.dtype)
    scale = x.quantization.scale if scale is None else scale
    zero_point = x.quantization.zero_point if zero_point is None else zero_point
    return m.tensor("y", shape, x.dtype, quantized(scale, zero_point))


def _activation(name: str) -> int:
    return int(getattr(tflite.ActivationFunctionType, name))


def _padding(name: str) -> int:
    return int(getattr(tflite.Padding, name))


def window_outputs(size: int, kernel: int, stride: int, dilation: int, padding: str) -> int:
    """Positions of a window along one axis."""
    extent = (kernel - 1) * dilation + 1
    return -(-size // stride) if padding == "SAME" else (size - extent) // stride + 1


def _weights(
    m: ModelWriter, x: Tensor, shape: Sequence[int], depth: int, axis: int, bias: bool, per_channel: bool, limit: int
) -> tuple[Tensor, Tensor | None]:
    """Weights whose sums have `depth` terms, integers from -`limit` to `limit`, and the bias."""
    channels = shape[axis]
    if x.quantization is None:
        end = SPREAD / sqrt(depth)
        weights = m.tensor("weights", shape, x.dtype, None, m.random.uniform(-end, end, shape).astype(np.float32))
        if not bias:
            return weights, None
        return weights, m.tensor(
            "bias", (channels,), x.dtype, None, m.random.uniform(-1, 1, channels).astype(np.float32)
        )
    typical = SPREAD / (sqrt(depth) * x.quantization.scale * BYTE_DEVIATION**2)
    factors = m.random.uniform(0.3, 1.5, channels) if per_channel else np.ones(1)
    scales = tuple(float(np.float32(typical * f)) for f in factors)
    quantization = Quantization(scales, (0,) * len(scales), axis)
    weights = m.tensor(
        "weights", shape, "int8", quantization, m.random.randint(-limit, limit + 1, shape).astype(np.int8)
    )
    if not bias:
        return weights, None
    products = tuple(float(np.float32(x.quantization.scale * s)) for s in scales)
    values = m.random.uniform(-2, 2, channels) / np.array(products)
    quantization = Quantization(products, (0,) * len(products))
    return weights, m.tensor("bias", (channels,), "int32", quantization, values.astype(np.int32))


def conv_2d(
    m: ModelWriter,
    x: Tensor,
    channels: int,
    kernel: Pair,
    *,
    stride: Pair = (1, 1),
    dilation: Pair = (1, 1),
    padding: str = "SAME",
    activation: str = "NONE",
    bias: bool = True,
    per_channel: bool = True,
    weight_limit: int = 127,
    scale: float = OUTPUT_SCALE,
    zero_point: int = -5,
) -> Tensor:
    """CONV_2D. Without a bias it has two inputs."""
    depth = kernel[0] * kernel[1] * x.shape[3]
    weights, bias_tensor = _weights(m, x, (channels, *kernel, x.shape[3]), depth, 0, bias, per_channel, weight_limit)
    high, wide = (window_outputs(x.shape[1 + i], kernel[i], stride[i], dilation[i], padding) for i in range(2))
    y = _output(m, x, (x.shape[0], high, wide, channels), scale, zero_point)
    options: dict[str, OptionValue] = {
        "Padding": _padding(padding),
        "StrideH": stride[0],
        "StrideW": stride[1],
        "DilationHFactor": dilation[0],
        "DilationWFactor": dilation[1],
        "FusedActivationFunction": _activation(activation),
    }
    m.operator("CONV_2D", [x, weights, *([bias_tensor] if bias else [])], [y], "Conv2DOptions", options)
    return y


def depthwise_conv_2d(
    m: ModelWriter,
    x: Tensor,
    multiplier: int,
    kernel: Pair,
    *,
    stride: Pair = (1, 1),
    dilation: Pair = (1, 1),
    padding: str = "SAME",
    activation: str = "NONE",
    bias: bool = True,
    per_channel: bool = True,
    weight_limit: int = 127,
    scale: float = OUTPUT_SCALE,
    zero_point: int = -5,
) -> Tensor:
    """DEPTHWISE_CONV_2D. Without a bias it has two inputs."""
    channels = x.shape[3] * multiplier
    weights, bias_tensor = _weights(m, x, (1, *kernel, channels), prod(kernel), 3, bias, per_channel, weight_limit)
    high, wide = (window_outputs(x.shape[1 + i], kernel[i], stride[i], dilation[i], padding) for i in range(2))
    y = _output(m, x, (x.shape[0], high, wide, channels), scale, zero_point)
    options: dict[str, OptionValue] = {
        "Padding": _padding(padding),
        "StrideH": stride[0],
        "StrideW": stride[1],
        "DilationHFactor": dilation[0],
        "DilationWFactor": dilation[1],
        "DepthMultiplier": multiplier,
        "FusedActivationFunction": _activation(activation),
    }
    inputs = [x, weights, *([bias_tensor] if bias else [])]
    m.operator("DEPTHWISE_CONV_2D", inputs, [y], "DepthwiseConv2DOptions", options)
    return y


def fully_connected(
    m: ModelWriter,
    x: Tensor,
    features: int,
    *,
    activation: str = "NONE",
    bias: bool = True,
    per_channel: bool = False,
    weight_limit: int = 127,
    keep_num_dims: bool = False,
    in_features: int | None = None,
    scale: float = OUTPUT_SCALE,
    zero_point: int = -5,
) -> Tensor:
    """FULLY_CONNECTED over vectors of `in_features` (the last dimension unless given). No bias is input -1."""
    depth = in_features or x.shape[-1]
    weights, bias_tensor = _weights(m, x, (features, depth), depth, 0, bias, per_channel, weight_limit)
    shape = (*x.shape[:-1], features) if keep_num_dims else (prod(x.shape) // depth, features)
    y = _output(m, x, shape, scale, zero_point)
    options: dict[str, OptionValue] = {
        "FusedActivationFunction": _activation(activation),
        "KeepNumDims": keep_num_dims,
    }
    m.operator("FULLY_CONNECTED", [x, weights, bias_tensor], [y], "FullyConnectedOptions", options)
    return y


def pool_2d(
    m: ModelWriter,
    x: Tensor,
    kind: str,
    kernel: Pair,
    *,
    stride: Pair = (1, 1),
    padding: str = "VALID",
    activation: str = "NONE",
) -> Tensor:
    """AVERAGE_POOL_2D or MAX_POOL_2D."""
    high, wide = (window_outputs(x.shape[1 + i], kernel[i], stride[i], 1, padding) for i in range(2))
    y = _output(m, x, (x.shape[0], high, wide, x.shape[3]))
    options: dict[str, OptionValue] = {
        "Padding": _padding(padding),
        "StrideH": stride[0],
        "StrideW": stride[1],
        "FilterHeight": kernel[0],
        "FilterWidth": kernel[1],
        "FusedActivationFunction": _activation(activation),
    }
    m.operator(kind, [x], [y], "Pool2DOptions", options)
    return y


def binary(
    m: ModelWriter,
    a: Tensor,
    b: Tensor,
    kind: str,
    *,
    activation: str = "NONE",
    scale: float = 0.1,
    zero_point: int = -5,
) -> Tensor:
    """ADD or MUL."""
    y = _output(m, a, np.broadcast_shapes(a.shape, b.shape), scale, zero_point)
    table = {"ADD": "AddOptions", "MUL": "MulOptions"}[kind]
    m.operator(kind, [a, b], [y], table, {"FusedActivationFunction": _activation(activation)})
    return y


def softmax(m: ModelWriter, x: Tensor, *, beta: float = 1.0) -> Tensor:
    """SOFTMAX."""
    y = m.tensor("y", x.shape, x.dtype, None if x.quantization is None else UNIT_INTERVAL)
    m.operator("SOFTMAX", [x], [y], "SoftmaxOptions", {"Beta": beta})
    return y


def relu(
    m: ModelWriter, x: Tensor, kind: str = "RELU", *, scale: float | None = None, zero_point: int | None = None
) -> Tensor:
    """RELU or RELU6; the output may have its own quantization."""
    y = _output(m, x, x.shape, scale, zero_point)
    m.operator(kind, [x], [y])
    return y


def logistic(m: ModelWriter, x: Tensor) -> Tensor:
    """LOGISTIC."""
    y = m.tensor("y", x.shape, x.dtype, None if x.quantization is None else UNIT_INTERVAL)
    m.operator("LOGISTIC", [x], [y])
    return y


def reshape(m: ModelWriter, x: Tensor, shape: Sequence[int], *, written: Sequence[int] | None = None) -> Tensor:
    """RESHAPE with its shape as a constant and as an option; `written` is how they put it, where it has a -1."""
    target = tuple(shape if written is None else written)
    y = _output(m, x, shape)
    m.operator("RESHAPE", [x, _integers(m, "shape", target)], [y], "ReshapeOptions", {"NewShape": target})
    return y


def pad(m: ModelWriter, x: Tensor, amounts: Sequence[Pair]) -> Tensor:
    """PAD with (before, after) per axis."""
    shape = [n + before + after for n, (before, after) in zip(x.shape, amounts, strict=True)]
    paddings = _integers(m, "paddings", [n for pair in amounts for n in pair], (len(amounts), 2))
    y = _output(m, x, shape)
    m.operator("PAD", [x, paddings], [y], "PadOptions")
    return y


def mean(
    m: ModelWriter,
    x: Tensor,
    axes: Sequence[int],
    *,
    keep_dims: bool = False,
    scale: float | None = None,
    zero_point: int | None = None,
) -> Tensor:
    """MEAN over `axes`; negative ones count from the end."""
    reduced = {axis % len(x.shape) for axis in axes}
    if keep_dims:
        shape = [1 if i in reduced else n for i, n in enumerate(x.shape)]
    else:
        shape = [n for i, n in enumerate(x.shape) if i not in reduced]
    y = _output(m, x, shape, scale, zero_point)
    m.operator("MEAN", [x, _integers(m, "axes", axes)], [y], "ReducerOptions", {"KeepDims": keep_dims})
    return y


def concatenation(m: ModelWriter, inputs: Sequence[Tensor], axis: int) -> Tensor:
    """CONCATENATION of tensors with the same quantization."""
    shape = list(inputs[0].shape)
    shape[axis] = sum(x.shape[axis] for x in inputs)
    y = _output(m, inputs[0], shape)
    m.operator("CONCATENATION", inputs, [y], "ConcatenationOptions", {"Axis": axis})
    return y


def quantize(
    m: ModelWriter, x: Tensor, dtype: str = "int8", *, scale: float = OUTPUT_SCALE, zero_point: int = -5
) -> Tensor:
    """QUANTIZE from float or from another 8-bit form."""
    y = m.tensor("y", x.shape, dtype, quantized(scale, zero_point))
    m.operator("QUANTIZE", [x], [y], "QuantizeOptions")
    return y


def dequantize(m: ModelWriter, x: Tensor) -> Tensor:
    """DEQUANTIZE to float."""
    y = m.tensor("y", x.shape, "float32")
    m.operator("DEQUANTIZE", [x], [y], "DequantizeOptions")
    return y
