"""What the commands share: sizes, files, errors."""

from __future__ import annotations

import io
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from tigris_codegen.errors import TigrisError, UsageError
from tigris_codegen.pipeline import Model
from tigris_codegen.plan.codec import decode
from tigris_codegen.plan.plan import Plan
from tigris_codegen.sizes import parse_size

MODEL = click.argument("model", type=click.Path(path_type=Path))
POOL = click.option("-m", "--memory", "pool", metavar="SIZE", help="pool for everything but the stack, e.g. 64K")
JSON = click.option("--json", "as_json", is_flag=True, help="print one JSON object")


def fail(error: TigrisError) -> int:
    """Prints the error on stderr, what to do next behind it, and returns its exit code."""
    for line in str(error).splitlines():
        click.echo(f"tigris: {line}", err=True)
    if error.hint:
        click.echo(f"  -> {error.hint}", err=True)
    return error.exit_code


def read_file(path: Path) -> bytes:
    """The bytes of a file the user named; UsageError where it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error


def read_array(path: Path) -> NDArray[Any]:
    """The array in a .npy file."""
    try:
        array = np.load(io.BytesIO(read_file(path)), allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise UsageError(f"{path} is no .npy file: {error}", "write it with numpy.save") from error
    if not isinstance(array, np.ndarray):
        raise UsageError(f"{path} holds several arrays", "name a .npy file for each input")
    return array


def write_file(path: Path, data: bytes) -> None:
    """Writes a file whole or not at all."""
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}", "make the folder first") from error
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error
    finally:
        temporary.unlink(missing_ok=True)


def load_model(path: Path) -> Model:
    """The model in a .tflite file."""
    return Model(read_file(path), path.name)


def load_plan(path: Path) -> tuple[Plan, bytes]:
    """The plan in a .tgrs file."""
    data = read_file(path)
    return decode(data), data


def pool_bytes(text: str | None) -> int | None:
    """The pool of `-m`; two pools come later."""
    if text is None:
        return None
    if "+" in text:
        raise UsageError("two pools are not supported yet", "give one size, e.g. -m 64K")
    return parse_size(text)


def print_json(value: dict[str, Any]) -> None:
    click.echo(json.dumps(value, indent=2))


def console() -> Console:
    return Console(width=None if Console().is_terminal else 100)
