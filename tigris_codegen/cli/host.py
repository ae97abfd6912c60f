"""Commands that need nothing but this machine: analyze, compile, inspect, run."""

from __future__ import annotations

import io
import zipfile
import zlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from tigris_codegen.cli.common import (
    BACKEND,
    BOARDS_PATH,
    JSON,
    MODEL,
    PATH,
    POOL,
    board_option,
    check_backend,
    print_json,
    show,
    stop,
)
from tigris_codegen.cli.files import (
    MODEL_SUFFIX,
    PLAN_SUFFIX,
    ModelFile,
    PlanFile,
    Planning,
    RefusedModel,
    check_output,
    open_either,
    open_model,
    read_array,
    write_file,
)
from tigris_codegen.cli.fit import make_target, plan_for, planning_options
from tigris_codegen.cli.progress import Report, progress
from tigris_codegen.errors import FitError, PlanError, UsageError
from tigris_codegen.pipeline import Compiled
from tigris_codegen.plan.plan import Plan
from tigris_codegen.plan.verify import PlanFault
from tigris_codegen.report.analysis import Memory, refused, report_plan
from tigris_codegen.report.analysis import analyze as make_analysis
from tigris_codegen.report.analysis import as_json as report_json
from tigris_codegen.report.html import html_page
from tigris_codegen.report.listing import list_model
from tigris_codegen.report.stack import stack_bytes
from tigris_codegen.report.text import (
    print_analysis,
    print_file_operators,
    print_listing,
    print_plan,
    print_records,
    printable,
    ram_line,
    short,
)
from tigris_codegen.session import Session
from tigris_codegen.sizes import show_size


@click.command(short_help="Does MODEL fit, where does the RAM go, how small could it be.")
@MODEL
@POOL
@board_option("take the memory of this board")
@BOARDS_PATH
@BACKEND
@planning_options
@click.option(
    "--html", type=PATH, metavar="FILE", help="write one page: memory over time, operators, frontier, refusals"
)
@JSON
def analyze(
    model: Path,
    pool: str | None,
    board: str | None,
    boards_path: tuple[Path, ...],
    backend: str,
    planning: Planning,
    html: Path | None,
    as_json: bool,
) -> None:
    """Says whether MODEL fits, where its RAM goes and how small it could be.

    \b
    Example:
      tigris analyze kws.tflite --board mps2-an500 -m 16K
    """
    target = make_target(pool, board, boards_path=boards_path)
    check_backend(backend, target.board)
    file = open_model(model, "analyze")
    if html is not None:
        check_output(html, model)
    written = {} if html is None else {"html": str(html)}
    memory = Memory(target.pools, board, stack_bytes(target.board.soc.core) if target.board else None)
    planned, missing = None, None
    with progress(f"analyzing {short(model.name)}") as report:
        try:
            made = file.convert(report, planning)
        except RefusedModel as error:
            analysis = refused(model.name, memory, error.refusals)
            if html is not None:
                write_file(html, html_page(analysis).encode())
            stop(error, report_json(analysis) | written)
        try:
            planned = plan_for(made, target)
        except FitError as error:
            missing = error
        chosen, regions = (planned.compiled, planned.regions) if planned else (None, ())
        analysis = make_analysis(made, model.name, memory, chosen, regions)
        if html is not None:
            write_file(html, html_page(analysis, made, chosen, made.frontier()).encode())
    answer = report_json(analysis) | written
    if as_json and missing is None:
        print_json(answer)
    elif not as_json:
        show(lambda console: print_analysis(console, analysis))
        if html is not None:
            click.echo(f"\n{printable(str(html))}: all of this as a page for a browser")
    if missing is not None:
        stop(missing, answer)


