"""tigris.lock: what a project was made from and the hashes of its generated files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from tigris_codegen.errors import UsageError

LOCK_NAME = "tigris.lock"
LOCK_VERSION = 1

#: What a command line option may be set to.
Option = str | int | float | bool | None | tuple[str, ...]


@dataclass(frozen=True)
class Lock:
    """The lock file as a value. `files` maps each generated file's path to its SHA-256; `app/` is not among them."""

    tool: str
    core: str
    board: str
    framework: str
    backend: str
    options: Mapping[str, Option]
    plan_format: int
    plan_sha256: str
    model_hash: str
    files: Mapping[str, str]

    def to_bytes(self) -> bytes:
        values = {"lock": LOCK_VERSION, **asdict(self)}
        return (json.dumps(values, indent=2, sort_keys=True) + "\n").encode()


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def read_lock(project: Path) -> Lock:
    """The lock of a generated project; UsageError where there is none that this version reads."""
    path = project / LOCK_NAME
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UsageError(f"{project} is not a project made by tigris codegen: it has no {LOCK_NAME}.") from error
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}.", "restore it, or generate into an empty folder") from error
    version = values.pop("lock", None) if isinstance(values, dict) else None
    if version != LOCK_VERSION:
        raise UsageError(f"{path} is of version {version}, this version of Tigris reads {LOCK_VERSION}.")
    try:
        return Lock(**values)
    except TypeError as error:
        raise UsageError(f"{path} is damaged: {error}.", "restore it, or generate into an empty folder") from error
