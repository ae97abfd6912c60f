"""One self-contained page about a model: memory over time, frontier, operators, or why it does not convert.

The figures and the geometry are computed here; `page/` holds the template, its style and its script. The page needs no
network and says the same for the same input. Without the script everything is still there but the tooltips that follow
the pointer.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import count, pairwise
from math import log2

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from tigris_codegen.pipeline import Compiled, MapShape, Model
from tigris_codegen.plan.layout import Kind, Space
from tigris_codegen.plan.verify import expand
from tigris_codegen.report.analysis import Analysis, OperatorRow, report_plan
from tigris_codegen.report.picture import PoolUse, notes_on, pool_uses, shares
from tigris_codegen.report.price import FrontierPoint, unbeaten, weights_read_again
from tigris_codegen.report.text import printable, show_shape
from tigris_codegen.sizes import show_size

#: Kernel calls are drawn in at most so many columns; more are merged, so that the page stays light.
COLUMNS = 1200
#: Units of the drawings, about pixels: width of the page, height of a map's plot, margins.
WIDTH, MAP_HEIGHT, FRONTIER_HEIGHT, BAR_HEIGHT = 1000, 440, 260, 26
LEFT, RIGHT, TOP, BOTTOM = 74, 14, 14, 40
#: The strip below a map that says which operator runs: its height at most, and that of one operator.
STRIP_HEIGHT, STRIP_ROW = 120, 7
#: About the width of a character of a label, and the height of a line.
CHARACTER, LINE = 6.4, 13

#: Kinds of shapes: what the legend calls all of a kind, in its order, and what one is.
KINDS = {
    "interface": ("model inputs and outputs", "model input or output"),
    "tensor": ("tensors stored whole", "tensor stored whole"),
    "window": ("tensors in a window of their live rows", "tensor in a window of its live rows"),
    "accumulator": ("accumulators of reductions in parts", "accumulator of a reduction in parts"),
    "scratch": ("working memory of kernels", "working memory of a kernel"),
}


@dataclass(frozen=True)
class Tick:
    """A mark on an axis."""

    at: float
    text: str


@dataclass(frozen=True)
class Label:
    """A name inside a shape."""

    x: float
    y: float
    text: str


@dataclass(frozen=True)
class ShapeView:
    """One thing in memory. `runs` is for the script: "call,low,high" at each change; `path` in calls and bytes."""

    name: str
    kind: str
    tone: int
    path: str
    runs: str
    row_bytes: int
    facts: tuple[str, ...]
    cells: tuple[str, ...]
    label: Label | None


@dataclass(frozen=True)
class MapView:
    """The memory of one pool over the kernel calls of one inference; `operators` is for the script."""

    title: str
    summary: str
    calls: int
    bytes: int
    column_calls: int
    sx: float
    sy: float
    strip: str
    strip_row: float
    strip_height: float
    operators: str
    shapes: tuple[ShapeView, ...]
    kinds: tuple[tuple[str, str], ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]


@dataclass(frozen=True)
class PlanView:
    """A plan with its maps; `open` ones are shown at once."""

    title: str
    open: bool
    operator_names: tuple[str, ...]
    maps: tuple[MapView, ...]


@dataclass(frozen=True)
class Bar:
    """A pool in use: (what, x, width, mark) per part, and where the pool ends."""

    title: str
    parts: tuple[tuple[str, float, float, int], ...]
    limit: float | None
    over: bool


@dataclass(frozen=True)
class Dot:
    """A plan on the frontier."""

    x: float
    y: float
    point: FrontierPoint
    notes: tuple[str, ...]


@dataclass(frozen=True)
class FrontierView:
    """RAM (up) against kernel calls (right, by powers of two)."""

    dots: tuple[Dot, ...]
    line: str
    limit: float | None
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]


def html_page(
    analysis: Analysis, model: Model | None = None, chosen: Compiled | None = None, frontier: Sequence[Compiled] = ()
) -> str:
    """The page of an analysis. For a model that converts, `model` is it, `frontier` its plans from whole operators to
    the smallest, and `chosen` the plan that the analysis describes; None is the smallest."""
    page = files("tigris_codegen.report") / "page"
    style, script = ((page / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    template = (page / "page.html").read_text(encoding="utf-8")
    environment = Environment(
        loader=DictLoader({"page": template}),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"printable": printable, "shape": show_shape, "size": show_size, "n": _number}
    described = chosen or (frontier[-1] if frontier else None)
    plans: list[PlanView] = []
    again: tuple[int, ...] = ()
    points = analysis.frontier
    if model and described:
        plans = _plans(model, described, frontier)
        again = weights_read_again(described, model)
    bars: tuple[Bar, ...] = ()
    if analysis.plan:
        uses = pool_uses(analysis.plan.ram, analysis.pool_bytes, analysis.slow_pool_bytes)
        bars = tuple(_bar(use) for use in uses)
    return environment.get_template("page").render(
        analysis=analysis,
        verdict=_verdict(analysis),
        plan=analysis.plan,
        plans=plans,
        bars=bars,
        again=again,
        frontier=_frontier(analysis, points) if len(points) > 1 else None,
        points=points,
        style=Markup(style),
        script=Markup(script),
        style_hash=_hash(style),
        script_hash=_hash(script),
        width=WIDTH,
        map_height=MAP_HEIGHT,
        frontier_height=FRONTIER_HEIGHT,
        bar_height=BAR_HEIGHT,
        left=LEFT,
        right=RIGHT,
        top=TOP,
        bottom=BOTTOM,
    )


def _verdict(analysis: Analysis) -> str:
    """The answer in a sentence."""
    if analysis.plan is None:
        return f"Does not convert: {len(analysis.refusals)} refusal{'' if len(analysis.refusals) == 1 else 's'}."
    pools = [size for size in (analysis.pool_bytes, analysis.slow_pool_bytes) if size is not None]
    places = [f"in {' + '.join(map(show_size, pools))}"] if pools else []
    places += [f"on {analysis.board}"] if analysis.board else []
    places += [f"in {' and '.join(analysis.regions)}"] if analysis.regions and not pools else []
    if not places:
        return "Converts."
    where = " ".join(places)
    return f"Fits {where}." if analysis.fits else f"Does not fit {where}. What follows is the smallest plan."


def _hash(text: str) -> str:
    """What the page's own security policy lets run: exactly this text."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def _number(value: float) -> str:
    """A coordinate, as short as it may be."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _plans(model: Model, described: Compiled, frontier: Sequence[Compiled]) -> list[PlanView]:
    """The plan described, and, folded away, the smallest and the one with whole operators where they are others."""
    found = [_plan_view("This plan", True, model, described)]
    others = (("At the smallest pool", frontier[-1]), ("With whole operators", frontier[0])) if frontier else ()
    shown = {described.plan_bytes}
    for title, made in others:
        if made.plan_bytes not in shown:
            shown.add(made.plan_bytes)
            found.append(_plan_view(title, False, model, made))
    return found


def _plan_view(title: str, is_open: bool, model: Model, made: Compiled) -> PlanView:
    report = report_plan(made, model)
    names = tuple(f"{_index(op)}{op.name} ({op.kernel})" for op in report.operators)
    # A call is a RUN or a COPY record; shifts belong to the call in front of them.
    steps = [r for r, _ in expand(made.plan.records) if r.kind in (Kind.RUN, Kind.COPY)]
    calls = [record.target if record.kind is Kind.RUN else None for record in steps]
    pools = [(Space.FAST, "fast arena", made.plan.fast_bytes), (Space.SLOW, "slow arena", made.plan.slow_bytes)]
    maps = tuple(
        _map(f"{what}, {show_size(size)}", size, [s for s in made.memory_map if s.space is space], calls, names, model)
        for space, what, size in pools
        if size
    )
    return PlanView(f"{title}: {show_size(report.ram.total_bytes)}", is_open, names, maps)


def _index(op: OperatorRow) -> str:
    return "" if op.index is None else f"{op.index} "


def _map(
    title: str, size: int, shapes: Sequence[MapShape], calls: list[int | None], names: tuple[str, ...], model: Model
) -> MapView:
    column = max(1, -(-len(calls) // COLUMNS))
    sx, sy = (WIDTH - LEFT - RIGHT) / max(len(calls), 1), MAP_HEIGHT / size
    rows = _rows_of(model)
    views = []
    tones: dict[str, int] = {}
    for shape in sorted(shapes, key=lambda s: (s.first, min(s.low), s.name)):
        kind = _kind(shape, model)
        # Neighbours of one kind are told apart by two tones.
        tones[kind] = 1 - tones.get(kind, 1)
        views.append(_shape(shape, kind, tones[kind], column, rows, calls, names, model, sx, sy))
    row = min(STRIP_ROW, STRIP_HEIGHT / max(len(names), 1))
    kinds = {view.kind for view in views}
    return MapView(
        title=title,
        summary=_summary(shapes, calls, names, size),
        calls=len(calls),
        bytes=size,
        column_calls=column,
        sx=sx,
        sy=sy,
        strip=_strip(calls, column),
        strip_row=row,
        strip_height=row * len(names),
        operators=_run_lengths(calls),
        shapes=tuple(views),
        kinds=tuple((kind, all_of) for kind, (all_of, _) in KINDS.items() if kind in kinds),
        x_ticks=tuple(Tick(n * sx, str(n)) for n in _ticks(len(calls), 10, (1, 2, 5))),
        y_ticks=tuple(Tick(n * sy, _short_size(n)) for n in _ticks(size, 2, (1,))),
    )


def _kind(shape: MapShape, model: Model) -> str:
    problem = model.problem
    ports = {problem.stored[t].name for t in (*problem.inputs, *problem.outputs)}
    return "interface" if shape.kind == "tensor" and shape.name in ports else shape.kind


def _rows_of(model: Model) -> dict[str, tuple[int, int, str]]:
    """Name -> rows, bytes per row and form of a stored tensor; not where tensors of one name differ in that."""
    found: dict[str, set[tuple[int, int, str]]] = {}
    for number, stored in model.problem.stored.items():
        tensor = model.problem.graph.tensors[number]
        form = f"{show_shape(tensor.shape)} {tensor.dtype.value}"
        found.setdefault(stored.name, set()).add((stored.rows, stored.row_bytes, form))
    return {name: next(iter(forms)) for name, forms in found.items() if len(forms) == 1}


def changes(shape: MapShape, column: int) -> list[tuple[int, int, int]]:
    """(call, low, high) wherever the occupied range changes, the last time to nothing.

    `column` calls are merged into one: there, all that is occupied during any of them.
    """
    found: list[tuple[int, int, int]] = []
    end = shape.first + len(shape.low)
    for begin in range(shape.first // column * column, end, column):
        inside = range(max(begin - shape.first, 0), min(begin + column, end) - shape.first)
        taken = [(shape.low[i], shape.high[i]) for i in inside if shape.high[i] > shape.low[i]]
        low, high = (min(t[0] for t in taken), max(t[1] for t in taken)) if taken else (0, 0)
        if not found or found[-1][1:] != (low, high):
            found.append((begin, low, high))
    if found and found[-1][1:] != (0, 0):
        found.append((-(-end // column) * column, 0, 0))
    return found


def outline(runs: Sequence[tuple[int, int, int]]) -> str:
    """The occupied area as an SVG path: the upper edge forwards, the lower edge back."""
    pieces: list[str] = []
    upper: list[str] = []
    lower: list[tuple[int, int]] = []
    for (call, low, high), (until, _, _) in zip(runs, [*runs[1:], (0, 0, 0)], strict=True):
        if low == high:
            pieces += _closed(upper, lower)
            upper, lower = [], []
        else:
            upper.append(f"{'V' if upper else f'M{call} '}{high}H{until}")
            lower.append((call, low))
    return "".join(pieces + _closed(upper, lower))


def _closed(upper: list[str], lower: list[tuple[int, int]]) -> list[str]:
    return [*upper, *(f"V{low}H{call}" for call, low in reversed(lower)), "Z"] if upper else []


def _shape(
    shape: MapShape,
    kind: str,
    tone: int,
    column: int,
    rows: dict[str, tuple[int, int, str]],
    calls: list[int | None],
    names: tuple[str, ...],
    model: Model,
    sx: float,
    sy: float,
) -> ShapeView:
    runs = changes(shape, column)
    taken = [i for i in range(len(shape.low)) if shape.high[i] > shape.low[i]]
    first, last = (shape.first + taken[0], shape.first + taken[-1]) if taken else (shape.first, shape.first)
    low, high = min((shape.low[i] for i in taken), default=0), max((shape.high[i] for i in taken), default=0)
    most = max((shape.high[i] - shape.low[i] for i in taken), default=0)
    is_tensor = shape.kind in ("tensor", "window")
    total, row_bytes, form = rows.get(shape.name, (0, 0, "")) if is_tensor else (0, 0, "")
    name = printable(shape.name) if is_tensor else f"{shape.kind} of {_operator_at(calls, names, shape.first)}"
    size = total * row_bytes or most
    held = f"{most // row_bytes} of {total}" if row_bytes else ""
    facts = [KINDS[kind][1], f"{form}, {size} B" if form else f"{size} B"]
    if held:
        facts.append(f"holds up to {held} rows of {row_bytes} B, {most} B")
    facts.append(f"bytes {low} to {high - 1}")
    facts.append(
        f"calls {first} to {last}: {_operator_at(calls, names, first)} to {_operator_at(calls, names, last)}"
        if last > first
        else f"call {first}: {_operator_at(calls, names, first)}"
    )
    return ShapeView(
        name=name,
        kind=kind,
        tone=tone,
        path=outline(runs),
        runs=" ".join(f"{call},{a},{b}" for call, a, b in runs),
        row_bytes=row_bytes,
        facts=tuple(facts),
        cells=(form, str(size), held, str(most), f"{low}-{high - 1}", f"{first}-{last}"),
        label=_label(name, runs, sx, sy),
    )


def _operator_at(calls: list[int | None], names: tuple[str, ...], call: int) -> str:
    number = calls[call] if call < len(calls) else None
    return "copy" if number is None else names[number]


def _label(name: str, runs: Sequence[tuple[int, int, int]], sx: float, sy: float) -> Label | None:
    """The end of the name where there is most room: in one range of bytes, or in what an unbroken life always holds."""
    places: list[tuple[int, int, int, int]] = []  # first call, end, low, high
    life: tuple[int, int, int, int] | None = None
    for (call, low, high), (until, _, _) in pairwise(runs):
        if high == low:
            life = None
            continue
        life = (life[0], until, max(life[2], low), min(life[3], high)) if life else (call, until, low, high)
        places += [(call, until, low, high), life]
    begin, end, low, high = max(places, key=lambda p: (p[1] - p[0]) * max(p[3] - p[2], 0), default=(0, 0, 0, 0))
    room = int((end - begin) * sx / CHARACTER) - 1
    if (high - low) * sy < LINE or room < 4:
        return None
    text = name if len(name) <= room else "…" + name[-(room - 1) :]
    return Label((begin + end) / 2 * sx, (low + high) / 2 * sy, text)


def _summary(shapes: Sequence[MapShape], calls: list[int | None], names: tuple[str, ...], size: int) -> str:
    """When most bytes are alive."""
    held: list[list[tuple[int, int]]] = [[] for _ in range(max(len(calls), 1))]
    for shape in shapes:
        for i, span in enumerate(zip(shape.low, shape.high, strict=True)):
            if shape.first + i < len(held):
                held[shape.first + i].append(span)
    alive = list(map(bytes_in, held))
    most = max(alive)
    call = alive.index(most)
    return f"Most bytes are alive at call {call}, {_operator_at(calls, names, call)}: {most} B in an arena of {size} B."


def bytes_in(spans: Iterable[tuple[int, int]]) -> int:
    """Bytes in half-open spans; those that an output takes over from its input are in two."""
    total = reached = 0
    for low, high in sorted(spans):
        total += max(high - max(low, reached), 0)
        reached = max(reached, high)
    return total


def _strip(calls: list[int | None], column: int) -> str:
    """Which operator runs, as an SVG path in calls and operators."""
    columns: dict[int, list[int]] = {}
    for call, number in enumerate(calls):
        begins = columns.setdefault(-1 if number is None else number, [])
        if not begins or begins[-1] != call // column:
            begins.append(call // column)
    pieces = []
    for number, found in sorted(columns.items()):
        if number < 0:
            continue
        begin = found[0]
        for here, after in zip(found, [*found[1:], -1], strict=True):
            if after != here + 1:
                width = (here + 1 - begin) * column
                pieces.append(f"M{begin * column} {number}h{width}v1h-{width}z")
                begin = after
    return "".join(pieces)


def _run_lengths(calls: list[int | None]) -> str:
    """Operator per call, "operator*calls" each; -1 for a copy. Empty for more calls than are drawn one by one."""
    if len(calls) > COLUMNS:
        return ""
    runs: list[tuple[int, int]] = []
    for number in (-1 if n is None else n for n in calls):
        if runs and runs[-1][0] == number:
            runs[-1] = (number, runs[-1][1] + 1)
        else:
            runs.append((number, 1))
    return " ".join(f"{number}*{count}" for number, count in runs)


def _ticks(most: int, base: int, factors: tuple[int, ...]) -> range:
    """Round numbers from 0 up to `most`, at most nine."""
    steps = (base**power * factor for power in count() for factor in factors)
    return range(0, most + 1, next(step for step in steps if most // step <= 8))


def _short_size(size: int) -> str:
    return f"{size / 1024:g} KiB" if size >= 1024 else f"{size} B"


def _bar(use: PoolUse) -> Bar:
    total = max(use.used, use.size or 0)
    parts, x = [], 0
    for part, width in zip(use.parts, shares([p.bytes for p in use.parts], total, WIDTH), strict=True):
        parts.append((part.what, float(x), float(width), part.mark))
        x += width
    if use.size is None:
        title = f"{use.name}: {show_size(use.used)} used"
    elif use.used <= use.size:
        title = f"{use.name}: {use.used} B used, {use.size - use.used} B of {show_size(use.size)} free"
    else:
        title = f"{use.name}: {use.used} B needed, {use.used - use.size} B more than its {show_size(use.size)}"
    over = use.size is not None and use.used > use.size
    return Bar(title, tuple(parts), use.size * WIDTH / total if use.size is not None and total else None, over)


def _frontier(analysis: Analysis, points: Sequence[FrontierPoint]) -> FrontierView:
    fewest, most = min(p.calls for p in points), max(p.calls for p in points)
    highest = max(p.ram_bytes for p in points)
    low, high = log2(max(fewest, 1)), log2(max(most, 2))
    sx, sy = (WIDTH - LEFT - RIGHT - 40) / max(high - low, 1), FRONTIER_HEIGHT / highest

    def across(calls: int) -> float:
        return 20 + (log2(max(calls, 1)) - low) * sx

    dots = [Dot(across(p.calls), p.ram_bytes * sy, p, notes_on(analysis, points, p)) for p in points]
    best = [d for d in dots if d.point in unbeaten(points)]
    line = "M" + "L".join(f"{_number(d.x)} {_number(FRONTIER_HEIGHT - d.y)}" for d in best)
    pool = analysis.pool_bytes if analysis.slow_pool_bytes is None else None
    powers = [1 << n for n in range(int(low), int(high) + 2)]
    apart = [n for n in powers if min(across(n) - across(fewest), across(most) - across(n)) > 5 * CHARACTER]
    return FrontierView(
        dots=tuple(dots),
        line=line,
        limit=pool * sy if pool is not None and pool <= highest else None,
        x_ticks=tuple(Tick(across(n), str(n)) for n in sorted({fewest, most, *apart})),
        y_ticks=tuple(Tick(n * sy, _short_size(n)) for n in _ticks(highest, 2, (1,))),
    )
