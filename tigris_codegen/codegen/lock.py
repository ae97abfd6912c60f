"""tigris.lock: what generated files were made from, and their hashes. One in each folder that is generated."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path, PurePath, PureWindowsPath
from typing import TypeVar

from tigris_codegen.codegen.models import CoreModel
from tigris_codegen.errors import UsageError

LOCK_NAME = "tigris.lock"
LOCK_VERSION = 2

#: What a command line option may be set to.
Option = str | int | float | bool | None | tuple[str, ...]


@dataclass(frozen=True)
class LockedModel:
    """A model as it was: its core's name, the hash that its plan carries, the SHA-256 of the plan."""

    core: str
    model_hash: str
    plan_sha256: str


@dataclass(frozen=True)
class Lock:
    """The lock of a project. `core` is its name, `models` what its cores were made from.

    `files` maps each generated file's path to its SHA-256; `app/` is not among them.
    """

    tool: str
    core: str
    models: tuple[LockedModel, ...]
    board: str
    framework: str
    backend: str
    runtime: str
    options: Mapping[str, Option]
    plan_format: int
    files: Mapping[str, str]


@dataclass(frozen=True)
class CoreLock:
    """The lock of a core's folder. `runtime` says whether a copy of the runtime beside it serves its `kernels`.

    `arena` is the folder beside it with the arena that it shares, empty where it has its own; `models` are those of
    all cores that were made together.
    """

    tool: str
    core: str
    models: tuple[LockedModel, ...]
    backend: str
    runtime: str
    arena: str
    options: Mapping[str, Option]
    plan_format: int
    kernels: tuple[str, ...]
    files: Mapping[str, str]


@dataclass(frozen=True)
class ArenaLock:
    """The lock of a folder with the arena that the `cores` beside it share."""

    tool: str
    cores: tuple[str, ...]
    files: Mapping[str, str]


@dataclass(frozen=True)
class RuntimeLock:
    """The lock of a runtime folder that the cores beside it share."""

    tool: str
    kernels: tuple[str, ...]
    files: Mapping[str, str]


AnyLock = Lock | CoreLock | ArenaLock | RuntimeLock
L = TypeVar("L", bound=AnyLock)
_FORMATS: Mapping[str, type[AnyLock]] = {
    "project": Lock,
    "core": CoreLock,
    "arena": ArenaLock,
    "runtime": RuntimeLock,
}
_NAMES = {
    Lock: "a project made by tigris codegen",
    CoreLock: "a core made by tigris codegen",
    ArenaLock: "an arena folder made by tigris codegen",
    RuntimeLock: "a runtime folder made by tigris codegen",
}


def lock_bytes(lock: AnyLock) -> bytes:
    """The contents of the lock file."""
    name = next(name for name, kind in _FORMATS.items() if isinstance(lock, kind))
    values = {"lock": LOCK_VERSION, "format": name, **asdict(lock)}
    return (json.dumps(values, indent=2, sort_keys=True) + "\n").encode()


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def hashes(files: Mapping[str, bytes]) -> dict[str, str]:
    """The `files` of a lock."""
    return {path: sha256(data) for path, data in files.items()}


def locked_models(models: Iterable[CoreModel]) -> tuple[LockedModel, ...]:
    """The `models` of a lock."""
    return tuple(LockedModel(m.name, m.plan.model_hash.hex(), sha256(m.data)) for m in models)


def portable_options(options: Mapping[str, Option] | None) -> dict[str, Option]:
    """A command line for the lock: absolute paths by their last name only, so that it is the same everywhere."""
    return {key: _portable(value) for key, value in sorted((options or {}).items())}


def _portable(value: Option) -> Option:
    if isinstance(value, tuple):
        return tuple(str(_portable(item)) for item in value)
    if isinstance(value, str) and (PurePath(value).is_absolute() or PureWindowsPath(value).is_absolute()):
        return PureWindowsPath(value).name
    return value


def read_lock(project: Path) -> Lock:
    """The lock of a generated project; UsageError where there is none that this version reads."""
    return read_lock_of(Lock, project)


def read_lock_of(kind: type[L], folder: Path, name: str = LOCK_NAME) -> L:
    """The lock in a folder, which must be of this kind; UsageError otherwise."""
    lock = read_any_lock(folder / name)
    if isinstance(lock, kind):
        return lock
    found = f"it has no {LOCK_NAME}" if lock is None else f"its {LOCK_NAME} says that it is {_NAMES[type(lock)]}"
    raise UsageError(f"{folder} is not {_NAMES[kind]}: {found}.")


def read_any_lock(path: Path) -> AnyLock | None:
    """A lock file, None where there is none; UsageError where this version cannot read it."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}.", "restore it, or generate into an empty folder") from error
    version = values.pop("lock", None) if isinstance(values, dict) else None
    if version != LOCK_VERSION:
        raise UsageError(f"{path} is of version {version}, this version of Tigris reads {LOCK_VERSION}.")
    try:
        kind = _FORMATS[values.pop("format")]
        for key in {"kernels", "cores"} & values.keys():
            values[key] = tuple(values[key])
        if "models" in values:
            values["models"] = tuple(LockedModel(**model) for model in values["models"])
        if "options" in values:
            values["options"] = {k: tuple(v) if isinstance(v, list) else v for k, v in values["options"].items()}
        return kind(**values)
    except (AttributeError, KeyError, TypeError) as error:
        raise UsageError(f"{path} is damaged: {error}.", "restore it, or generate into an empty folder") from error
