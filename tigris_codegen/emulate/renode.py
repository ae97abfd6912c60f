"""Renode: a board with models of its peripherals, where the user has it."""

from __future__ import annotations

import re
import subprocess
import tempfile
import time
from pathlib import Path
from typing import IO

from tigris_codegen import resources
from tigris_codegen.boards import Board
from tigris_codegen.emulate import tools
from tigris_codegen.emulate.report import Report, parse_report
from tigris_codegen.errors import TigrisError, UsageError

_OPTIONS = ("--disable-xwt", "--console", "--plain")
_LAST_LINE = re.compile(r"^TIGRIS (\S+ (PASS|FAIL)|FAULT).*\n", re.MULTILINE)
_POLL_SECONDS = 0.05
_SECONDS_TO_QUIT = 20.0


class RenodeEmulator:
    """Renode, driven through its monitor; the UART goes into a file."""

    name = "Renode"

    def supports(self, board: Board) -> bool:
        return board.emulators.renode is not None

    def run(self, image: Path, board: Board, core: str, timeout: float) -> Report:
        if board.emulators.renode is None:
            raise UsageError(f"{board.name} is no platform of Renode.")
        program = tools.find("renode")
        script = write_script(image.resolve(), board, core)
        console = script.with_suffix(".txt")
        console.unlink(missing_ok=True)
        commands = (
            f"include {_path(script)}; "
            f"sysbus.{board.emulators.renode.uart} CreateFileBackend {_path(console)} true; start"
        )
        with tempfile.TemporaryFile(mode="w+", errors="replace") as messages:
            process = subprocess.Popen(
                [str(program), *_OPTIONS, "-e", commands],
                cwd=script.parent,
                stdin=subprocess.PIPE,
                stdout=messages,
                stderr=subprocess.STDOUT,
                text=True,
            )
            try:
                ended = _wait_for_last_line(process, console, timeout)
            finally:
                _quit(process)
            messages.seek(0)
            said = messages.read()[-2000:].strip()
        log = _read(console)
        if not ended:
            raise TigrisError(
                f"the firmware did not end within {timeout:.0f} seconds under Renode; it printed:\n{log[-2000:]}"
            )
        try:
            # Renode's time is the number of instructions at a rate that is its user's choice.
            return parse_report(log, self.name, board.emulators.renode.platform, None)
        except TigrisError as error:
            raise TigrisError("\n".join(filter(None, (str(error), said)))) from error


def write_script(image: Path, board: Board, core: str) -> Path:
    """Writes the machine of an image beside it, `.resc` and `.repl`, and returns the former."""
    if board.emulators.renode is None:
        raise UsageError(f"{board.name} is no platform of Renode.")
    values = {
        "board": board.name,
        "core": core,
        "name": image.stem,
        "platform": board.emulators.renode.platform,
        "mips": max(1, board.clock_hz // 1_000_000),
        "clock_hz": board.clock_hz,
    }
    for template, suffix in (("board.repl.in", ".repl"), ("selftest.resc.in", ".resc")):
        text = (resources.renode_dir() / template).read_text(encoding="utf-8")
        image.with_suffix(suffix).write_text(text.format(**values), encoding="utf-8")
    return image.with_suffix(".resc")


def _wait_for_last_line(process: subprocess.Popen[str], console: Path, timeout: float) -> bool:
    """Whether the self-test's last line was printed, or Renode ended, in time."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        running = process.poll() is None
        if _LAST_LINE.search(_read(console)) or not running:
            return True
        time.sleep(_POLL_SECONDS)
    return False


def _quit(process: subprocess.Popen[str]) -> None:
    """Asks Renode to end, and ends it where it does not."""
    monitor: IO[str] | None = process.stdin
    try:
        if monitor is not None:
            monitor.write("quit\n")
            monitor.close()
    except OSError:
        pass  # it has ended already
    try:
        process.wait(_SECONDS_TO_QUIT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _path(path: Path) -> str:
    """A path as Renode's monitor takes it."""
    return "@" + str(path).replace(" ", "\\ ")


def _read(console: Path) -> str:
    return console.read_text(encoding="utf-8", errors="replace").replace("\r", "") if console.exists() else ""
