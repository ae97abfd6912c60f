"""MEAN."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from tigris_codegen.ir.graph import DType, Graph, Op, Tensor
from tigris_codegen.ir.rows import rows_of
from tigris_codegen.numerics import mean_multiplier
from tigris_codegen.ops import rules as common
from tigris_codegen.ops.geometry import base_rows, element_map, everything, input_tensor, operand, output_tensor
from tigris_codegen.ops.spec import Constant, Kernel, OpSpec, Work
from tigris_codegen.plan.fields import Field, Struct, Value

MEAN_S8 = Struct(
    "mean_s8_params",
    "MEAN, int8: sum, then one multiplication that also divides by the count.",
    (
        Field("dims", "u32", "input as [kept, reduced, kept, reduced, kept], unused ones 1", 5),
        Field("multiplier", "i32", "of the sum"),
        Field("shift", "i32", "of the sum"),
        Field("input_zero_point", "i16", "times the count, subtracted from the sum"),
        Field("output_offset", "i16", "added to each output value"),
    ),
)

MEAN_F32 = Struct(
    "mean_f32_params",
    "MEAN, float.",
    (Field("dims", "u32", "input as [kept, reduced, kept, reduced, kept], unused ones 1", 5),),
)

K_MEAN_S8 = Kernel(24, "mean_s8", MEAN_S8, "mean", "mean, int8")
K_MEAN_F32 = Kernel(25, "mean_f32", MEAN_F32, "mean", "mean, float")


@dataclass(frozen=True)
class MeanAttributes:
    """`axes` in ascending order, counted from the front; None where the file does not fix them."""

    axes: tuple[int, ...] | None
    keep_dims: bool


#: Groups of axes that the kernel distinguishes: kept, reduced, kept, reduced, kept.
GROUPS = 5


def constant_axes(graph: Graph, op: Op) -> str | None:
    """axes that are not constant or not axes of the input"""
    return "" if op.attributes.axes is None else None


def output_shape(graph: Graph, op: Op) -> str | None:
    """an output of another shape than the axes leave"""
    a: MeanAttributes = op.attributes
    shape = input_tensor(graph, op, 0).shape
    axes = a.axes or ()
    if a.keep_dims:
        left = tuple(1 if i in axes else n for i, n in enumerate(shape))
    else:
        left = tuple(n for i, n in enumerate(shape) if i not in axes)
    return common.shapes_differ(left, output_tensor(graph, op).shape)


def axis_groups(graph: Graph, op: Op) -> str | None:
    """reduced axes in more than two groups"""
    return "" if mean_dims(input_tensor(graph, op, 0).shape, op.attributes.axes) is None else None


def mean_dims(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape as [kept, reduced, kept, reduced, kept]; None where that does not do."""
    dims = [1]
    for axis, size in enumerate(shape):
        if size > 1:
            if (len(dims) % 2 == 0) != (axis in axes):
                dims.append(1)
            dims[-1] *= size
    return tuple(dims) + (1,) * (GROUPS - len(dims)) if len(dims) <= GROUPS else None


class Mean(OpSpec):
    kind = "MEAN"
    doc = "Mean over any constant axes."
    kernels = (K_MEAN_S8, K_MEAN_F32)
    options = "ReducerOptions"
    attributes = MeanAttributes
    inputs = (2, 2)
    kept_inputs = 1
    requirements = (common.activation_type, common.same_type, common.quantized_streams, constant_axes)
    rules = (common.scale_ratio, output_shape, axis_groups)

    def read_attributes(self, options: Any, inputs: Sequence[Tensor | None]) -> MeanAttributes:
        data, axes = (*inputs, None, None)[:2]
        found: tuple[int, ...] | None = None
        if data is not None and axes is not None and axes.data is not None and axes.dtype in (DType.S32, DType.S64):
            rank = len(data.shape)
            given = [int(a) for a in axes.array().reshape(-1)]
            if all(-rank <= a < rank for a in given):
                found = tuple(sorted({a % rank for a in given}))
        return MeanAttributes(found, bool(options.KeepDims()))

    def lower(self, graph: Graph, op: Op) -> tuple[Work, ...]:
        data, output = input_tensor(graph, op, 0), output_tensor(graph, op)
        dims = mean_dims(data.shape, op.attributes.axes)
        assert dims is not None
        params: dict[str, Value | Constant | None] = {"dims": dims}
        if data.dtype is DType.S8:
            assert data.quantization and output.quantization
            factor = mean_multiplier(data.quantization.scale, output.quantization.scale, dims[1] * dims[3])
            params |= {
                "multiplier": factor.value,
                "shift": factor.shift,
                "input_zero_point": data.quantization.zero_point,
                "output_offset": output.quantization.zero_point,
            }
        item = data.dtype.bytes
        in_rows, out_rows = base_rows(graph, op.inputs[0]), rows_of(output)
        inside = prod(dims[2:]) * item
        whole = dims[0] == 1
        parts = whole and dims[1] > 1 and in_rows.count > 1 and in_rows.bytes % inside == 0
        band_map = (
            everything(in_rows.count, out_rows.count)
            if whole
            else element_map(in_rows, dims[1] * inside, out_rows, dims[2] * dims[4] * item)
        )
        return (
            Work(
                kernel=K_MEAN_S8 if data.dtype is DType.S8 else K_MEAN_F32,
                params=params,
                output=operand(graph, op.outputs[0], out_rows),
                inputs=(operand(graph, op.inputs[0], in_rows),),
                maps=(band_map,),
                source=op.source,
                first_row=0,
                row_count=out_rows.count,
                parts=parts,
                accumulator_bytes=4 * output.elements if parts else 0,
            ),
        )
