"""The cases: every module here is a family, its CASES maps a case's name to what builds it."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.corpus.writer import ModelWriter, Tensor

#: Adds the operators of a case and says what goes in and out.
Build = Callable[[ModelWriter], tuple[Sequence[Tensor], Sequence[Tensor]]]


@dataclass(frozen=True)
class Model:
    """A built case."""

    name: str
    data: bytes
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    kinds: frozenset[str]


def build(name: str) -> Model:
    """The model of a case."""
    writer = ModelWriter(name)
    inputs, outputs = CASES[name](writer)
    return Model(name, writer.finish(inputs, outputs), tuple(inputs), tuple(outputs), writer.kinds)


def _collect() -> dict[str, dict[str, Build]]:
    names = sorted(m.name for m in pkgutil.iter_modules(__path__))
    return {name: importlib.import_module(f"{__name__}.{name}").CASES for name in names}


#: Family -> case -> builder, and all of them.
FAMILIES = _collect()
CASES = {name: case for family in FAMILIES.values() for name, case in family.items()}
if len(CASES) != sum(len(family) for family in FAMILIES.values()):
    raise ValueError("two families use the same name for a case")
