"""Pictures for the terminal: a bar per pool, and the frontier from the smallest pool to whole operators.

As wide as the console, in plain ASCII where the console's encoding has nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from tigris_codegen.report.analysis import Analysis, Ram
from tigris_codegen.report.price import FrontierPoint, unbeaten

#: Lines of the frontier, at most; its ends are always there.
FRONTIER_LINES = 12
#: Columns of a bar on a wide console, and in how few a bar still says something.
MOST_COLUMNS, LEAST_COLUMNS = 60, 10


@dataclass(frozen=True)
class Part:
    """A part of a pool in use. `mark` indexes the marks of `Marks.parts`."""

    what: str
    bytes: int
    mark: int


@dataclass(frozen=True)
class PoolUse:
    """A pool: what is in it, and how much there is; `size` None where no memory was named."""

    name: str
    parts: tuple[Part, ...]
    size: int | None

    @property
    def used(self) -> int:
        return sum(part.bytes for part in self.parts)


@dataclass(frozen=True)
class Marks:
    """The characters of bars."""

    parts: str
    free: str
    limit: str


UNICODE = Marks("█▓▒░", "·", "│")
ASCII = Marks("#%+=", ".", "|")
STYLES = ("cyan", "magenta", "yellow", "green")


def pool_uses(ram: Ram, pool: int | None, slow_pool: int | None) -> tuple[PoolUse, ...]:
    """What a plan puts into each pool; the workspace and the state are beside the fast arena."""
    scratch = f"scratch {ram.scratch_bytes} B"
    fast = (
        Part(f"fast arena {ram.fast_bytes} B", ram.fast_bytes - ram.scratch_bytes, 0),
        Part(f"of it {scratch}", ram.scratch_bytes, 1),
        Part(f"executor workspace {ram.workspace_bytes} B", ram.workspace_bytes, 2),
        Part(f"state {ram.state_bytes} B", ram.state_bytes, 3),
    )
    both = bool(ram.slow_bytes) or slow_pool is not None
    first = PoolUse("fast pool" if both else "pool", tuple(part for part in fast if part.bytes), pool)
    second = PoolUse("slow pool", (Part(f"slow arena {ram.slow_bytes} B", ram.slow_bytes, 0),), slow_pool)
    return (first, second) if both else (first,)


def print_picture(console: Console, analysis: Analysis) -> None:
    """The bars of the plan that the analysis describes, and the frontier; nothing for a model that does not convert."""
    if analysis.plan is None:
        return
    marks = ASCII if console.options.ascii_only else UNICODE
    # Of several memory regions of a board no single one is the pool: then there is only what is used.
    for use in pool_uses(analysis.plan.ram, analysis.pool_bytes, analysis.slow_pool_bytes):
        _print_pool(console, use, marks)
    points = [p for p in analysis.frontier if p in unbeaten(analysis.frontier) or is_described(analysis, p)]
    if len(points) > 1:
        console.print()
        _print_frontier(console, analysis, points, marks)


def _print_pool(console: Console, use: PoolUse, marks: Marks) -> None:
    if use.size is None:
        what = f"{use.used} B used"
    elif use.used <= use.size:
        what = f"{use.used} B used, {use.size - use.used} B of {use.size} B free"
    else:
        what = f"{use.used} B needed, {use.used - use.size} B more than its {use.size} B"
    _line(console, Text(f"{use.name}  ", "bold") + Text(what))
    bar = Text("  ")
    width = min(MOST_COLUMNS, max(LEAST_COLUMNS, console.width - 4))
    total = max(use.used, use.size or 0)
    for part, columns in zip(use.parts, shares([part.bytes for part in use.parts], total, width), strict=True):
        bar.append(marks.parts[part.mark] * columns, STYLES[part.mark])
    bar.append(marks.free * (width - (len(bar) - 2)), "dim")
    if use.size is not None:
        # Beyond the mark is what the pool does not have.
        at = 2 + max(1, use.size * width // total if total else width)
        style = "bold red" if use.used > use.size else "bold"
        bar = bar[:at] + Text(marks.limit, style) + bar[at:]
    _line(console, bar)
    legend = Text("  ")
    for part in use.parts:
        if part.bytes:
            legend.append(marks.parts[part.mark], STYLES[part.mark]).append(f" {part.what}  ")
    if legend.plain.strip():
        _line(console, legend)


def shares(sizes: Sequence[int], total: int, width: int) -> list[int]:
    """Columns for each size out of `width` for `total`: all that is not 0 shows, and no more than `width` in all."""
    columns = [max(1, round(size * width / total)) if size else 0 for size in sizes]
    while sum(columns) > width and max(columns) > 1:
        columns[columns.index(max(columns))] -= 1
    return columns


def _print_frontier(console: Console, analysis: Analysis, points: Sequence[FrontierPoint], marks: Marks) -> None:
    _line(console, Text("frontier  ", "bold") + Text("RAM in one pool against kernel calls"))
    most = max(point.ram_bytes for point in points)
    pool = analysis.pool_bytes if analysis.slow_pool_bytes is None else None
    digits, calls = len(str(most)), max(len(str(p.calls)) for p in points)
    shown = thinned(points, FRONTIER_LINES)
    notes = [", ".join(notes_on(analysis, points, point)) for point in shown]
    beside = len("  ") + digits + len(" B    ") + calls + len(" calls  ") + max(map(len, notes))
    width = min(MOST_COLUMNS // 2, max(LEAST_COLUMNS, console.width - beside))
    for point, note in zip(shown, notes, strict=True):
        fits = pool is None or point.ram_bytes <= pool
        bar = Text(marks.parts[0] * max(1, round(point.ram_bytes * width / most)), "cyan" if fits else "dim")
        line = Text(f"  {point.ram_bytes:{digits}d} B  ") + bar
        line.pad_right(width - len(bar))
        _line(console, line + Text(f"  {point.calls:{calls}d} calls  {note}"))
    if len(shown) < len(points):
        _line(console, Text(f"  {len(points) - len(shown)} more between these"))
    if pool is not None and any(p.ram_bytes > pool for p in points) and any(p.ram_bytes <= pool for p in points):
        _line(console, Text(f"  {sum(p.ram_bytes <= pool for p in points)} of {len(points)} fit in {pool} B"))


def notes_on(analysis: Analysis, points: Sequence[FrontierPoint], point: FrontierPoint) -> tuple[str, ...]:
    """What there is to say of a point among points, that of least RAM first."""
    notes = {
        "smallest": point == points[0],
        "whole operators": point == points[-1],
        "this plan": is_described(analysis, point),
    }
    return tuple(note for note, holds in notes.items() if holds)


def is_described(analysis: Analysis, point: FrontierPoint) -> bool:
    """Whether the point is the plan that the analysis describes."""
    plan = analysis.plan
    return plan is not None and (point.ram_bytes, point.calls) == (plan.ram.total_bytes, plan.calls)


def thinned(points: Sequence[FrontierPoint], count: int) -> list[FrontierPoint]:
    """At most `count` points, the first and the last among them, evenly picked."""
    if len(points) <= count:
        return list(points)
    return [points[round(i * (len(points) - 1) / (count - 1))] for i in range(count)]


def _line(console: Console, text: Text) -> None:
    console.print(text, highlight=False, overflow="ellipsis", no_wrap=True)
