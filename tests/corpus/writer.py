"""Writes small .tflite files: the same calls give the same bytes."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import flatbuffers
import numpy as np
import tflite
from numpy.typing import NDArray

FILE_IDENTIFIER = b"TFL3"
SCHEMA_VERSION = 3
BUFFER_ALIGNMENT = 16
LAST_ONE_BYTE_CODE = 127  # operator codes above it do not fit in the field of older readers
TENSOR_TYPES = {"int8": "INT8", "uint8": "UINT8", "int32": "INT32", "float32": "FLOAT32"}

OptionValue = int | float | bool | tuple[int, ...]


@dataclass(frozen=True)
class Quantization:
    """real = scale * (value - zero_point), one pair for the tensor or one per index of `axis`."""

    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int = 0

    @property
    def scale(self) -> float:
        """The scale as the file stores it, a 32-bit float."""
        return float(np.float32(self.scales[0]))

    @property
    def zero_point(self) -> int:
        return self.zero_points[0]


@dataclass(frozen=True)
class Tensor:
    """One tensor of the model; `index` is its number, `data` what a constant holds."""

    index: int
    name: str
    shape: tuple[int, ...]
    dtype: str
    quantization: Quantization | None
    data: NDArray[Any] | None


@dataclass(frozen=True)
class _Operator:
    kind: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    table: str | None
    options: Mapping[str, OptionValue]


class ModelWriter:
    """Collects tensors and operators in execution order, then writes the file.

    `random` is seeded by the model's name, so weights do not depend on which models were made before. Its stream is
    the one that numpy promises never to change.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.random = np.random.RandomState(zlib.crc32(name.encode()))
        self.tensors: list[Tensor] = []
        self._operators: list[_Operator] = []

    def tensor(
        self,
        name: str,
        shape: Sequence[int],
        dtype: str,
        quantization: Quantization | None = None,
        data: NDArray[Any] | None = None,
    ) -> Tensor:
        """Add a tensor; a second one of the same name gets a number behind it."""
        taken = {t.name for t in self.tensors}
        unique = next(n for n in (name, *(f"{name}_{i}" for i in range(1, len(taken) + 2))) if n not in taken)
        if data is not None and (data.shape != tuple(shape) or data.dtype != dtype):
            raise ValueError(f"{unique}: data is {data.dtype}{data.shape}, the tensor {dtype}{tuple(shape)}")
        self.tensors.append(Tensor(len(self.tensors), unique, tuple(shape), dtype, quantization, data))
        return self.tensors[-1]

    def operator(
        self,
        kind: str,
        inputs: Sequence[Tensor | None],
        outputs: Sequence[Tensor],
        table: str | None = None,
        options: Mapping[str, OptionValue] | None = None,
    ) -> None:
        """Add operator `kind`, its options in schema table `table`, if it has one (fields as the builder has them)."""
        indices = tuple(-1 if t is None else t.index for t in inputs)
        self._operators.append(_Operator(kind, indices, tuple(t.index for t in outputs), table, options or {}))

    @property
    def kinds(self) -> frozenset[str]:
        """Operators in the model, by their names in the schema."""
        return frozenset(op.kind for op in self._operators)

    def finish(self, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> bytes:
        """The file."""
        builder = flatbuffers.Builder(1024)
        kinds = sorted({op.kind for op in self._operators})
        constants = [t for t in self.tensors if t.data is not None]
        buffer_of = {t.index: 1 + i for i, t in enumerate(constants)}  # buffer 0 is the empty one

        buffers = [
            _buffer(builder, b""),
            *(_buffer(builder, t.data.tobytes()) for t in constants if t.data is not None),
        ]
        tensors = [_tensor(builder, t, buffer_of.get(t.index, 0)) for t in self.tensors]
        operators = [_operator(builder, op, kinds.index(op.kind)) for op in self._operators]
        codes = [_operator_code(builder, kind) for kind in kinds]

        name = builder.CreateString(self.name)
        tensor_vector = _offsets(builder, tensors)
        input_vector = _int32s(builder, [t.index for t in inputs])
        output_vector = _int32s(builder, [t.index for t in outputs])
        operator_vector = _offsets(builder, operators)
        tflite.SubGraphStart(builder)
        tflite.SubGraphAddTensors(builder, tensor_vector)
        tflite.SubGraphAddInputs(builder, input_vector)
        tflite.SubGraphAddOutputs(builder, output_vector)
        tflite.SubGraphAddOperators(builder, operator_vector)
        tflite.SubGraphAddName(builder, name)
        subgraph = tflite.SubGraphEnd(builder)

        code_vector = _offsets(builder, codes)
        subgraph_vector = _offsets(builder, [subgraph])
        buffer_vector = _offsets(builder, buffers)
        tflite.ModelStart(builder)
        tflite.ModelAddVersion(builder, SCHEMA_VERSION)
        tflite.ModelAddOperatorCodes(builder, code_vector)
        tflite.ModelAddSubgraphs(builder, subgraph_vector)
        tflite.ModelAddBuffers(builder, buffer_vector)
        builder.Finish(tflite.ModelEnd(builder), file_identifier=FILE_IDENTIFIER)
        return bytes(builder.Output())


def _offsets(builder: flatbuffers.Builder, offsets: Sequence[int]) -> int:
    builder.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        builder.PrependUOffsetTRelative(offset)
    return int(builder.EndVector())


def _int32s(builder: flatbuffers.Builder, values: Sequence[int]) -> int:
    return int(builder.CreateNumpyVector(np.array(values, np.int32)))


def _buffer(builder: flatbuffers.Builder, data: bytes) -> int:
    vector = 0
    if data:
        builder.StartVector(1, len(data), BUFFER_ALIGNMENT)
        builder.head -= len(data)
        builder.Bytes[builder.head : builder.head + len(data)] = data
        vector = builder.EndVector()
    tflite.BufferStart(builder)
    if data:
        tflite.BufferAddData(builder, vector)
    return int(tflite.BufferEnd(builder))


def _tensor(builder: flatbuffers.Builder, tensor: Tensor, buffer: int) -> int:
    name = builder.CreateString(tensor.name)
    shape = _int32s(builder, tensor.shape)
    quantization = _quantization(builder, tensor.quantization) if tensor.quantization else None
    tflite.TensorStart(builder)
    tflite.TensorAddShape(builder, shape)
    tflite.TensorAddType(builder, getattr(tflite.TensorType, TENSOR_TYPES[tensor.dtype]))
    tflite.TensorAddBuffer(builder, buffer)
    tflite.TensorAddName(builder, name)
    if quantization is not None:
        tflite.TensorAddQuantization(builder, quantization)
    return int(tflite.TensorEnd(builder))


def _quantization(builder: flatbuffers.Builder, quantization: Quantization) -> int:
    scales = builder.CreateNumpyVector(np.array(quantization.scales, np.float32))
    zero_points = builder.CreateNumpyVector(np.array(quantization.zero_points, np.int64))
    tflite.QuantizationParametersStart(builder)
    tflite.QuantizationParametersAddScale(builder, scales)
    tflite.QuantizationParametersAddZeroPoint(builder, zero_points)
    tflite.QuantizationParametersAddQuantizedDimension(builder, quantization.axis)
    return int(tflite.QuantizationParametersEnd(builder))


def _operator(builder: flatbuffers.Builder, op: _Operator, code: int) -> int:
    options = None if op.table is None else _options(builder, op.table, op.options)
    inputs, outputs = _int32s(builder, op.inputs), _int32s(builder, op.outputs)
    tflite.OperatorStart(builder)
    tflite.OperatorAddOpcodeIndex(builder, code)
    tflite.OperatorAddInputs(builder, inputs)
    tflite.OperatorAddOutputs(builder, outputs)
    if op.table is not None:
        tflite.OperatorAddBuiltinOptionsType(builder, getattr(tflite.BuiltinOptions, op.table))
        tflite.OperatorAddBuiltinOptions(builder, options)
    return int(tflite.OperatorEnd(builder))


def _options(builder: flatbuffers.Builder, table: str, options: Mapping[str, OptionValue]) -> int:
    values = {k: _int32s(builder, v) if isinstance(v, tuple) else v for k, v in options.items()}
    getattr(tflite, f"{table}Start")(builder)
    for field, value in values.items():
        getattr(tflite, f"{table}Add{field}")(builder, value)
    return int(getattr(tflite, f"{table}End")(builder))


def _operator_code(builder: flatbuffers.Builder, kind: str) -> int:
    code = getattr(tflite.BuiltinOperator, kind)
    tflite.OperatorCodeStart(builder)
    tflite.OperatorCodeAddDeprecatedBuiltinCode(builder, min(code, LAST_ONE_BYTE_CODE))
    tflite.OperatorCodeAddVersion(builder, 1)
    tflite.OperatorCodeAddBuiltinCode(builder, code)
    return int(tflite.OperatorCodeEnd(builder))
