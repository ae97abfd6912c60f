"""Files that users name: reading them with clear words for what is wrong, writing them whole or not at all."""

from __future__ import annotations

import difflib
import io
import os
import stat
import struct
import tempfile
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tigris_codegen.cli.progress import Report
from tigris_codegen.errors import ModelError, PlanError, Refusal, UsageError
from tigris_codegen.pipeline import Compiled, Model
from tigris_codegen.plan.codec import decode
from tigris_codegen.plan.layout import CONST_OFFSET_BITS, MAGIC

#: A plan addresses its constants with so many bits, so no larger file is of use.
MAX_FILE_BYTES = 1 << CONST_OFFSET_BITS
_PLAN_MAGIC = struct.pack("<I", MAGIC)
_TFLITE_IDENTIFIER = b"TFL3"  # at byte 4
#: What numpy raises for files that are damaged, or hold what it will not load.
_DAMAGED = (ValueError, EOFError, OSError, MemoryError, OverflowError, SyntaxError, zipfile.BadZipFile, zlib.error)
MODEL_SUFFIX, PLAN_SUFFIX = ".tflite", ".tgrs"


class RefusedModel(ModelError):
    """The refusals of a model file, which has a name."""

    def __init__(self, path: Path, refusals: tuple[Refusal, ...]) -> None:
        super().__init__(refusals)
        self.path = path


@dataclass(frozen=True)
class Planning:
    """How a model is planned, see `Model`; `effort` None means the usual."""

    keep_inputs: bool = False
    recompute: float = 0.0
    effort: int | None = None


@dataclass(frozen=True)
class ModelFile:
    """A model's file, not yet converted."""

    path: Path
    data: bytes

    def convert(self, report: Report | None, planning: Planning = Planning()) -> Model:
        """ModelError with the file's name where it does not convert; `report` is told how the search goes on."""
        chosen: dict[str, Any] = {} if planning.effort is None else {"effort": planning.effort}
        chosen |= {"keep_inputs": planning.keep_inputs, "recompute": planning.recompute}
        try:
            return Model(self.data, self.path.name, progress=report, **chosen)
        except ModelError as error:
            raise RefusedModel(self.path, error.refusals) from error


@dataclass(frozen=True)
class PlanFile:
    """A plan's file."""

    path: Path
    data: bytes

    def decoded(self) -> Compiled:
        """PlanError with the file's name where it is no plan of this version."""
        try:
            return Compiled(decode(self.data), self.data)
        except PlanError as error:
            raise PlanError(f"{self.path}: {error}", error.hint) from error


def read_file(path: Path, limit: int = MAX_FILE_BYTES) -> bytes:
    """The bytes of a file the user named; UsageError where it cannot be read or has more than `limit`."""
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            size = status.st_size if stat.S_ISREG(status.st_mode) else 0
            data = b"" if size > limit else file.read(limit + 1)
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file", _near(path)) from None
    except IsADirectoryError:
        raise UsageError(f"{path} is a folder, not a file") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise UsageError(f"{path} cannot be read: {_reason(error)}") from error
    if max(size, len(data)) > limit:
        raise UsageError(f"{path} has {'more than ' if not size else ''}{size or limit} bytes; up to {limit} are read")
    return data


def _near(path: Path) -> str | None:
    try:
        names = [p.name for p in path.parent.iterdir() if p.suffix == path.suffix]
    except OSError:
        return f"the folder {path.parent} is not there either"
    near = difflib.get_close_matches(path.name, names, n=3, cutoff=0.75)
    return f"near names: {', '.join(near)}" if near else None


def _reason(error: Exception) -> str:
    return ((error.strerror if isinstance(error, OSError) else None) or str(error)).lower()


def open_model(path: Path, command: str) -> ModelFile:
    """The file of a model; UsageError for a plan, which `command` does not take."""
    data = read_file(path)
    if data.startswith(_PLAN_MAGIC) or (path.suffix == PLAN_SUFFIX and not _is_model(data)):
        hint = f"`tigris inspect {path}` shows it; `tigris {command}` takes the model that it was made from"
        raise UsageError(f"{path} is a plan, not a model", hint)
    return ModelFile(path, data)


def open_either(path: Path) -> ModelFile | PlanFile:
    """The file of a model or a plan, told apart by what is in it; its name must not say the other."""
    data = read_file(path)
    if data.startswith(_PLAN_MAGIC):
        if path.suffix == MODEL_SUFFIX:
            raise UsageError(f"{path} holds a plan, not a model", f"call it {path.with_suffix(PLAN_SUFFIX).name}")
        return PlanFile(path, data)
    if path.suffix == PLAN_SUFFIX:
        if _is_model(data):
            raise UsageError(f"{path} holds a model, not a plan", f"call it {path.with_suffix(MODEL_SUFFIX).name}")
        return PlanFile(path, data)
    return ModelFile(path, data)


def _is_model(data: bytes) -> bool:
    return data[4:8] == _TFLITE_IDENTIFIER


def _load(path: Path, what: str) -> Any:
    data = read_file(path)
    try:
        return np.load(io.BytesIO(data), allow_pickle=False)
    except _DAMAGED as error:
        raise UsageError(f"{path} is no {what} file", "write it with numpy.save") from error


def read_array(path: Path) -> NDArray[Any]:
    """The array in a .npy file."""
    array = _load(path, ".npy")
    if not isinstance(array, np.ndarray):
        raise UsageError(f"{path} holds several arrays", "name a .npy file for each input")
    return array


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays in a .npy or .npz file by their names; without one they are `arr_0`, `arr_1` ..., as numpy says it."""
    found = _load(path, ".npy or .npz")
    if isinstance(found, np.ndarray):
        return {"arr_0": found}
    try:
        with found as archive:
            return {name: archive[name] for name in archive.files}
    except _DAMAGED as error:
        raise UsageError(f"{path} is a damaged .npz file", "write it with numpy.savez") from error


def check_output(path: Path, *inputs: Path) -> None:
    """UsageError where `path` cannot become a file, before anything slow is done; `inputs` must not be overwritten."""
    folder = path.parent
    if path.is_dir():
        raise UsageError(f"{path} is a folder, not a file", "name the file to write")
    if not folder.exists():
        raise UsageError(f"{path} cannot be written: there is no folder {folder}", f"mkdir -p {folder}")
    if not folder.is_dir():
        raise UsageError(f"{path} cannot be written: {folder} is not a folder")
    for source in inputs:
        if path.exists() and source.exists() and path.samefile(source):
            raise UsageError(f"{path} is what is read: it would be overwritten", "name another output")
    if path.exists() and not os.access(path, os.W_OK):
        raise UsageError(f"{path} cannot be written: it is write-protected")
    if not path.exists() and not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"{path} cannot be written: the folder {folder} is write-protected")


def write_file(path: Path, data: bytes) -> None:
    """Writes a file whole or not at all. What is no regular file (a pipe, a device) is written to directly."""
    check_output(path)
    try:
        target = path.resolve()
        if target.exists() and not target.is_file():
            target.write_bytes(data)
            return
        _replace(target, data)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {_reason(error)}") from error


def _replace(target: Path, data: bytes) -> None:
    mask = os.umask(0)
    os.umask(mask)
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o666 & ~mask
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:64]}.")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        temporary.chmod(mode)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
