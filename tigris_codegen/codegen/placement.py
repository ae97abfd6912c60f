"""Which memory region of the board holds which arena."""

from __future__ import annotations

from dataclasses import dataclass

from tigris_codegen.boards import Board, FrameworkName
from tigris_codegen.codegen.models import Need, need_of
from tigris_codegen.errors import FitError, UsageError
from tigris_codegen.plan.plan import Plan


@dataclass(frozen=True)
class Placement:
    """Names of the board's memory regions; `slow` is None for a plan without slow arena."""

    program: str
    data: str
    fast: str
    slow: str | None


def place(
    plan: Plan,
    plan_bytes: int,
    board: Board,
    framework: FrameworkName,
    fast_region: str | None = None,
    slow_region: str | None = None,
) -> Placement:
    """`place_need` for one plan."""
    return place_need(need_of(plan, plan_bytes), board, framework, fast_region, slow_region)


def place_need(
    need: Need,
    board: Board,
    framework: FrameworkName,
    fast_region: str | None = None,
    slow_region: str | None = None,
) -> Placement:
    """The first region with room for each arena, unless one is named; FitError where there is none.

    Workspace and state are variables, so they take from the data region before any arena does. What alignment costs in
    front of an arena is among the few bytes that the board's `takes` sets aside.
    """
    use = board.frameworks[framework]
    flash = board.available(framework)[use.program]
    if need.program > flash:
        raise FitError(
            f"the plan has {need.program} bytes, {board.name} leaves {flash} in {use.program}.", need.program, flash
        )
    left = board.arena_regions(framework)
    left[use.data] -= need.variables
    fast = _choose("fast", need.fast, left, board, fast_region)
    left[fast] -= need.fast
    slow = _choose("slow", need.slow, left, board, slow_region) if need.slow else None
    return Placement(use.program, use.data, fast, slow)


def _choose(arena: str, need: int, left: dict[str, int], board: Board, named: str | None) -> str:
    if named is not None:
        if board.region(named).kind != "ram":
            raise UsageError(f"{named} of {board.name} is not RAM.", "its RAM: " + ", ".join(left))
        left = {named: left[named]}
    for region, have in left.items():
        if need <= have:
            return region
    largest = max(left, key=lambda region: left[region])
    raise FitError(
        f"the {arena} arena needs {need} bytes, {board.name} leaves {left[largest]} in {largest}.",
        need,
        left[largest],
        "compile for less memory or choose another region",
    )
