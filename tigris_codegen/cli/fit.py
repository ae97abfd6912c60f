"""A plan for the memory that the user or the board gives; shared by analyze, compile and codegen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any

import click

from tigris_codegen.boards import Board, load_board
from tigris_codegen.cli.files import Planning
from tigris_codegen.codegen import ARENA_ALIGN, need_of, place
from tigris_codegen.errors import FitError, UsageError
from tigris_codegen.pipeline import Compiled, Model
from tigris_codegen.sizes import Pools, parse_pools, parse_share, parse_size

_OPTIONS = (
    click.option("--keep-inputs", is_flag=True, help="leave the inputs intact after a run (takes more RAM)"),
    click.option(
        "--recompute",
        metavar="PERCENT",
        default="0%",
        help="multiply-accumulates that may be spent on computing values again to save RAM: 20%",
    ),
    click.option(
        "--effort",
        type=click.IntRange(1, 100_000),
        metavar="N",
        help="how long to search: placements tried per schedule",
    ),
)


def planning_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options of planning, which the command gets as one value, `planning`."""

    @wraps(command)
    def with_planning(keep_inputs: bool, recompute: str, effort: int | None, **others: Any) -> None:
        command(planning=Planning(keep_inputs, parse_share(recompute), effort), **others)

    for option in reversed(_OPTIONS):
        with_planning = option(with_planning)
    return with_planning


@dataclass(frozen=True)
class Target:
    """The memory to plan for. Without `pools` it is the board's, without both there is room for everything."""

    pools: Pools | None = None
    board: Board | None = None
    framework: str | None = None
    fast_region: str | None = None
    slow_region: str | None = None
    reserve: int = 0


#: What makes a model's plan for a target, or places a plan that is there already.
Planner = Callable[["Target"], "Planned"]


@dataclass(frozen=True)
class Planned:
    """A plan, and where on the board its arenas go; None = nothing speaks against the board's own order."""

    compiled: Compiled
    fast_region: str | None = None
    slow_region: str | None = None

    @property
    def regions(self) -> tuple[str, ...]:
        return tuple(name for name in (self.fast_region, self.slow_region) if name is not None)


def make_target(
    pool: str | None,
    board: str | None,
    framework: str | None = None,
    fast_region: str | None = None,
    slow_region: str | None = None,
    reserve: str = "0",
    boards_path: Sequence[Path] = (),
) -> Target:
    """The target as the options name it; UsageError or MissingError where they do not fit each other."""
    pools = None if pool is None else parse_pools(pool)
    known = None if board is None else load_board(board, boards_path)
    target = Target(pools, known, framework, fast_region, slow_region, parse_size(reserve))
    if known is not None:
        _regions(target, known)
    return target


def plan_for(model: Model, target: Target) -> Planned:
    """The plan that the target's memory takes; FitError with what is needed and what is there."""
    if target.pools is not None:
        return placed(model.within(target.pools.fast, target.pools.slow), target)
    if target.board is None:
        return placed(model.roomy(), target)
    return _for_regions(model, target.board, _regions(target, target.board), target)


def placed(compiled: Compiled, target: Target) -> Planned:
    """A plan that is there already, on the target's board; FitError where it has no room for it."""
    board = target.board
    if board is None:
        return Planned(compiled)
    plan, fast = compiled.plan, target.fast_region
    if fast is None and target.reserve:
        need = plan.fast_bytes + plan.workspace_bytes
        regions = _regions(target, board)
        fast = next((name for name, size in regions.items() if size >= need), None)
        if fast is None:
            largest = max(regions, key=lambda name: regions[name])
            raise FitError(
                f"the plan needs {need} bytes of RAM, {board.name} leaves {regions[largest]} in {largest}",
                need,
                regions[largest],
            )
    return _checked(Planned(compiled, fast, target.slow_region), board, target)


def plan_together(planners: Sequence[Planner], target: Target, share_arena: bool) -> list[Planned]:
    """The plans of models that go into one firmware, with all fast arenas in one region, and so all slow ones.

    Models that do not share their arenas get, one after the other, what those before leave. With `pools` each has
    pools of that size. FitError where there is no such region.
    """
    if len(planners) == 1 or target.board is None or target.fast_region is not None:
        return _in_one_region(planners, target, share_arena)
    refused: FitError | None = None
    for region in _regions(target, target.board):
        try:
            return _in_one_region(planners, replace(target, fast_region=region), share_arena)
        except FitError as error:
            refused = refused or error
    assert refused is not None
    raise refused


def _in_one_region(planners: Sequence[Planner], target: Target, share_arena: bool) -> list[Planned]:
    found: list[Planned] = []
    for plan in planners:
        found.append(plan(target))
        if not share_arena and target.pools is None and len(planners) > 1:
            taken = need_of(found[-1].compiled.plan, 0)
            target = replace(target, reserve=target.reserve + taken.fast + taken.variables + ARENA_ALIGN)
        target = replace(target, slow_region=target.slow_region or found[-1].slow_region)
    return found


def _checked(planned: Planned, board: Board, target: Target) -> Planned:
    """FitError where the board has no room for the plan or its arenas."""
    compiled, framework = planned.compiled, board.framework_name(target.framework)
    size = len(compiled.plan_bytes)
    place(compiled.plan, size, board, framework, planned.fast_region, planned.slow_region)
    return planned


def _regions(target: Target, board: Board) -> dict[str, int]:
    """Bytes that arenas may have in each RAM region that may hold them, fastest first."""
    regions = board.arena_regions(board.framework_name(target.framework))
    for named in (target.fast_region, target.slow_region):
        if named is not None and named not in regions:
            board.region(named)
            raise UsageError(f"{named} of {board.name} is not RAM", "its RAM: " + ", ".join(regions))
    first = target.fast_region or next(iter(regions))
    return {name: max(size - (target.reserve if name == first else 0), 0) for name, size in regions.items()}


def _for_regions(model: Model, board: Board, regions: dict[str, int], target: Target) -> Planned:
    """The fastest single region that fits, else the fastest pair."""
    singles = [target.fast_region] if target.fast_region else list(regions)
    need = 0
    for fast in singles:
        try:
            return _checked(Planned(model.within(regions[fast]), fast), board, target)
        except FitError as error:
            need = error.need
    for fast in singles:
        for slow in [target.slow_region] if target.slow_region else sorted(regions, key=lambda r: -regions[r]):
            if slow != fast:
                try:
                    return _checked(Planned(model.within(regions[fast], regions[slow]), fast, slow), board, target)
                except FitError:
                    continue
    largest = max(singles, key=lambda name: regions[name])
    raise FitError(
        f"the model needs {need} bytes of RAM in one region, {board.name} leaves {regions[largest]} in {largest}",
        need,
        regions[largest],
        "choose a board with more memory, or see tigris analyze",
    )
