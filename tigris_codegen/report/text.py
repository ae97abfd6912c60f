"""Reports for the terminal, readable in 100 columns."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from tigris_codegen.report.analysis import Analysis, PlanReport, PortRow
from tigris_codegen.sizes import show_size


def _port(kind: str, port: PortRow) -> str:
    shape = "x".join(str(n) for n in port.shape) or "scalar"
    scale = f", scale {port.scale:g}, zero point {port.zero_point}" if port.scale else ""
    name = port.name if len(port.name) <= 40 else "…" + port.name[-39:]
    return f"  {kind} {name}: {shape} {port.dtype}, {port.bytes} B{scale}"


def print_plan(console: Console, report: PlanReport) -> None:
    """Interface, memory and operators of a plan."""
    for port in report.inputs:
        console.print(_port("input ", port), markup=False, highlight=False)
    for port in report.outputs:
        console.print(_port("output", port), markup=False, highlight=False)
    console.print(f"\n  RAM    {show_size(report.ram_bytes)}", highlight=False)
    parts = (
        ("fast arena, inputs and outputs included", report.fast_bytes),
        ("slow arena", report.slow_bytes),
        ("state", report.state_bytes),
        ("executor workspace", report.workspace_bytes),
    )
    for what, size in parts:
        if size:
            console.print(f"           {size:8d} B  {what}", highlight=False)
    console.print(
        f"  flash  {show_size(report.plan_bytes)}, weights and tables {report.constant_bytes} B", highlight=False
    )
    console.print(
        f"  steps  {report.calls} kernel calls in {report.records} records, "
        f"{report.shifted_bytes} B moved in windows\n",
        highlight=False,
    )
    table = Table("op", "kernel", "rows", "row bytes", "bands", box=None, header_style="bold", padding=(0, 1, 0, 2))
    for column in table.columns[2:]:
        column.justify = "right"
    for op in report.operators:
        source = "-" if op.source is None else str(op.source)
        table.add_row(
            source, op.name, str(op.output_rows), str(op.row_bytes), str(op.bands) if op.bands > 1 else "whole"
        )
    console.print(table)


def print_analysis(console: Console, analysis: Analysis) -> None:
    """The answer first, then the figures."""
    if analysis.refusals:
        console.print(f"{analysis.model} does not convert:", highlight=False, markup=False)
        for refusal in analysis.refusals:
            console.print(f"  {refusal}", highlight=False, markup=False)
        return
    assert analysis.smallest_single_pool_bytes is not None and analysis.roomy_bytes is not None
    smallest, roomy = show_size(analysis.smallest_single_pool_bytes), show_size(analysis.roomy_bytes)
    if analysis.pool_bytes is None:
        console.print(f"{analysis.model} converts.", highlight=False, markup=False)
    elif analysis.fits:
        console.print(f"{analysis.model} fits in {show_size(analysis.pool_bytes)}.", highlight=False, markup=False)
    else:
        missing = analysis.smallest_single_pool_bytes - analysis.pool_bytes
        console.print(
            f"{analysis.model} does not fit in {show_size(analysis.pool_bytes)}: {missing} B too few.",
            highlight=False,
            markup=False,
        )
    console.print(f"  smallest pool {smallest}, whole operators {roomy}\n", highlight=False)
    if analysis.plan is not None:
        print_plan(console, analysis.plan)
