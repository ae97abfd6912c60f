"""Reports for people: no line is wider than the console, whatever the names in the model are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tigris_codegen.errors import Refusal
from tigris_codegen.plan.layout import Flag, Kind, Space
from tigris_codegen.plan.plan import Operand, Plan, Record
from tigris_codegen.report.analysis import Analysis, OperatorRow, PlanReport, PortRow
from tigris_codegen.report.listing import FileOperator, FileTensor, Listing
from tigris_codegen.report.picture import print_picture
from tigris_codegen.sizes import show_size

#: Names are cut to this many columns, from the left: their ends tell them apart.
NAME_COLUMNS = 36


def printable(text: str) -> str:
    """The text with everything that would move the cursor, colour or reorder the line written as an escape."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def short(name: str, columns: int = NAME_COLUMNS) -> str:
    """A name in at most so many columns, printable."""
    name = printable(name)
    if cell_len(name) <= columns:
        return name
    while cell_len(name) > columns - 1:
        name = name[max(1, (cell_len(name) - columns) // 2) :]
    return "…" + name


def ram_line(plan: Plan) -> str:
    """All RAM in one phrase, with its two arenas where there are two."""
    arenas = f": {plan.fast_bytes} B fast, {plan.slow_bytes} B slow" if plan.slow_bytes else ""
    return f"RAM {show_size(plan.ram_bytes)}{arenas}"


def show_shape(shape: Sequence[int]) -> str:
    return "x".join(str(n) for n in shape) or "scalar"


def refusal_lines(refusals: Sequence[Refusal]) -> list[str]:
    """One line per refusal; a hint stands once, below the last of those it belongs to."""
    lines = []
    for hint, group in groupby(refusals, key=lambda r: r.hint):
        for refusal in group:
            where = "" if refusal.operator is None else f"operator {refusal.operator} {refusal.name}: "
            lines.append(printable(where + refusal.reason))
        if hint:
            lines.append(f"  -> {hint}")
    return lines


def _say(console: Console, line: str = "", style: str | None = None) -> None:
    console.print(Text(line, style or ""), highlight=False, soft_wrap=False)


def _table(*columns: str, right: Iterable[int] = ()) -> Table:
    table = Table(*columns, box=None, header_style="bold", padding=(0, 2, 0, 0), pad_edge=False)
    for index in right:
        table.columns[index].justify = "right"
    for index, column in enumerate(table.columns):
        column.overflow = "ellipsis"
        column.no_wrap = index < len(table.columns) - 1
    return table


def _row(table: Table, *cells: str) -> None:
    table.add_row(*(Text(cell) for cell in cells))


def _print_table(console: Console, table: Table) -> None:
    """A table, two columns in from the left."""
    console.print(Padding(table, (0, 0, 0, 2), expand=False))


def print_plan(console: Console, report: PlanReport, operators: bool = True) -> None:
    """Interface and memory of a plan, and its operators unless they are printed in another way."""
    _print_ports(console, report.inputs, report.outputs)
    ram, traffic = report.ram, report.traffic
    _say(console, f"RAM    {show_size(ram.total_bytes)}", "bold")
    scratch = f", {ram.scratch_bytes} B of it scratch" if ram.scratch_bytes else ""
    for what, size in (
        (f"fast arena, inputs and outputs included{scratch}", ram.fast_bytes),
        ("slow arena", ram.slow_bytes),
        ("state", ram.state_bytes),
        ("executor workspace", ram.workspace_bytes),
    ):
        if size:
            _say(console, f"  {size:10d} B  {what}")
    _say(
        console, f"flash  {show_size(report.flash.plan_bytes)}, {report.flash.weight_bytes} B of it weights and tables"
    )
    records = "1 record" if report.records == 1 else f"{report.records} records"
    steps = f"steps  {_count(report.calls, 'kernel call')} in {records}"
    if report.shifted_bytes:
        steps += f", {report.shifted_bytes} B moved in windows"
    _say(console, steps)
    if report.macs:
        again = f", {report.macs_again} of them again ({_percent(report)} more)" if report.macs_again else ""
        reread = f", {show_size(report.reread_bytes)} of weights read again" if report.reread_bytes else ""
        _say(console, f"work   {report.macs} multiply-accumulates{again}{reread}")
    if ram.slow_bytes:
        _say(console, f"slow   {traffic.slow_read_bytes} B read, {traffic.slow_written_bytes} B written per inference")
    if report.tolerance:
        _say(console, f"float  outputs may differ by {report.tolerance:g}: C libraries differ")
    _say(console)
    if operators:
        _print_operators(console, report.operators)


def _percent(report: PlanReport) -> str:
    """What computing values again adds to the work."""
    macs, again = report.macs or 0, report.macs_again or 0
    return f"{100 * again / (macs - again):.3g}%"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _print_ports(
    console: Console, inputs: Sequence[PortRow | FileTensor], outputs: Sequence[PortRow | FileTensor]
) -> None:
    detailed = any(isinstance(port, PortRow) for port in (*inputs, *outputs))
    more = ("bytes", "scale", "zero point") if detailed else ()
    table = _table("", "name", "type", "shape", *more, right=(4, 6) if detailed else ())
    for kind, ports in (("input", inputs), ("output", outputs)):
        for port in ports:
            cells = [kind, short(port.name), port.dtype, show_shape(port.shape)]
            if isinstance(port, PortRow):
                scale, zero_point = (f"{port.scale:g}", str(port.zero_point)) if port.scale else ("-", "-")
                cells += [str(port.bytes), scale, zero_point]
            _row(table, *cells)
    if not inputs:
        _say(console, "  no inputs")
    _print_table(console, table)
    _say(console)


def _print_operators(console: Console, operators: Sequence[OperatorRow]) -> None:
    # Only the model knows what its operators are called and which axis is cut.
    known = any(op.band_axis is not None or op.why_whole for op in operators)
    names = ("operator",) if known else ()
    table = _table("op", *names, "kernel", "rows", "row bytes", "bands", right=(0, len(names) + 2, len(names) + 3))
    for op in operators:
        if op.bands != 1:
            how = str(op.bands) + ("" if op.band_axis is None else f" along axis {op.band_axis}")
        else:
            how = "whole" + (f": {op.why_whole}" if op.why_whole else "")
        index = "-" if op.index is None else str(op.index)
        _row(table, index, *(op.name for _ in names), op.kernel, str(op.rows), str(op.row_bytes), how)
    _print_table(console, table)


def print_analysis(console: Console, analysis: Analysis) -> None:
    """The answer first, then the figures."""
    name = short(analysis.model, 60)
    if analysis.plan is None:
        _say(console, f"{name} does not convert, {_count(len(analysis.refusals), 'refusal')}:", "bold")
        for line in refusal_lines(analysis.refusals):
            _say(console, f"  {line}")
        return
    smallest, whole = analysis.smallest_single_pool_bytes, analysis.whole_operators_bytes
    assert smallest is not None and whole is not None
    place = _place_of(analysis)
    if not place:
        _say(console, f"{name} converts.", "bold")
    elif analysis.fits:
        _say(console, f"{name} fits {place}.", "bold green")
    else:
        _say(console, f"{name} does not fit {place}.", "bold red")
    _say(console, f"  smallest single pool {show_size(smallest)}, whole operators {show_size(whole)}")
    if analysis.stack_bytes is not None:
        _say(console, f"  stack beside it {analysis.stack_bytes} B, as measured for this core with a margin")
    if not analysis.fits:
        _say(console, "  what follows is the smallest plan:")
    _say(console)
    print_picture(console, analysis)
    _say(console)
    print_plan(console, analysis.plan)


def _place_of(analysis: Analysis) -> str:
    """What the model was asked to fit; empty where nothing was named."""
    if analysis.pool_bytes is not None:
        slow = f" + {show_size(analysis.slow_pool_bytes)}" if analysis.slow_pool_bytes is not None else ""
        return f"in {show_size(analysis.pool_bytes)}{slow}" + (f" on {analysis.board}" if analysis.board else "")
    if analysis.board is None:
        return ""
    return f"on {analysis.board}" + (f", in {' and '.join(analysis.regions)}" if analysis.regions else "")


def print_listing(console: Console, listing: Listing) -> None:
    """Interface and operators of a model's file, and whether each converts."""
    if listing.inputs or listing.outputs:
        _print_ports(console, listing.inputs, listing.outputs)
    if listing.refusals:
        for line in refusal_lines(listing.refusals):
            _say(console, f"  {line}")
        _say(console)
    if listing.operators:
        print_file_operators(console, listing.operators)


def print_file_operators(console: Console, operators: Sequence[FileOperator]) -> None:
    """Every operator with the shapes of what it computes, and what becomes of it; refusals in full below."""
    table = _table("op", "operator", "input", "output", "", right=(0,))
    for op in operators:
        details = [r.reason for r in op.refusals] or op.kernels
        verdict = op.status + (": " + "; ".join(dict.fromkeys(details)) if details else "")
        _row(
            table, str(op.index), short(op.name, 28), _tensors(op.inputs[:1]), _tensors(op.outputs), printable(verdict)
        )
    _print_table(console, table)
    for hint in dict.fromkeys(r.hint for op in operators for r in op.refusals if r.hint):
        found = [str(op.index) for op in operators if any(r.hint == hint for r in op.refusals)]
        _say(console, f"  operator{'s' if len(found) > 1 else ''} {', '.join(found)} -> {hint}")


def _tensors(tensors: Sequence[FileTensor]) -> str:
    first = [f"{show_shape(t.shape)} {t.dtype}" for t in tensors[:1]]
    return ", ".join([*first, f"+{len(tensors) - 1}"] if len(tensors) > 1 else first)


def print_records(console: Console, plan: Plan) -> None:
    """The schedule, record by record: what it does, to which rows, and where those lie."""
    table = _table("#", "record", "operator", "rows", "what and where", right=(0,))
    left, depth = 0, ""
    for number, record in enumerate(plan.records):
        depth, left = ("  ", left - 1) if left else ("", 0)
        kind, target, rows, what = _decoded(plan, record)
        _row(table, str(number), depth + kind, target, rows, what)
        if record.kind is Kind.REPEAT:
            left = record.target
    _print_table(console, table)


def _decoded(plan: Plan, record: Record) -> tuple[str, str, str, str]:
    kind = record.kind.name.lower()
    stop = record.row + record.rows
    rows = f"{record.row}" if record.rows == 1 else f"{record.row}-{stop - 1}"
    if record.advance:
        rows += f", +{record.advance} per pass"
    if record.kind is Kind.REPEAT:
        return kind, "", "", f"the next {record.target}, {record.row} times"
    if record.kind is Kind.RUN:
        op = plan.operators[record.target]
        flags = "".join(f" {flag.name.lower()}" for flag in Flag if record.flags & flag and flag.name)
        channels = f" channels {record.channel}-{record.channel + record.channels - 1}" if record.channels else ""
        ins = [_place(plan.operands[o], record.slot[i + 1] if i < 2 else 0) for i, o in enumerate(op.inputs)]
        out = _place(plan.operands[op.output], record.slot[0])
        return kind + flags, f"{record.target} {op.kernel_name}", rows, f"{' and '.join(ins)} -> {out}{channels}"
    operand = plan.operands[record.target]
    if record.kind is Kind.COPY:
        source = plan.operands[record.channel]
        return kind, "", rows, f"{_place(source, record.slot[1])} -> {_place(operand, record.slot[0])}"
    return kind, "", rows, f"{_place(operand, record.row)} -> place 0"


def _place(operand: Operand, slot: int) -> str:
    """An operand: space@offset, and in a window of k rows the place at which the rows start."""
    name = {Space.CONSTANTS: "const"}.get(operand.space, operand.space.name.lower())
    return f"{name}@{operand.offset}" + (f"[{slot}/{operand.window}]" if operand.window else "")
