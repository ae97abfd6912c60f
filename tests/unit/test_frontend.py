"""Reading .tflite files: what becomes a graph, what is refused and how, and that damage is never more than that."""

from __future__ import annotations

import random
import struct
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import flatbuffers
import numpy as np
import pytest
import tflite

from tests.corpus import writer
from tests.corpus.cases import build
from tests.corpus.writer import ModelWriter, Quantization
from tigris_codegen.errors import ModelError
from tigris_codegen.frontend import FileTensor, read_model, survey
from tigris_codegen.frontend.flatbuffer import DamagedFile, check_structure
from tigris_codegen.frontend.read import MAX_ALIVE_BYTES
from tigris_codegen.ir.graph import DType, Graph
from tigris_codegen.ops.lower import lower_graph
from tigris_codegen.passes import optimize

Q = Quantization((0.05,), (3,))


def refusals(data: bytes, name: str = "model.tflite") -> dict[str, str]:
    """Code -> sentence of every refusal."""
    with pytest.raises(ModelError) as caught:
        read_model(data, name)
    assert str(caught.value) == "\n".join(map(str, caught.value.refusals))
    return {r.code: str(r) for r in caught.value.refusals}


def relu(dtype: str = "int8", name: str = "x") -> bytes:
    m = ModelWriter("relu")
    q = None if dtype == "float32" else Q
    x, y = m.tensor(name, (1, 4), dtype, q), m.tensor("y", (1, 4), dtype, q)
    m.operator("RELU", [x], [y])
    return m.finish([x], [y])


def model_of(data: bytes) -> Any:
    return tflite.Model.GetRootAs(data, 0)


def patched(data: bytes, table: Any, slot: int, code: str, value: int) -> bytes:
    """The file with a number of a table exchanged; the field must be there."""
    offset = table._tab.Offset(4 + 2 * slot)
    assert offset, "the field has its default and is not stored"
    changed = bytearray(data)
    struct.pack_into("<" + code, changed, table._tab.Pos + offset, value)
    return bytes(changed)


def patched_item(data: bytes, table: Any, slot: int, index: int, value: int) -> bytes:
    """The file with an int32 of a vector exchanged."""
    start = table._tab.Vector(table._tab.Offset(4 + 2 * slot))
    changed = bytearray(data)
    struct.pack_into("<i", changed, start + 4 * index, value)
    return bytes(changed)


# The file as a whole.


def test_empty_file() -> None:
    assert refusals(b"") == {"file.empty": "the file is empty"}


@pytest.mark.parametrize("data", [b"x", b"PK\x03\x04" + bytes(60), relu()[:4] + b"TFL2" + relu()[8:]])
def test_other_files_lack_the_identifier(data: bytes) -> None:
    assert "identifier TFL3" in refusals(data)["file.identifier"]


@pytest.mark.parametrize(("data", "name"), [(b"\x08\x07\x12\x07pytorch", "m.bin"), (bytes(20), "Model.ONNX")])
def test_onnx_is_told_what_is_read(data: bytes, name: str) -> None:
    assert ".tflite" in refusals(data, name)["file.onnx"]


def two_subgraphs(count: int) -> bytes:
    builder = flatbuffers.Builder(64)
    subgraphs = []
    for _ in range(count):
        tflite.SubGraphStart(builder)
        subgraphs.append(tflite.SubGraphEnd(builder))
    vector = writer._offsets(builder, subgraphs)
    tflite.ModelStart(builder)
    tflite.ModelAddVersion(builder, 3)
    tflite.ModelAddSubgraphs(builder, vector)
    builder.Finish(tflite.ModelEnd(builder), file_identifier=b"TFL3")
    return bytes(builder.Output())


def test_subgraphs() -> None:
    assert list(refusals(two_subgraphs(0))) == ["file.subgraphs"]
    assert list(refusals(two_subgraphs(1))) == ["file.operators", "file.outputs"]
    assert "2 subgraphs" in refusals(two_subgraphs(2))["file.subgraphs"]


def test_schema_version() -> None:
    data = relu()
    assert list(refusals(patched(data, model_of(data), 0, "I", 2))) == ["file.version"]


# Operators.


