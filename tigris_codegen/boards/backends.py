"""Which backend is for which boards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tigris_codegen.boards.model import Board


@dataclass(frozen=True)
class Backend:
    """Whose kernels: for which boards, and what to call those; whether the kernels are there."""

    boards: str
    suits: Callable[[Board], bool]
    ready: bool = False


BACKENDS: Mapping[str, Backend] = {
    "reference": Backend("any board", lambda _: True, ready=True),
    "cmsis-nn": Backend("Cortex-M", lambda board: board.soc.core.startswith("cortex-m")),
    "esp-nn": Backend("chips of the ESP32 family", lambda board: board.soc.name.startswith("esp32")),
}
