"""ADD and MUL."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

from tigris_codegen.ir.graph import DType, Graph, Op, Tensor
from tigris_codegen.ir.rows import MAX_ROWS, Rows, rows_of
from tigris_codegen.numerics import (
    ADD_LEFT_SHIFT,
    Activation,
    add_multipliers,
    add_real_output_factor,
    float_activation_range,
    int8_activation_range,
    mul_multiplier,
)
from tigris_codegen.ops import rules as common
from tigris_codegen.ops.geometry import everything, input_tensor, leading_axes, operand, output_tensor, same_rows
from tigris_codegen.ops.spec import BandMap, Constant, Kernel, Operand, OpSpec, Rule, Work
from tigris_codegen.plan.fields import Field, Struct, Value

BINARY_S8 = Struct(
    "binary_s8_params",
    "ADD and MUL, int8, operands broadcast.",
    (
        Field("dims", "u32", "output rows, then the dimensions inside a row, unused ones 1; rank 6 at most", 6),
        Field("repeat_a", "u8", "bit i: input a has one index along dims[i], used for all of them"),
        Field("repeat_b", "u8", "bit i: input b has one index along dims[i], used for all of them"),
        Field("act_min", "i8", "smallest output value"),
        Field("act_max", "i8", "largest output value"),
        Field("multiplier_a", "i32", "of input a (ADD)"),
        Field("multiplier_b", "i32", "of input b (ADD)"),
        Field("multiplier_out", "i32", "of the result"),
        Field("offset_a", "i16", "added to each value of a"),
        Field("offset_b", "i16", "added to each value of b"),
        Field("output_offset", "i16", "added to each output value"),
        Field("shift_a", "i8", "of input a (ADD)"),
        Field("shift_b", "i8", "of input b (ADD)"),
        Field("shift_out", "i8", "of the result"),
        Field("left_shift", "i8", "of both inputs first (ADD)"),
        Field("reserved", "u16", "0"),
    ),
)

BINARY_F32 = Struct(
    "binary_f32_params",
    "ADD and MUL, float, operands broadcast.",
    (
        Field("dims", "u32", "output rows, then the dimensions inside a row, unused ones 1; rank 6 at most", 6),
        Field("repeat_a", "u8", "bit i: input a has one index along dims[i], used for all of them"),
        Field("repeat_b", "u8", "bit i: input b has one index along dims[i], used for all of them"),
        Field("reserved", "u16", "0"),
        Field("act_min", "f32", "smallest output value"),
        Field("act_max", "f32", "largest output value"),
    ),
)

K_ADD_S8 = Kernel(11, "add_s8", BINARY_S8, "broadcast", "addition, int8")
K_ADD_F32 = Kernel(12, "add_f32", BINARY_F32, "broadcast", "addition, float")
K_MUL_S8 = Kernel(13, "mul_s8", BINARY_S8, "broadcast", "multiplication, int8")
K_MUL_F32 = Kernel(14, "mul_f32", BINARY_F32, "broadcast", "multiplication, float")


@dataclass(frozen=True)
class BinaryAttributes:
    """`activation` is applied to the result."""

    activation: Activation


@dataclass(frozen=True)
class Broadcast:
    """Two operands over the rows of the output: `dims` and the repeat bits are the kernel's fields."""

    rows: Rows
    dims: tuple[int, ...]
    repeat: tuple[int, int]


MAX_DIMS = 6