def test_all_refusals_come_at_once() -> None:
    m = ModelWriter("several")
    x = m.tensor("x", (1, 4, 4, 1), "int8", Q)
    a, b, c = (m.tensor(n, (1, 4, 4, 1), "int8", Q) for n in "abc")
    m.operator("SIN", [x], [a])
    m.operator("MAX_POOL_2D", [a], [b], "Pool2DOptions", {"StrideH": 0, "FilterHeight": 1, "FilterWidth": 1})
    m.operator("LOGISTIC", [b], [c])
    with pytest.raises(ModelError) as caught:
        read_model(m.finish([x], [c]), "several")
    assert str(caught.value).splitlines() == [
        "operator 0 SIN: not supported",
        "operator 1 MAX_POOL_2D: a window size or stride below 1",
        "operator 2 LOGISTIC: an int8 output with a scale other than 1/256 or a zero point other than -128: 0.05 and 3",
    ]


def test_custom_operator_is_named() -> None:
    codes_of = {"my-op": "operator.custom", "FlexErf": "operator.flex", "ethos-u": "operator.accelerator"}
    for custom, code in codes_of.items():
        builder = flatbuffers.Builder(256)
        name = builder.CreateString(custom)
        tflite.OperatorCodeStart(builder)
        tflite.OperatorCodeAddDeprecatedBuiltinCode(builder, 32)
        tflite.OperatorCodeAddCustomCode(builder, name)
        codes = writer._offsets(builder, [tflite.OperatorCodeEnd(builder)])
        tflite.OperatorStart(builder)
        operators = writer._offsets(builder, [tflite.OperatorEnd(builder)])
        tflite.SubGraphStart(builder)
        tflite.SubGraphAddOperators(builder, operators)
        subgraphs = writer._offsets(builder, [tflite.SubGraphEnd(builder)])
        tflite.ModelStart(builder)
        tflite.ModelAddVersion(builder, 3)
        tflite.ModelAddOperatorCodes(builder, codes)
        tflite.ModelAddSubgraphs(builder, subgraphs)
        builder.Finish(tflite.ModelEnd(builder), file_identifier=b"TFL3")
        assert f"CUSTOM:{custom}" in refusals(bytes(builder.Output()))[code]


def test_operator_code_is_the_larger_of_both_fields() -> None:
    data = relu()
    code = model_of(data).OperatorCodes(0)
    assert read_model(patched(data, code, 0, "b", 0), "old").ops[0].kind == "RELU"
    assert read_model(patched(data, code, 3, "i", 0), "new").ops[0].kind == "RELU"
    assert "operator 0 #9999: " in refusals(patched(data, code, 3, "i", 9999))["operator.unsupported"]


def test_options_of_another_operator() -> None:
    data = build("softmax_depth10_s8").data
    op = model_of(data).Subgraphs(0).Operators(0)
    assert list(refusals(patched(data, op, 3, "B", tflite.BuiltinOptions.AddOptions))) == ["operator.options"]


def test_operand_counts() -> None:
    m = ModelWriter("operands")
    x, y = m.tensor("x", (1, 4), "int8", Q), m.tensor("y", (1, 4), "int8", Q)
    m.operator("ADD", [x], [y], "AddOptions")
    assert "1 inputs" in refusals(m.finish([x], [y]))["operator.operands"]
    m = ModelWriter("left out")
    x, y = m.tensor("x", (1, 4), "int8", Q), m.tensor("y", (1, 4), "int8", Q)
    m.operator("ADD", [x, None], [y], "AddOptions")
    assert "input 1 is left out" in refusals(m.finish([x], [y]))["operator.operands"]


def dense(bias: bool) -> bytes:
    m = ModelWriter("dense")
    x, y = m.tensor("x", (1, 4), "int8", Q), m.tensor("y", (1, 2), "int8", Q)
    w = m.tensor("w", (2, 4), "int8", Quantization((0.1,), (0,)), np.ones((2, 4), np.int8))
    m.operator("FULLY_CONNECTED", [x, w, None] if bias else [x, w], [y], "FullyConnectedOptions")
    return m.finish([x], [y])


def test_bias_left_out_is_no_bias() -> None:
    graphs = [read_model(dense(bias), "dense") for bias in (True, False)]
    assert graphs[0] == graphs[1]
    assert graphs[0].ops[0].inputs == (1, 2) or len(graphs[0].ops[0].inputs) == 2


