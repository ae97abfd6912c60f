"""Zephyr's native_sim: the self-test of a Zephyr application as a program of this machine."""

from __future__ import annotations

import os
from pathlib import Path

from tigris_codegen.boards import Board
from tigris_codegen.emulate import tools
from tigris_codegen.emulate.native import run_program
from tigris_codegen.emulate.report import Report
from tigris_codegen.errors import MissingError, UsageError

#: Of 64 bits: the one of 32 bits needs a compiler for both.
NATIVE_SIM = "native_sim/native/64"
_BASE_VARIABLE = "ZEPHYR_BASE"
_MODULES_VARIABLE = "ZEPHYR_EXTRA_MODULES"
_WORKSPACE = ".west"


class NativeSimEmulator:
    """Runs the self-test in native_sim, whatever the board: Zephyr, core and self-test are the board's."""

    name = "native_sim"

    def supports(self, board: Board) -> bool:
        return "zephyr" in board.frameworks

    def run(self, image: Path, board: Board, core: str, timeout: float) -> Report:
        if not self.supports(board):
            raise UsageError(f"{board.name} is no board of Zephyr.")
        return run_program([image.resolve()], self.name, timeout)


def build_native_sim(project: Path, timeout: float, module: Path | None = None) -> Path:
    """Builds the self-test of a Zephyr application for native_sim and returns the program.

    `module` is the runtime as a Zephyr module, for a project without a copy of it.

    MissingError where west or Zephyr is missing, TigrisError with west's words where the build fails.
    """
    west = tools.find("west")
    root = project.resolve()
    if not os.environ.get(_BASE_VARIABLE) and not any((f / _WORKSPACE).is_dir() for f in (root, *root.parents)):
        raise MissingError(
            f"Zephyr is missing: {project} is in no workspace of west, and {_BASE_VARIABLE} is not set.",
            "`west init -l .` and `west update` in the project's folder, or set it to a copy of Zephyr",
        )
    folder = root / "build" / "native_sim"
    options: list[str | Path] = ["-b", NATIVE_SIM, "-d", folder, "--no-sysbuild"]
    settings = ["-DCONFIG_TIGRIS_SELFTEST=y", *([f"-D{_MODULES_VARIABLE}={module}"] if module else [])]
    tools.run([west, "build", *options, root, "--", *settings], root, timeout)
    return folder / "zephyr" / "zephyr.exe"
