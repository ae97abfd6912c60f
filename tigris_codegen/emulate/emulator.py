"""The one interface of all emulators."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from tigris_codegen.boards import Board
from tigris_codegen.emulate.report import Report

#: Seconds that a run may take.
TIMEOUT = 300.0


class Emulator(Protocol):
    """Runs a self-test image as a board and reads what it prints."""

    name: str

    def supports(self, board: Board) -> bool:
        """Whether this emulator can be that board."""
        ...

    def run(self, image: Path, board: Board, core: str, timeout: float) -> Report:
        """Runs the image, the self-test of that core, to its end.

        MissingError where the emulator is missing, TigrisError where the run does not end in `timeout` seconds.
        """
        ...