def test_order_of_operators() -> None:
    m = ModelWriter("order")
    x, a, y = (m.tensor(n, (1, 4), "int8", Q) for n in "xay")
    m.operator("RELU", [a], [y])
    m.operator("RELU", [x], [a])
    assert "before anything writes it" in refusals(m.finish([x], [y]))["operator.order"]
    m = ModelWriter("twice")
    x, y = (m.tensor(n, (1, 4), "int8", Q) for n in "xy")
    m.operator("RELU", [x], [y])
    m.operator("RELU", [x], [y])
    assert "already written" in refusals(m.finish([x], [y]))["operator.order"]


def test_only_what_the_outputs_need_is_read() -> None:
    m = ModelWriter("dead")
    x, y, z = (m.tensor(n, (1, 4), "int8", Q) for n in "xyz")
    m.operator("SIN", [x], [z])
    m.operator("RELU", [x], [y])
    graph = read_model(m.finish([x], [y]), "dead")
    assert [(op.kind, op.source) for op in graph.ops] == [("RELU", 1)]
    assert [t.name for t in graph.tensors] == ["x", "y"]


def test_the_shape_operand_of_reshape_is_not_needed() -> None:
    m = ModelWriter("reshape")
    x, y = m.tensor("x", (1, 4), "int8", Q), m.tensor("y", (2, 2), "int8", Q)
    shape = m.tensor("shape", (2,), "int32")
    m.operator("SHAPE", [x], [shape])
    m.operator("RESHAPE", [x, shape], [y])
    assert [op.kind for op in read_model(m.finish([x], [y]), "reshape").ops] == ["RESHAPE"]


# Inputs and outputs.


def test_interface() -> None:
    m = ModelWriter("interface")
    a, b, y, z = (m.tensor(n, (1, 4), "float32") for n in "abyz")
    m.operator("ADD", [a, b], [y], "AddOptions")
    m.operator("RELU", [y], [z])
    graph = read_model(m.finish([b, a], [z, y]), "interface")
    assert [graph.tensors[i].name for i in graph.inputs] == ["b", "a"]
    assert [graph.tensors[i].name for i in graph.outputs] == ["z", "y"]


def test_an_input_may_be_an_output() -> None:
    m = ModelWriter("pass")
    x, y = (m.tensor(n, (1, 4), "float32") for n in "xy")
    m.operator("RELU", [x], [y])
    graph = read_model(m.finish([x], [x, y]), "pass")
    assert graph.outputs[0] == graph.inputs[0]


def test_inputs_and_outputs_that_are_refused() -> None:
    m = ModelWriter("constant")
    x, y = (m.tensor(n, (1, 4), "float32") for n in "xy")
    c = m.tensor("c", (1, 4), "float32", None, np.ones((1, 4), np.float32))
    unwritten = m.tensor("unwritten", (1, 4), "float32")
    m.operator("RELU", [x], [y])
    assert "is a constant" in refusals(m.finish([x], [y, c]))["file.outputs"]
    assert "nothing writes" in refusals(m.finish([x], [y, unwritten]))["file.outputs"]
    assert "is a constant" in refusals(m.finish([x, c], [y]))["file.inputs"]
    assert "two inputs" in refusals(m.finish([x, x], [y]))["file.inputs"]


# Tensors.


def test_names_are_unique() -> None:
    m = ModelWriter("names")
    tensors = [m.tensor(f"{n}{i}", (1, 4), "float32") for i, n in enumerate(["aaaa", "aaaa", "aaaa", "bbbb"])]
    for x, y in pairwise(tensors):
        m.operator("RELU", [x], [y])
    data = bytearray(m.finish(tensors[:1], tensors[-1:]))
    for old, new in ((b"aaaa1", b"aaaa0"), (b"aaaa2", b"aaaa0"), (b"\x05\0\0\0bbbb3", b"\0\0\0\0bbbb3")):
        at = bytes(data).index(old)
        data[at : at + len(old)] = new
    assert [t.name for t in read_model(bytes(data), "names").tensors] == ["aaaa0", "aaaa0_1", "aaaa0_2", "tensor_3"]


