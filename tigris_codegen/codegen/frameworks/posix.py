"""A host program: the linker script of the template places the arenas in sections of their own."""

from __future__ import annotations

from tigris_codegen.codegen.context import PROJECT_STACK_NOTE, SurroundingsContext
from tigris_codegen.codegen.frameworks.framework import ProjectFramework

_SECTIONS = SurroundingsContext(".tigris_fast", ".tigris_slow", ".tigris_plan", PROJECT_STACK_NOTE)

FRAMEWORK = ProjectFramework(surroundings=lambda _: _SECTIONS, several=True)
