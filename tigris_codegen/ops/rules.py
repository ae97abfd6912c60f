"""Rules that several operator families share. Each docstring names what is refused."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from tigris_codegen.ir.graph import DType, Graph, Op, Tensor
from tigris_codegen.numerics import Activation
from tigris_codegen.ops.geometry import (
    MAX_U16,
    Axis,
    Plane,
    broadcast_shape,
    input_tensor,
    optional_input,
    output_tensor,
)
from tigris_codegen.ops.spec import hint

#: Smallest and largest value of quantized types.
LIMITS = {DType.S8: (-128, 127), DType.U8: (0, 255)}

#: Largest stride, dilation and padding: TFLite Micro holds them in signed 16 bits.
MAX_STEP = 0x7FFF

#: Multipliers are below 1 and shifted left by at most 30.
LARGEST_FACTOR = float((1 << 30) - 1)

#: Codes of fused activations in the TFLite schema.
ACTIVATIONS = {0: Activation.NONE, 1: Activation.RELU, 3: Activation.RELU6}


def read_activation(code: int) -> Activation:
    """The fused activation of an options table."""
    return ACTIVATIONS.get(code, Activation.OTHER)


def shape_text(shape: Iterable[int]) -> str:
    return "[" + ", ".join(map(str, shape)) + "]"


def named(tensor: Tensor) -> str:
    return f"{tensor.name!r}"


def streams(graph: Graph, op: Op) -> Iterator[Tensor]:
    """What flows through the operator: its first input, further computed inputs, its output."""
    yield input_tensor(graph, op, 0)
    for i in range(1, len(op.inputs)):
        tensor = optional_input(graph, op, i)
        if tensor is not None and tensor.data is None:
            yield tensor
    yield output_tensor(graph, op)


def operands(graph: Graph, op: Op) -> Iterator[Tensor]:
    """All inputs, then the output."""
    for i in range(len(op.inputs)):
        tensor = optional_input(graph, op, i)
        if tensor is not None:
            yield tensor
    yield output_tensor(graph, op)


@hint("convert the model to full int8 or to float32")
def activation_type(graph: Graph, op: Op) -> str | None:
    """activations that are neither int8 nor float32"""
    for tensor in streams(graph, op):
        if tensor.dtype not in (DType.S8, DType.F32):
            return f": {named(tensor)} is {tensor.dtype.value}"
    return None


def same_type(graph: Graph, op: Op) -> str | None:
    """an input and an output of different types"""
    first = input_tensor(graph, op, 0)
    other = next((t for t in streams(graph, op) if t.dtype is not first.dtype), None)
    return f": {first.dtype.value} and {other.dtype.value}" if other else None


def one_type(graph: Graph, op: Op) -> str | None:
    """operands of different types"""
    first = input_tensor(graph, op, 0)
    other = next((t for t in operands(graph, op) if t.dtype is not first.dtype), None)
    return f": {first.dtype.value} and {other.dtype.value}" if other else None


@hint("export full int8 (with a representative data set) or float32, not dynamic range quantization")
def hybrid(graph: Graph, op: Op) -> str | None:
    """int8 weights with float activations (a hybrid model)"""
    weights = input_tensor(graph, op, 1)
    return "" if input_tensor(graph, op, 0).dtype is DType.F32 and weights.dtype is DType.S8 else None


def weights_type(graph: Graph, op: Op) -> str | None:
    """weights of another type than the activations"""
    data, weights = input_tensor(graph, op, 0), input_tensor(graph, op, 1)
    if data.dtype is weights.dtype or hybrid(graph, op) is not None:
        return None
    return f": {weights.dtype.value} weights, {data.dtype.value} activations"


def weights_constant(graph: Graph, op: Op) -> str | None:
    """weights or a bias computed at run time"""
    bias = optional_input(graph, op, 2)
    computed = input_tensor(graph, op, 1).data is None or (bias is not None and bias.data is None)
    return "" if computed else None


def _quantization_fault(tensor: Tensor) -> str | None:
    q = tensor.quantization
    if q is None:
        return f": {named(tensor)} has no scale"
    if len(q.scales) != 1:
        return f": {named(tensor)} has {len(q.scales)} scales"
    if not (math.isfinite(q.scale) and q.scale > 0.0):
        return f": {named(tensor)} has the scale {q.scale:g}"
    low, high = LIMITS[tensor.dtype]
    return None if low <= q.zero_point <= high else f": {named(tensor)} has the zero point {q.zero_point}"


def quantized_streams(graph: Graph, op: Op) -> str | None:
    """8-bit activations without one valid scale and zero point"""
    faults = (_quantization_fault(t) for t in streams(graph, op) if t.dtype in LIMITS)
    return next((f for f in faults if f is not None), None)


def quantized_operands(graph: Graph, op: Op) -> str | None:
    """8-bit operands without one valid scale and zero point"""
    faults = (_quantization_fault(t) for t in operands(graph, op) if t.dtype in LIMITS)
    return next((f for f in faults if f is not None), None)


def scale_ratio(graph: Graph, op: Op) -> str | None:
    """int8 scales whose quotient is 2^30 or more"""
    data, output = input_tensor(graph, op, 0).quantization, output_tensor(graph, op).quantization
    return ratio_fault(data.scale, 1.0, output.scale) if data and output else None


def product_ratio(graph: Graph, op: Op) -> str | None:
    """int8 scales of the operands whose product is 2^30 times the output scale or more"""
    a, b = input_tensor(graph, op, 0).quantization, input_tensor(graph, op, 1).quantization
    output = output_tensor(graph, op).quantization
    return ratio_fault(a.scale, max(b.scales), output.scale) if a and b and output else None


def ratio_fault(a: float, b: float, output: float) -> str | None:
    """Details where a * b / output is more than a multiplier and its shift can say."""
    fits = output > 0 and a * b / output < LARGEST_FACTOR
    return None if fits else f": {a:g} * {b:g} / {output:g}"


def weights_quantization(channel_axis: int, graph: Graph, op: Op) -> str | None:
    """A fault of int8 weights: one scale, or one per index of `channel_axis`, and zero points of 0."""
    weights = input_tensor(graph, op, 1)
    if weights.dtype is not DType.S8:
        return None
    q = weights.quantization
    if q is None:
        return ": no scale"
    channels = weights.shape[channel_axis]
    if len(q.scales) not in (1, channels):
        return f": {len(q.scales)} scales for {channels} channels"
    if len(q.scales) > 1 and q.axis != channel_axis:
        return f": scales along axis {q.axis}, channels along axis {channel_axis}"
    if not all(math.isfinite(s) and s >= 0.0 for s in q.scales):
        return ": a scale that is negative or not finite"
    return ": a zero point other than 0" if any(q.zero_points) else None


def bias_form(channels: int, graph: Graph, op: Op) -> str | None:
    """A fault of the bias: int32 (float32 in a float operator), one element per output channel."""
    bias = optional_input(graph, op, 2)
    if bias is None:
        return None
    wanted = DType.F32 if input_tensor(graph, op, 0).dtype is DType.F32 else DType.S32
    if bias.dtype is not wanted:
        return f": {bias.dtype.value}, not {wanted.value}"
    return None if bias.elements == channels else f": {bias.elements} elements for {channels} channels"


def fused_activation(graph: Graph, op: Op) -> str | None:
    """a fused activation other than RELU and RELU6"""
    return "" if op.attributes.activation is Activation.OTHER else None


def same_shape(graph: Graph, op: Op) -> str | None:
    """an output of another shape than the input"""
    return shapes_differ(input_tensor(graph, op, 0).shape, output_tensor(graph, op).shape)


def shapes_differ(computed: tuple[int, ...], declared: tuple[int, ...]) -> str | None:
    """Details where the declared output shape is not the computed one."""
    if computed == declared:
        return None
    return f": declared {shape_text(declared)}, computed {shape_text(computed)}"


def broadcast_output(graph: Graph, op: Op) -> str | None:
    """operands whose shapes do not broadcast to the output's"""
    a, b = input_tensor(graph, op, 0).shape, input_tensor(graph, op, 1).shape
    shape = broadcast_shape(a, b)
    declared = output_tensor(graph, op).shape
    return None if shape == declared else f": {shape_text(a)} and {shape_text(b)} to {shape_text(declared)}"


def plane_fault(image: Plane, channels: tuple[int, ...]) -> str | None:
    """Details where a dimension or the number of rows does not fit 16 bits, or a step what TFLite Micro holds it in."""
    for name, value in image.params().items():
        if value > MAX_U16:
            return f": {name} is {value}"
    for axis in (image.vertical, image.horizontal):
        steps = {"stride": axis.stride, "dilation": axis.dilation, "padding": axis.before}
        for name, value in steps.items():
            if value > MAX_STEP:
                return f": a {name} of {value}"
    rows = image.images * max(image.vertical.input, image.vertical.output)
    if rows > MAX_U16:
        return f": {rows} rows over all images"
    return next((f": {c} channels" for c in channels if c > MAX_U16), None)


def axis_output(name: str, axis: Axis) -> str | None:
    """Details where an axis does not give the declared output."""
    if axis.computed_output == axis.output:
        return None
    return f": declared {name} {axis.output}, computed {axis.computed_output}"
