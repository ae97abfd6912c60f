"""No emulator: programs for the machine that builds them."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tigris_codegen.boards import Board
from tigris_codegen.emulate.report import Report, parse_report
from tigris_codegen.errors import TigrisError, UsageError


class NativeEmulator:
    """Runs the self-test as a program."""

    name = "native"

    def supports(self, board: Board) -> bool:
        return board.emulators.native is not None

    def run(self, image: Path, board: Board, core: str, timeout: float) -> Report:
        if not self.supports(board):
            raise UsageError(f"{board.name} is not the machine that builds.")
        return run_program([image.resolve()], self.name, timeout)


def run_program(command: Sequence[str | Path], name: str, timeout: float) -> Report:
    """Runs a self-test that is a program of this machine; `name` is what the report calls it."""
    try:
        done = subprocess.run(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise TigrisError(f"the program did not end within {timeout:.0f} seconds.") from error
    except OSError as error:
        raise TigrisError(f"the program cannot be run: {error}.") from error
    return parse_report(done.stdout.decode(errors="replace"), name, platform.machine(), None)
