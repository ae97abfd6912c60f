"""Every operator in a .tflite file with what becomes of it, also where the model as a whole does not convert."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tigris_codegen.errors import Refusal
from tigris_codegen.frontend import FileTensor, survey
from tigris_codegen.ops import SPECS
from tigris_codegen.pipeline import Model

__all__ = ["FileOperator", "FileTensor", "Listing", "list_model"]


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
    found = survey(data, name)
    kernels: dict[int | None, list[str]] = {}
    for work in model.problem.works if model else ():
        kernels.setdefault(work.source, []).append(work.kernel.name)
    operators = []
    for op in found.operators:
        own = tuple(dict.fromkeys(kernels.get(op.index, ())))
        if op.refusals:
            status = "refused"
        elif op.kind not in SPECS:
            status = "not needed"
        else:
            status = "no kernel" if model and not own else "converts"
        operators.append(
            FileOperator(op.index, op.kind, op.inputs, op.outputs, status, not op.refusals, op.refusals, own)
        )
    said = {r for op in operators for r in op.refusals}
    left = tuple(r for r in refusals if r not in said)
    return Listing(name, model is not None, found.inputs, found.outputs, tuple(operators), left)
