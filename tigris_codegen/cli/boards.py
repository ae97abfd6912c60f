"""The command `tigris boards`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from tigris_codegen.boards import Board, list_boards, load_board, size_text, sizes_text
from tigris_codegen.cli.common import BOARDS_PATH, JSON, complete_board, print_json, show
from tigris_codegen.errors import UsageError
from tigris_codegen.report.stack import stack_bytes


@click.command(short_help="Lists the boards, or shows one.")
@click.argument("words", nargs=-1, metavar="[list | [show] NAME]", shell_complete=complete_board)
@BOARDS_PATH
@JSON
def boards(words: tuple[str, ...], boards_path: tuple[Path, ...], as_json: bool) -> None:
    """Lists the boards, or shows board NAME.

    \b
    Example:
      tigris boards
      tigris boards show mps2-an500
    """
    name = _name(words)
    known = list(list_boards(boards_path)) if name is None else [load_board(name, boards_path)]
    if as_json:
        print_json({"boards": [_as_json(board) for board in known]})
    elif name is None:
        show(lambda console: _print_list(console, known))
    else:
        show(lambda console: _print_board(console, known[0]))


def _name(words: tuple[str, ...]) -> str | None:
    """The board to show, None for the list."""
    if not words or words == ("list",):
        return None
    if len(words) == 1 and words[0] != "show":
        return words[0]
    if len(words) == 2 and words[0] == "show":
        return words[1]
    raise UsageError(f"{' '.join(words)!r} is neither `list` nor `show NAME`", "tigris boards --help")


def _as_json(board: Board) -> dict[str, Any]:
    return {
        "name": board.name,
        "title": board.title,
        "soc": board.soc.name,
        "core": board.soc.core,
        "fpu": board.soc.fpu,
        "clock_hz": board.clock_hz,
        "memory": [m.model_dump() for m in board.memory],
        "frameworks": list(board.frameworks),
        "available_bytes": {name: board.available(name) for name in board.frameworks},
        "stack_bytes": stack_bytes(board.soc.core),
        "emulators": list(board.emulators.names),
        "probe": {"pyocd": board.probe.pyocd, "openocd": list(board.probe.openocd)},
    }


def _table(*columns: str) -> Table:
    return Table(*columns, box=None, header_style="bold", padding=(0, 2, 0, 0), pad_edge=False)


def _print_list(console: Console, known: list[Board]) -> None:
    table = _table("board", "core", "RAM", "flash", "frameworks", "emulators")
    table.columns[0].no_wrap = True
    for board in known:
        kinds = [sizes_text(m.size for m in board.memory if m.kind == kind) for kind in ("ram", "flash")]
        table.add_row(board.name, board.soc.core, *kinds, ", ".join(board.frameworks), ", ".join(board.emulators.names))
    console.print(table)


def _print_board(console: Console, board: Board) -> None:
    soc = board.soc
    fpu = {"none": "no FPU", "sp": "single-precision FPU", "dp": "double-precision FPU"}.get(soc.fpu, soc.fpu)
    console.print(f"[bold]{board.name}[/bold]  {board.title}", highlight=False)
    console.print(f"  {soc.title}", highlight=False)
    console.print(f"  {soc.core}, {fpu}, {board.clock_hz / 1e6:g} MHz after reset", highlight=False)
    emulators = ", ".join(board.emulators.names) or "none"
    console.print(f"  frameworks: {', '.join(board.frameworks)}; emulators: {emulators}\n", highlight=False)
    table = _table("  memory", "base", "size", *(f"for a model ({name})" for name in board.frameworks))
    for region in board.memory:
        left = [size_text(board.available(name)[region.name]) for name in board.frameworks]
        table.add_row(f"  {region.name} ({region.kind})", f"0x{region.base:08x}", size_text(region.size), *left)
    console.print(table)
    console.print(f"\n  flash: {board.flash}", highlight=False, markup=False)
    if board.probe.pyocd:
        console.print(f"  pyOCD: {board.probe.pyocd}", highlight=False)
    if board.probe.openocd:
        console.print(f"  OpenOCD: {', '.join(board.probe.openocd)}", highlight=False)
