"""Commands about boards and firmware projects: codegen, verify, boards."""

from __future__ import annotations

import zlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from tigris_codegen.boards import Board, list_boards, load_board
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
)
from tigris_codegen.codegen import TestVector, core_name_for, generate_project
from tigris_codegen.emulate import VerifyResult, verify_project
from tigris_codegen.errors import FitError, UsageError
from tigris_codegen.pipeline import Compiled, Model
from tigris_codegen.plan.plan import DTYPE_NAMES, Plan, Port
from tigris_codegen.session import Session
from tigris_codegen.sizes import parse_size, show_size


@click.command()
@MODEL
@click.option("--board", required=True, metavar="NAME", help="board (see tigris boards)")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="folder of the project")
@POOL
@click.option("--backend", default="reference", show_default=True, help="whose kernels")
@click.option("--framework", metavar="NAME", help="default: the board's first")
@click.option("--name", metavar="NAME", help="name of the core in C (default: from the model's file name)")
@click.option("--fast-region", metavar="REGION", help="memory region for the fast arena")
@click.option("--reserve", metavar="SIZE", default="0", help="RAM to leave free in that region")
@click.option(
    "--test-input", type=click.Path(path_type=Path), help="inputs of the self-test: .npy of one input or a batch of it"
)
@click.option("--force", is_flag=True, help="overwrite generated files that were edited")
@JSON
def codegen(
    model: Path,
    board: str,
    output: Path,
    pool: str | None,
    backend: str,
    framework: str | None,
    name: str | None,
    fast_region: str | None,
    reserve: str,
    test_input: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Writes the firmware project of MODEL, a .tflite model or a .tgrs plan, for a board.

    \b
    Example:
      tigris codegen kws.tflite --board mps2-an500 -o firmware/
    """
    known = load_board(board)
    if backend != "reference":
        raise UsageError(f"the backend {backend!r} has no kernels yet", "--backend reference")
    compiled = _compiled(model, known, framework, pool_bytes(pool), fast_region, parse_size(reserve))
    vectors = _vectors(compiled, test_input)
    options = {
        "model": model.name,
        "board": board,
        "memory": pool or "",
        "backend": backend,
        "framework": framework or "",
        "fast_region": fast_region or "",
        "reserve": reserve,
        "test_input": test_input.name if test_input else "",
    }
    project = generate_project(
        compiled.plan_bytes,
        known,
        output,
        core_name=name or core_name_for(model.stem),
        vectors=vectors,
        framework=framework,
        backend=backend,
        fast_region=fast_region,
        options=options,
        force=force,
    )
    plan = compiled.plan
    if as_json:
        print_json(
            {
                "project": str(project.path),
                "created": project.created,
                "files": list(project.files),
                "placement": asdict(project.placement),
                "ram_bytes": plan.ram_bytes,
                "plan_bytes": len(compiled.plan_bytes),
            }
        )
        return
    click.echo(f"{project.path}: {'new' if project.created else 'updated'}, {len(project.files)} generated files")
    click.echo(
        f"  RAM {show_size(plan.ram_bytes)} in {project.placement.fast}, plan {show_size(len(compiled.plan_bytes))}"
    )
    click.echo(f"  next: tigris verify {project.path}")


def _compiled(
    path: Path, board: Board, framework: str | None, pool: int | None, fast_region: str | None, reserve: int
) -> Compiled:
    """The plan as given, within `pool`, or for the first of the board's memory regions in which the model fits."""
    if path.suffix == ".tgrs":
        plan, data = load_plan(path)
        return Compiled(plan, data)
    model = load_model(path)
    if pool is not None:
        return model.within(pool)
    regions = board.arena_regions(board.framework_name(framework))
    if fast_region is not None:
        board.region(fast_region)
        regions = {fast_region: regions[fast_region]}
    return _first_fit(model, board, {r: size - reserve for r, size in regions.items()})


def _first_fit(model: Model, board: Board, regions: dict[str, int]) -> Compiled:
    largest: FitError | None = None
    for name, size in regions.items():
        try:
            return model.within(size)
        except FitError as error:
            if largest is None or error.have > largest.have:
                largest = FitError(
                    f"the model needs {error.need} bytes of RAM, {board.name} leaves {error.have} in {name}",
                    error.need,
                    error.have,
                    "choose a board with more memory, or see tigris analyze",
                )
    assert largest is not None
    raise largest


def _vectors(compiled: Compiled, test_input: Path | None) -> tuple[TestVector, ...]:
    """Self-test vectors: the given inputs, or one seeded random one, with the outputs of the host run."""
    plan = compiled.plan
    inputs = [_random_inputs(plan)] if test_input is None else _given_inputs(plan, test_input)
    with Session(compiled.plan_bytes) as session:
        vectors = []
        for arrays in inputs:
            outputs = session.run(arrays)
            vectors.append(
                TestVector(
                    tuple(np.ascontiguousarray(arrays[p.name]).tobytes() for p in plan.inputs),
                    tuple(outputs[p.name].tobytes() for p in plan.outputs),
                )
            )
    return tuple(vectors)


def _random_inputs(plan: Plan) -> dict[str, NDArray[Any]]:
    rng = np.random.default_rng(0)
    return {p.name: _random_array(rng, p) for p in plan.inputs}


def _random_array(rng: np.random.Generator, port: Port) -> NDArray[Any]:
    dtype = np.dtype(DTYPE_NAMES[port.dtype])
    if dtype.kind == "f":
        return rng.uniform(-1, 1, port.shape).astype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, port.shape).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, port.shape, dtype, endpoint=True)


