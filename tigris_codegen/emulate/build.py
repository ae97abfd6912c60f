"""Builds a generated project for an emulator."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from tigris_codegen import resources
from tigris_codegen.boards import Board, load_board
from tigris_codegen.codegen.lock import read_lock
from tigris_codegen.codegen.project import BOARD_FILES
from tigris_codegen.emulate import tools
from tigris_codegen.emulate.idf_linux import build_idf_linux
from tigris_codegen.emulate.native_sim import build_native_sim
from tigris_codegen.errors import MissingError

CMSIS_VARIABLE = "CMSIS_CORE_ROOT"
CMSIS_PACKAGE = "@xpack-3rd-party/arm-cmsis-core"
_CMSIS_PROBE = "core_cm4.h"
_PICOLIBC_SPECS = "picolibc.specs"
_INCLUDE_FOLDERS = ("", "Include", "Core/Include", "CMSIS/Core/Include")


def find_cmsis(*starts: Path) -> Path:
    """The folder with CMSIS-Core's headers.

    CMSIS_CORE_ROOT where it is set, else the npm package in a `node_modules` of the folders `starts` or above them, or
    in the folder `npm` of the virtual environment.
    """
    override = os.environ.get(CMSIS_VARIABLE)
    candidates = [Path(override)] if override else list(_npm_packages((*starts, Path(sys.prefix) / "npm")))
    for root in candidates:
        for folder in _INCLUDE_FOLDERS:
            if (root / folder / _CMSIS_PROBE).is_file():
                return (root / folder).resolve()
    if override:
        raise MissingError(f"{CMSIS_VARIABLE} names {override}, where CMSIS-Core's headers are not.")
    raise MissingError(
        "CMSIS-Core's headers are missing.",
        f"run `npm install {CMSIS_PACKAGE}` in the project's folder or above it, or set {CMSIS_VARIABLE}",
    )


def find_picolibc() -> Path:
    """The specs through which the compiler for RISC-V finds picolibc, its C library."""
    compiler = tools.find("riscv64-unknown-elf-gcc")
    said = tools.run([compiler, f"-print-file-name={_PICOLIBC_SPECS}"], Path.cwd(), timeout=60.0)
    specs = Path(said.strip())
    if not specs.is_absolute():  # it answers with the name alone where there is no such file
        raise MissingError(
            "picolibc, the C library for RISC-V, is missing.", "Debian: `apt install picolibc-riscv64-unknown-elf`"
        )
    return specs


def _npm_packages(starts: tuple[Path, ...]) -> Iterator[Path]:
    for start in starts:
        for folder in (start.resolve(), *start.resolve().parents):
            yield folder / "node_modules" / CMSIS_PACKAGE


def build(project: Path, *, timeout: float = 600.0) -> Path:
    """Builds the self-test of the project as an emulator wants it and returns the image.

    MissingError where a tool or CMSIS-Core is missing, TigrisError with the compiler's words where the build fails.
    """
    lock = read_lock(project)
    if lock.framework == "zephyr":
        return build_native_sim(project, timeout, resources.runtime_dir() if lock.runtime == "module" else None)
    if lock.framework == "esp-idf":
        return build_idf_linux(project, lock.core, timeout)
    cmake = tools.find("cmake")
    generator = _generator()
    board = load_board(lock.board, (project / BOARD_FILES,))
    settings = _SETTINGS[lock.framework](project, board)
    preset, suffix = _PRESETS[lock.framework]
    folder = project / "build" / preset
    configure: list[str | Path] = [cmake, "--preset", preset, *settings]
    if not (folder / "CMakeCache.txt").exists():
        configure += ["-G", generator]
    tools.run(configure, project, timeout)
    target = f"{lock.core}_selftest"
    tools.run([cmake, "--build", "--preset", preset, "--target", target, "--parallel"], project, timeout)
    return folder / f"{target}{suffix}"


def _baremetal_settings(project: Path, board: Board) -> list[str]:
    if board.architecture == "riscv":
        find_picolibc()
        return []
    tools.find("arm-none-eabi-gcc")
    return [f"-D{CMSIS_VARIABLE}={find_cmsis(project, Path.cwd())}"]


def _posix_settings(_project: Path, _board: Board) -> list[str]:
    if not any(shutil.which(compiler) for compiler in ("cc", "gcc", "clang")):
        raise MissingError("a C compiler is missing.", "install gcc or clang")
    return []


#: Framework -> CMake preset and suffix of the image; what has to be there and what CMake is told.
_PRESETS = {"baremetal": ("emulate", ".elf"), "posix": ("release", "")}
_SETTINGS: Mapping[str, Callable[[Path, Board], list[str]]] = {
    "baremetal": _baremetal_settings,
    "posix": _posix_settings,
}


def _generator() -> str:
    for program, generator in (("ninja", "Ninja"), ("make", "Unix Makefiles")):
        if shutil.which(program):
            return generator
    raise MissingError("neither ninja nor make is here.", "`pip install ninja` or `apt install ninja-build`")
