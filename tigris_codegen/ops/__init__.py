"""Operators: one home per family. Everything that lists operators or kernels is generated from here."""

from __future__ import annotations

import importlib
import pkgutil
from types import GenericAlias
from typing import TypeGuard

from tigris_codegen.ops.spec import Kernel, OpSpec

#: Modules that use the collected specs, and so cannot be collected from.
_USERS = {"docs", "lower"}


def _modules() -> list[object]:
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return [importlib.import_module(f"{__name__}.{name}") for name in names if name not in _USERS]


def _is_class(value: object) -> TypeGuard[type]:
    """Whether this is a class; Python 3.10 takes list[int] for an instance of type too."""
    return isinstance(value, type) and not isinstance(value, GenericAlias)


def _collect() -> tuple[dict[str, OpSpec], tuple[Kernel, ...]]:
    specs: dict[str, OpSpec] = {}
    kernels: dict[int, Kernel] = {}
    for module in _modules():
        for value in vars(module).values():
            if isinstance(value, Kernel):
                if kernels.setdefault(value.id, value) is not value:
                    raise TypeError(f"kernel id {value.id} is given twice: {kernels[value.id].name}, {value.name}")
            elif _is_class(value) and issubclass(value, OpSpec) and "kind" in vars(value):
                specs[value.kind] = value()
    return dict(sorted(specs.items())), tuple(kernels[i] for i in sorted(kernels))


#: TFLite operator name -> its home; every kernel, by id.
SPECS, KERNELS = _collect()