def _given_inputs(plan: Plan, path: Path) -> list[dict[str, NDArray[Any]]]:
    if len(plan.inputs) != 1:
        raise UsageError(f"--test-input takes a model of one input, this one has {len(plan.inputs)}")
    port = plan.inputs[0]
    array = read_array(path)
    if array.dtype != np.dtype(DTYPE_NAMES[port.dtype]):
        raise UsageError(f"{path} is {array.dtype}, the model wants {DTYPE_NAMES[port.dtype]}")
    if array.shape == port.shape:
        return [{port.name: array}]
    for batch in (array.shape[1:], (1, *array.shape[1:])):
        if array.ndim and batch == port.shape and len(array):
            return [{port.name: item.reshape(port.shape)} for item in array]
    raise UsageError(f"{path} has shape {list(array.shape)}, the model wants {list(port.shape)} or a batch of it")


@click.command()
@click.argument("project", type=click.Path(path_type=Path))
@JSON
def verify(project: Path, as_json: bool) -> None:
    """Builds the self-test of PROJECT, runs it in an emulator and compares outputs and memory.

    \b
    Example:
      tigris verify firmware/
    """
    if not as_json:
        click.echo(f"building and running {project} ...", err=True)
    result = verify_project(project)
    if as_json:
        print_json(_verify_json(result))
    else:
        report = result.report
        click.echo(f"{result.board.name} in {report.emulator} ({report.machine}), {len(report.runs)} test vectors")
        click.echo(f"  RAM stated {result.expectation.ram_bytes} B, measured {report.peak_bytes} B")
        click.echo(f"  stack reserved {result.expectation.stack_bytes} B, measured {report.stack_bytes} B")
        if report.instructions is not None:
            click.echo(f"  {report.instructions} instructions per inference")
        click.echo("PASS" if result.ok else "FAIL")
    result.check()


def _verify_json(result: VerifyResult) -> dict[str, Any]:
    report, first = result.report, result.report.runs[0] if result.report.runs else None
    outputs = zip(result.expectation.outputs, first.outputs if first else (), strict=False)
    return {
        "passed": result.ok,
        "differences": list(result.differences),
        "board": result.board.name,
        "emulator": report.emulator,
        "machine": report.machine,
        "ram_bytes": result.expectation.ram_bytes,
        "peak_bytes": report.peak_bytes,
        "stack_peak_bytes": report.stack_bytes,
        "instructions": report.instructions,
        "ticks": report.ticks,
        "outputs": [{"name": port.name, "crc32": zlib.crc32(data)} for port, data in outputs],
        "vectors": [[output.hex() for output in run.outputs] for run in report.runs],
    }


@click.command()
@click.argument("name", required=False)
@JSON
def boards(name: str | None, as_json: bool) -> None:
    """Lists the boards, or shows board NAME.

    \b
    Example:
      tigris boards mps2-an500
    """
    known = [load_board(name)] if name else list(list_boards())
    rows = [_board_row(board) for board in known]
    if as_json:
        print_json({"boards": rows})
        return
    table = Table("board", "core", "memory", "frameworks", "emulators", box=None, header_style="bold")
    for row in rows:
        memory = ", ".join(f"{m['name']} {m['size'] // 1024}K" for m in row["memory"])
        table.add_row(row["name"], row["core"], memory, ", ".join(row["frameworks"]), ", ".join(row["emulators"]))
    console().print(table)


def _board_row(board: Board) -> dict[str, Any]:
    return {
        "name": board.name,
        "title": board.title,
        "core": board.soc.core,
        "memory": [m.model_dump() for m in board.memory],
        "frameworks": list(board.frameworks),
        "emulators": [name for name, value in board.emulators if value is not None],
    }
