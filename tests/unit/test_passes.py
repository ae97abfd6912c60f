"""Passes as text before and after, and what keeps a PAD from becoming a convolution's padding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from tests.corpus.writer import ModelWriter, OptionValue, Quantization, Tensor
from tigris_codegen.frontend import read_model
from tigris_codegen.ir.graph import Graph
from tigris_codegen.ir.printer import print_graph
from tigris_codegen.ir.verify import GraphError
from tigris_codegen.passes import PASSES, optimize, run_pass
from tigris_codegen.passes.dead import drop_dead_operators
from tigris_codegen.passes.padding import fold_padding

Q = Quantization((0.5,), (-3,))
LOWEST = Quantization((0.5,), (-128,))
IMAGE = ((0, 0), (1, 2), (0, 1), (0, 0))
POOL: dict[str, OptionValue] = {"Padding": 1, "StrideW": 1, "StrideH": 1, "FilterWidth": 2, "FilterHeight": 2}
CONV: dict[str, OptionValue] = {"Padding": 1, "StrideW": 1, "StrideH": 1, "DilationWFactor": 1, "DilationHFactor": 1}


def pad(m: ModelWriter, x: Tensor, pairs: tuple[tuple[int, int], ...], q: Quantization | None) -> Tensor:
    shape = tuple(n + a + b for n, (a, b) in zip(x.shape, pairs, strict=True))
    paddings = m.tensor("paddings", (4, 2), "int32", None, np.array(pairs, np.int32))
    y = m.tensor("padded", shape, x.dtype, q)
    m.operator("PAD", [x, paddings], [y], "PadOptions")
    return y


def conv(m: ModelWriter, x: Tensor, name: str, padding: int = 1) -> Tensor:
    """A 2x2 convolution with one output channel."""
    weights = m.tensor("weights", (1, 2, 2, 1), "int8", Quantization((0.1,), (0,)), np.ones((1, 2, 2, 1), np.int8))
    shrink = padding  # SAME is 0, VALID 1
    y = m.tensor(name, (1, x.shape[1] - shrink, x.shape[2] - shrink, 1), "int8", Q)
    m.operator("CONV_2D", [x, weights], [y], "Conv2DOptions", {**CONV, "Padding": padding})
    return y


def pool(m: ModelWriter, kind: str, x: Tensor, q: Quantization) -> Tensor:
    y = m.tensor("pooled", (1, x.shape[1] - 1, x.shape[2] - 1, 1), x.dtype, q)
    m.operator(kind, [x], [y], "Pool2DOptions", POOL)
    return y


def before_convolution() -> bytes:
    m = ModelWriter("pad")
    x = m.tensor("x", (1, 3, 4, 1), "int8", Q)
    padded = pad(m, x, IMAGE, Q)
    return m.finish([x], [conv(m, padded, "valid"), conv(m, padded, "same", padding=0)])


BEFORE = """\
graph 'pad'
input %0 'x' int8[1,3,4,1] scale=0.5 zero_point=-3
constant %2 'weights' int8[1,2,2,1] scale=0.1 zero_point=0 = 1 1 1 1
constant %4 'weights_1' int8[1,2,2,1] scale=0.1 zero_point=0 = 1 1 1 1
%1 'padded' int8[1,6,5,1] scale=0.5 zero_point=-3 = PAD(%0) {paddings=((0, 0), (1, 2), (0, 1), (0, 0))} @0
%3 'valid' int8[1,5,4,1] scale=0.5 zero_point=-3 = CONV_2D(%1, %2) {stride_h=1, stride_w=1, dilation_h=1, \
dilation_w=1, pad_top=0, pad_left=0, pad_bottom=0, pad_right=0, activation=none} @1
%5 'same' int8[1,6,5,1] scale=0.5 zero_point=-3 = CONV_2D(%1, %4) {stride_h=1, stride_w=1, dilation_h=1, \
dilation_w=1, pad_top=0, pad_left=0, pad_bottom=1, pad_right=1, activation=none} @2
output %3
output %5
"""
FOLDED = """\
graph 'pad'
input %0 'x' int8[1,3,4,1] scale=0.5 zero_point=-3
constant %2 'weights' int8[1,2,2,1] scale=0.1 zero_point=0 = 1 1 1 1
constant %4 'weights_1' int8[1,2,2,1] scale=0.1 zero_point=0 = 1 1 1 1
%1 'padded' int8[1,6,5,1] scale=0.5 zero_point=-3 = PAD(%0) {paddings=((0, 0), (1, 2), (0, 1), (0, 0))} @0
%3 'valid' int8[1,5,4,1] scale=0.5 zero_point=-3 = CONV_2D(%0, %2) {stride_h=1, stride_w=1, dilation_h=1, \
dilation_w=1, pad_top=1, pad_left=0, pad_bottom=2, pad_right=1, activation=none} @1
%5 'same' int8[1,6,5,1] scale=0.5 zero_point=-3 = CONV_2D(%0, %4) {stride_h=1, stride_w=1, dilation_h=1, \
dilation_w=1, pad_top=1, pad_left=0, pad_bottom=3, pad_right=2, activation=none} @2
output %3
output %5
"""
WITHOUT_DEAD = """\
graph 'pad'
input %0 'x' int8[1,3,4,1] scale=0.5 zero_point=-3
constant %1 'weights' int8[1,2,2,1] scale=0.1 zero_point=0 = 1 1 1 1
constant %3 'weights_1' int8[1,2,2,1] scale=0.1 zero_point=0 = 1 1 1 1
%2 'valid' int8[1,5,4,1] scale=0.5 zero_point=-3 = CONV_2D(%0, %1) {stride_h=1, stride_w=1, dilation_h=1, \
dilation_w=1, pad_top=1, pad_left=0, pad_bottom=2, pad_right=1, activation=none} @1
%4 'same' int8[1,6,5,1] scale=0.5 zero_point=-3 = CONV_2D(%0, %3) {stride_h=1, stride_w=1, dilation_h=1, \
dilation_w=1, pad_top=1, pad_left=0, pad_bottom=3, pad_right=2, activation=none} @2
output %2
output %4
"""


def test_padding_is_folded_into_convolutions() -> None:
    graph = read_model(before_convolution(), "pad")
    assert print_graph(graph) == BEFORE
    assert print_graph(run_pass(graph, fold_padding)) == FOLDED


def test_dead_operators_are_dropped() -> None:
    folded = run_pass(read_model(before_convolution(), "pad"), fold_padding)
    assert print_graph(run_pass(folded, drop_dead_operators)) == WITHOUT_DEAD


def test_optimize_runs_all_passes() -> None:
    graph = read_model(before_convolution(), "pad")
    assert print_graph(optimize(graph)) == WITHOUT_DEAD
    assert optimize(optimize(graph)) == optimize(graph)
    assert [rewrite.__name__ for rewrite in PASSES] == ["fold_padding", "drop_dead_operators"]


def test_padding_with_the_lowest_value_is_folded_into_a_maximum_pool() -> None:
    m = ModelWriter("pool")
    x = m.tensor("x", (1, 3, 4, 1), "int8", LOWEST)
    padded = pad(m, x, ((0, 0), (1, 1), (0, 1), (0, 0)), LOWEST)
    graph = optimize(read_model(m.finish([x], [pool(m, "MAX_POOL_2D", padded, LOWEST)]), "pool"))
    (op,) = graph.ops
    a = op.attributes
    assert (a.pad_top, a.pad_left, a.pad_bottom, a.pad_right) == (1, 0, 1, 1)


def kept_for_pool(kind: str, q: Quantization, pairs: tuple[tuple[int, int], ...] = IMAGE) -> bytes:
    m = ModelWriter("pool")
    x = m.tensor("x", (1, 3, 4, 1), "int8", q)
    return m.finish([x], [pool(m, kind, pad(m, x, pairs, q), q)])


def kept_for_float_pool() -> bytes:
    m = ModelWriter("pool")
    x = m.tensor("x", (1, 3, 4, 1), "float32")
    padded = pad(m, x, IMAGE, None)
    y = m.tensor("y", (1, 5, 4, 1), "float32")
    m.operator("MAX_POOL_2D", [padded], [y], "Pool2DOptions", POOL)
    return m.finish([x], [y])


def kept_for_another_reader() -> bytes:
    m = ModelWriter("two readers")
    x = m.tensor("x", (1, 3, 4, 1), "int8", Q)
    padded = pad(m, x, IMAGE, Q)
    y = m.tensor("y", padded.shape, "int8", Q)
    m.operator("RELU", [padded], [y])
    return m.finish([x], [conv(m, padded, "valid"), y])


def kept_as_output() -> bytes:
    m = ModelWriter("output")
    x = m.tensor("x", (1, 3, 4, 1), "int8", Q)
    padded = pad(m, x, IMAGE, Q)
    return m.finish([x], [conv(m, padded, "valid"), padded])


def kept_for_another_axis(pairs: tuple[tuple[int, int], ...]) -> bytes:
    m = ModelWriter("axis")
    x = m.tensor("x", tuple(2 - a - b if i in (0, 3) else 3 for i, (a, b) in enumerate(pairs)), "int8", Q)
    padded = pad(m, x, pairs, Q)
    weights = m.tensor("w", (1, 2, 2, 2), "int8", Quantization((0.1,), (0,)), np.ones((1, 2, 2, 2), np.int8))
    y = m.tensor("y", (2, padded.shape[1] - 1, padded.shape[2] - 1, 1), "int8", Q)
    m.operator("CONV_2D", [padded, weights], [y], "Conv2DOptions", CONV)
    return m.finish([x], [y])


def kept_for_another_scale() -> bytes:
    m = ModelWriter("scale")
    x = m.tensor("x", (1, 3, 4, 1), "int8", LOWEST)
    return m.finish([x], [conv(m, pad(m, x, IMAGE, Q), "valid")])


KEPT: dict[str, Callable[[], bytes]] = {
    "average pool": lambda: kept_for_pool("AVERAGE_POOL_2D", LOWEST),
    "pool with another value": lambda: kept_for_pool("MAX_POOL_2D", Q),
    "pool window outside the input": lambda: kept_for_pool("MAX_POOL_2D", LOWEST, ((0, 0), (3, 0), (0, 0), (0, 0))),
    "float pool": kept_for_float_pool,
    "another reader": kept_for_another_reader,
    "model output": kept_as_output,
    "batch axis": lambda: kept_for_another_axis(((0, 1), (0, 0), (0, 0), (0, 0))),
    "channel axis": lambda: kept_for_another_axis(((0, 0), (0, 0), (0, 0), (1, 0))),
    "another quantization": kept_for_another_scale,
}


@pytest.mark.parametrize("model", KEPT.values(), ids=KEPT.keys())
def test_padding_that_stays(model: Callable[[], bytes]) -> None:
    graph = read_model(model(), "kept")
    assert print_graph(optimize(graph)) == print_graph(graph)
    assert "PAD" in print_graph(graph)


def test_unused_operators_of_the_file_are_dropped() -> None:
    m = ModelWriter("unused")
    x, y, z = (m.tensor(n, (1, 4), "float32") for n in "xyz")
    m.operator("RELU", [x], [y])
    m.operator("LOGISTIC", [x], [z])
    assert [op.kind for op in read_model(m.finish([x], [y]), "unused").ops] == ["RELU"]


def test_a_pass_is_verified() -> None:
    graph = read_model(before_convolution(), "pad")
    with pytest.raises(GraphError, match="defined"):
        run_pass(graph, lambda g: replace(g, ops=g.ops[1:]))

    def spoil(g: Graph) -> Graph:
        attributes = replace(g.ops[1].attributes, stride_h=0)
        return replace(g, ops=(g.ops[0], replace(g.ops[1], attributes=attributes), *g.ops[2:]))

    with pytest.raises(GraphError, match="a stride or dilation below 1"):
        run_pass(graph, spoil)

    def exchange(g: Graph) -> Graph:
        return replace(g, ops=(g.ops[0], replace(g.ops[1], attributes=g.ops[0].attributes), *g.ops[2:]))

    with pytest.raises(GraphError, match="PadAttributes"):
        run_pass(graph, exchange)
