"""A .tflite file as a graph, or everything that keeps it from being one, at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
import tflite
from flatbuffers.number_types import Int32Flags
from numpy.typing import NDArray

from tigris_codegen.errors import ModelError, Refusal
from tigris_codegen.frontend.flatbuffer import (
    EMPTY_OPTIONS,
    IDENTIFIER,
    MOST_SHARING,
    DamagedFile,
    check_structure,
    copy_options,
)
from tigris_codegen.ir.edit import without_dead_tensors
from tigris_codegen.ir.graph import DType, Graph, Op, Quantization, Tensor
from tigris_codegen.ir.verify import verify
from tigris_codegen.ops import SPECS
from tigris_codegen.ops.spec import OpSpec, base_tensor, is_view

SCHEMA_VERSION = 3
MAX_RANK = 6
#: Most bytes of constants computed from others, as a multiple of the file's.
MAX_GROWTH = 16
#: What a plan can address: 28 bits of offset.
MAX_TENSOR_BYTES = (1 << 28) - 1
#: Most memory that whole tensors may take together: far beyond boards, and what placing and proving take in seconds.
MAX_ALIVE_BYTES = 1 << 25
#: Most operators, and most of their inputs and outputs: likewise.
MAX_OPERATORS = 1 << 11
MAX_OPERANDS = 1 << 13

_TYPES = {
    tflite.TensorType.FLOAT32: DType.F32,
    tflite.TensorType.INT32: DType.S32,
    tflite.TensorType.UINT8: DType.U8,
    tflite.TensorType.INT64: DType.S64,
    tflite.TensorType.BOOL: DType.BOOL,
    tflite.TensorType.INT16: DType.S16,
    tflite.TensorType.INT8: DType.S8,
}
_TYPE_NAMES = {v: k.lower() for k, v in vars(tflite.TensorType).items() if isinstance(v, int)}
_OPERATOR_NAMES = {v: k for k, v in vars(tflite.BuiltinOperator).items() if isinstance(v, int)}
_CUSTOM = tflite.BuiltinOperator.CUSTOM

#: Types whose values stand for others; a scale of any other type means nothing.
_QUANTIZED = {kind for kind, dtype in _TYPES.items() if dtype not in (DType.F32, DType.BOOL)}
_INT32 = np.iinfo(np.int32)
_FLOAT16_BYTES = 2
_BUILTIN_CODE_FIELD = 10  # of an operator code: where its field list has it


def read_model(data: bytes, name: str) -> Graph:
    """The graph of a .tflite file. ModelError with every refusal where the file does not convert."""
    try:
        reader = Reader(data, name)
        graph = reader.convert(reader.contents())
    except DamagedFile as damage:
        raise ModelError((damaged(damage),)) from None
    if reader.refusals:
        raise ModelError(tuple(reader.refusals))
    return verify(without_dead_tensors(graph))


def damaged(damage: DamagedFile) -> Refusal:
    """What a person is told."""
    return Refusal("file.damaged", f"the file is damaged: {damage}")


def _check_file(data: bytes, name: str) -> None:
    only = "only TensorFlow Lite models (.tflite) are read today"
    if not data:
        raise ModelError((Refusal("file.empty", "the file is empty"),))
    if name.lower().endswith(".onnx") or _looks_like_onnx(data):
        hint = "convert the model to .tflite first"
        raise ModelError((Refusal("file.onnx", f"the file is an ONNX model; {only}", hint=hint),))
    if data[4:8] != IDENTIFIER:
        reason = f"the file is not a TensorFlow Lite model: the identifier {IDENTIFIER.decode()} is missing; {only}"
        raise ModelError((Refusal("file.identifier", reason),))


def _looks_like_onnx(data: bytes) -> bool:
    """An ONNX file starts with its IR version (field 1, a number), then a producer (2) or another text or message."""
    return data[4:8] != IDENTIFIER and len(data) > 2 and data[0] == 0x08 and data[1] < 0x20 and data[2] in (0x12, 0x3A)


@dataclass(frozen=True)
class RawOp:
    """An operator as the file has it. `problem` says why it does not convert, whatever its operands are."""

    index: int
    kind: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options: tuple[bytes, int]
    problem: Refusal | None

    @property
    def used(self) -> tuple[int, ...]:
        """The inputs that matter, -1 for one left out."""
        return self.inputs if self.problem else self.inputs[: SPECS[self.kind].used_inputs]


@dataclass(frozen=True)
class Contents:
    """What the file holds, before anything is judged. Tensors have names that are unique."""

    names: tuple[str, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    ops: tuple[RawOp, ...]


class Reader:
    """Reads one file. `refusals` and `faults` (refusals by tensor) are what `convert` has found."""

    def __init__(self, data: bytes, name: str) -> None:
        """ModelError where the file is none that is read, DamagedFile where its structure does not hold."""
        _check_file(data, name)
        check_structure(data)
        self.data = data
        self.name = name
        self.model = tflite.Model.GetRootAs(data, 0)
        self.refusals: dict[Refusal, None] = {}  # in the order in which they are found, each once
        self.faults: dict[int, Refusal] = {}
        self.constants: dict[int, bytes | None] = {}  # by buffer: tensors may share one
        self.widened: dict[int, bytes] = {}
        self.outside_bytes = self.computed_bytes = 0

    def contents(self) -> Contents:
        """ModelError where there is no model in the file."""
        self._check_model()
        subgraph = self.model.Subgraphs(0)
        count = subgraph.TensorsLength()
        return Contents(
            tuple(_unique_names([_text(subgraph.Tensors(i).Name()) for i in range(count)])),
            self._indices(subgraph.InputsAsNumpy(), count, "a model input", optional=False),
            self._indices(subgraph.OutputsAsNumpy(), count, "a model output", optional=False),
            tuple(self._operator(subgraph, i, count) for i in range(subgraph.OperatorsLength())),
        )

    def convert(self, contents: Contents) -> Graph:
        """The graph; not meant to be used where there are refusals."""
        ops = _live(contents.ops, contents.outputs)
        self._check_interface(contents.inputs, contents.outputs, ops)
        graph = self._graph(self._tensors(contents, ops), ops, contents.inputs, contents.outputs)
        if not self.refusals:
            self._check_memory(graph)
        return graph

    def declared(self, index: int) -> tuple[str, tuple[int, ...]]:
        """Type and shape of a tensor as the file has them."""
        raw = self.model.Subgraphs(0).Tensors(index)
        return _TYPE_NAMES.get(raw.Type(), f"type {raw.Type()}"), _shape(raw)

    def _refuse(self, code: str, reason: str, hint: str | None = None) -> None:
        self._add(Refusal(code, reason, hint=hint))

    def _add(self, *refusals: Refusal) -> None:
        self.refusals.update(dict.fromkeys(refusals))

    # The file as a whole.

    def _check_model(self) -> None:
        version, subgraphs = self.model.Version(), self.model.SubgraphsLength()
        if version != SCHEMA_VERSION:
            self._refuse("file.version", f"the file has schema version {version}, not {SCHEMA_VERSION}")
        if subgraphs == 0:
            self._refuse("file.subgraphs", "the file holds no model: it has no subgraph")
            raise ModelError(tuple(self.refusals))
        if subgraphs > 1:
            reason = f"the model has {subgraphs} subgraphs (control flow or several signatures); one is supported"
            self._refuse("file.subgraphs", reason, "export each signature as a model of its own")

    def _indices(self, values: NDArray[Any] | int, count: int, what: str, optional: bool) -> tuple[int, ...]:
        """Tensor numbers of a vector; an absent vector reads as 0."""
        numbers = tuple(int(v) for v in values) if isinstance(values, np.ndarray) else ()
        for number in numbers:
            if not (-1 if optional else 0) <= number < count:
                raise DamagedFile(f"{what} is tensor {number} of {count}")
        return numbers

    # Operators.

    def _operator(self, subgraph: Any, index: int, tensors: int) -> RawOp:
        raw = subgraph.Operators(index)
        inputs = self._indices(raw.InputsAsNumpy(), tensors, f"an input of operator {index}", optional=True)
        outputs = self._indices(raw.OutputsAsNumpy(), tensors, f"an output of operator {index}", optional=False)
        code_index = raw.OpcodeIndex()
        if code_index >= self.model.OperatorCodesLength():
            raise DamagedFile(f"operator {index} has code {code_index} of {self.model.OperatorCodesLength()}")
        code = self.model.OperatorCodes(code_index)
        number = max(code.DeprecatedBuiltinCode(), _builtin_code(code))
        kind, problem = _OPERATOR_NAMES.get(number, f"#{number}"), None
        if number == _CUSTOM:
            custom = _printable(_text(code.CustomCode()))
            kind, problem = f"CUSTOM:{custom}", _custom_problem(index, custom)
        elif kind not in SPECS:
            problem = Refusal("operator.unsupported", "not supported", index, kind)
        options = EMPTY_OPTIONS
        if problem is None and SPECS[kind].options and raw.BuiltinOptionsType() != tflite.BuiltinOptions.NONE:
            wanted = getattr(tflite.BuiltinOptions, SPECS[kind].options)
            table = raw.BuiltinOptions()
            if raw.BuiltinOptionsType() != wanted:
                problem = Refusal("operator.options", "options of another operator", index, kind)
            elif table is not None:
                options = copy_options(self.data, table.Pos)
        return RawOp(index, kind, inputs, outputs, options, problem)

    def _check_interface(self, inputs: tuple[int, ...], outputs: tuple[int, ...], ops: Sequence[RawOp]) -> None:
        operands = len(inputs) + len(outputs) + sum(len(op.used) + len(op.outputs) for op in ops)
        if len(ops) > MAX_OPERATORS or operands > MAX_OPERANDS:
            limits = f"up to {MAX_OPERATORS} and {MAX_OPERANDS} are supported"
            self._refuse("file.size", f"the model has {len(ops)} operators with {operands} operands; {limits}")
            raise ModelError(tuple(self.refusals))
        if not ops:
            self._refuse("file.operators", "the model computes nothing: it has no operators")
        if not outputs:
            self._refuse("file.outputs", "the model has no outputs")
        if len(set(inputs)) < len(inputs):
            self._refuse("file.inputs", "the same tensor is two inputs of the model")

    # Tensors.

    def _tensors(self, contents: Contents, ops: Sequence[RawOp]) -> list[Tensor]:
        """All tensors; a placeholder stands for each that does not convert, and its fault is noted."""
        subgraph = self.model.Subgraphs(0)
        operands = (t for op in ops for t in (*op.used, *op.outputs) if t >= 0)
        used = {*contents.inputs, *contents.outputs, *operands}
        tensors = []
        for i, name in enumerate(contents.names):
            tensor = Tensor(name, (1,), DType.F32)
            if i in used:
                try:
                    tensor = self._tensor(subgraph.Tensors(i), name)
                except _Fault as fault:
                    reason = f"tensor {name!r} {fault.reason}"
                    self.faults[i] = Refusal(f"tensor.{fault.code}", reason, hint=fault.hint)
            tensors.append(tensor)
        return tensors

    def _tensor(self, raw: Any, name: str) -> Tensor:
        if raw.ShapeLength() > MAX_RANK:
            raise _Fault("shape", f"has {raw.ShapeLength()} dimensions; up to {MAX_RANK} are supported", None)
        shape = _shape(raw)
        if any(n < 0 for n in shape):
            raise _Fault("shape", f"has a dynamic shape, {list(shape)}", "fix the shape when converting")
        if 0 in shape:
            raise _Fault("shape", f"has no elements: its shape is {list(shape)}", None)
        if raw.Sparsity() is not None:
            raise _Fault("sparse", "is sparse", "convert without sparse weights")
        if raw.IsVariable():
            raise _Fault("variable", "is a variable; state is not supported", None)
        data = self._data(raw.Buffer(), name)
        kind = raw.Type()
        if kind == tflite.TensorType.FLOAT16 and data is not None and len(data) == prod(shape) * _FLOAT16_BYTES:
            # float32 holds every float16 exactly, and DEQUANTIZE of it is what the file does next.
            return Tensor(name, shape, DType.F32, None, self._widened(raw.Buffer(), data))
        if kind not in _TYPES:
            raise _Fault("type", f"holds {_TYPE_NAMES.get(kind, f'type {kind}')}, which is not supported", None)
        tensor = Tensor(name, shape, _TYPES[kind], self._quantization(raw), data)
        if tensor.bytes > MAX_TENSOR_BYTES:
            raise _Fault("size", f"takes {tensor.bytes} bytes; up to {MAX_TENSOR_BYTES} are supported", None)
        if data is not None and len(data) != tensor.bytes:
            raise _Fault("data", f"takes {tensor.bytes} bytes, its data {len(data)}", None)
        return tensor

    def _data(self, index: int, name: str) -> bytes | None:
        """The bytes of a constant: in its buffer, or elsewhere in the file; None for a tensor without."""
        if index == 0:
            return None
        if index not in self.constants:
            self.constants[index] = self._buffer(index, name)
        return self.constants[index]

    def _buffer(self, index: int, name: str) -> bytes | None:
        if index >= self.model.BuffersLength():
            raise DamagedFile(f"tensor {name!r} has buffer {index} of {self.model.BuffersLength()}")
        buffer = self.model.Buffers(index)
        offset, size = buffer.Offset(), buffer.Size()
        if offset > 1:  # 0 and 1 stand for data inside the buffer table
            if offset + size > len(self.data):
                raise DamagedFile(f"the data of tensor {name!r} lie outside the file")
            self.outside_bytes += size
            if self.outside_bytes > MOST_SHARING * len(self.data):
                raise DamagedFile("the file names more data than it can hold")
            return self.data[offset : offset + size]
        values = buffer.DataAsNumpy()
        return values.tobytes() if isinstance(values, np.ndarray) and values.size else None

    def _widened(self, buffer: int, data: bytes) -> bytes:
        """A buffer of float16 as float32."""
        if buffer not in self.widened:
            self.widened[buffer] = np.frombuffer(data, "<f2").astype("<f4").tobytes()
        return self.widened[buffer]

    def _quantization(self, raw: Any) -> Quantization | None:
        table = raw.Quantization()
        if table is None or not table.ScaleLength() or not table.ZeroPointLength() or raw.Type() not in _QUANTIZED:
            return None
        if table.DetailsType():
            raise _Fault("quantization", "has a custom quantization", None)
        scales = tuple(float(s) for s in table.ScaleAsNumpy())
        zero_points = tuple(int(z) for z in table.ZeroPointAsNumpy())
        if len(scales) != len(zero_points):
            raise _Fault("quantization", f"has {len(scales)} scales and {len(zero_points)} zero points", None)
        if not all(map(math.isfinite, scales)):
            raise _Fault("quantization", "has a scale that is not finite", None)
        wide = next((z for z in zero_points if not _INT32.min <= z <= _INT32.max), None)
        if wide is not None:
            raise _Fault("quantization", f"has the zero point {wide}, which takes more than 32 bits", None)
        return Quantization(scales, zero_points, table.QuantizedDimension())

    # Operators with their tensors.

    def _graph(
        self, tensors: list[Tensor], ops: Sequence[RawOp], inputs: tuple[int, ...], outputs: tuple[int, ...]
    ) -> Graph:
        """The graph of what converts; refusals on the way are collected."""
        faults = self.faults
        self._add(*(faults[i] for i in inputs if i in faults))
        for i in inputs:
            if tensors[i].data is not None:
                self._refuse("file.inputs", f"model input {tensors[i].name!r} is a constant")
        defined = {*inputs, *(i for i, t in enumerate(tensors) if t.data is not None)}
        kept: list[Op] = []
        for raw in ops:
            if raw.problem is not None:
                self._add(raw.problem)
            else:
                in_order = self._check_flow(raw, tensors, defined)
                op = self._checked_op(raw, tensors, Graph(self.name, tuple(tensors), tuple(kept), inputs, ()))
                # One out of order might view itself: nothing that follows tensors through the graph would end.
                if op is not None and in_order:
                    kept.append(op)
            defined.update(raw.outputs)
        graph = Graph(self.name, tuple(tensors), tuple(kept), inputs, outputs)
        self._add(*(faults[i] for i in outputs if i in faults))
        for i in dict.fromkeys(outputs):
            self._check_output(graph, i, defined)
        return graph

    def _check_flow(self, raw: RawOp, tensors: Sequence[Tensor], defined: set[int]) -> bool:
        """Whether the operator reads what is there and writes what is not."""
        known = len(self.refusals)
        for i in raw.used:
            if i >= 0 and i not in defined and i not in self.faults:
                reason = f"it reads tensor {tensors[i].name!r} before anything writes it"
                self._add(Refusal("operator.order", reason, raw.index, raw.kind))
        for i in raw.outputs:
            if i in defined:
                reason = f"it writes tensor {tensors[i].name!r}, which is an input, a constant or already written"
                self._add(Refusal("operator.order", reason, raw.index, raw.kind))
        return len(self.refusals) == known

    def _checked_op(self, raw: RawOp, tensors: list[Tensor], graph: Graph) -> Op | None:
        """The operator, None where it is refused or the compiler has computed it."""
        spec = SPECS[raw.kind]
        found = [self.faults[i] for i in (*raw.used, *raw.outputs) if i in self.faults]
        if found:
            self._add(*found)
            return None
        problem = _operand_problem(spec, raw)
        if problem is not None:
            reason = f"operands that do not fit: {problem}"
            self._add(Refusal("operator.operands", reason, raw.index, raw.kind))
            return None
        options = getattr(tflite, spec.options)() if spec.options else None
        if options is not None:
            options.Init(*raw.options)
        attributes = spec.read_attributes(options, [tensors[i] if i >= 0 else None for i in raw.inputs])
        op = Op(raw.kind, _trimmed(raw.inputs[: spec.kept_inputs]), raw.outputs, attributes, raw.index)
        data = spec.constant(graph, op)
        if data is not None:
            self.computed_bytes += len(data)
            if self.computed_bytes > MAX_GROWTH * len(self.data):
                raise DamagedFile("constants computed from constants outgrow the file")
            tensors[raw.outputs[0]] = replace(tensors[raw.outputs[0]], data=data)
            return None
        broken = spec.refusals(graph, op)
        self._add(*broken)
        return None if broken else op

    def _check_output(self, graph: Graph, index: int, defined: set[int]) -> None:
        name = graph.tensors[index].name
        if index not in defined:
            self._refuse("file.outputs", f"nothing writes model output {name!r}")
        elif graph.tensors[base_tensor(graph, index)].data is not None:
            self._refuse("file.outputs", f"model output {name!r} is a constant: nothing computes it")

    def _check_memory(self, graph: Graph) -> None:
        """Refuses the first operator at which whole tensors, alive together, take too much."""
        base = {i: i for i in range(len(graph.tensors))}
        for op in graph.ops:
            if is_view(op):
                base[op.outputs[0]] = base[op.inputs[0]]
        last = {base[t]: number for number, op in enumerate(graph.ops) for t in (*op.inputs, *op.outputs) if t >= 0}
        last |= {base[t]: len(graph.ops) for t in graph.outputs}
        alive = {i: graph.tensors[i].bytes for i in graph.inputs}
        for number, op in enumerate(graph.ops):
            written = base[op.outputs[0]]
            alive[written] = graph.tensors[written].bytes
            total = sum(alive.values())
            if total > MAX_ALIVE_BYTES:
                reason = f"{total} bytes of tensors are alive here; up to {MAX_ALIVE_BYTES} are supported"
                self._add(Refusal("operator.memory", reason, op.source, op.kind))
                return
            alive = {t: size for t, size in alive.items() if last.get(t, -1) > number}


def _live(ops: Sequence[RawOp], outputs: tuple[int, ...]) -> list[RawOp]:
    """The operators that the outputs need, and those without outputs, which exist for their effects."""
    needed, live = set(outputs), []
    for op in reversed(ops):
        if not op.outputs or needed.intersection(op.outputs):
            needed.update(op.used)
            live.append(op)
    return live[::-1]


class _Fault(Exception):
    """Why a tensor does not convert."""

    def __init__(self, code: str, reason: str, hint: str | None) -> None:
        super().__init__(reason)
        self.code, self.reason, self.hint = code, reason, hint


def _builtin_code(code: Any) -> int:
    """The wide operator code as it is stored: the schema class replaces small ones by the deprecated code."""
    offset = code._tab.Offset(_BUILTIN_CODE_FIELD)
    return int(code._tab.Get(Int32Flags, code._tab.Pos + offset)) if offset else 0


def _custom_problem(index: int, custom: str) -> Refusal:
    kind = f"CUSTOM:{custom}"
    if custom in ("ethos-u", "edgetpu-custom-op"):
        chip = "Arm Ethos-U" if custom == "ethos-u" else "Edge TPU"
        return Refusal(
            "operator.accelerator", f"compiled for the {chip}", index, kind, "take the model from before that compiler"
        )
    if custom.startswith("Flex"):
        return Refusal(
            "operator.flex", "a TensorFlow (Flex) operator", index, kind, "convert with TFLITE_BUILTINS operators only"
        )
    return Refusal("operator.custom", "a custom operator, not supported", index, kind)


def _operand_problem(spec: OpSpec, raw: RawOp) -> str | None:
    least, most = spec.inputs
    if not least <= len(raw.inputs) <= most:
        return f"{len(raw.inputs)} inputs"
    if len(raw.outputs) != 1:
        return f"{len(raw.outputs)} outputs"
    missing = next((i for i, t in enumerate(raw.inputs[: spec.optional]) if t < 0), None)
    return None if missing is None else f"input {missing} is left out"


def _trimmed(inputs: tuple[int, ...]) -> tuple[int, ...]:
    """Without inputs left out at the end."""
    while inputs and inputs[-1] < 0:
        inputs = inputs[:-1]
    return inputs


def _text(name: bytes | None) -> str:
    """A name; a NUL, which would end it in a plan, is spelled out."""
    return (name or b"").decode("utf-8", "replace").replace("\0", "\\0")


def _printable(text: str) -> str:
    """Without what would break the line of a message."""
    return text if text.isprintable() else repr(text)[1:-1]


def _shape(raw: Any) -> tuple[int, ...]:
    return tuple(int(n) for n in raw.ShapeAsNumpy()) if raw.ShapeLength() else ()


def _unique_names(names: Sequence[str]) -> list[str]:
    """The names, a made-up one for an empty one, and a number behind one that is taken."""
    wanted = [name or f"tensor_{index}" for index, name in enumerate(names)]
    taken, used = set(wanted), set[str]()
    next_number: dict[str, int] = {}
    result = []
    for name in wanted:
        unique = name
        while unique in used or (unique != name and unique in taken):
            next_number[name] = next_number.get(name, 0) + 1
            unique = f"{name}_{next_number[name]}"
        used.add(unique)
        result.append(unique)
    return result
