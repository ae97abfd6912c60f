"""Shapes, rows and constants as kernels see them: shared by the operator families."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import ArrayLike

from tigris_codegen.ir.graph import Graph, Op, Tensor
from tigris_codegen.ir.rows import Rows, rows_of
from tigris_codegen.ops.spec import BandMap, Constant, Kernel, Operand, PerImage, Window, Work, base_tensor
from tigris_codegen.plan.fields import Value

#: Largest value of a 16-bit field, and so the most rows of an operand.
MAX_U16 = 0xFFFF


def same_rows(count: int) -> Window:
    """Output row r needs input row r, of `count`."""
    return Window(1, 1, 0, count, count)


def everything(inputs: int, outputs: int) -> PerImage:
    """Any output row needs all input rows."""
    return PerImage(inputs, outputs)


def input_tensor(graph: Graph, op: Op, index: int) -> Tensor:
    return graph.tensors[op.inputs[index]]


def optional_input(graph: Graph, op: Op, index: int) -> Tensor | None:
    """Input `index`, None where the operator has none."""
    return graph.tensors[op.inputs[index]] if index < len(op.inputs) and op.inputs[index] >= 0 else None


def output_tensor(graph: Graph, op: Op) -> Tensor:
    return graph.tensors[op.outputs[0]]


def base_rows(graph: Graph, tensor: int) -> Rows:
    """The rows in which the memory of `tensor` is written."""
    return rows_of(graph.tensors[base_tensor(graph, tensor)])


def operand(graph: Graph, tensor: int, rows: Rows) -> Operand:
    """`tensor` as a kernel sees it: its own rows where they are the same bytes, else the kernel's."""
    own = base_rows(graph, tensor)
    same = (own.count, own.bytes) == (rows.count, rows.bytes)
    return Operand(base_tensor(graph, tensor), own if same else rows)


def int32_constant(values: ArrayLike) -> Constant:
    return Constant(np.asarray(values).astype("<i4").tobytes())


def tensor_constant(tensor: Tensor | None) -> Constant | None:
    """A constant tensor's bytes; None for an input left out."""
    return None if tensor is None or tensor.data is None else Constant(tensor.data)


def element_map(input_rows: Rows, input_chunk: int, output_rows: Rows, output_chunk: int) -> BandMap:
    """The map of an operator that makes each `output_chunk` bytes from the `input_chunk` bytes at the same place.

    Where rows and chunks do not nest, everything needs everything.
    """
    in_rows, in_left = divmod(input_chunk, input_rows.bytes)
    out_rows, out_left = divmod(output_chunk, output_rows.bytes)
    if in_rows and out_rows and not in_left and not out_left:
        return same_rows(input_rows.count) if in_rows == out_rows == 1 else PerImage(in_rows, out_rows)
    in_chunks, in_left = divmod(input_rows.bytes, input_chunk)
    out_chunks, out_left = divmod(output_rows.bytes, output_chunk)
    if in_chunks == out_chunks and not in_left and not out_left:
        return same_rows(input_rows.count)
    return everything(input_rows.count, output_rows.count)


@dataclass(frozen=True)
class Axis:
    """One spatial axis of a convolution or pool."""

    input: int
    output: int
    kernel: int
    stride: int
    dilation: int
    before: int
    after: int

    @property
    def extent(self) -> int:
        """Input positions from a window's first tap to its last."""
        return (self.kernel - 1) * self.dilation + 1

    @property
    def computed_output(self) -> int:
        """Output positions that the input and its padding give."""
        return (self.input + self.before + self.after - self.extent) // self.stride + 1

    @property
    def reads_padding(self) -> bool:
        """Whether a window leaves the input."""
        return self.before > 0 or (self.output - 1) * self.stride + self.extent > self.input + self.before

    @property
    def misses_input(self) -> bool:
        """Whether a window lies in the padding altogether (without dilation: the first or the last does)."""
        return self.extent <= self.before or (self.output - 1) * self.stride >= self.input + self.before

    @property
    def window(self) -> Window:
        return Window(self.stride, self.extent, self.before, self.input, self.output)


@dataclass(frozen=True)
class Plane:
    """Both spatial axes as a kernel sees them: bands are cut along `vertical`."""

    images: int
    vertical: Axis
    horizontal: Axis

    def input_rows(self, channels: int, size: int) -> Rows:
        rows = self.vertical.input
        return Rows(self.images * rows, self.horizontal.input * channels * size, rows)

    def output_rows(self, channels: int, size: int) -> Rows:
        rows = self.vertical.output
        return Rows(self.images * rows, self.horizontal.output * channels * size, rows)

    def params(self) -> dict[str, int]:
        """The fields that convolutions and pools share."""
        v, h = self.vertical, self.horizontal
        return {
            "in_h": v.input,
            "in_w": h.input,
            "out_h": v.output,
            "out_w": h.output,
            "kernel_h": v.kernel,
            "kernel_w": h.kernel,
            "stride_h": v.stride,
            "stride_w": h.stride,
            "pad_top": v.before,
            "pad_left": h.before,
        }


def plane(images: int, vertical: Axis, horizontal: Axis) -> Plane:
    """Height and width, or the other way round for data along the width alone, so that it can be cut in bands."""
    flat = vertical.input == vertical.output == vertical.kernel == 1
    if flat and horizontal.input > 1:
        vertical, horizontal = horizontal, vertical
    return Plane(images, vertical, horizontal)


def same_padding(size: int, extent: int, stride: int) -> tuple[int, int]:
    """Padding before and after an axis under SAME: the odd position goes behind."""
    total = max((-(-size // stride) - 1) * stride + extent - size, 0)
    return total // 2, total - total // 2


def broadcast_shape(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape of two broadcast operands, None where they do not fit."""
    rank = max(len(a), len(b))
    pairs = list(zip((1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b, strict=True))
    if any(x != y and 1 not in (x, y) for x, y in pairs):
        return None
    return tuple(max(x, y) for x, y in pairs)


def leading_axes(shape: tuple[int, ...], rows: Rows) -> int:
    """How many leading axes the rows count; the others lie inside a row."""
    return next(n for n in range(len(shape) + 1) if prod(shape[:n]) == rows.count)


def elementwise_work(
    graph: Graph,
    op: Op,
    kernel: Kernel,
    params: Mapping[str, Value | Constant | None],
    tolerance: float = 0.0,
) -> Work:
    """A function of one element: both operands in the rows of the output."""
    data, output = input_tensor(graph, op, 0), output_tensor(graph, op)
    rows = rows_of(output)
    seen = Rows(rows.count, data.bytes // rows.count, rows.per_image)
    return Work(
        kernel=kernel,
        params=params,
        output=operand(graph, op.outputs[0], rows),
        inputs=(operand(graph, op.inputs[0], seen),),
        maps=(same_rows(rows.count),),
        source=op.source,
        first_row=0,
        row_count=rows.count,
        in_place=(0,),
        tolerance=tolerance,
    )
