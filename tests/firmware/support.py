"""What firmware tests share: what has to be installed, and recorded results as test vectors."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.support import REPOSITORY, shared
from tigris_codegen.boards import Board
from tigris_codegen.codegen import TestVector, generate_project
from tigris_codegen.emulate import find_cmsis, find_picolibc
from tigris_codegen.errors import MissingError
from tigris_codegen.plan.codec import encode
from tigris_codegen.plan.plan import Plan

DIGITS = REPOSITORY / "examples" / "digits"


def make_project(
    out: Path, board: Board, plan: Plan, vectors: Sequence[TestVector], framework: str | None = None, **options: Any
) -> Path:
    """The project of a plan under the name `digits`; `options` are those of `generate_project`."""
    generate_project(encode(plan), board, out, core_name="digits", vectors=vectors, framework=framework, **options)
    return out


def missing(*programs: str) -> list[str]:
    """What a bare-metal build needs and this machine lacks, the given programs included."""
    names = [n for n in ("cmake", "arm-none-eabi-gcc", *programs) if shutil.which(n) is None]
    names += [] if shutil.which("ninja") or shutil.which("make") else ["ninja or make"]
    try:
        find_cmsis(REPOSITORY)
    except MissingError:
        names.append("CMSIS-Core (CMSIS_CORE_ROOT)")
    return names


def missing_for(board: Board) -> list[str]:
    """What building that board's project, and QEMU where it is a machine, need and this machine lacks."""
    emulator = board.qemu_command[:1]
    if board.architecture != "riscv":
        return missing(*emulator)
    names = [n for n in ("cmake", *emulator) if shutil.which(n) is None]
    names += [] if shutil.which("ninja") or shutil.which("make") else ["ninja or make"]
    try:
        find_picolibc()
    except MissingError as error:
        names.append(str(error))
    return names


def digit_vectors(count: int) -> list[TestVector]:
    """The first digits of the example, with what TensorFlow Lite Micro answered to them."""
    with np.load(DIGITS / "test_digits.npz") as archive:
        pairs = zip(archive["inputs"][:count], archive["outputs"][:count], strict=True)
        return [TestVector((image.tobytes(),), (scores.tobytes(),)) for image, scores in pairs]


def recorded_vectors(model: str) -> list[TestVector]:
    """Seeded inputs of a published model with one input and output, with TensorFlow Lite Micro's outputs."""
    with np.load(shared(f"models/golden/{model}.npz")) as archive:
        arrays: Mapping[str, NDArray[Any]] = dict(archive)
    labels = sorted({key.partition("_")[0] for key in arrays if key.startswith("case")})
    return [TestVector((arrays[f"{n}_in_0"].tobytes(),), (arrays[f"{n}_out_0"].tobytes(),)) for n in labels]
