"""Every operator in a .tflite file with what becomes of it, also where the model as a whole does not convert."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tflite

from tigris_codegen.errors import Refusal
from tigris_codegen.frontend.flatbuffer import IDENTIFIER, DamagedFile, check_structure
from tigris_codegen.ops import SPECS
from tigris_codegen.pipeline import Model

_KINDS: dict[int, str] = {v: k for k, v in vars(tflite.BuiltinOperator).items() if isinstance(v, int)}
_DTYPES: dict[int, str] = {v: k.lower() for k, v in vars(tflite.TensorType).items() if isinstance(v, int)}


@dataclass(frozen=True)
class FileTensor:
    """A tensor as the file has it."""

    name: str
    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class FileOperator:
    """An operator as the file has it.

    status    "refused"; "converts"; "no kernel" (it costs nothing: another shape of the same memory, part of a
              neighbour, or computed by the compiler); "not needed" by the outputs, where it would not convert
    kernels   what computes it; empty also where the model as a whole does not convert
    """

    index: int
    name: str
    inputs: tuple[FileTensor, ...]
    outputs: tuple[FileTensor, ...]
    status: str
    converts: bool
    refusals: tuple[Refusal, ...]
    kernels: tuple[str, ...]


@dataclass(frozen=True)
class Listing:
    """A .tflite file. `refusals` are those that no single operator has."""

    model: str
    converts: bool
    inputs: tuple[FileTensor, ...]
    outputs: tuple[FileTensor, ...]
    operators: tuple[FileOperator, ...]
    refusals: tuple[Refusal, ...]


def list_model(data: bytes, name: str, model: Model | None, refusals: Sequence[Refusal]) -> Listing:
    """The operators of a file; `model` is what it converted to, None with `refusals` where it did not."""
    try:
        if data[4:8] != IDENTIFIER:
            raise DamagedFile("another kind of file")
        check_structure(data)
        file = tflite.Model.GetRootAs(data, 0)
        if not file.SubgraphsLength():
            raise DamagedFile("no subgraph")
        reader = _Reader(file, refusals)
        operators = reader.operators(model)
        inputs, outputs = reader.ports()
    except DamagedFile:
        operators, inputs, outputs = (), (), ()
    said = {r for op in operators for r in op.refusals}
    return Listing(name, model is not None, inputs, outputs, operators, tuple(r for r in refusals if r not in said))


class _Reader:
    """Reads the first subgraph of a file whose structure is proven."""

    def __init__(self, file: Any, refusals: Sequence[Refusal]) -> None:
        self.file = file
        self.subgraph = file.Subgraphs(0)
        self.of_operator: dict[int, list[Refusal]] = {}
        for refusal in refusals:
            if refusal.operator is not None:
                self.of_operator.setdefault(refusal.operator, []).append(refusal)
        # Those of tensors start with the tensor's name.
        self.others = sorted((r for r in refusals if r.operator is None), key=lambda r: r.reason)
        self.reasons = [r.reason for r in self.others]

    def ports(self) -> tuple[tuple[FileTensor, ...], tuple[FileTensor, ...]]:
        return self._tensors(self.subgraph.InputsAsNumpy()), self._tensors(self.subgraph.OutputsAsNumpy())

    def operators(self, model: Model | None) -> tuple[FileOperator, ...]:
        kernels: dict[int | None, list[str]] = {}
        for work in model.problem.works if model else ():
            kernels.setdefault(work.source, []).append(work.kernel.name)
        return tuple(
            self._operator(index, tuple(dict.fromkeys(kernels.get(index, ()))), model is not None)
            for index in range(self.subgraph.OperatorsLength())
        )

    def _operator(self, index: int, kernels: tuple[str, ...], converted: bool) -> FileOperator:
        raw = self.subgraph.Operators(index)
        kind = self._kind(raw.OpcodeIndex())
        inputs, outputs = self._tensors(raw.InputsAsNumpy()), self._tensors(raw.OutputsAsNumpy())
        own = self.of_operator.get(index, [])
        found = tuple(dict.fromkeys([*own, *(r for t in (*inputs, *outputs) for r in self._of_tensor(t))]))
        if found:
            status = "refused"
        elif kind not in SPECS:
            status = "not needed"
        else:
            status = "no kernel" if converted and not kernels else "converts"
        return FileOperator(index, kind, inputs, outputs, status, not found, found, kernels)

    def _of_tensor(self, tensor: FileTensor) -> list[Refusal]:
        prefix = f"tensor {tensor.name!r} "
        first = last = bisect_left(self.reasons, prefix)
        while last < len(self.reasons) and self.reasons[last].startswith(prefix):
            last += 1
        return self.others[first:last]

    def _kind(self, code_index: int) -> str:
        if code_index >= self.file.OperatorCodesLength():
            raise DamagedFile("an operator without a code")
        code = self.file.OperatorCodes(code_index)
        number: int = max(code.DeprecatedBuiltinCode(), code.BuiltinCode())
        if number == tflite.BuiltinOperator.CUSTOM:
            return f"CUSTOM:{_text(code.CustomCode())}"
        return _KINDS.get(number, f"#{number}")

    def _tensors(self, numbers: Any) -> tuple[FileTensor, ...]:
        """The tensors of a vector of numbers, without inputs left out; an absent vector reads as 0."""
        found = [int(n) for n in numbers] if isinstance(numbers, np.ndarray) else []
        return tuple(self._tensor(n) for n in found if n >= 0)

    def _tensor(self, number: int) -> FileTensor:
        if number >= self.subgraph.TensorsLength():
            raise DamagedFile("a tensor that is not there")
        raw = self.subgraph.Tensors(number)
        shape = tuple(int(n) for n in raw.ShapeAsNumpy()) if raw.ShapeLength() else ()
        name = _text(raw.Name()) or f"tensor_{number}"
        return FileTensor(name, _DTYPES.get(raw.Type(), f"type {raw.Type()}"), shape)


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace")
