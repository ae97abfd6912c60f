"""The one interface of all frameworks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tigris_codegen.boards import Board
from tigris_codegen.codegen.context import SurroundingsContext
from tigris_codegen.codegen.placement import Placement
from tigris_codegen.codegen.sources import RuntimeMode
from tigris_codegen.plan.plan import Plan


@dataclass(frozen=True)
class Request:
    """What a project is made for; `core_name` is its name, `plan_data` the plan's bytes.

    Of several models, which only some frameworks take, `core_name` is the project's and the plan that of the first.
    `runtime` says whose runtime it is, one of the framework's `runtimes`.
    """

    core_name: str
    plan: Plan
    plan_data: bytes
    plan_bytes: int
    board: Board
    placement: Placement
    runtime: RuntimeMode = "copy"


def no_details(_: Request) -> Mapping[str, object]:
    """For a template that prints nothing but the board, the core and the placement."""
    return {}


def no_files(_request: Request, _templates: Path) -> Mapping[str, bytes]:
    """For a framework whose template is all of it."""
    return {}


@dataclass(frozen=True)
class ProjectFramework:
    """A framework: its template's folder is named as it is.

    `surroundings` are the linker sections that it gives a core, `details` the values that only its template prints,
    `files` what it adds to the generated files as it is, by path in the project; it gets the folder of its template.
    `runtimes` are the ways in which a project may have the runtime, `several` says that its template takes more than
    one core.
    """

    surroundings: Callable[[Request], SurroundingsContext]
    details: Callable[[Request], Mapping[str, object]] = no_details
    files: Callable[[Request, Path], Mapping[str, bytes]] = no_files
    runtimes: tuple[RuntimeMode, ...] = ("copy",)
    several: bool = False