def test_scalars_have_no_dimensions() -> None:
    m = ModelWriter("scalar")
    x, y = m.tensor("x", (), "float32"), m.tensor("y", (), "float32")
    m.operator("RELU", [x], [y])
    assert [t.shape for t in read_model(m.finish([x], [y]), "scalar").tensors] == [(), ()]


@pytest.mark.parametrize(("size", "words"), [(-1, "dynamic shape"), (0, "no elements"), (2**30, "bytes; up to")])
def test_shapes_that_are_refused(size: int, words: str) -> None:
    data = relu()
    changed = patched_item(data, model_of(data).Subgraphs(0).Tensors(0), 0, 1, size)
    assert any("tensor 'x'" in text and words in text for text in refusals(changed).values())


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (tflite.TensorType.STRING, "string"),
        (tflite.TensorType.INT4, "int4"),
        (tflite.TensorType.COMPLEX64, "complex64"),
        (100, "type 100"),
    ],
)
def test_types_that_are_refused(number: int, words: str) -> None:
    data = relu()
    changed = patched(data, model_of(data).Subgraphs(0).Tensors(0), 1, "b", number)
    assert words in refusals(changed)["tensor.type"]


@pytest.mark.parametrize("number", [tflite.TensorType.INT16, tflite.TensorType.UINT8, tflite.TensorType.INT32])
def test_activation_types_that_are_refused(number: int) -> None:
    data = relu()
    for tensor in (0, 1):
        data = patched(data, model_of(data).Subgraphs(0).Tensors(tensor), 1, "b", number)
    assert list(refusals(data)) == ["relu.activation_type"]


def test_constant_of_another_size() -> None:
    data = dense(False)
    changed = patched_item(data, model_of(data).Subgraphs(0).Tensors(2), 0, 0, 3)
    assert "its data 8" in refusals(changed)["tensor.data"]


def test_scales_and_zero_points_of_different_numbers() -> None:
    m = ModelWriter("scales")
    x, y = m.tensor("x", (1, 4), "int8", Quantization((0.1, 0.2), (0,))), m.tensor("y", (1, 4), "int8", Q)
    m.operator("RELU", [x], [y])
    assert "2 scales and 1 zero points" in refusals(m.finish([x], [y]))["tensor.quantization"]


