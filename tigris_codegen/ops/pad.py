"""PAD."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tigris_codegen.ir.graph import DType, Graph, Op, Tensor
from tigris_codegen.ir.rows import Rows, band_axis
from tigris_codegen.ops import rules as common
from tigris_codegen.ops.geometry import MAX_U16, everything, input_tensor, operand, output_tensor
from tigris_codegen.ops.spec import Constant, Kernel, OpSpec, Window, Work
from tigris_codegen.plan.fields import Field, Struct, Value

PAD_S8 = Struct(
    "pad_s8_params",
    "PAD, int8.",
    (
        Field("in_dims", "u16", "input as [images, band axis, inner, innermost]", 4),
        Field("out_dims", "u16", "output likewise", 4),
        Field("before", "u16", "elements added in front of each axis", 4),
        Field("value", "i32", "value of the added elements"),
    ),
)

PAD_F32 = Struct(
    "pad_f32_params",
    "PAD, float.",
    (
        Field("in_dims", "u16", "input as [images, band axis, inner, innermost]", 4),
        Field("out_dims", "u16", "output likewise", 4),
        Field("before", "u16", "elements added in front of each axis", 4),
        Field("value", "f32", "value of the added elements"),
    ),
)

K_PAD_S8 = Kernel(22, "pad_s8", PAD_S8, "pad", "padding, int8")
K_PAD_F32 = Kernel(23, "pad_f32", PAD_F32, "pad", "padding, float")


@dataclass(frozen=True)
class PadAttributes:
    """Elements added before and behind each axis; None where the file does not fix them."""

    paddings: tuple[tuple[int, int], ...] | None


@dataclass(frozen=True)
class PadView:
    """The kernel's four axes: images, band axis, inner, innermost."""

    in_dims: tuple[int, int, int, int]
    out_dims: tuple[int, int, int, int]
    before: tuple[int, int, int, int]


def pad_view(shape: tuple[int, ...], paddings: tuple[tuple[int, int], ...]) -> PadView | None:
    """The padding on four axes, None where it does not fit. Inner axes merge where the second is not padded."""
    axes = [(n, n + before + behind, before) for n, (before, behind) in zip(shape, paddings, strict=True)]
    band = band_axis(tuple(n for _, n, _ in axes))
    if band is None:
        four = [(1, 1, 0), axes[0] if axes else (1, 1, 0), (1, 1, 0), (1, 1, 0)]
    else:
        inner = [a for a in axes[band + 1 :] if a[:2] != (1, 1)]
        while len(inner) > 2:
            at = next((i for i in range(len(inner) - 1) if inner[i + 1][0] == inner[i + 1][1]), None)
            if at is None:
                return None
            (a, b, c), (n, _, _) = inner[at], inner[at + 1]
            inner[at : at + 2] = [(a * n, b * n, c * n)]
        four = [axes[0], axes[band], *[(1, 1, 0)] * (2 - len(inner)), *inner]
    if max(max(axis) for axis in four) > MAX_U16 or four[0][1] * four[1][1] > MAX_U16:
        return None
    in_dims, out_dims, before = zip(*four, strict=True)
    return PadView(in_dims, out_dims, before)


def constant_paddings(graph: Graph, op: Op) -> str | None:
    """paddings that are not constant, not one pair per axis, or negative"""
    return "" if op.attributes.paddings is None else None


def output_shape(graph: Graph, op: Op) -> str | None:
    """an output of another shape than the paddings give"""
    shape = input_tensor(graph, op, 0).shape
    computed = tuple(n + sum(pair) for n, pair in zip(shape, op.attributes.paddings, strict=True))
    return common.shapes_differ(computed, output_tensor(graph, op).shape)


def four_axes(graph: Graph, op: Op) -> str | None:
    """padding that does not fit four axes of at most 65535, or more than 65535 rows over all images"""
    return "" if pad_view(input_tensor(graph, op, 0).shape, op.attributes.paddings) is None else None


class Pad(OpSpec):
    kind = "PAD"
    doc = "Constant padding with 0 (int8: the output's zero point)."
    kernels = (K_PAD_S8, K_PAD_F32)
    attributes = PadAttributes
    inputs = (2, 2)
    kept_inputs = 1
    requirements = (common.activation_type, common.same_type, common.quantized_streams, constant_paddings)
    rules = (output_shape, four_axes)

    def read_attributes(self, options: Any, inputs: Sequence[Tensor | None]) -> PadAttributes:
        data, pairs = (*inputs, None, None)[:2]
        if data is None or pairs is None or pairs.data is None or pairs.dtype not in (DType.S32, DType.S64):
            return PadAttributes(None)
        values = [int(v) for v in pairs.array().reshape(-1)]
        if len(values) != 2 * len(data.shape) or min(values, default=0) < 0:
            return PadAttributes(None)
        return PadAttributes(tuple(zip(values[::2], values[1::2], strict=True)))

    def lower(self, graph: Graph, op: Op) -> tuple[Work, ...]:
        data, output = input_tensor(graph, op, 0), output_tensor(graph, op)
        view = pad_view(data.shape, op.attributes.paddings)
        assert view is not None
        quantized = data.dtype is DType.S8
        value: float = 0.0
        if quantized:
            assert output.quantization
            value = output.quantization.zero_point
        params: dict[str, Value | Constant | None] = {
            "in_dims": view.in_dims,
            "out_dims": view.out_dims,
            "before": view.before,
            "value": value,
        }
        in_rows, out_rows = (_rows(dims, data.dtype.bytes) for dims in (view.in_dims, view.out_dims))
        # Padding along the batch moves images, which no sliding window says.
        within_images = view.in_dims[0] == view.out_dims[0]
        return (
            Work(
                kernel=K_PAD_S8 if quantized else K_PAD_F32,
                params=params,
                output=operand(graph, op.outputs[0], out_rows),
                inputs=(operand(graph, op.inputs[0], in_rows),),
                maps=(
                    Window(1, 1, view.before[1], view.in_dims[1], view.out_dims[1])
                    if within_images
                    else everything(in_rows.count, out_rows.count),
                ),
                source=op.source,
                first_row=0,
                row_count=out_rows.count,
                tileable=within_images,
            ),
        )


def _rows(dims: tuple[int, int, int, int], item: int) -> Rows:
    return Rows(dims[0] * dims[1], dims[2] * dims[3] * item, dims[1])
