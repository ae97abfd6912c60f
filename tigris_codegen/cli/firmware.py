"""Commands about firmware: codegen, verify."""

from __future__ import annotations

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
    PATH,
    POOL,
    board_option,
    check_backend,
    print_json,
    stop,
)
from tigris_codegen.cli.files import PlanFile, Planning, open_either, read_array
from tigris_codegen.cli.fit import Planned, Target, make_target, placed, plan_for, planning_options
from tigris_codegen.cli.progress import progress, stage
from tigris_codegen.codegen import RuntimeMode, TestVector, core_name_for, generate_core, generate_project, read_lock
from tigris_codegen.emulate import EMULATORS, VerifyResult, verify_project
from tigris_codegen.errors import DifferenceError, UsageError
from tigris_codegen.pipeline import Compiled
from tigris_codegen.plan.plan import DTYPE_NAMES, Plan, Port
from tigris_codegen.report.text import printable, ram_line, short
from tigris_codegen.session import Session
from tigris_codegen.sizes import show_size


@click.command(short_help="Writes the firmware project of MODEL or PLAN for a board.")
@click.argument("model", metavar="MODEL|PLAN", type=PATH)
@board_option("board, required for a project")
@BOARDS_PATH
@click.option("-o", "--output", required=True, type=PATH, help="folder of the project")
@POOL
@click.option(
    "--format",
    "form",
    type=click.Choice(("project", "core")),
    default="project",
    show_default=True,
    help="a whole project, or just the model's C files for firmware that exists",
)
@BACKEND
@click.option("--framework", metavar="NAME", help="default: the board's first")
@click.option("--name", metavar="NAME", help="name of the core in C (default: from the model's file name)")
@click.option("--fast-region", metavar="REGION", help="memory region for the fast arena")
@click.option("--slow-region", metavar="REGION", help="memory region for the slow arena")
@click.option("--reserve", metavar="SIZE", default="0", help="RAM to leave free in the fast region")
@click.option(
    "--runtime",
    type=click.Choice(("copy", "none")),
    default="copy",
    show_default=True,
    help="for a core: put the runtime beside it, or not",
)
@click.option("--test-input", type=PATH, help="inputs of the self-test: .npy of one input or a batch of it")
@planning_options
@click.option("--force", is_flag=True, help="overwrite generated files that were edited")
@JSON
def codegen(
    model: Path,
    board: str | None,
    boards_path: tuple[Path, ...],
    output: Path,
    pool: str | None,
    form: str,
    backend: str,
    framework: str | None,
    name: str | None,
    fast_region: str | None,
    slow_region: str | None,
    reserve: str,
    runtime: RuntimeMode,
    test_input: Path | None,
    planning: Planning,
    force: bool,
    as_json: bool,
) -> None:
    """Writes the firmware project of a .tflite model or a .tgrs plan for a board.

    \b
    Example:
      tigris codegen kws.tflite --board mps2-an500 -o firmware/
      tigris codegen kws.tflite -m 64K --format core -o src/models/
    """
    check_backend(backend)
    if form == "project" and board is None:
        raise UsageError("a project is for a board", "--board NAME (see tigris boards), or --format core")
    target = make_target(pool, board, framework, fast_region, slow_region, reserve, boards_path)
    options = {
        "model": model.name,
        "board": board or "",
        "boards_path": tuple(str(folder) for folder in boards_path),
        "memory": pool or "",
        "format": form,
        "backend": backend,
        "framework": framework or "",
        "fast_region": fast_region or "",
        "slow_region": slow_region or "",
        "reserve": reserve,
        "test_input": test_input.name if test_input else "",
        **asdict(planning),
    }
    core_name = name or core_name_for(model.stem)
    with progress(f"compiling {short(model.name)}") as report:
        file = open_either(model)
        if isinstance(file, PlanFile):
            planned = placed(file.decoded(), target)
        else:
            planned = plan_for(file.convert(report, planning), target)
        compiled = planned.compiled
        try:
            if form == "core":
                answer = _core(compiled, output, core_name, runtime, options, force)
            else:
                answer = _project(planned, target, output, core_name, test_input, options, force)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise UsageError(f"{output} cannot be written: {reason}") from error
    plan = compiled.plan
    if as_json:
        print_json({**answer, "ram_bytes": plan.ram_bytes, "plan_bytes": len(compiled.plan_bytes)})
        return
    where = printable(str(answer["project" if form == "project" else "core"]))
    click.echo(f"{where}: {'new' if answer['created'] else 'updated'}, {len(answer['files'])} generated files")
    regions = answer.get("placement", {})
    arenas = [f"{kind} arena in {regions[kind]}" for kind in ("fast", "slow") if regions.get(kind)]
    sizes = [ram_line(plan), *arenas, f"plan {show_size(len(compiled.plan_bytes))}"]
    click.echo(f"  {', '.join(sizes)}")
    if form == "project":
        click.echo(f"  next: tigris verify {where}")