@pytest.mark.parametrize("slot", ["variable", "sparse"])
def test_variables_and_sparse_tensors(slot: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def tensor(builder: flatbuffers.Builder, t: writer.Tensor, buffer: int) -> int:
        name, shape = builder.CreateString(t.name), writer._int32s(builder, t.shape)
        tflite.SparsityParametersStart(builder)
        sparsity = tflite.SparsityParametersEnd(builder)
        tflite.TensorStart(builder)
        tflite.TensorAddShape(builder, shape)
        tflite.TensorAddName(builder, name)
        if slot == "variable":
            tflite.TensorAddIsVariable(builder, True)
        else:
            tflite.TensorAddSparsity(builder, sparsity)
        return int(tflite.TensorEnd(builder))

    monkeypatch.setattr(writer, "_tensor", tensor)
    assert list(refusals(relu("float32"))) == [f"tensor.{slot}"]


def test_constants_behind_the_flatbuffer(monkeypatch: pytest.MonkeyPatch) -> None:
    inside = dense(False)

    def buffer(builder: flatbuffers.Builder, data: bytes) -> int:
        tflite.BufferStart(builder)
        if data:
            tflite.BufferAddOffset(builder, 1 << 40)
            tflite.BufferAddSize(builder, len(data))
        return int(tflite.BufferEnd(builder))

    monkeypatch.setattr(writer, "_buffer", buffer)
    table = dense(False)
    assert "outside the file" in refusals(table)["file.damaged"]
    moved = patched(table, model_of(table).Buffers(1), 1, "Q", len(table))
    assert "outside the file" in refusals(moved)["file.damaged"]
    assert read_model(moved + bytes([1] * 8), "dense") == read_model(inside, "dense")


# Constants that the importer computes.


def test_float16_constants_become_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(writer.TENSOR_TYPES, "float16", "FLOAT16")
    values = np.array([1.5, -0.1, 65504, 6e-8], np.float16)
    m = ModelWriter("float16")
    x, y = m.tensor("x", (1, 4), "float32"), m.tensor("y", (1, 4), "float32")
    half, wide = m.tensor("half", (4,), "float16", None, values), m.tensor("wide", (4,), "float32")
    m.operator("DEQUANTIZE", [half], [wide])
    m.operator("ADD", [x, wide], [y], "AddOptions")
    graph = read_model(m.finish([x], [y]), "float16")
    assert [op.kind for op in graph.ops] == ["ADD"]
    constant = graph.tensors[graph.ops[0].inputs[1]]
    assert constant.dtype is DType.F32
    assert constant.array().tolist() == values.astype(np.float32).tolist()


def test_dequantized_and_reshaped_constants() -> None:
    m = ModelWriter("constants")
    x, y = m.tensor("x", (1, 2, 2), "float32"), m.tensor("y", (1, 2, 2), "float32")
    small = m.tensor("small", (4,), "int8", Q, np.array([-128, 3, 4, 127], np.int8))
    wide, square = m.tensor("wide", (4,), "float32"), m.tensor("square", (2, 2), "float32")
    m.operator("DEQUANTIZE", [small], [wide], "DequantizeOptions")
    m.operator("RESHAPE", [wide], [square])
    m.operator("ADD", [x, square], [y], "AddOptions")
    graph = read_model(m.finish([x], [y]), "constants")
    assert [op.kind for op in graph.ops] == ["ADD"]
    scale = float(np.float32(0.05))
    wanted = [np.float32(scale * v) for v in (-131, 0, 1, 124)]
    assert graph.tensors[graph.ops[0].inputs[1]].array().reshape(-1).tolist() == wanted


# Damage.


def convert(data: bytes) -> Graph | None:
    """The graph, lowered too; None where it is refused. Anything else that is raised fails the calling test."""
    started = time.monotonic()
    try:
        graph = read_model(data, "damaged.tflite")
        lower_graph(optimize(graph))
    except ModelError as error:
        assert str(error)
        graph = None
    assert time.monotonic() - started < 1
    return graph


def victims() -> list[bytes]:
    return [relu(), dense(True), *(build(name).data for name in ("softmax_rank4_s8", "concatenation_batch_f32"))]


@pytest.mark.parametrize("victim", range(4))
def test_every_truncation_is_refused(victim: int) -> None:
    data = victims()[victim]
    for length in range(0, len(data), 1 + len(data) // 400):
        assert convert(data[:length]) is None or length > len(data) - 16


@pytest.mark.parametrize("victim", range(4))
def test_flipped_bits_do_no_more_than_refuse(victim: int) -> None:
    data = victims()[victim]
    stream = random.Random(victim)
    converted = 0
    for _ in range(600):
        damaged = bytearray(data)
        for _ in range(stream.choice((1, 1, 2, 8))):
            damaged[stream.randrange(len(data))] ^= 1 << stream.randrange(8)
        converted += convert(bytes(damaged)) is not None
    assert 0 < converted < 600


@pytest.mark.parametrize("victim", range(4))
def test_bytes_of_extreme_values_do_no_more_than_refuse(victim: int) -> None:
    data = victims()[victim]
    for position in range(8, len(data) - 3, 4):
        for word in (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF):
            convert(data[:position] + struct.pack("<I", word) + data[position + 4 :])


def test_aliased_tables_cannot_exhaust_the_importer() -> None:
    """A vector whose 20000 entries are the same operator, in a file of 80 KB."""
    builder = flatbuffers.Builder(1024)
    inputs = writer._int32s(builder, list(range(-1, -2001, -1)))
    tflite.OperatorStart(builder)
    tflite.OperatorAddInputs(builder, inputs)
    operators = writer._offsets(builder, [tflite.OperatorEnd(builder)] * 20000)
    tflite.SubGraphStart(builder)
    tflite.SubGraphAddOperators(builder, operators)
    subgraphs = writer._offsets(builder, [tflite.SubGraphEnd(builder)])
    tflite.ModelStart(builder)
    tflite.ModelAddVersion(builder, 3)
    tflite.ModelAddSubgraphs(builder, subgraphs)
    builder.Finish(tflite.ModelEnd(builder), file_identifier=b"TFL3")
    data = bytes(builder.Output())
    with pytest.raises(DamagedFile, match=r"more (tables|data) than"):
        check_structure(data)
    assert convert(data) is None


CYCLES: dict[str, Callable[[bytes], bytes]] = {
    "root at itself": lambda data: bytes(4) + data[4:],
    "root at the end": lambda data: struct.pack("<I", len(data)) + data[4:],
    "root far outside": lambda data: struct.pack("<I", 0xFFFFFFFF) + data[4:],
}


@pytest.mark.parametrize("damage", CYCLES.values(), ids=CYCLES.keys())
def test_offsets_that_go_nowhere(damage: Callable[[bytes], bytes]) -> None:
    assert list(refusals(damage(relu()))) == ["file.damaged"]


# Surveys.


def test_survey_of_a_model_that_converts() -> None:
    found = survey(dense(True), "m")
    x, y, w = FileTensor("x", "int8", (1, 4)), FileTensor("y", "int8", (1, 2)), FileTensor("w", "int8", (2, 4))
    assert (found.inputs, found.outputs, found.refusals) == ((x,), (y,), ())
    (op,) = found.operators
    assert (op.index, op.kind, op.inputs, op.outputs, op.refusals) == (0, "FULLY_CONNECTED", (x, w), (y,), ())


def test_survey_of_a_model_that_does_not() -> None:
    """Refusals stand at their operators, those of a tensor at each that uses it; the others are the file's."""
    m = ModelWriter("several")
    x, a, y = (m.tensor(n, (1, 4), "int8", Q) for n in "xay")
    z = m.tensor("z", (1, 4), "int8", Q)
    m.operator("SIN", [x], [a])
    m.operator("RELU", [a], [y])
    m.operator("SIN", [x], [z])
    data = m.finish([x, x], [y])
    data = patched_item(data, model_of(data).Subgraphs(0).Tensors(1), 0, 1, -1)
    found = survey(data, "m")
    codes = [[r.code for r in op.refusals] for op in found.operators]
    assert codes == [["operator.unsupported", "tensor.shape"], ["tensor.shape"], []]
    assert found.operators[1].inputs == (FileTensor("a", "int8", (1, -1)),)
    assert [r.code for r in found.refusals] == ["file.inputs"]
    attributed = {*found.refusals, *(r for op in found.operators for r in op.refusals)}
    with pytest.raises(ModelError) as caught:
        read_model(data, "m")
    assert attributed == set(caught.value.refusals)


def test_survey_of_a_file_that_is_no_model() -> None:
    for data, code in ((b"", "file.empty"), (b"x" * 20, "file.identifier"), (relu()[:-40], "file.damaged")):
        found = survey(data, "m")
        assert (found.inputs, found.outputs, found.operators) == ((), (), ())
        assert [r.code for r in found.refusals] == [code]


def test_survey_lists_the_operators_of_a_model_whose_data_are_damaged() -> None:
    data = dense(False)
    found = survey(patched(data, model_of(data).Subgraphs(0).Tensors(2), 2, "I", 99), "m")
    assert [op.kind for op in found.operators] == ["FULLY_CONNECTED"]
    assert [r.code for r in found.refusals] == ["file.damaged"]


def test_what_is_alive_together_has_a_limit() -> None:
    """Views cost nothing, what nobody reads any more costs nothing, what is read later does."""

    part = (1, MAX_ALIVE_BYTES // 4)
    m = ModelWriter("chain")
    x = last = m.tensor("x", part, "int8", Q)
    for i in range(5):
        view, result = m.tensor(f"view{i}", part[::-1], "int8", Q), m.tensor(f"result{i}", part[::-1], "int8", Q)
        m.operator("RESHAPE", [last], [view])
        m.operator("RELU", [view], [result])
        last = result
    assert len(read_model(m.finish([x], [last]), "m").ops) == 10
    m = ModelWriter("wide")
    tensors = [m.tensor(f"t{i}", part, "int8", Q) for i in range(4)]
    results = [m.tensor(f"y{i}", part, "int8", Q) for i in range(4)]
    for tensor, result in zip(tensors, results, strict=True):
        m.operator("RELU", [tensor], [result])
    assert "operator 0 RELU: 41943040 bytes" in refusals(m.finish(tensors, results))["operator.memory"]
