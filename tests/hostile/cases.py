"""Hostile models by hand: name -> file, and what must become of it.

CONVERTS means a plan whose outputs are TensorFlow Lite Micro's, ALONE a plan of a file that it does not run, EITHER
that the form of the answer is not prescribed; a text is the code of a refusal that must be among those given.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import tflite

from tests.hostile.raw import OptionValue, Outside, RawCode, RawModel, RawOp, RawTensor, builtin, single

CONVERTS, ALONE, EITHER = "converts", "alone", "either"
Cases = dict[str, tuple[bytes, str]]

BIG, LOW = 2**31 - 1, -(2**31)
INT8, INT32, INT64, FLOAT = (
    tflite.TensorType.INT8,
    tflite.TensorType.INT32,
    tflite.TensorType.INT64,
    tflite.TensorType.FLOAT32,
)
X = RawTensor(name=b"x")
Y = RawTensor(name=b"y")
RELU = RawModel((X, Y), (RawOp(),), (builtin("RELU"),))


def real(shape: Sequence[int] = (1, 4), name: bytes = b"f", buffer: int = 0) -> RawTensor:
    """A float tensor."""
    return RawTensor(shape, FLOAT, name, buffer, quantized=False)


def numbers(*values: int, wide: bool = False) -> bytes:
    return np.array(values, np.int64 if wide else np.int32).tobytes()


def relu(**changes: Any) -> bytes:
    """The RELU model, changed."""
    return replace(RELU, **changes).bytes()


def elementwise(data: RawTensor, output: RawTensor, kind: str = "RELU") -> bytes:
    return single(kind, (data, output))


def _tables(data: bytes) -> dict[str, Any]:
    """The tables of a one-operator model, by name."""
    model = tflite.Model.GetRootAs(data, 0)
    subgraph = model.Subgraphs(0)
    return {
        "model": model,
        "code": model.OperatorCodes(0),
        "subgraph": subgraph,
        "tensor": subgraph.Tensors(0),
        "quantization": subgraph.Tensors(0).Quantization(),
        "operator": subgraph.Operators(0),
        "buffer": model.Buffers(0),
    }


#: Fields that are offsets, by table: their places in the schema, and whether they point to a vector.
OFFSETS = {
    "model": {1: True, 2: True, 4: True},
    "subgraph": {0: True, 1: True, 2: True, 3: True},
    "tensor": {0: True, 3: True, 4: False},
    "quantization": {2: True, 3: True},
    "operator": {1: True, 2: True, 4: False},
}


def _damaged_structure() -> Iterator[tuple[str, tuple[bytes, str]]]:
    """Every offset out of range or at itself, every count huge, every field list missing or made of the table."""
    data = single("ADD", (X, X, Y), table="AddOptions")
    for name, fields in OFFSETS.items():
        table = _tables(data)[name]._tab
        for slot, is_vector in fields.items():
            place = table.Pos + table.Offset(4 + 2 * slot)
            for value in (0xFFFFFFFF, 0x7FFFFFFF, 0x80000000, len(data)):
                yield f"{name} offset {slot} {value:x}", (_with(data, place, "I", value), "file.damaged")
            yield f"{name} offset {slot} at itself", (_with(data, place, "I", 0), EITHER)
            if is_vector:
                start = place + struct.unpack_from("<I", data, place)[0]
                for value in (0xFFFFFFFF, 0x40000000, 0x20000001, len(data)):
                    yield f"{name} count {slot} {value:x}", (_with(data, start, "I", value), "file.damaged")
        for value in (0, LOW, BIG, 4, -4):
            yield f"{name} field list {value}", (_with(data, table.Pos, "i", value), EITHER)
    elements = _tables(data)["subgraph"]._tab
    first = elements.Vector(elements.Offset(4 + 2 * 3))
    to_subgraph = (elements.Pos - first) & 0xFFFFFFFF
    yield "an operator that is its subgraph", (_with(data, first, "I", to_subgraph), EITHER)


def _with(data: bytes, position: int, code: str, value: int) -> bytes:
    changed = bytearray(data)
    struct.pack_into("<" + code, changed, position, value)
    return bytes(changed)


def _shapes() -> Iterator[tuple[str, tuple[bytes, str]]]:
    for name, shape, becomes in (
        ("negative dimension", (1, -4), "tensor.shape"),
        ("lowest dimension", (1, LOW), "tensor.shape"),
        ("zero dimension", (1, 0), "tensor.shape"),
        ("2^64 elements", (1 << 16,) * 4, "tensor.size"),
        ("2^186 elements", (BIG,) * 6, "tensor.size"),
        ("2^32 elements", (1, 1 << 16, 1 << 16), "tensor.size"),
        ("2^28 elements", (1, 1 << 28), "tensor.size"),
        ("2^26 elements", (1, 1 << 26), "operator.memory"),
        ("seven dimensions", (1,) * 7, "tensor.shape"),
        ("a thousand dimensions", (1,) * 1000, "tensor.shape"),
        ("six dimensions", (1, 2, 1, 2, 1, 2), CONVERTS),
        ("a scalar", (), CONVERTS),
        ("no shape", None, CONVERTS),
        ("70000 rows", (1, 70000, 3), CONVERTS),
        ("70000 images", (70000, 3), CONVERTS),
        ("a million channels", (1, 1, 1, 1 << 20), ALONE),
    ):
        yield name, (elementwise(replace(X, shape=shape), replace(Y, shape=shape)), becomes)
    yield "shapes apart", (elementwise(replace(X, shape=(1, 5)), Y), "relu.same_shape")


def _interface() -> Iterator[tuple[str, tuple[bytes, str]]]:
    z = RawTensor(name=b"z")
    constant = RawTensor(name=b"c", buffer=1)
    four = (b"", bytes(4))
    yield "input is output", (relu(outputs=(0, 1)), CONVERTS)
    yield "only an input that is output", (relu(outputs=(0,)), "file.operators")
    yield "an output twice", (relu(outputs=(1, 1)), CONVERTS)
    yield "an input twice", (relu(inputs=(0, 0)), "file.inputs")
    yield "no inputs", (relu(inputs=()), "operator.order")
    yield "no input vector", (relu(inputs=None), "operator.order")
    yield "no outputs", (relu(outputs=()), "file.outputs")
    yield "no output vector", (relu(outputs=None), "file.outputs")
    yield "an unused input", (relu(tensors=(X, Y, z), inputs=(0, 2)), CONVERTS)
    yield "an unused tensor", (relu(tensors=(X, Y, z)), CONVERTS)
    yield (
        "an unused tensor that would not convert",
        (
            relu(tensors=(X, Y, replace(z, shape=(-1, 0), type=tflite.TensorType.STRING))),
            ALONE,
        ),
    )
    yield "a constant output", (relu(tensors=(X, Y, constant), outputs=(1, 2), buffers=four), "file.outputs")
    yield "a constant input", (relu(tensors=(X, Y, constant), inputs=(0, 2), buffers=four), "file.inputs")
    yield "a constant written", (relu(tensors=(X, replace(constant, name=b"y")), buffers=four), "operator.order")
    yield "an output never written", (relu(tensors=(X, Y, z), outputs=(2,)), "file.outputs")
    yield "an input written", (relu(ops=(RawOp((0,), (0,)),), outputs=(0,)), "operator.order")
    for kind in ("RELU", "RESHAPE"):
        itself = RawOp((1,), (1,))
        yield f"{kind} of its own output", (relu(ops=(itself,), codes=(builtin(kind),)), "operator.order")
    circle = (RawOp((2,), (1,)), RawOp((1,), (2,)))
    for kind in ("RELU", "RESHAPE"):
        model = relu(tensors=(X, Y, z), ops=circle, codes=(builtin(kind),))
        yield f"{kind} in a circle", (model, "operator.order")
    yield "only a view", (relu(codes=(builtin("RESHAPE"),)), CONVERTS)
    for what, number in (("beyond", 2), ("far beyond", BIG), ("negative", -1), ("lowest", LOW)):
        yield f"an input {what}", (relu(inputs=(number,)), "file.damaged")
        yield f"an output {what}", (relu(outputs=(number,)), "file.damaged")
        operand = "operator.operands" if number == -1 else "file.damaged"
        yield f"an operand {what}", (relu(ops=(RawOp((number,), (1,)),)), operand)
        yield f"a result {what}", (relu(ops=(RawOp((0,), (number,)),)), "file.damaged")
    yield "no operands", (relu(ops=(RawOp((), (1,)),)), "operator.operands")
    yield "no operand vectors", (relu(ops=(RawOp(None, None),)), "operator.operands")
    yield "no results", (relu(ops=(RawOp((0,), ()), RawOp())), "operator.operands")
    yield "two results", (relu(tensors=(X, Y, z), ops=(RawOp((0,), (1, 2)),)), "operator.operands")
    yield "too many operands", (relu(ops=(RawOp((0,) * 100, (1,)),)), "operator.operands")
    yield "no operators", (relu(ops=()), "file.operators")
    yield "no tensors", (relu(tensors=()), "file.damaged")


def _whole_files() -> Iterator[tuple[str, tuple[bytes, str]]]:
    yield "no subgraph", (relu(subgraphs=0), "file.subgraphs")
    yield "three subgraphs", (relu(subgraphs=3), "file.subgraphs")
    yield "three signatures of one subgraph", (relu(signatures=3), CONVERTS)
    yield "another version", (relu(version=0), "file.version")
    yield "a huge version", (relu(version=0xFFFFFFFF), "file.version")
    number = tflite.BuiltinOperator.RELU
    for name, code, becomes in (
        ("only in the old field", RawCode(number, 0), CONVERTS),
        ("only in the new field", RawCode(0, number), CONVERTS),
        ("the larger in the new field", RawCode(0, tflite.BuiltinOperator.SIN), "operator.unsupported"),
        ("the placeholder", RawCode(127, 0), "operator.unsupported"),
        ("negative in the old field", RawCode(-1, number), CONVERTS),
        ("negative", RawCode(-1, -1), "operator.unsupported"),
        ("huge", RawCode(0, BIG), "operator.unsupported"),
        ("custom without a name", RawCode(32, 32), "operator.custom"),
        ("custom over two lines", RawCode(32, 32, b"two\nlines\x1b[2J\0"), "operator.custom"),
        ("custom that is no text", RawCode(32, 32, b"\xff\xfe\x80"), "operator.custom"),
        ("custom of 100 kB", RawCode(32, 32, b"n" * 100_000), "operator.custom"),
    ):
        yield f"operator code {name}", (relu(codes=(code,)), becomes)
    yield "an operator code out of range", (relu(ops=(RawOp(code=1),)), "file.damaged")
    yield "a huge operator code index", (relu(ops=(RawOp(code=0xFFFFFFFF),)), "file.damaged")
    yield "no operator codes", (relu(codes=()), "file.damaged")
    yield "one table for all tensors", (relu(one_table=True), CONVERTS)
    many = tuple(RawTensor(name=b"t") for _ in range(2050))
    chain = tuple(RawOp((i,), (i + 1,)) for i in range(2049))
    yield "too many operators", (relu(tensors=many, ops=chain, outputs=(2049,)), "file.size")
    wide = replace(Y, shape=(9000, 4))
    pile = RawOp((0,) * 9000, (1,), "ConcatenationOptions")
    yield (
        "too many operands in all",
        (
            relu(tensors=(X, wide), ops=(pile,), codes=(builtin("CONCATENATION"),)),
            "file.size",
        ),
    )
    inputs = tuple(range(9000))
    yield "too many inputs", (relu(tensors=many * 5, inputs=inputs, outputs=(9001,)), "file.size")


def _names() -> Iterator[tuple[str, tuple[bytes, str]]]:
    for what, a, b in (
        ("empty", b"", b""),
        ("absent", None, None),
        ("duplicate", b"t", b"t"),
        ("that end in the middle", b"a\0b", b"a\0c"),
        ("over lines", b"a\nb\x1b[2J", b"\r"),
        ("that are no text", b"\xff\xfe", b"\xc0\x80"),
        ("that collide once numbered", b"t_1", b"t_1"),
        ("of 100 kB", b"n" * 100_000, b"m"),
    ):
        yield f"names {what}", (relu(tensors=(replace(X, name=a), replace(Y, name=b))), CONVERTS)
    shape = (-1,)
    yield "a refused name over lines", (elementwise(replace(X, shape=shape, name=b"a\nb\x1b[2J\0"), Y), "tensor.shape")


def dense(
    buffers: Sequence[bytes | Outside] | None, *, weights: int = 1, bias: int = 2, appended: bytes = b""
) -> bytes:
    """FULLY_CONNECTED of [1, 4] with weights [1, 4] and one bias, in these buffers."""
    w = RawTensor((1, 4), name=b"w", buffer=weights, scales=(0.1,), zero_points=(0,))
    v = RawTensor((1,), INT32, b"b", bias, (0.005,), (0,))
    y = replace(Y, shape=(1, 1))
    op = RawOp((0, 1, 2), (3,), "FullyConnectedOptions")
    codes = (builtin("FULLY_CONNECTED"),)
    return RawModel((X, w, v, y), (op,), codes, (0,), (3,), buffers, appended=appended).bytes()


def _buffers() -> Iterator[tuple[str, tuple[bytes, str]]]:
    w, v = bytes([1, 2, 253, 4]), numbers(-7)
    here, there = Outside(0, 4, behind=True), Outside(4, 4, behind=True)
    yield "buffers inside", (dense((b"", w, v)), CONVERTS)
    yield "one buffer for weights and bias", (dense((b"", w), bias=1), CONVERTS)
    yield "buffers behind the flatbuffer", (dense((b"", here, there), appended=w + v), ALONE)
    yield "one buffer behind, one inside", (dense((b"", here, v), appended=w), ALONE)
    yield "buffers that overlap behind", (dense((b"", here, Outside(2, 4, True)), appended=w + v), ALONE)
    yield "a buffer behind cut off", (dense((b"", here, there), appended=w + v[:3]), "file.damaged")
    yield "a buffer at 2^63", (dense((b"", Outside(1 << 63, 4), v)), "file.damaged")
    yield "a buffer that wraps 64 bits", (dense((b"", Outside((1 << 64) - 4, 8), v)), "file.damaged")
    yield "a buffer of 2^64 bytes", (dense((b"", Outside(2, (1 << 64) - 1), v)), "file.damaged")
    yield "a buffer behind, empty", (dense((b"", Outside(2, 0), v)), "tensor.data")
    yield "a buffer behind, too long", (dense((b"", Outside(2, 5), v)), "tensor.data")
    yield "a size without an offset", (dense((b"", Outside(0, 4), v)), "fully_connected.weights_constant")
    yield "offset 1 stands for none", (dense((b"", Outside(1, 4), v)), "fully_connected.weights_constant")
    yield "a buffer too short", (dense((b"", w[:3], v)), "tensor.data")
    yield "a buffer too long", (dense((b"", w + w, v)), "tensor.data")
    yield "weights without a buffer", (dense((b"", w, v), weights=0), "fully_connected.weights_constant")
    yield "a buffer out of range", (dense((b"", w, v), weights=3), "file.damaged")
    yield "a huge buffer number", (dense((b"", w, v), weights=0xFFFFFFFF), "file.damaged")
    yield "no buffer vector", (relu(buffers=None), ALONE)
    yield "no buffers", (relu(buffers=()), ALONE)
    count, size = 500, 200_000
    tensors = [RawTensor((1, size), name=b"t", buffer=1 + i) for i in range(count)]
    tensors += [RawTensor((1, size), name=b"x"), RawTensor((1, size * (count + 1)), name=b"y")]
    op = RawOp(tuple(range(count + 1)), (count + 1,), "ConcatenationOptions", {"Axis": 1})
    outside = (b"", *[Outside(0, size, behind=True)] * count)
    codes = (builtin("CONCATENATION"),)
    model = RawModel(tensors, (op,), codes, (count,), (count + 1,), outside, appended=bytes(size))
    yield "500 buffers that are the same 200 kB", (model.bytes(), "file.damaged")


BAD_SCALES = (float("nan"), float("inf"), -float("inf"), -0.05, 0.0, 1e-45, 1e-30, 3e38)
BAD_ZERO_POINTS = (-129, 128, 2**31, 2**31 - 1, -(2**31), -(2**63), 2**63 - 1)


def _quantization() -> Iterator[tuple[str, tuple[bytes, str]]]:
    for what, changes, becomes in (
        ("no", {"quantized": False}, "relu.quantized_streams"),
        ("empty", {"scales": (), "zero_points": ()}, "relu.quantized_streams"),
        ("scales only", {"zero_points": ()}, "relu.quantized_streams"),
        ("two scales, one zero point", {"scales": (0.1, 0.2)}, "tensor.quantization"),
        ("four scales", {"scales": (0.1,) * 4, "zero_points": (0,) * 4, "axis": 1}, "relu.quantized_streams"),
        ("an axis out of range", {"axis": 77}, CONVERTS),
        ("a negative axis", {"axis": LOW}, CONVERTS),
    ):
        yield f"{what} quantization", (elementwise(replace(X, **changes), Y), becomes)
    for zero_point in BAD_ZERO_POINTS:
        for place in (0, 1):
            pair = [X, Y]
            pair[place] = replace(pair[place], zero_points=(zero_point,))
            wide = not LOW <= zero_point <= BIG
            code = "tensor.quantization" if wide else "relu.quantized_streams"
            yield f"zero point {zero_point} of operand {place}", (elementwise(*pair), code)
            view = "tensor.quantization" if wide else ALONE
            yield f"zero point {zero_point} of view {place}", (elementwise(*pair, kind="RESHAPE"), view)
    for bad in BAD_SCALES:
        q: dict[str, Any] = {"scales": (bad,)}
        for name, data in QUANTIZED.items():
            for place in range(len(data.tensors)):
                tensors = [replace(t, **q) if i == place else t for i, t in enumerate(data.tensors)]
                refused = not np.isfinite(bad) and data.tensors[place].quantized
                yield (
                    f"scale {bad} of {name} {place}",
                    (
                        replace(data, tensors=tensors).bytes(),
                        "tensor.quantization" if refused else EITHER,
                    ),
                )
    odd = replace(real(), quantized=True, scales=(float("nan"),), zero_points=(2**60,))
    yield "a float tensor with a quantization", (elementwise(odd, odd), CONVERTS)


def _operator_model(kind: str, tensors: Sequence[RawTensor], table: str, options: dict[str, OptionValue]) -> RawModel:
    last = len(tensors) - 1
    buffers = (b"", bytes(range(36)), numbers(5, -5), numbers(1, 2), numbers(0, 0, 1, 1, 1, 1, 0, 0))
    op = RawOp(tuple(range(last)), (last,), table, options)
    computed = tuple(i for i in range(last) if not tensors[i].buffer)
    return RawModel(tensors, (op,), (builtin(kind),), computed, (last,), buffers)


#: The smallest models of the quantized operators, each of which converts.
_IMAGE = RawTensor((1, 4, 4, 2), name=b"x")
_ALIKE = replace(_IMAGE, name=b"y")
_TINY = RawTensor((1, 2, 2, 2), name=b"y")
_UNIT = RawTensor((1, 4), name=b"y", scales=(1 / 256,), zero_points=(-128,))
_HALVES = {"FilterHeight": 2, "FilterWidth": 2, "StrideH": 2, "StrideW": 2}
_SAME_CONV = {"StrideH": 1, "StrideW": 1, "DilationHFactor": 1, "DilationWFactor": 1}
_WEIGHTS = RawTensor((2, 3, 3, 2), name=b"w", buffer=1, scales=(0.1, 0.2), zero_points=(0, 0))
_BIAS = RawTensor((2,), INT32, b"b", 2, (0.005, 0.01), (0, 0))
QUANTIZED: dict[str, RawModel] = {
    "RELU": RELU,
    "RELU6": replace(RELU, codes=(builtin("RELU6"),)),
    "LOGISTIC": replace(RELU, tensors=(X, _UNIT), codes=(builtin("LOGISTIC"),)),
    "SOFTMAX": _operator_model("SOFTMAX", (X, _UNIT), "SoftmaxOptions", {"Beta": 1.0}),
    "ADD": _operator_model("ADD", (X, X, Y), "AddOptions", {}),
    "MUL": _operator_model("MUL", (X, X, Y), "MulOptions", {}),
    "QUANTIZE": replace(RELU, codes=(builtin("QUANTIZE"),)),
    "DEQUANTIZE": replace(RELU, tensors=(X, real()), codes=(builtin("DEQUANTIZE"),)),
    "RESHAPE": replace(RELU, codes=(builtin("RESHAPE"),)),
    "CONCATENATION": _operator_model(
        "CONCATENATION", (X, X, replace(Y, shape=(1, 8))), "ConcatenationOptions", {"Axis": 1}
    ),
    "MEAN": _operator_model(
        "MEAN",
        (_IMAGE, RawTensor((2,), INT32, b"a", 3, quantized=False), replace(Y, shape=(1, 2))),
        "ReducerOptions",
        {},
    ),
    "PAD": _operator_model(
        "PAD",
        (_IMAGE, RawTensor((4, 2), INT32, b"p", 4, quantized=False), replace(_IMAGE, shape=(1, 6, 6, 2), name=b"y")),
        "PadOptions",
        {},
    ),
    "AVERAGE_POOL_2D": _operator_model("AVERAGE_POOL_2D", (_IMAGE, _TINY), "Pool2DOptions", dict(_HALVES)),
    "MAX_POOL_2D": _operator_model("MAX_POOL_2D", (_IMAGE, _TINY), "Pool2DOptions", dict(_HALVES)),
    "CONV_2D": _operator_model("CONV_2D", (_IMAGE, _WEIGHTS, _BIAS, _ALIKE), "Conv2DOptions", dict(_SAME_CONV)),
    "DEPTHWISE_CONV_2D": _operator_model(
        "DEPTHWISE_CONV_2D",
        (_IMAGE, replace(_WEIGHTS, shape=(1, 3, 6, 2), axis=3), _BIAS, _ALIKE),
        "DepthwiseConv2DOptions",
        {**_SAME_CONV, "DepthMultiplier": 1},
    ),
    "FULLY_CONNECTED": _operator_model(
        "FULLY_CONNECTED",
        (
            replace(X, shape=(1, 18)),
            replace(_WEIGHTS, shape=(2, 18)),
            _BIAS,
            replace(Y, shape=(1, 2)),
        ),
        "FullyConnectedOptions",
        {},
    ),
}


def changed(kind: str, number: int, **changes: Any) -> bytes:
    """The smallest model of an operator with one tensor changed."""
    model = QUANTIZED[kind]
    tensors = list(model.tensors)
    tensors[number] = replace(tensors[number], **changes)
    inputs = tuple(i for i, t in enumerate(tensors[:-1]) if not t.buffer)
    return replace(model, tensors=tensors, inputs=inputs).bytes()


def optioned(kind: str, **options: OptionValue) -> bytes:
    """The smallest model of an operator with options changed."""
    model = QUANTIZED[kind]
    return replace(model, ops=(replace(model.ops[0], options={**model.ops[0].options, **options}),)).bytes()


def rebuffered(kind: str, number: int, data: bytes, **changes: Any) -> bytes:
    """The smallest model of an operator with a tensor changed and other data for it."""
    model = QUANTIZED[kind]
    tensors, buffers = list(model.tensors), [*(model.buffers or ()), data]
    tensors[number] = replace(tensors[number], buffer=len(buffers) - 1, **changes)
    return replace(model, tensors=tensors, buffers=buffers).bytes()


def _operators() -> Iterator[tuple[str, tuple[bytes, str]]]:
    for kind, model in QUANTIZED.items():
        yield f"{kind}", (model.bytes(), CONVERTS)
        op = model.ops[0]
        if op.table:
            needs = kind.endswith("_2D")
            bare = replace(op, table="", options={})
            bare_code = f"{kind.lower()}.{'window' if 'POOL' in kind else 'stride'}" if needs else EITHER
            yield f"{kind} without options", (replace(model, ops=(bare,)).bytes(), bare_code)
            empty = replace(bare, options_type=getattr(tflite.BuiltinOptions, op.table))
            yield f"{kind} without an options table", (replace(model, ops=(empty,)).bytes(), bare_code)
            other = replace(op, options_type=tflite.BuiltinOptions.LSTMOptions)
            # Options that nothing is read from may be anyone's.
            code = EITHER if kind == "PAD" else "operator.options"
            yield f"{kind} with options of another", (replace(model, ops=(other,)).bytes(), code)
            unknown = replace(op, options_type=255)
            yield f"{kind} with options of no one", (replace(model, ops=(unknown,)).bytes(), code)
        for count in (0, 1, 2, 3, 4, 50):
            fewer = replace(op, inputs=(tuple(op.inputs or ()) * 50)[:count])
            yield f"{kind} of {count} operands", (replace(model, ops=(fewer,)).bytes(), EITHER)
        for number in range(len(model.tensors)):
            for what, shape in SHAPES.items():
                yield f"{kind} {number} {what}", (changed(kind, number, shape=shape), EITHER)
            for type_ in (FLOAT, INT32, INT64, tflite.TensorType.BOOL, tflite.TensorType.FLOAT16):
                yield f"{kind} {number} of type {type_}", (changed(kind, number, type=type_), EITHER)


SHAPES: dict[str, tuple[int, ...]] = {
    "scalar": (),
    "vector": (4,),
    "of one": (1, 1, 1, 1),
    "rank 6": (1, 1, 1, 1, 1, 4),
    "65536 rows": (1, 65536, 1, 2),
    "65536 images": (65536, 1, 1, 2),
    "65536 channels": (1, 1, 1, 65536),
    "4 million": (2048, 2048),
}


def _options() -> Iterator[tuple[str, tuple[bytes, str]]]:
    for kind in ("CONV_2D", "DEPTHWISE_CONV_2D", "AVERAGE_POOL_2D", "MAX_POOL_2D"):
        name, is_pool = kind.lower(), "POOL" in kind
        fields = ("StrideH", "StrideW", *(("FilterHeight", "FilterWidth") if is_pool else ()))
        fields += () if is_pool else ("DilationHFactor", "DilationWFactor")
        for option in fields:
            for value in (0, -1, LOW):
                yield (
                    f"{kind} {option} {value}",
                    (
                        optioned(kind, **{option: value}),
                        f"{name}.{'window' if is_pool else 'stride'}",
                    ),
                )
            for value in (65535, 65536, BIG):
                yield f"{kind} {option} {value}", (optioned(kind, **{option: value}), EITHER)
        yield f"{kind} with padding 7", (optioned(kind, Padding=7), f"{name}.padding")
        for code in (2, 4, 5, 100, -1):
            activation = optioned(kind, FusedActivationFunction=code)
            yield f"{kind} with activation {code}", (activation, f"{name}.fused_activation")
    for multiplier in (0, -1, 2, BIG, LOW):
        model = optioned("DEPTHWISE_CONV_2D", DepthMultiplier=multiplier)
        yield f"depth multiplier {multiplier}", (model, "depthwise_conv_2d.depth_multiplier")
    for axis in (2, -3, BIG, LOW):
        yield f"CONCATENATION along {axis}", (optioned("CONCATENATION", Axis=axis), "concatenation.axis")
    yield "CONCATENATION along -1", (optioned("CONCATENATION", Axis=-1), CONVERTS)
    for beta in (float("nan"), float("inf"), -1.0, 0.0, 1e38, 1e-45):
        yield f"SOFTMAX with beta {beta}", (optioned("SOFTMAX", Beta=beta), EITHER)
        floats = single("SOFTMAX", (real(), real()), table="SoftmaxOptions", options={"Beta": beta})
        yield f"float SOFTMAX with beta {beta}", (floats, EITHER)
    yield "shuffled weights", (optioned("FULLY_CONNECTED", WeightsFormat=1), "fully_connected.weights_format")


def _constants() -> Iterator[tuple[str, tuple[bytes, str]]]:
    for axes in ((2,), (-1,), (4,), (-5,), (BIG,), (LOW,), (1, 1), (1, -3), (), (0, 1, 2, 3), (1, 1, 1, 1, 2, 2)):
        data = numbers(*axes)
        model = rebuffered("MEAN", 1, data, shape=(len(axes),)) if axes else changed("MEAN", 1, shape=(0,), buffer=0)
        inside = axes and all(-4 <= a < 4 for a in axes)
        yield f"MEAN over {axes}", (model, EITHER if inside else "tensor.shape" if not axes else "mean.constant_axes")
    twice = rebuffered("MEAN", 1, numbers(1, 2, 1), shape=(3,))
    yield "MEAN over an axis twice", (twice, CONVERTS)
    yield "MEAN over computed axes", (changed("MEAN", 1, buffer=0), "mean.constant_axes")
    wide = rebuffered("MEAN", 1, numbers(1 << 62, 2, wide=True), type=INT64)
    yield "MEAN over a 64-bit axis out of range", (wide, "mean.constant_axes")
    for pad in (-1, LOW):
        pairs = rebuffered("PAD", 1, numbers(0, 0, pad, 3, 1, 1, 0, 0))
        yield f"PAD by {pad}", (pairs, "pad.constant_paddings")
    yield "PAD by 2^31 - 1", (rebuffered("PAD", 1, numbers(0, 0, BIG, BIG, 1, 1, 0, 0)), "pad.output_shape")
    wide = rebuffered("PAD", 1, numbers(0, 0, 1 << 62, 1, 1, 1, 0, 0, wide=True), type=INT64)
    yield "PAD by 2^62", (wide, "pad.output_shape")
    yield "PAD of three axes", (rebuffered("PAD", 1, numbers(0, 0, 1, 1, 1, 1), shape=(3, 2)), "pad.constant_paddings")
    yield "PAD by computed amounts", (changed("PAD", 1, buffer=0), "pad.constant_paddings")
    yield "PAD by float amounts", (changed("PAD", 1, type=FLOAT), "pad.constant_paddings")
    yield "RESHAPE to fewer elements", (changed("RESHAPE", 1, shape=(1, 3)), "reshape.element_count")
    yield "RESHAPE to another type", (changed("RESHAPE", 1, type=INT32, shape=(1, 1)), "reshape.element_type")


def _weights() -> Iterator[tuple[str, tuple[bytes, str]]]:
    for kind in ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"):
        name, axis = kind.lower(), QUANTIZED[kind].tensors[1].axis
        code = f"{name}.weights_quantization"
        for what, changes in {
            "three scales": {"scales": (0.1,) * 3, "zero_points": (0,) * 3},
            "a thousand scales": {"scales": (0.1,) * 1000, "zero_points": (0,) * 1000},
            "scales along another axis": {"axis": 1},
            "scales along axis 9": {"axis": 9},
            "scales along axis -1": {"axis": -1 - axis},
            "a zero point": {"zero_points": (0, 1)},
            "a negative scale": {"scales": (0.1, -0.1)},
            "no quantization": {"quantized": False},
        }.items():
            yield f"{kind} weights with {what}", (changed(kind, 1, **changes), code)
        floats = np.ones(36, np.float32).tobytes()
        yield f"{kind} of int8 with float weights", (rebuffered(kind, 1, floats, type=FLOAT), f"{name}.weights_type")
        yield f"{kind} with computed weights", (changed(kind, 1, buffer=0), f"{name}.weights_constant")
        yield f"{kind} with a computed bias", (changed(kind, 2, buffer=0), f"{name}.activation_type")
        longer = rebuffered(kind, 2, numbers(1, 2, 3), shape=(3,))
        yield f"{kind} with a longer bias", (longer, f"{name}.bias")
        yield f"{kind} with a float bias", (changed(kind, 2, type=FLOAT), f"{name}.bias")
        denormal = changed(kind, 1, scales=(1e-45, 0.1))
        yield f"{kind} weights with a denormal scale", (denormal, ALONE)


GROUPS: tuple[Callable[[], Iterator[tuple[str, tuple[bytes, str]]]], ...] = (
    _damaged_structure,
    _shapes,
    _interface,
    _whole_files,
    _names,
    _buffers,
    _quantization,
    _operators,
    _options,
    _constants,
    _weights,
)


@cache
def group(number: int) -> Cases:
    found = list(GROUPS[number]())
    cases = dict(found)
    assert len(cases) == len(found), "two cases of one name"
    return cases
