"""Bare metal: the project's own linker script places the sections, a driver of the template serves the console."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tigris_codegen.codegen.context import PROJECT_STACK_NOTE, SurroundingsContext
from tigris_codegen.codegen.frameworks.framework import ProjectFramework, Request

_SECTIONS = SurroundingsContext(".tigris_fast", ".tigris_slow", ".tigris_plan", PROJECT_STACK_NOTE)


def _driver(request: Request, template: Path) -> Mapping[str, bytes]:
    uart = request.board.console_uart
    if uart is None:
        return {}
    name = f"uart_{uart.driver}.c"
    return {f"generated/platform/{name}": (template / "drivers" / name).read_bytes()}


FRAMEWORK = ProjectFramework(surroundings=lambda _: _SECTIONS, files=_driver)
