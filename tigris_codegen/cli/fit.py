"""A plan for the memory that the user or the board gives; shared by analyze, compile and codegen."""

from __future__ import annotations

from dataclasses import dataclass

import click

from tigris_codegen.boards import Board, load_board
from tigris_codegen.codegen import place
from tigris_codegen.errors import FitError, UsageError
from tigris_codegen.pipeline import Compiled, Model
from tigris_codegen.sizes import Pools, parse_pools, parse_size

EFFORT = click.option(
    "--effort", type=click.IntRange(1, 100_000), metavar="N", help="how long to search: placements tried per schedule"
)
KEEP_INPUTS = click.option("--keep-inputs", is_flag=True, help="leave the inputs intact after a run (takes more RAM)")


@dataclass(frozen=True)
class Target:
    """The memory to plan for. Without `pools` it is the board's, without both there is room for everything."""

    pools: Pools | None = None
    board: Board | None = None
    framework: str | None = None
    fast_region: str | None = None
    slow_region: str | None = None
    reserve: int = 0

    def check_place(self, compiled: Compiled) -> None:
        """FitError where the board has no room for the plan or its arenas."""
        if self.board is not None:
            name = self.board.framework_name(self.framework)
            place(compiled.plan, len(compiled.plan_bytes), self.board, name, self.fast_region, self.slow_region)


def make_target(
    pool: str | None,
    board: str | None,
    framework: str | None = None,
    fast_region: str | None = None,
    slow_region: str | None = None,
    reserve: str = "0",
) -> Target:
    """The target as the options name it; UsageError or MissingError where they do not fit each other."""
    pools = None if pool is None else parse_pools(pool)
    known = None if board is None else load_board(board)
    target = Target(pools, known, framework, fast_region, slow_region, parse_size(reserve))
    if known is not None:
        _regions(target, known)
    return target


def plan_for(model: Model, target: Target) -> Compiled:
    """The plan that the target's memory takes; FitError with what is needed and what is there."""
    if target.pools is not None:
        return model.within(target.pools.fast, target.pools.slow)
    if target.board is None:
        return model.roomy()
    return _for_regions(model, target.board, _regions(target, target.board), target)


def _regions(target: Target, board: Board) -> dict[str, int]:
    """Bytes that arenas may have in each RAM region that may hold them, fastest first."""
    regions = board.arena_regions(board.framework_name(target.framework))
    for named in (target.fast_region, target.slow_region):
        if named is not None and named not in regions:
            board.region(named)
            raise UsageError(f"{named} of {board.name} is not RAM", "its RAM: " + ", ".join(regions))
    first = target.fast_region or next(iter(regions))
    return {name: max(size - (target.reserve if name == first else 0), 0) for name, size in regions.items()}


def _for_regions(model: Model, board: Board, regions: dict[str, int], target: Target) -> Compiled:
    """The fastest single region that fits, else the fastest pair."""
    singles = [target.fast_region] if target.fast_region else list(regions)
    need = 0
    for name in singles:
        try:
            return model.within(regions[name])
        except FitError as error:
            need = error.need
    for fast in singles:
        for slow in [target.slow_region] if target.slow_region else sorted(regions, key=lambda r: -regions[r]):
            if slow != fast:
                try:
                    return model.within(regions[fast], regions[slow])
                except FitError:
                    continue
    largest = max(singles, key=lambda name: regions[name])
    raise FitError(
        f"the model needs {need} bytes of RAM in one region, {board.name} leaves {regions[largest]} in {largest}",
        need,
        regions[largest],
        "choose a board with more memory, or see tigris analyze",
    )