def broadcast(output: Tensor, inputs: tuple[Tensor, Tensor]) -> Broadcast | None:
    """How the kernel sees the operands, None where that takes more than six dimensions.

    Rows are the output's own where each operand either has all of them or one; else a row is an image.
    """
    shape = output.shape
    aligned = [(1,) * (len(shape) - len(t.shape)) + t.shape for t in inputs]
    rows = rows_of(output)
    leading = leading_axes(shape, rows)
    if not all(s[:leading] == shape[:leading] or prod(s[:leading]) == 1 for s in aligned):
        images = shape[0] if shape[0] <= MAX_ROWS else 1
        rows = Rows(images, output.bytes // images, 1)
        leading = 1 if images > 1 else 0
    groups: list[tuple[int, tuple[bool, bool]]] = [
        (rows.count, (_repeats(aligned[0][:leading], rows.count), _repeats(aligned[1][:leading], rows.count)))
    ]
    for axis in range(leading, len(shape)):
        flags = (aligned[0][axis] < shape[axis], aligned[1][axis] < shape[axis])
        if shape[axis] == 1:
            continue
        if len(groups) > 1 and groups[-1][1] == flags:
            groups[-1] = (groups[-1][0] * shape[axis], flags)
        else:
            groups.append((shape[axis], flags))
    if len(groups) > MAX_DIMS:
        return None
    a, b = (sum(flags[which] << i for i, (_, flags) in enumerate(groups)) for which in (0, 1))
    return Broadcast(rows, tuple(size for size, _ in groups) + (1,) * (MAX_DIMS - len(groups)), (a, b))


def _repeats(leading: tuple[int, ...], rows: int) -> bool:
    return prod(leading) < rows


def broadcast_rank(graph: Graph, op: Op) -> str | None:
    """operands that broadcast over more than six groups of axes"""
    view = broadcast(output_tensor(graph, op), (input_tensor(graph, op, 0), input_tensor(graph, op, 1)))
    return "" if view is None else None


def broadcast_shape(graph: Graph, op: Op) -> str | None:
    """operands whose shapes do not broadcast to the output's, or of more than six dimensions"""
    if len(output_tensor(graph, op).shape) > MAX_DIMS:
        return f": {common.shape_text(output_tensor(graph, op).shape)}"
    return common.broadcast_output(graph, op)


def add_scales(graph: Graph, op: Op) -> str | None:
    """int8 scales whose sum is 2^19 times the output scale or more"""
    a, b, output = (t.quantization for t in common.operands(graph, op))
    if output_tensor(graph, op).dtype is not DType.S8 or not (a and b and output) or output.scale <= 0:
        return None
    fits = (
        add_real_output_factor(a.scale, b.scale, output.scale) < 1
        and add_multipliers(a.scale, b.scale, output.scale).output.shift <= 0
    )
    return None if fits else f": {a.scale:g} and {b.scale:g} to {output.scale:g}"


class _Binary(OpSpec):
    """What ADD and MUL share."""

    attributes = BinaryAttributes
    inputs = (2, 2)
    requirements = (common.activation_type, common.one_type, broadcast_shape, common.quantized_operands)
    rules: ClassVar[tuple[Rule, ...]] = (common.fused_activation, broadcast_rank)

    def read_attributes(self, options: Any, inputs: Sequence[Tensor | None]) -> BinaryAttributes:
        return BinaryAttributes(common.read_activation(options.FusedActivationFunction()))

    @abstractmethod
    def quantization(self, a: float, b: float, output: float) -> dict[str, int]:
        """The multipliers and shifts of the int8 kernel."""

    def lower(self, graph: Graph, op: Op) -> tuple[Work, ...]:
        a, b, output = input_tensor(graph, op, 0), input_tensor(graph, op, 1), output_tensor(graph, op)
        view = broadcast(output, (a, b))
        assert view is not None
        params: dict[str, Value | Constant | None] = {
            "dims": view.dims,
            "repeat_a": view.repeat[0],
            "repeat_b": view.repeat[1],
            "reserved": 0,
        }
        if output.dtype is DType.S8:
            assert a.quantization and b.quantization and output.quantization
            q = output.quantization
            kernel = self.kernels[0]
            low, high = int8_activation_range(op.attributes.activation, q.scale, q.zero_point)
            params |= self.quantization(a.quantization.scale, b.quantization.scale, q.scale)
            params |= {
                "offset_a": -a.quantization.zero_point,
                "offset_b": -b.quantization.zero_point,
                "output_offset": q.zero_point,
                "act_min": low,
                "act_max": high,
            }
        else:
            kernel = self.kernels[1]
            float_low, float_high = float_activation_range(op.attributes.activation)
            params |= {"act_min": float_low, "act_max": float_high}
        seen = [_input(graph, op, i, view) for i in (0, 1)]
        return (
            Work(
                kernel=kernel,
                params=params,
                output=operand(graph, op.outputs[0], view.rows),
                inputs=tuple(o for o, _ in seen),
                maps=tuple(m for _, m in seen),
                source=op.source,
                first_row=0,
                row_count=view.rows.count,
                in_place=tuple(i for i in (0, 1) if not view.repeat[i]),
            ),
        )


def _input(graph: Graph, op: Op, index: int, view: Broadcast) -> tuple[Operand, BandMap]:
    tensor, rows = input_tensor(graph, op, index), view.rows
    if view.repeat[index] & 1:
        return operand(graph, op.inputs[index], Rows(1, tensor.bytes, 1)), everything(1, rows.count)
    seen = Rows(rows.count, tensor.bytes // rows.count, rows.per_image)
    return operand(graph, op.inputs[index], seen), same_rows(rows.count)


class Add(_Binary):
    kind = "ADD"
    doc = "Addition, operands broadcast up to six dimensions, constant or computed."
    kernels = (K_ADD_S8, K_ADD_F32)
    options = "AddOptions"
    rules = (*_Binary.rules, add_scales)

    def quantization(self, a: float, b: float, output: float) -> dict[str, int]:
        factors = add_multipliers(a, b, output)
        return {
            "multiplier_a": factors.a.value,
            "multiplier_b": factors.b.value,
            "multiplier_out": factors.output.value,
            "shift_a": factors.a.shift,
            "shift_b": factors.b.shift,
            "shift_out": factors.output.shift,
            "left_shift": ADD_LEFT_SHIFT,
        }


class Mul(_Binary):
    kind = "MUL"
    doc = "Multiplication, operands broadcast up to six dimensions, constant or computed."
    kernels = (K_MUL_S8, K_MUL_F32)
    options = "MulOptions"
    rules = (*_Binary.rules, common.product_ratio)

    def quantization(self, a: float, b: float, output: float) -> dict[str, int]:
        factor = mul_multiplier(a, b, output)
        return {
            "multiplier_a": 0,
            "multiplier_b": 0,
            "multiplier_out": factor.value,
            "shift_a": 0,
            "shift_b": 0,
            "shift_out": factor.shift,
            "left_shift": 0,
        }
