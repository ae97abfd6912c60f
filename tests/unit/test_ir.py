"""Graphs: what the verifier rejects, what the printer writes, how tensors are cut into rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tigris_codegen.ir.edit import consumers, without_dead_tensors
from tigris_codegen.ir.graph import DType, Graph, Op, Quantization, Tensor
from tigris_codegen.ir.printer import print_graph
from tigris_codegen.ir.rows import MAX_ROWS, rows_of
from tigris_codegen.ir.verify import GraphError, verify
from tigris_codegen.numerics import Activation
from tigris_codegen.ops.arithmetic import BinaryAttributes
from tigris_codegen.ops.reduce import MeanAttributes

PLAIN = BinaryAttributes(Activation.RELU)
Q = Quantization((0.5,), (-3,))
GRAPH = Graph(
    "small",
    (
        Tensor("x", (1, 4), DType.S8, Q),
        Tensor("w", (4,), DType.S8, Quantization((0.1, 0.2, 0.3, 0.4, 0.5), (0,) * 5), b"\x01\x02\x03\xff"),
        Tensor("y", (1, 4), DType.S8, Q),
        Tensor("big", (9,), DType.S8, Q, bytes(9)),
        Tensor("z", (), DType.F32),
    ),
    (
        Op("ADD", (0, 1), (2,), PLAIN, 0),
        Op("MEAN", (2, 3, -1), (4,), MeanAttributes((1,), False), None),
    ),
    (0,),
    (4,),
)
TEXT = """\
graph 'small'
input %0 'x' int8[1,4] scale=0.5 zero_point=-3
constant %1 'w' int8[4] scales=(0.1:0 0.2:0 0.3:0 ... 5) axis=0 = 1 2 3 -1
constant %3 'big' int8[9] scale=0.5 zero_point=-3 = crc e60914ae
%2 'y' int8[1,4] scale=0.5 zero_point=-3 = ADD(%0, %1) {activation=relu} @0
%4 'z' float32[] = MEAN(%2, %3, none) {axes=(1,), keep_dims=False}
output %4
"""


@dataclass
class Mutable:
    """Not frozen, and so without a hash."""

    value: int = 0


def changed(number: int, **fields: Any) -> Graph:
    """The graph with operator `number` changed."""
    op = replace(GRAPH.ops[number], **fields)
    return replace(GRAPH, ops=tuple(op if i == number else o for i, o in enumerate(GRAPH.ops)))


def with_tensor(number: int, **fields: Any) -> Graph:
    tensor = replace(GRAPH.tensors[number], **fields)
    return replace(GRAPH, tensors=tuple(tensor if i == number else t for i, t in enumerate(GRAPH.tensors)))


def test_text() -> None:
    assert print_graph(GRAPH) == TEXT


def test_sound_graph_passes() -> None:
    assert verify(GRAPH) is GRAPH


BROKEN = {
    "input beyond the tensors": changed(0, inputs=(0, 5)),
    "input below -1": changed(0, inputs=(0, -2)),
    "output beyond the tensors": changed(0, outputs=(5,)),
    "use before definition": replace(GRAPH, ops=GRAPH.ops[::-1]),
    "two producers": changed(1, outputs=(2,)),
    "an input that is written": changed(1, outputs=(0,)),
    "a constant that is written": changed(1, outputs=(1,)),
    "an output that nothing writes": replace(GRAPH, ops=GRAPH.ops[:1]),
    "an output beyond the tensors": replace(GRAPH, outputs=(9,)),
    "an input twice": replace(GRAPH, inputs=(0, 0)),
    "a constant too short": with_tensor(1, data=b"\x01"),
    "an empty tensor": with_tensor(0, shape=(1, 0)),
    "a name twice": with_tensor(1, name="x"),
    "scales without zero points": with_tensor(0, quantization=Quantization((1.0,), ())),
    "attributes of no class": changed(0, attributes=None),
}


@pytest.mark.parametrize("graph", BROKEN.values(), ids=BROKEN.keys())
def test_broken_graph_is_a_bug(graph: Graph) -> None:
    with pytest.raises(GraphError):
        verify(graph)


def test_mutable_attributes_are_a_bug() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        verify(changed(0, attributes=Mutable()))


def test_dead_tensors_go_and_numbers_follow() -> None:
    graph = without_dead_tensors(replace(changed(1, inputs=(2, -1)), name="smaller"))
    assert [t.name for t in graph.tensors] == ["x", "w", "y", "z"]
    assert graph.ops[1].inputs == (2, -1)
    assert graph.outputs == (3,)
    assert verify(graph) is graph


def test_consumers() -> None:
    assert consumers(GRAPH, 2) == (GRAPH.ops[1],)
    assert consumers(GRAPH, 4) == ()


@given(st.lists(st.integers(1, 300), max_size=6).map(tuple), st.sampled_from([DType.S8, DType.F32]))
def test_rows_cut_a_tensor_evenly(shape: tuple[int, ...], dtype: DType) -> None:
    rows = rows_of(Tensor("t", shape, dtype))
    assert rows.total == prod(shape) * dtype.bytes
    assert rows.count <= MAX_ROWS
    assert rows.count % rows.per_image == 0
    assert rows.bytes % dtype.bytes == 0
