"""Lowering: band maps against brute force, parameters that the kernels' structs take, and the rules' refusals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.corpus.cases import CASES, build
from tigris_codegen.frontend import read_model
from tigris_codegen.ir.graph import DType, Graph, Op, Quantization, Tensor
from tigris_codegen.ir.rows import Rows, rows_of
from tigris_codegen.numerics import Activation
from tigris_codegen.ops import KERNELS, SPECS
from tigris_codegen.ops.arithmetic import BinaryAttributes, broadcast
from tigris_codegen.ops.concatenation import ConcatenationAttributes
from tigris_codegen.ops.conv import ConvAttributes, DepthwiseConvAttributes, explicit_padding
from tigris_codegen.ops.docs import supported_operators_markdown
from tigris_codegen.ops.fully_connected import FullyConnectedAttributes
from tigris_codegen.ops.geometry import Axis, element_map, leading_axes, plane
from tigris_codegen.ops.lower import lower_graph
from tigris_codegen.ops.pad import PadAttributes, pad_view
from tigris_codegen.ops.pool import PoolAttributes
from tigris_codegen.ops.reduce import MeanAttributes, mean_dims
from tigris_codegen.ops.softmax import SoftmaxAttributes
from tigris_codegen.ops.spec import Constant, PerImage, Window, Work, base_tensor, rule_text
from tigris_codegen.passes import optimize

Q = Quantization((0.5,), (-3,))
NONE = Activation.NONE


def graph_of(kind: str, attributes: Any, tensors: Sequence[Tensor]) -> Graph:
    """One operator: the first tensors are its operands, the last its output; those without data are model inputs."""
    last = len(tensors) - 1
    op = Op(kind, tuple(range(last)), (last,), attributes, 7)
    free = tuple(i for i in range(last) if tensors[i].data is None)
    return Graph("one", tuple(tensors), (op,), free, (last,))


def s8(name: str, *shape: int, q: Quantization | None = Q, data: bytes | None = None) -> Tensor:
    return Tensor(name, shape, DType.S8, q, data)


def f32(name: str, *shape: int, data: bytes | None = None) -> Tensor:
    return Tensor(name, shape, DType.F32, None, data)


def constant(name: str, *shape: int, q: Quantization | None = Q, dtype: DType = DType.S8) -> Tensor:
    tensor = Tensor(name, shape, dtype, q)
    return replace(tensor, data=bytes(tensor.bytes))


def only_work(graph: Graph) -> Work:
    (work,) = lower_graph(graph)
    return work


# Works of every operator of the corpus.


@pytest.fixture(scope="module", params=CASES)
def works(request: pytest.FixtureRequest) -> tuple[Graph, tuple[Work, ...]]:
    graph = optimize(read_model(build(request.param).data, request.param))
    return graph, lower_graph(graph)


def test_works_are_consistent(works: tuple[Graph, tuple[Work, ...]]) -> None:
    graph, found = works
    written: dict[int, set[int]] = {}
    for work in found:
        values = {k: 0 if v is None or isinstance(v, Constant) else v for k, v in work.params.items()}
        assert len(work.kernel.params.pack(values)) == work.kernel.params.size
        assert len(work.inputs) == len(work.maps)
        for operand in (work.output, *work.inputs):
            assert operand.tensor == base_tensor(graph, operand.tensor)
            assert operand.rows.total == graph.tensors[operand.tensor].bytes
            assert 0 < operand.rows.count <= 0xFFFF
        assert 0 <= work.first_row < work.first_row + work.row_count <= work.output.rows.count
        rows = range(work.first_row, work.first_row + work.row_count)
        for operand, band in zip(work.inputs, work.maps, strict=True):
            needs = [band.needs(r, r + 1) for r in rows]
            assert all(0 <= a <= b <= operand.rows.count for a, b in needs)
        assert not work.parts or work.inputs[0].rows == rows_of(graph.tensors[work.inputs[0].tensor])
        assert work.accumulator_bytes == (4 * graph.tensors[work.output.tensor].elements if work.parts else 0)
        written.setdefault(work.output.tensor, set()).update(rows)
    for tensor, rows_written in written.items():
        assert rows_written == set(range(max(rows_written) + 1)), graph.tensors[tensor].name


def test_every_kernel_is_named_by_a_spec() -> None:
    assert {k.name for spec in SPECS.values() for k in spec.kernels} == {k.name for k in KERNELS}


# Geometry against brute force.


@given(
    st.integers(1, 3),
    st.integers(1, 12),
    st.integers(1, 4),
    st.integers(1, 3),
    st.integers(1, 3),
    st.integers(0, 3),
    st.integers(0, 3),
)
def test_window_is_the_rows_under_the_taps(
    images: int, size: int, kernel: int, stride: int, dilation: int, before: int, after: int
) -> None:
    axis = Axis(size, 1, kernel, stride, dilation, before, after)
    if axis.computed_output < 1:
        return
    axis = replace(axis, output=axis.computed_output)

    def taps(row: int) -> Iterator[int]:
        image, index = divmod(row, axis.output)
        for tap in range(kernel):
            position = index * stride - before + tap * dilation
            if 0 <= position < size:
                yield image * size + position

    rows = images * axis.output
    leaves = False
    for first in range(rows):
        for stop in range(first + 1, rows + 1):
            needed = {p for row in range(first, stop) for p in taps(row)}
            begin, end = axis.window.needs(first, stop)
            assert needed <= set(range(begin, end))
    for index in range(axis.output):
        ends = (index * stride - before, index * stride - before + axis.extent)
        leaves |= ends[0] < 0 or ends[1] > size
    assert axis.reads_padding == leaves
    if dilation == 1:
        assert axis.misses_input == any(not list(taps(row)) for row in range(axis.output))


@given(st.integers(1, 40), st.integers(1, 5), st.integers(1, 4), st.integers(1, 3))
def test_same_padding_gives_the_rounded_up_size(size: int, kernel: int, stride: int, dilation: int) -> None:
    extent = (kernel - 1) * dilation + 1
    pads = explicit_padding(0, (size, 1), (kernel, 1), (stride, 1), (dilation, 1))
    axis = Axis(size, 0, kernel, stride, dilation, pads[0], pads[2])
    assert axis.computed_output == -(-size // stride)
    assert 0 <= pads[2] - pads[0] <= 1
    assert pads[0] + pads[2] < extent or pads[0] + pads[2] == 0


ROW_BYTES = st.sampled_from([1, 2, 3, 6])


@given(st.integers(1, 3), st.integers(1, 6), st.integers(1, 6), ROW_BYTES, ROW_BYTES)
def test_element_map_covers_what_elements_need(images: int, depth: int, width: int, in_row: int, out_row: int) -> None:
    in_total, out_total = images * depth * 6, images * width * 6
    in_rows, out_rows = Rows(in_total // in_row, in_row, 1), Rows(out_total // out_row, out_row, 1)
    band = element_map(in_rows, depth * 6, out_rows, width * 6)
    for row in range(out_rows.count):
        chunks = {e // (width * 6) for e in range(row * out_row, (row + 1) * out_row)}
        needed = {e // in_row for c in chunks for e in range(c * depth * 6, (c + 1) * depth * 6)}
        begin, end = band.needs(row, row + 1)
        assert needed <= set(range(begin, end))
        assert 0 <= begin <= end <= in_rows.count


SHAPES = st.lists(st.integers(1, 4), min_size=0, max_size=6).map(tuple)


SIX_FLAGS = st.lists(st.booleans(), min_size=6, max_size=6)


@given(SHAPES, SIX_FLAGS, SIX_FLAGS, st.data())
def test_broadcast_addresses_the_right_elements(
    shape: tuple[int, ...], ones_a: list[bool], ones_b: list[bool], data: st.DataObject
) -> None:
    def operand(ones: list[bool]) -> NDArray[np.int64]:
        kept = tuple(1 if one else n for n, one in zip(shape, ones, strict=False))
        cut = data.draw(st.integers(0, len(kept)))
        kept = kept[cut:] if prod(kept[:cut]) == 1 else kept
        return np.arange(prod(kept)).reshape(kept)

    a, b = operand(ones_a), operand(ones_b)
    out = np.broadcast_shapes(a.shape, b.shape)
    view = broadcast(s8("y", *out), (s8("a", *a.shape), s8("b", *b.shape)))
    assert view is not None
    assert view.dims[0] == view.rows.count
    assert prod(view.dims) == prod(out)
    for values, repeat in ((a, view.repeat[0]), (b, view.repeat[1])):
        dims = tuple(1 if repeat >> i & 1 else n for i, n in enumerate(view.dims))
        seen = np.broadcast_to(values.reshape(-1).reshape(dims), view.dims)
        assert seen.reshape(-1).tolist() == np.broadcast_to(values, out).reshape(-1).tolist()


@given(st.lists(st.integers(1, 4), min_size=1, max_size=5), st.data())
def test_mean_groups_keep_the_order_of_elements(shape: list[int], data: st.DataObject) -> None:
    axes = tuple(sorted(data.draw(st.sets(st.integers(0, len(shape) - 1)))))
    dims = mean_dims(tuple(shape), axes)
    values = np.arange(prod(shape))
    wanted = values.reshape(shape).sum(axis=axes)
    if dims is None:
        kinds = [i in axes for i, n in enumerate(shape) if n > 1]
        groups = [k for i, k in enumerate(kinds) if i == 0 or kinds[i - 1] != k]
        assert groups.count(True) > 2
    else:
        assert values.reshape(dims).sum(axis=(1, 3)).reshape(-1).tolist() == wanted.reshape(-1).tolist()


PADS = st.lists(st.tuples(st.integers(1, 3), st.integers(0, 2), st.integers(0, 2)), max_size=5)


@given(PADS)
def test_pad_view_pads_the_same_elements(axes: list[tuple[int, int, int]]) -> None:
    shape, pairs = tuple(n for n, _, _ in axes), tuple((a, b) for _, a, b in axes)
    view = pad_view(shape, pairs)
    if view is None:
        assert len(axes) == 5
        return
    values = np.arange(1, prod(shape) + 1)
    wanted = np.pad(values.reshape(shape), pairs) if shape else values
    four = [
        (before, out - size - before)
        for size, out, before in zip(view.in_dims, view.out_dims, view.before, strict=True)
    ]
    assert np.pad(values.reshape(view.in_dims), four).reshape(-1).tolist() == wanted.reshape(-1).tolist()


def test_leading_axes() -> None:
    for shape in [(), (3,), (1, 4), (2, 4), (1, 1, 5, 2), (2, 1, 5, 2), (1, 1, 1), (70000,), (1, 70000)]:
        rows = rows_of(s8("t", *shape))
        assert prod(shape[: leading_axes(shape, rows)]) == rows.count


def test_data_along_the_width_is_cut_along_the_width() -> None:
    flat, width = Axis(1, 1, 1, 1, 1, 0, 0), Axis(9, 7, 3, 1, 1, 0, 0)
    assert plane(1, flat, width).vertical is width
    assert plane(1, width, flat).vertical is width
    tall = Axis(3, 1, 3, 1, 1, 0, 0)
    assert plane(1, tall, width).vertical is tall


# What single operators lower to.


def conv_graph(zero_point: int, pads: tuple[int, int, int, int], bias: Tensor | None = None) -> Graph:
    weights = Tensor("w", (2, 2, 2, 1), DType.S8, Quantization((0.1,), (0,)), np.arange(8, dtype=np.int8).tobytes())
    size = (4 + pads[0] + pads[2] - 1, 4 + pads[1] + pads[3] - 1)
    tensors = [s8("x", 1, 4, 4, 1, q=Quantization((0.5,), (zero_point,))), weights]
    tensors += [bias] if bias else []
    tensors.append(s8("y", 1, *size, 2))
    return graph_of("CONV_2D", ConvAttributes(1, 1, 1, 1, *pads, NONE), tensors)


def int32s(constant: object) -> list[int]:
    assert isinstance(constant, Constant)
    return [int(v) for v in np.frombuffer(constant.data, "<i4")]


def test_zero_point_is_folded_into_the_bias_without_padding() -> None:
    work = only_work(conv_graph(-3, (0, 0, 0, 0)))
    assert work.params["input_offset"] == 0
    assert int32s(work.params["bias"]) == [3 * (0 + 1 + 2 + 3), 3 * (4 + 5 + 6 + 7)]


def test_zero_point_stays_with_padding() -> None:
    for pads in [(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)]:
        work = only_work(conv_graph(-3, pads))
        assert work.params["input_offset"] == 3
        assert work.params["bias"] is None


def test_folded_bias_wraps_around() -> None:
    values = np.array([2**31 - 1, -(2**31)], np.int32)
    bias = Tensor("b", (2,), DType.S32, None, values.tobytes())
    wrapped = int32s(only_work(conv_graph(-3, (0, 0, 0, 0), bias)).params["bias"])
    assert wrapped == [2**31 - 1 + 18 - 2**32, -(2**31) + 66]


def test_convolution_along_the_width() -> None:
    weights = constant("w", 5, 1, 3, 2, q=Quantization((0.1,), (0,)))
    tensors = [s8("x", 1, 1, 9, 2), weights, s8("y", 1, 1, 7, 5)]
    work = only_work(graph_of("CONV_2D", ConvAttributes(1, 1, 1, 1, 0, 0, 0, 0, NONE), tensors))
    assert {k: work.params[k] for k in ("in_h", "in_w", "kernel_h", "kernel_w", "out_h", "out_w")} == {
        "in_h": 9,
        "in_w": 1,
        "kernel_h": 3,
        "kernel_w": 1,
        "out_h": 7,
        "out_w": 1,
    }
    assert work.inputs[0].rows == Rows(9, 2, 9)
    assert work.output.rows == Rows(7, 5, 7)
    assert work.maps == (Window(1, 3, 0, 9, 7),)
    assert work.macs == 7 * 5 * 3 * 2


def fully_connected(shape: tuple[int, ...], output: tuple[int, ...], in_features: int) -> Graph:
    weights = constant("w", output[-1], in_features, q=Quantization((0.1,), (0,)))
    tensors = [s8("x", *shape), weights, s8("y", *output)]
    return graph_of("FULLY_CONNECTED", FullyConnectedAttributes(NONE, True), tensors)


def test_fully_connected_maps() -> None:
    assert only_work(fully_connected((1, 40), (1, 12), 40)).maps == (PerImage(40, 12),)
    assert only_work(fully_connected((3, 40), (3, 12), 40)).maps == (PerImage(40, 12),)
    assert only_work(fully_connected((1, 49, 40), (1, 49, 12), 40)).maps == (Window(1, 1, 0, 49, 49),)
    # Rows of 40 do not nest in vectors of 60: everything needs everything.
    assert only_work(fully_connected((1, 6, 40), (4, 12), 60)).maps == (PerImage(6, 48),)


def test_fully_connected_in_parts() -> None:
    work = only_work(fully_connected((1, 40), (1, 12), 40))
    assert (work.parts, work.accumulator_bytes, work.macs) == (True, 48, 480)
    assert not only_work(fully_connected((2, 40), (2, 12), 40)).parts


def test_parts_follow_views_to_the_producer_rows() -> None:
    weights = constant("w", 3, 60, q=Quantization((0.1,), (0,)))
    tensors = (s8("x", 1, 5, 4, 3), s8("flat", 1, 60), weights, s8("y", 1, 3))
    ops = (
        Op("RESHAPE", (0,), (1,), SPECS["RESHAPE"].read_attributes(None, ()), 0),
        Op("FULLY_CONNECTED", (1, 2), (3,), FullyConnectedAttributes(NONE, True), 1),
    )
    work = only_work(Graph("view", tensors, ops, (0,), (3,)))
    assert work.inputs[0].tensor == 0
    assert work.inputs[0].rows == Rows(5, 12, 5)
    assert (work.parts, work.maps) == (True, (PerImage(5, 3),))


def test_global_pool_and_mean_in_parts() -> None:
    attributes = PoolAttributes(5, 4, 1, 1, 0, 0, 0, 0, NONE)
    pool = graph_of("AVERAGE_POOL_2D", attributes, [s8("x", 1, 5, 4, 3), s8("y", 1, 1, 1, 3)])
    mean = graph_of("MEAN", MeanAttributes((1, 2), False), [s8("x", 1, 5, 4, 3), s8("y", 1, 3)])
    for graph in (pool, mean):
        work = only_work(graph)
        assert (work.parts, work.accumulator_bytes, work.inputs[0].rows) == (True, 12, Rows(5, 12, 5))
    two_images = graph_of("MEAN", MeanAttributes((1, 2), False), [s8("x", 2, 5, 4, 3), s8("y", 2, 3)])
    assert (only_work(two_images).parts, only_work(two_images).maps) == (False, (PerImage(5, 3),))
    rows_kept = graph_of("MEAN", MeanAttributes((2,), False), [s8("x", 1, 5, 4), s8("y", 1, 5)])
    assert (only_work(rows_kept).parts, only_work(rows_kept).maps) == (False, (Window(1, 1, 0, 5, 5),))


def concatenation(axis: int, *shapes: tuple[int, ...], output: tuple[int, ...]) -> tuple[Work, ...]:
    tensors = [s8(f"x{i}", *shape) for i, shape in enumerate(shapes)]
    return lower_graph(graph_of("CONCATENATION", ConcatenationAttributes(axis, NONE), [*tensors, s8("y", *output)]))


def test_concatenation_along_rows_and_inside_them() -> None:
    first, second = concatenation(1, (1, 2, 3, 4), (1, 5, 3, 4), output=(1, 7, 3, 4))
    assert (first.first_row, first.row_count, second.first_row, second.row_count) == (0, 2, 2, 5)
    assert second.maps == (Window(1, 1, 2, 5, 7),)
    first, second = concatenation(-1, (1, 2, 3, 4), (1, 2, 3, 2), output=(1, 2, 3, 6))
    assert (second.first_row, second.row_count, second.maps) == (0, 2, (Window(1, 1, 0, 2, 2),))
    assert [second.params[k] for k in ("blocks", "in_block", "out_block", "offset")] == [3, 2, 6, 4]


def test_concatenation_places_every_element() -> None:
    for axis, ranks in product(range(4), ((1, 3, 2, 2), (2, 3, 2, 2), (1, 1, 3, 2), (2, 1, 1, 3))):
        other = tuple(n + 2 if i == axis else n for i, n in enumerate(ranks))
        output = tuple(a + b if i == axis else a for i, (a, b) in enumerate(zip(ranks, other, strict=True)))
        arrays = [np.arange(prod(ranks)), 1000 + np.arange(prod(other))]
        result = np.full(prod(output), -1)
        for work, values in zip(concatenation(axis, ranks, other, output=output), arrays, strict=True):
            p: Any = work.params
            source = values.reshape(work.inputs[0].rows.count, -1)
            rows = result.reshape(work.output.rows.count, -1)
            for row in range(work.first_row, work.first_row + work.row_count):
                taken = row // p["out_rows"] * p["in_rows"] + row % p["out_rows"] - p["first_row"]
                for block in range(p["blocks"]):
                    at = block * p["out_block"] + p["offset"]
                    rows[row, at : at + p["in_block"]] = source[taken].reshape(p["blocks"], -1)[block]
        wanted = np.concatenate([arrays[0].reshape(ranks), arrays[1].reshape(other)], axis)
        assert result.tolist() == wanted.reshape(-1).tolist()


def test_float_kernels_behind_libm_state_a_tolerance() -> None:
    softmax = only_work(graph_of("SOFTMAX", SoftmaxAttributes(1.0), [f32("x", 1, 4), f32("y", 1, 4)]))
    assert 0 < softmax.tolerance == float(np.float32(softmax.tolerance)) <= 1e-6
    attributes = SPECS["LOGISTIC"].read_attributes(None, ())
    assert only_work(graph_of("LOGISTIC", attributes, [f32("x", 1, 4), f32("y", 1, 4)])).tolerance == softmax.tolerance
    assert only_work(graph_of("RELU", attributes, [f32("x", 1, 4), f32("y", 1, 4)])).tolerance == 0.0


# Rules.

CONV = ConvAttributes(1, 1, 1, 1, 0, 0, 0, 0, NONE)
DEPTHWISE = DepthwiseConvAttributes(1, 1, 1, 1, 0, 0, 0, 0, NONE, 2)
POOL = PoolAttributes(2, 2, 1, 1, 0, 0, 0, 0, NONE)
WQ = Quantization((0.1,), (0,))
UNIT = Quantization((1 / 256,), (-128,))
EMPTY = SPECS["RESHAPE"].read_attributes(None, ())


def conv(**changes: Any) -> Graph:
    """A sound CONV_2D with some operands or attributes exchanged."""
    parts = {
        "x": s8("x", 1, 4, 4, 3),
        "w": constant("w", 5, 2, 2, 3, q=WQ),
        "b": constant("b", 5, q=None, dtype=DType.S32),
        "y": s8("y", 1, 3, 3, 5),
    }
    attributes = changes.pop("attributes", CONV)
    return graph_of(changes.pop("kind", "CONV_2D"), attributes, list({**parts, **changes}.values()))


def depthwise(**changes: Any) -> Graph:
    w = constant("w", 1, 2, 2, 6, q=WQ)
    sound: dict[str, Any] = {"w": w, "b": constant("b", 6, q=None, dtype=DType.S32), "y": s8("y", 1, 3, 3, 6)}
    return conv(kind="DEPTHWISE_CONV_2D", **{"attributes": DEPTHWISE, **sound, **changes})


def dense(**changes: Any) -> Graph:
    bias = Tensor("b", (5,), DType.S32, Quantization((0.05,), (0,)), bytes(20))
    parts = {"x": s8("x", 2, 4), "w": constant("w", 5, 4, q=WQ), "b": bias, "y": s8("y", 2, 5)}
    attributes = changes.pop("attributes", FullyConnectedAttributes(NONE, True))
    return graph_of("FULLY_CONNECTED", attributes, list({**parts, **changes}.values()))


def pool(kind: str = "MAX_POOL_2D", **changes: Any) -> Graph:
    parts = {"x": s8("x", 1, 4, 4, 3), "y": s8("y", 1, 3, 3, 3)}
    return graph_of(kind, changes.pop("attributes", POOL), list({**parts, **changes}.values()))


def add(kind: str = "ADD", activation: Activation = NONE, **changes: Any) -> Graph:
    parts = {"a": s8("a", 1, 4, 3), "b": s8("b", 3), "y": s8("y", 1, 4, 3)}
    return graph_of(kind, BinaryAttributes(activation), list({**parts, **changes}.values()))


def unary(kind: str, x: Tensor, y: Tensor, attributes: Any = EMPTY) -> Graph:
    return graph_of(kind, attributes, [x, y])


PER_CHANNEL = Quantization((0.1, 0.2, 0.3, 0.4, 0.5), (0,) * 5, axis=0)
TINY = Quantization((1e-30,), (0,))
SIX = s8("y", 1, 4, 3)

ACCEPTED: dict[str, Graph] = {
    "conv": conv(),
    "conv per channel": conv(w=constant("w", 5, 2, 2, 3, q=PER_CHANNEL)),
    "depthwise": depthwise(),
    "dense": dense(),
    "pool": pool(),
    "add": add(),
    "mul": add("MUL"),
    "softmax": unary("SOFTMAX", s8("x", 2, 4), s8("y", 2, 4, q=UNIT), SoftmaxAttributes(1.0)),
    "logistic": unary("LOGISTIC", s8("x", 2, 4), s8("y", 2, 4, q=UNIT)),
    "quantize": unary("QUANTIZE", f32("x", 4), s8("y", 4)),
    "mean": unary("MEAN", s8("x", 2, 4), s8("y", 2), MeanAttributes((1,), False)),
    "pad": unary("PAD", s8("x", 2, 4), s8("y", 2, 5), PadAttributes(((0, 0), (0, 1)))),
    "reshape": unary("RESHAPE", s8("x", 2, 4), s8("y", 8)),
}

REFUSED: dict[str, Graph] = {
    "conv_2d.hybrid": conv(x=f32("x", 1, 4, 4, 3), y=f32("y", 1, 3, 3, 5)),
    "conv_2d.activation_type": conv(x=Tensor("x", (1, 4, 4, 3), DType.S16, Q)),
    "conv_2d.same_type": conv(y=f32("y", 1, 3, 3, 5)),
    "conv_2d.weights_type": conv(w=constant("w", 5, 2, 2, 3, dtype=DType.F32)),
    "conv_2d.weights_constant": conv(w=s8("w", 5, 2, 2, 3)),
    "conv_2d.image_rank": conv(x=s8("x", 4, 4, 3)),
    "conv_2d.stride": conv(attributes=replace(CONV, stride_w=0)),
    "conv_2d.padding": conv(attributes=replace(CONV, pad_top=-1)),
    "conv_2d.quantized_streams": conv(x=s8("x", 1, 4, 4, 3, q=None)),
    "conv_2d.weights_quantization": conv(w=constant("w", 5, 2, 2, 3, q=replace(PER_CHANNEL, axis=3))),
    "conv_2d.fused_activation": conv(attributes=replace(CONV, activation=Activation.OTHER)),
    "conv_2d.product_ratio": conv(y=s8("y", 1, 3, 3, 5, q=TINY)),
    "conv_2d.batch": conv(y=s8("y", 2, 3, 3, 5)),
    "conv_2d.output_shape": conv(y=s8("y", 1, 4, 3, 5)),
    "conv_2d.size": conv(x=s8("x", 1, 70000, 4, 3), y=s8("y", 1, 69999, 3, 5)),
    "conv_2d.channels": conv(x=s8("x", 1, 4, 4, 6)),
    "conv_2d.bias": conv(b=constant("b", 4, q=None, dtype=DType.S32)),
    "depthwise_conv_2d.weights_quantization": depthwise(w=constant("w", 1, 2, 2, 6, q=Quantization((0.1,), (1,)))),
    "depthwise_conv_2d.depth_multiplier": depthwise(attributes=replace(DEPTHWISE, depth_multiplier=1)),
    "fully_connected.weights_rank": dense(w=constant("w", 5, 2, 2, q=WQ)),
    "fully_connected.weights_quantization": dense(w=constant("w", 5, 4, q=Quantization((0.1,) * 4, (0,) * 4))),
    "fully_connected.weights_format": dense(attributes=FullyConnectedAttributes(NONE, False)),
    "fully_connected.output_shape": dense(y=s8("y", 3, 5)),
    "fully_connected.bias": dense(b=constant("b", 5, dtype=DType.F32, q=None)),
    "fully_connected.bias_scale": dense(b=Tensor("b", (5,), DType.S32, Quantization((1.0,), (0,)), bytes(20))),
    "max_pool_2d.image_rank": pool(y=s8("y", 3, 3, 3)),
    "max_pool_2d.window": pool(attributes=replace(POOL, kernel_h=0)),
    "max_pool_2d.same_quantization": pool(y=s8("y", 1, 3, 3, 3, q=UNIT)),
    "max_pool_2d.channels": pool(y=s8("y", 1, 3, 3, 4)),
    "average_pool_2d.output_shape": pool("AVERAGE_POOL_2D", y=s8("y", 1, 3, 4, 3)),
    "max_pool_2d.outside": pool(attributes=replace(POOL, pad_top=2), y=s8("y", 1, 5, 3, 3)),
    "max_pool_2d.size": pool(x=s8("x", 1, 70000, 4, 3), y=s8("y", 1, 69999, 3, 3)),
    "add.one_type": add(b=f32("b", 3)),
    "add.broadcast_shape": add(b=s8("b", 2)),
    "add.broadcast_rank": add(
        a=s8("a", 70000, 1, 2, 1, 2, 1), b=s8("b", 1, 2, 1, 2, 1, 2), y=s8("y", 70000, 2, 2, 2, 2, 2)
    ),
    "add.quantized_operands": add(b=constant("b", 3, q=Quantization((0.0,), (0,)))),
    "add.add_scales": add(y=s8("y", 1, 4, 3, q=TINY)),
    "mul.product_ratio": add("MUL", y=s8("y", 1, 4, 3, q=TINY)),
    "mul.fused_activation": add("MUL", Activation.OTHER),
    "relu.same_shape": unary("RELU", s8("x", 4), s8("y", 1, 4)),
    "relu.scale_ratio": unary("RELU", s8("x", 4), s8("y", 4, q=TINY)),
    "relu6.six": unary("RELU6", s8("x", 4, q=TINY), s8("y", 4, q=TINY)),
    "logistic.sigmoid_quantization": unary("LOGISTIC", s8("x", 4), s8("y", 4)),
    "logistic.logistic_scale": unary("LOGISTIC", s8("x", 4, q=TINY), s8("y", 4, q=UNIT)),
    "softmax.rank": unary("SOFTMAX", f32("x"), f32("y"), SoftmaxAttributes(1.0)),
    "softmax.sigmoid_quantization": unary("SOFTMAX", s8("x", 4), s8("y", 4), SoftmaxAttributes(1.0)),
    "softmax.input_scale": unary("SOFTMAX", s8("x", 4, q=TINY), s8("y", 4, q=UNIT), SoftmaxAttributes(1.0)),
    "softmax.vector_count": unary("SOFTMAX", f32("x", 70000, 2), f32("y", 70000, 2), SoftmaxAttributes(1.0)),
    "quantize.quantize_types": unary("QUANTIZE", f32("x", 4), Tensor("y", (4,), DType.U8, Q)),
    "dequantize.dequantize_types": unary("DEQUANTIZE", Tensor("x", (4,), DType.U8, Q), f32("y", 4)),
    "mean.constant_axes": unary("MEAN", s8("x", 2, 4), s8("y", 2), MeanAttributes(None, False)),
    "mean.output_shape": unary("MEAN", s8("x", 2, 4), s8("y", 2), MeanAttributes((1,), True)),
    "mean.axis_groups": unary("MEAN", f32("x", 2, 2, 2, 2, 2), f32("y", 2, 2), MeanAttributes((0, 2, 4), False)),
    "pad.constant_paddings": unary("PAD", s8("x", 2, 4), s8("y", 2, 5), PadAttributes(None)),
    "pad.output_shape": unary("PAD", s8("x", 2, 4), s8("y", 2, 6), PadAttributes(((0, 0), (0, 1)))),
    "pad.four_axes": unary("PAD", s8("x", 2, 70000), s8("y", 2, 70001), PadAttributes(((0, 0), (0, 1)))),
    "reshape.element_type": unary("RESHAPE", s8("x", 2, 4), f32("y", 8)),
    "reshape.element_count": unary("RESHAPE", s8("x", 2, 4), s8("y", 9)),
    "concatenation.axis": graph_of("CONCATENATION", ConcatenationAttributes(4, NONE), [SIX, SIX]),
    "concatenation.output_shape": graph_of("CONCATENATION", ConcatenationAttributes(1, NONE), [SIX, SIX, SIX]),
    "concatenation.no_activation": graph_of("CONCATENATION", ConcatenationAttributes(1, Activation.RELU), [SIX, SIX]),
    "concatenation.same_quantization": graph_of(
        "CONCATENATION", ConcatenationAttributes(1, NONE), [s8("x", 1, 4, 3, q=UNIT), SIX]
    ),
    "concatenation.image_count": graph_of(
        "CONCATENATION", ConcatenationAttributes(1, NONE), [s8("x", 70000, 1), s8("y", 70000, 1)]
    ),
}


@pytest.mark.parametrize("graph", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_sound_operator_is_accepted(graph: Graph) -> None:
    (op,) = graph.ops
    assert SPECS[op.kind].refusals(graph, op) == ()
    assert lower_graph(graph) or op.kind == "RESHAPE"


@pytest.mark.parametrize(("code", "graph"), REFUSED.items(), ids=REFUSED.keys())
def test_rule_refuses(code: str, graph: Graph) -> None:
    (op,) = graph.ops
    refusals = SPECS[op.kind].refusals(graph, op)
    assert code in [r.code for r in refusals]
    for refusal in refusals:
        assert (refusal.operator, refusal.name) == (7, op.kind)
        assert str(refusal).startswith(f"operator 7 {op.kind}: ")


def test_every_rule_has_a_refused_case() -> None:
    rules = {r.__name__ for spec in SPECS.values() for r in (*spec.requirements, *spec.rules)}
    assert {code.split(".")[1] for code in REFUSED} == rules


def test_rules_are_worded() -> None:
    for spec in SPECS.values():
        assert spec.doc.endswith(".")
        for rule in (*spec.requirements, *spec.rules):
            assert rule_text(rule) and not rule_text(rule)[:2].istitle()


def test_documentation_names_every_operator_rule_and_kernel() -> None:
    text = supported_operators_markdown()
    for kind, spec in SPECS.items():
        assert f"| {kind} |" in text
        for rule in (*spec.requirements, *spec.rules):
            assert f"| {kind} | {rule_text(rule)} | `{kind.lower()}.{rule.__name__}` |" in text
        for kernel in spec.kernels:
            assert f"`{kernel.name}`" in text
