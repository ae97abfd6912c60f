"""Everything in a .tflite file with what is said against it, also where the model as a whole does not convert."""

from __future__ import annotations

from dataclasses import dataclass

from tigris_codegen.errors import ModelError, Refusal
from tigris_codegen.frontend.flatbuffer import DamagedFile
from tigris_codegen.frontend.read import Contents, Reader, damaged


@dataclass(frozen=True)
class FileTensor:
    """A tensor as the file has it, its name made unique."""

    name: str
    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class SurveyedOperator:
    """An operator as the file has it, without inputs left out. `refusals` are its own and those of its tensors."""

    index: int
    kind: str
    inputs: tuple[FileTensor, ...]
    outputs: tuple[FileTensor, ...]
    refusals: tuple[Refusal, ...]


@dataclass(frozen=True)
class Survey:
    """A file; empty where it is none that is read. `refusals` are those that no operator has."""

    inputs: tuple[FileTensor, ...]
    outputs: tuple[FileTensor, ...]
    operators: tuple[SurveyedOperator, ...]
    refusals: tuple[Refusal, ...]


def survey(data: bytes, name: str) -> Survey:
    """What `read_model` reads of a file, and everything it refuses, by operator; never raises."""
    try:
        reader = Reader(data, name)
        contents = reader.contents()
    except DamagedFile as damage:
        return Survey((), (), (), (damaged(damage),))
    except ModelError as error:
        return Survey((), (), (), error.refusals)
    said: tuple[Refusal, ...] = ()
    try:
        reader.convert(contents)
    except DamagedFile as damage:
        said = (damaged(damage),)
    except ModelError as error:
        said = error.refusals
    return _survey(reader, contents, tuple(dict.fromkeys((*reader.refusals, *said))))


def _survey(reader: Reader, contents: Contents, refusals: tuple[Refusal, ...]) -> Survey:
    tensors = tuple(FileTensor(n, *reader.declared(i)) for i, n in enumerate(contents.names))
    of_operator: dict[int | None, list[Refusal]] = {}
    for refusal in refusals:
        of_operator.setdefault(refusal.operator, []).append(refusal)

    def listed(numbers: tuple[int, ...]) -> tuple[FileTensor, ...]:
        return tuple(tensors[n] for n in numbers if n >= 0)

    operators = []
    for op in contents.ops:
        faults = (reader.faults[t] for t in (*op.inputs, *op.outputs) if t in reader.faults)
        found = tuple(dict.fromkeys((*of_operator.get(op.index, ()), *faults)))
        operators.append(SurveyedOperator(op.index, op.kind, listed(op.inputs), listed(op.outputs), found))
    attributed = {refusal for op in operators for refusal in op.refusals}
    left = tuple(refusal for refusal in refusals if refusal not in attributed)
    return Survey(listed(contents.inputs), listed(contents.outputs), tuple(operators), left)
