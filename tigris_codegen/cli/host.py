"""Commands that need nothing but this machine: analyze, compile, inspect, run."""

from __future__ import annotations

import io
import zlib
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from tigris_codegen.boards import load_board
from tigris_codegen.cli.common import (
    JSON,
    MODEL,
    POOL,
    console,
    load_model,
    load_plan,
    pool_bytes,
    print_json,
    read_array,
    read_file,
    write_file,
)
from tigris_codegen.errors import FitError, ModelError, UsageError
from tigris_codegen.report.analysis import analyze as make_analysis
from tigris_codegen.report.analysis import as_json as report_json
from tigris_codegen.report.analysis import refused, report_plan
from tigris_codegen.report.text import print_analysis, print_plan
from tigris_codegen.session import Session
from tigris_codegen.sizes import show_size


@click.command()
@MODEL
@POOL
@click.option("--board", metavar="NAME", help="take the memory of this board (see tigris boards)")
@JSON
def analyze(model: Path, pool: str | None, board: str | None, as_json: bool) -> None:
    """Says whether MODEL fits, where its RAM goes and how small it could be.

    \b
    Example:
      tigris analyze kws.tflite --board mps2-an500 -m 16K
    """
    size = pool_bytes(pool)
    if board is not None and size is None:
        known = load_board(board)
        size = max(known.arena_regions(known.framework_name(None)).values())
    try:
        analysis = make_analysis(load_model(model), model.name, size)
    except ModelError as error:
        if as_json:
            print_json(report_json(refused(model.name, size, error.refusals)))
        raise
    if as_json:
        print_json(report_json(analysis))
    else:
        print_analysis(console(), analysis)
    if not analysis.fits:
        assert analysis.smallest_single_pool_bytes is not None and size is not None
        need = analysis.smallest_single_pool_bytes
        raise FitError(f"{model.name} needs {need} bytes of RAM, {size} are there", need, size)


@click.command("compile")
@MODEL
@POOL
@click.option("-o", "--output", type=click.Path(path_type=Path), help="plan file (default: MODEL with .tgrs)")
@JSON
def compile_command(model: Path, pool: str | None, output: Path | None, as_json: bool) -> None:
    """Compiles MODEL to a plan: schedule, addresses, quantization, weights.

    \b
    Example:
      tigris compile kws.tflite -m 64K -o kws.tgrs
    """
    size = pool_bytes(pool)
    made = load_model(model)
    compiled = made.roomy() if size is None else made.within(size)
    target = output or model.with_suffix(".tgrs")
    write_file(target, compiled.plan_bytes)
    report = report_plan(compiled.plan, len(compiled.plan_bytes))
    if as_json:
        print_json({"plan": str(target), **report_json(report)})
    else:
        click.echo(f"{target}: RAM {show_size(report.ram_bytes)}, flash {show_size(report.plan_bytes)}")


@click.command()
@MODEL
@JSON
def inspect(model: Path, as_json: bool) -> None:
    """Shows interface, memory and operators of MODEL, a .tgrs plan or a .tflite model.

    \b
    Example:
      tigris inspect kws.tgrs
    """
    if model.suffix == ".tgrs":
        plan, data = load_plan(model)
        report = report_plan(plan, len(data))
    else:
        compiled = load_model(model).roomy()
        report = report_plan(compiled.plan, len(compiled.plan_bytes))
    if as_json:
        print_json(report_json(report))
    else:
        click.echo(model.name)
        print_plan(console(), report)


@click.command()
@MODEL
@click.option("--input", "inputs", multiple=True, metavar="[NAME=]FILE.npy", help="one per model input")
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE", help=".npy for one output, .npz for all")
@JSON
def run(model: Path, inputs: tuple[str, ...], output: Path | None, as_json: bool) -> None:
    """Runs MODEL, a .tgrs plan or a .tflite model, on this machine with the runtime that boards use.

    \b
    Example:
      tigris run kws.tgrs --input x.npy --output y.npy
    """
    plan_bytes = read_file(model) if model.suffix == ".tgrs" else load_model(model).roomy().plan_bytes
    with Session(plan_bytes) as session:
        results = session.run(_arrays(inputs, list(session.inputs)))
    if output is not None:
        _write_arrays(output, results)
    rows = [{"name": n, "crc32": zlib.crc32(a.tobytes())} for n, a in results.items()]
    if as_json:
        print_json({"outputs": rows})
        return
    for (name, array), row in zip(results.items(), rows, strict=True):
        values = np.array2string(array.reshape(-1), threshold=16, max_line_width=96)
        click.echo(f"{name} {list(array.shape)} {array.dtype} crc32 {row['crc32']:08x}\n  {values}")


def _arrays(texts: tuple[str, ...], names: list[str]) -> dict[str, NDArray[Any]]:
    found: dict[str, NDArray[Any]] = {}
    for place, text in enumerate(texts):
        name, _, file = text.rpartition("=")
        if name and name not in names:
            raise UsageError(f"no input is called {name!r}", f"inputs: {', '.join(names)}")
        if not name and place >= len(names):
            raise UsageError(f"{len(texts)} inputs for a model of {len(names)}")
        found[name or names[place]] = read_array(Path(file))
    missing = [n for n in names if n not in found]
    if missing:
        raise UsageError(f"input {missing[0]!r} is missing", f"--input {missing[0]}=FILE.npy")
    return found


def _write_arrays(path: Path, arrays: dict[str, NDArray[Any]]) -> None:
    data = io.BytesIO()
    if path.suffix == ".npz":
        np.savez(data, **arrays)  # type: ignore[arg-type]
    elif len(arrays) == 1:
        np.save(data, next(iter(arrays.values())))
    else:
        raise UsageError(f"{len(arrays)} outputs do not go into one .npy file", "name a .npz file")
    write_file(path, data.getvalue())