def _project(
    planned: Planned,
    target: Target,
    output: Path,
    core_name: str,
    test_input: Path | None,
    options: dict[str, Any],
    force: bool,
) -> dict[str, Any]:
    assert target.board is not None
    project = generate_project(
        planned.compiled.plan_bytes,
        target.board,
        output,
        core_name=core_name,
        vectors=_vectors(planned.compiled, test_input),
        framework=target.framework,
        backend=str(options["backend"]),
        fast_region=planned.fast_region,
        slow_region=planned.slow_region,
        options=options,
        force=force,
    )
    return {
        "project": str(project.path),
        "created": project.created,
        "files": list(project.files),
        "placement": asdict(project.placement),
    }


def _core(
    compiled: Compiled, output: Path, core_name: str, runtime: RuntimeMode, options: dict[str, Any], force: bool
) -> dict[str, Any]:
    core = generate_core(
        compiled.plan_bytes, output, core_name=core_name, runtime=runtime, options=options, force=force
    )
    return {
        "core": str(core.path),
        "runtime": str(core.runtime) if core.runtime else None,
        "created": core.created,
        "files": list(core.files),
    }


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


@click.command(short_help="Builds PROJECT, runs it in an emulator, compares.")
@click.argument("project", type=PATH)
@click.option("--emulator", type=click.Choice(tuple(EMULATORS)), help="default: the first that can be the board")
@BOARDS_PATH
@JSON
def verify(project: Path, emulator: str | None, boards_path: tuple[Path, ...], as_json: bool) -> None:
    """Builds the self-test of PROJECT, runs it in an emulator and compares outputs and memory.

    The board is the one recorded in PROJECT, unless a folder of --boards-path has one of that name.

    \b
    Example:
      tigris verify firmware/
    """
    if not project.is_dir():
        raise UsageError(f"{project}: no such folder", "tigris codegen makes one")
    read_lock(project)
    with progress("verifying") as report:

        def begins(what: str) -> None:
            stage(short(what, 90), quiet=as_json)
            report(short(what, 60), 0, 0)

        result = verify_project(project, emulator, board_folders=boards_path, stage=begins)
    answer = _verify_json(result)
    if not as_json:
        _print_result(result)
    elif result.ok:
        print_json(answer)
    try:
        result.check()
    except DifferenceError as error:
        stop(error, answer)


def _print_result(result: VerifyResult) -> None:
    report, expected = result.report, result.expectation
    vectors = "1 test vector" if len(report.runs) == 1 else f"{len(report.runs)} test vectors"
    click.echo(f"{result.board.name} in {report.emulator} ({report.machine}), {vectors}")
    click.echo(f"  RAM stated {expected.ram_bytes} B, measured {report.peak_bytes} B")
    click.echo(f"  stack reserved {expected.stack_bytes} B, measured {report.stack_bytes} B")
    if report.instructions is not None:
        click.echo(f"  {report.instructions} instructions per inference")
    if report.watch is not None:
        click.echo(f"  every memory access of {report.watch.inferences} inferences watched")
    click.echo("PASS" if result.ok else "FAIL")


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
        "watched_inferences": report.watch.inferences if report.watch else 0,
        "instructions": report.instructions,
        "ticks": report.ticks,
        "outputs": [{"name": port.name, "crc32": zlib.crc32(data)} for port, data in outputs],
        "vectors": [[output.hex() for output in run.outputs] for run in report.runs],
    }