@click.command("compile", short_help="Compiles MODEL to a plan.")
@MODEL
@POOL
@board_option("plan for the memory of this board")
@BOARDS_PATH
@BACKEND
@planning_options
@click.option("-o", "--output", type=PATH, help="plan file (default: MODEL with .tgrs)")
@JSON
def compile_command(
    model: Path,
    pool: str | None,
    board: str | None,
    boards_path: tuple[Path, ...],
    backend: str,
    planning: Planning,
    output: Path | None,
    as_json: bool,
) -> None:
    """Compiles MODEL to a plan: schedule, addresses, quantization, weights.

    Without -m and --board every operator runs whole, in as much RAM as that takes.

    \b
    Example:
      tigris compile kws.tflite -m 64K -o kws.tgrs
    """
    target = make_target(pool, board, boards_path=boards_path)
    check_backend(backend, target.board)
    file = open_model(model, "compile")
    output = output or model.with_suffix(PLAN_SUFFIX)
    if output.suffix == MODEL_SUFFIX:
        raise UsageError(f"{output}: what is written is a plan, not a model", "name a .tgrs file")
    check_output(output, model)
    with progress(f"compiling {short(model.name)}") as report:
        compiled = plan_for(file.convert(report, planning), target).compiled
    write_file(output, compiled.plan_bytes)
    plan_report = report_plan(compiled)
    if as_json:
        print_json({"plan": str(output), **report_json(plan_report)})
    else:
        click.echo(f"{printable(str(output))}: {ram_line(compiled.plan)}, flash {show_size(len(compiled.plan_bytes))}")


@click.command(short_help="Shows what is in MODEL or PLAN.")
@click.argument("model", metavar="MODEL|PLAN", type=PATH)
@click.option("-v", "--verbose", is_flag=True, help="list the records of the schedule as well")
@JSON
def inspect(model: Path, verbose: bool, as_json: bool) -> None:
    """Shows interface, memory, operators and records of a .tgrs plan, or of a .tflite model whose operators
    run whole, with whether each converts.

    \b
    Example:
      tigris inspect kws.tgrs -v
    """
    file = open_either(model)
    if isinstance(file, PlanFile):
        _inspect_plan(file, verbose, as_json)
    else:
        _inspect_model(file, verbose, as_json)


def _inspect_plan(file: PlanFile, verbose: bool, as_json: bool) -> None:
    compiled = file.decoded()
    plan = compiled.plan
    try:
        report = report_plan(compiled)
        records = _records_json(plan)
        with_records = _shown_records(plan) if verbose else ""
    except (PlanFault, IndexError) as error:
        raise PlanError(f"{file.path}: the plan is inconsistent: {error}", "compile the model again") from error
    if as_json:
        print_json({"file": str(file.path), **report_json(report), "schedule": records})
        return
    click.echo(f"{short(file.path.name, 60)}: a plan for the backend {report.backend}\n")
    show(lambda console: print_plan(console, report))
    if verbose:
        click.echo(f"\n{with_records}")


def _shown_records(plan: Plan) -> str:
    return show(lambda console: print_records(console, plan), say=False)


def _records_json(plan: Plan) -> list[dict[str, Any]]:
    return [
        {
            **asdict(record),
            "kind": record.kind.name.lower(),
            "flags": [flag.name.lower() for flag in type(record.flags) if record.flags & flag and flag.name],
        }
        for record in plan.records
    ]


def _inspect_model(file: ModelFile, verbose: bool, as_json: bool) -> None:
    with progress(f"reading {short(file.path.name)}") as report:
        try:
            made = file.convert(report)
        except RefusedModel as error:
            listing = list_model(file.data, file.path.name, None, error.refusals)
            if not as_json:
                click.echo(f"{short(file.path.name, 60)}: a model that does not convert\n")
                show(lambda console: print_listing(console, listing))
            stop(error, {"file": str(file.path), **asdict(listing)})
        compiled = made.roomy()
    listing = list_model(file.data, file.path.name, made, ())
    plan_report = report_plan(compiled, made)
    if as_json:
        answer = {"file": str(file.path), **asdict(listing), **report_json(plan_report)}
        answer["operators"] = [asdict(op) for op in listing.operators]
        answer["kernels"] = report_json(plan_report)["operators"]
        print_json({**answer, "schedule": _records_json(compiled.plan)})
        return
    click.echo(f"{short(file.path.name, 60)}: a model that converts; its figures with whole operators\n")
    show(lambda console: print_plan(console, plan_report, operators=False))
    show(lambda console: print_file_operators(console, listing.operators))
    if verbose:
        click.echo(f"\n{_shown_records(compiled.plan)}")


