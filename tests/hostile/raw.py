"""Writes .tflite files that say whatever they are told to: nothing is checked, completed or made consistent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import flatbuffers
import numpy as np
import tflite

OptionValue = int | float | bool


@dataclass(frozen=True)
class RawTensor:
    """`quantization` None leaves the table out."""

    shape: Sequence[int] | None = (1, 4)
    type: int = tflite.TensorType.INT8
    name: bytes | None = b"t"
    buffer: int = 0
    scales: Sequence[float] = (0.05,)
    zero_points: Sequence[int] = (3,)
    axis: int = 0
    quantized: bool = True


@dataclass(frozen=True)
class RawOp:
    """`table` names the options table, "" for none; `options_type` the type that the operator states, if another."""

    inputs: Sequence[int] | None = (0,)
    outputs: Sequence[int] | None = (1,)
    table: str = ""
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    options_type: int | None = None
    code: int = 0


@dataclass(frozen=True)
class RawCode:
    """Either field may say which operator it is."""

    deprecated: int = 0
    wide: int = 0
    custom: bytes | None = None


@dataclass(frozen=True)
class Outside:
    """A buffer stored by offset and size. `behind` counts the offset from the end of the flatbuffer."""

    offset: int
    size: int
    behind: bool = False


@dataclass(frozen=True)
class RawModel:
    """`buffers` None leaves the vector out; `appended` stands behind the flatbuffer."""

    tensors: Sequence[RawTensor]
    ops: Sequence[RawOp]
    codes: Sequence[RawCode] = ()
    inputs: Sequence[int] | None = (0,)
    outputs: Sequence[int] | None = (1,)
    buffers: Sequence[bytes | Outside] | None = (b"",)
    subgraphs: int = 1
    signatures: int = 0
    version: int = 3
    appended: bytes = b""
    one_table: bool = False

    def bytes(self) -> bytes:
        """The file; offsets that count from the end of the flatbuffer need its length, which a first writing finds."""
        end = len(self._written(1 << 40))
        return self._written(end) + self.appended

    def _written(self, end: int) -> bytes:
        b = flatbuffers.Builder(1024)
        buffers = None if self.buffers is None else _offsets(b, [_buffer(b, x, end) for x in self.buffers])
        codes = _offsets(b, [_code(b, c) for c in self.codes])
        tensors = [_tensor(b, t) for t in (self.tensors[:1] if self.one_table else self.tensors)]
        tensor_vector = _offsets(b, tensors * len(self.tensors) if self.one_table else tensors)
        ops = _offsets(b, [_op(b, op) for op in self.ops])
        inputs, outputs = _numbers(b, self.inputs), _numbers(b, self.outputs)
        subgraphs = []
        for _ in range(self.subgraphs):
            tflite.SubGraphStart(b)
            tflite.SubGraphAddTensors(b, tensor_vector)
            _add(tflite.SubGraphAddInputs, b, inputs)
            _add(tflite.SubGraphAddOutputs, b, outputs)
            tflite.SubGraphAddOperators(b, ops)
            subgraphs.append(tflite.SubGraphEnd(b))
        subgraph_vector = _offsets(b, subgraphs)
        signatures = []
        for number in range(self.signatures):
            key = b.CreateString(f"signature_{number}")
            tflite.SignatureDefStart(b)
            tflite.SignatureDefAddSignatureKey(b, key)
            signatures.append(tflite.SignatureDefEnd(b))
        signature_vector = _offsets(b, signatures) if signatures else None
        tflite.ModelStart(b)
        tflite.ModelAddVersion(b, self.version)
        tflite.ModelAddOperatorCodes(b, codes)
        tflite.ModelAddSubgraphs(b, subgraph_vector)
        _add(tflite.ModelAddBuffers, b, buffers)
        _add(tflite.ModelAddSignatureDefs, b, signature_vector)
        b.Finish(tflite.ModelEnd(b), file_identifier=b"TFL3")
        return bytes(b.Output())


def builtin(kind: str) -> RawCode:
    """The code of an operator as converters write it."""
    number = getattr(tflite.BuiltinOperator, kind)
    return RawCode(min(number, 127), number)


def single(
    kind: str,
    tensors: Sequence[RawTensor],
    *,
    table: str = "",
    options: Mapping[str, OptionValue] | None = None,
    buffers: Sequence[bytes | Outside] = (),
) -> bytes:
    """One operator: its inputs are all tensors but the last, its output that; buffers count from 1."""
    last = len(tensors) - 1
    op = RawOp(tuple(range(last)), (last,), table, options or {})
    computed = tuple(i for i in range(last) if not tensors[i].buffer)
    return RawModel(tensors, [op], [builtin(kind)], computed, (last,), (b"", *buffers)).bytes()


def _add(add: object, builder: flatbuffers.Builder, value: int | None) -> None:
    if value is not None:
        assert callable(add)
        add(builder, value)


def _offsets(builder: flatbuffers.Builder, offsets: Sequence[int]) -> int:
    builder.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        builder.PrependUOffsetTRelative(offset)
    return int(builder.EndVector())


def _numbers(builder: flatbuffers.Builder, values: Sequence[int] | None) -> int | None:
    return None if values is None else int(builder.CreateNumpyVector(np.array(values, np.int32)))


def _bytes(builder: flatbuffers.Builder, data: bytes) -> int:
    builder.StartVector(1, len(data), 16)
    builder.head -= len(data)
    builder.Bytes[builder.head : builder.head + len(data)] = data
    return int(builder.EndVector())


def _buffer(builder: flatbuffers.Builder, content: bytes | Outside, end: int) -> int:
    vector = _bytes(builder, content) if isinstance(content, bytes) and content else None
    tflite.BufferStart(builder)
    _add(tflite.BufferAddData, builder, vector)
    if isinstance(content, Outside):
        tflite.BufferAddOffset(builder, content.offset + (end if content.behind else 0))
        tflite.BufferAddSize(builder, content.size)
    return int(tflite.BufferEnd(builder))


def _code(builder: flatbuffers.Builder, code: RawCode) -> int:
    custom = None if code.custom is None else int(builder.CreateString(code.custom))
    tflite.OperatorCodeStart(builder)
    tflite.OperatorCodeAddDeprecatedBuiltinCode(builder, code.deprecated)
    _add(tflite.OperatorCodeAddCustomCode, builder, custom)
    tflite.OperatorCodeAddVersion(builder, 1)
    tflite.OperatorCodeAddBuiltinCode(builder, code.wide)
    return int(tflite.OperatorCodeEnd(builder))


def _tensor(builder: flatbuffers.Builder, tensor: RawTensor) -> int:
    name = None if tensor.name is None else int(builder.CreateString(tensor.name))
    shape = _numbers(builder, tensor.shape)
    quantization = None
    if tensor.quantized:
        scales = builder.CreateNumpyVector(np.array(tensor.scales, np.float32))
        zero_points = builder.CreateNumpyVector(np.array(tensor.zero_points, np.int64))
        tflite.QuantizationParametersStart(builder)
        tflite.QuantizationParametersAddScale(builder, scales)
        tflite.QuantizationParametersAddZeroPoint(builder, zero_points)
        tflite.QuantizationParametersAddQuantizedDimension(builder, tensor.axis)
        quantization = tflite.QuantizationParametersEnd(builder)
    tflite.TensorStart(builder)
    _add(tflite.TensorAddShape, builder, shape)
    tflite.TensorAddType(builder, tensor.type)
    tflite.TensorAddBuffer(builder, tensor.buffer)
    _add(tflite.TensorAddName, builder, name)
    _add(tflite.TensorAddQuantization, builder, quantization)
    return int(tflite.TensorEnd(builder))


def _op(builder: flatbuffers.Builder, op: RawOp) -> int:
    table = None
    if op.table:
        getattr(tflite, f"{op.table}Start")(builder)
        for name, value in op.options.items():
            getattr(tflite, f"{op.table}Add{name}")(builder, value)
        table = int(getattr(tflite, f"{op.table}End")(builder))
    inputs, outputs = _numbers(builder, op.inputs), _numbers(builder, op.outputs)
    tflite.OperatorStart(builder)
    tflite.OperatorAddOpcodeIndex(builder, op.code)
    _add(tflite.OperatorAddInputs, builder, inputs)
    _add(tflite.OperatorAddOutputs, builder, outputs)
    stated = getattr(tflite.BuiltinOptions, op.table) if op.table else 0
    tflite.OperatorAddBuiltinOptionsType(builder, stated if op.options_type is None else op.options_type)
    _add(tflite.OperatorAddBuiltinOptions, builder, table)
    return int(tflite.OperatorEnd(builder))
