"""The one interface of all emulators."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from tigris_codegen.boards import Board
from tigris_codegen.emulate.report import Report


class Emulator(Protocol):
    """Runs a self-test image as a board and reads what it prints."""

    name: str

    def supports(self, board: Board) -> bool:
        """Whether this emulator can be that board."""
        ...

    def run(self, image: Path, board: Board, timeout: float) -> Report:
        """Runs the image to its end.

        MissingError where the emulator is missing, TigrisError where the run does not end in `timeout` seconds.
        """
        ...