@click.command(short_help="Runs MODEL or PLAN on this machine.")
@click.argument("model", metavar="MODEL|PLAN", type=PATH)
@click.option("--input", "inputs", multiple=True, metavar="[NAME=]FILE.npy", help="one per model input")
@click.option("--output", type=PATH, metavar="FILE", help=".npy for one output, .npz for all")
@JSON
def run(model: Path, inputs: tuple[str, ...], output: Path | None, as_json: bool) -> None:
    """Runs a .tgrs plan or a .tflite model on this machine, with the runtime that boards use.

    \b
    Example:
      tigris run kws.tgrs --input x.npy --output y.npy
    """
    if output is not None:
        check_output(output, model)
    file = open_either(model)
    with (
        progress(f"running {short(model.name)}") as report,
        Session(_opened(file, report).plan_bytes) as session,
    ):
        if output is not None and output.suffix != ".npz" and len(session.outputs) != 1:
            raise UsageError(f"{len(session.outputs)} outputs do not go into one .npy file", "name a .npz file")
        results = session.run(_arrays(inputs, list(session.inputs)))
    if output is not None:
        _write_arrays(output, results)
    rows = [
        {"name": n, "dtype": str(a.dtype), "shape": list(a.shape), "crc32": zlib.crc32(a.tobytes())}
        for n, a in results.items()
    ]
    if as_json:
        print_json({"outputs": rows})
        return
    for (name, array), row in zip(results.items(), rows, strict=True):
        values = np.array2string(array.reshape(-1), threshold=16, max_line_width=96)
        click.echo(f"{short(name, 48)} {list(array.shape)} {array.dtype} crc32 {row['crc32']:08x}\n  {values}")


def _opened(file: ModelFile | PlanFile, report: Report) -> Compiled:
    return file.decoded() if isinstance(file, PlanFile) else file.convert(report).roomy()


def _arrays(texts: tuple[str, ...], names: list[str]) -> dict[str, NDArray[Any]]:
    """The arrays of `--input` options: by name, or in the order of the model's inputs."""
    found: dict[str, NDArray[Any]] = {}
    for place, text in enumerate(texts):
        name, _, file = text.rpartition("=")
        if name and name not in names:
            if not Path(text).exists():
                raise UsageError(f"no input is called {name!r}", _names(names))
            name, file = "", text
        if not name and place >= len(names):
            raise UsageError(f"{len(texts)} inputs for a model of {len(names)}", _names(names))
        name = name or names[place]
        if name in found:
            raise UsageError(f"input {name!r} is given twice", _names(names))
        found[name] = read_array(Path(file))
    missing = [n for n in names if n not in found]
    if missing:
        raise UsageError(f"input {missing[0]!r} is missing", f"--input {missing[0]}=FILE.npy")
    return found


def _names(names: list[str]) -> str:
    return f"inputs: {', '.join(names)}" if names else "the model has no inputs"


def _write_arrays(path: Path, arrays: dict[str, NDArray[Any]]) -> None:
    data = io.BytesIO()
    if path.suffix == ".npz":
        # numpy.savez takes names as arguments, and not every name of an output can be one.
        with zipfile.ZipFile(data, "w") as archive:
            for name, array in arrays.items():
                with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w") as entry:
                    np.save(entry, array)
    else:
        np.save(data, next(iter(arrays.values())))
    write_file(path, data.getvalue())
