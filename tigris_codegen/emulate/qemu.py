"""QEMU: whole machines, with a virtual clock that counts instructions."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from tigris_codegen.boards import Board
from tigris_codegen.emulate import tools
from tigris_codegen.emulate.emulator import TIMEOUT
from tigris_codegen.emulate.report import Report, parse_report
from tigris_codegen.errors import TigrisError, UsageError

#: Each instruction takes 2**ICOUNT_SHIFT ns of virtual time. Slower than the boards' clocks, so that a tick is never
#: longer than an instruction and the count is exact to a few ticks.
ICOUNT_SHIFT = 6


class QemuEmulator:
    """QEMU's system emulators."""

    name = "QEMU"

    def supports(self, board: Board) -> bool:
        return bool(board.qemu_command)

    def run(self, image: Path, board: Board, core: str, timeout: float) -> Report:
        if board.emulators.qemu is None or not self.supports(board):
            raise UsageError(f"{board.name} is no machine of QEMU.")
        machine = board.emulators.qemu.machine
        program, *options = board.qemu_command
        with tempfile.TemporaryDirectory(prefix="tigris-") as folder:
            console = Path(folder) / "console.txt"
            command = [
                *(str(tools.find(program)), *options, "-display", "none", "-monitor", "none"),
                *("-serial", f"file:{console}", "-semihosting-config", "enable=on,target=native"),
                *("-icount", f"shift={ICOUNT_SHIFT}", "-kernel", str(image.resolve())),
            ]
            messages = _run(command, timeout, console)
            log = _read(console)
        ticks_per_ns = (board.emulators.qemu.clock_hz or board.clock_hz) / 1e9
        try:
            return parse_report(log, self.name, machine, 1 / (ticks_per_ns * 2**ICOUNT_SHIFT))
        except TigrisError as error:
            raise TigrisError("\n".join(filter(None, (str(error), messages)))) from error


def _run(command: list[str], timeout: float, console: Path) -> str:
    """What QEMU itself says. The exit code is the firmware's and says no more than its last line."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise TigrisError(
            f"the firmware did not end within {timeout:.0f} seconds under QEMU; it printed:\n{_read(console)[-2000:]}"
        ) from error
    return done.stdout.decode(errors="replace").strip()


def _read(console: Path) -> str:
    return console.read_text(encoding="utf-8", errors="replace") if console.exists() else ""


def run_qemu(image: Path, board: Board, *, timeout: float = TIMEOUT) -> Report:
    """Runs a self-test image as the board's QEMU machine."""
    return QemuEmulator().run(image, board, image.stem, timeout)
