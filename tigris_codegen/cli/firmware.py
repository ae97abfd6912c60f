"""Commands about firmware: codegen, verify."""

from __future__ import annotations

import zlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from tigris_codegen.cli.common import BACKEND, BOARDS_PATH, JSON, PATH, POOL, board_option, print_json, stop
from tigris_codegen.cli.files import Planning, open_either
from tigris_codegen.cli.fit import planning_options
from tigris_codegen.cli.generate import Places, Recipe, check_recipe, core_names, generate
from tigris_codegen.cli.progress import progress, stage
from tigris_codegen.cli.vectors import TestInput
from tigris_codegen.codegen import RuntimeMode, read_lock
from tigris_codegen.emulate import EMULATORS, VerifyResult, verify_project
from tigris_codegen.errors import DifferenceError, UsageError
from tigris_codegen.report.text import short


@click.command(short_help="Writes the firmware project of MODEL or PLAN for a board.")
@click.argument("models", metavar="MODEL|PLAN...", type=PATH, nargs=-1, required=True)
@board_option("board, required for a project")
@BOARDS_PATH
@click.option("-o", "--output", required=True, type=PATH, help="folder of the project, or of the cores")
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
@click.option(
    "--name",
    "names",
    metavar="NAME",
    multiple=True,
    help="name of the core in C (default: from the model's file name); of several models, once for each",
)
@click.option("--share-arena", is_flag=True, help="several models that never run at once share their arenas")
@click.option("--fast-region", metavar="REGION", help="memory region for the fast arena")
@click.option("--slow-region", metavar="REGION", help="memory region for the slow arena")
@click.option("--reserve", metavar="SIZE", default="0", help="RAM to leave free in the fast region")
@click.option(
    "--runtime",
    type=click.Choice(("copy", "none", "module")),
    default="copy",
    show_default=True,
    help="copy: among the generated files; none: the firmware of a core has it; module: the framework has it",
)
@click.option(
    "--template", metavar="FOLDER|URL", help="a cookiecutter template of your own in place of the framework's"
)
@click.option("--allow-hooks", is_flag=True, help="run the programs that come with --template")
@click.option(
    "--test-input",
    multiple=True,
    metavar="[NAME=]FILE",
    help="inputs of the self-test: .npy or .npz, of one vector or a batch; may be given more than once",
)
@planning_options
@click.option("--force", is_flag=True, help="overwrite generated files that were edited")
@JSON
def codegen(
    models: tuple[Path, ...],
    board: str | None,
    boards_path: tuple[Path, ...],
    output: Path,
    pool: str | None,
    form: str,
    backend: str,
    framework: str | None,
    names: tuple[str, ...],
    share_arena: bool,
    fast_region: str | None,
    slow_region: str | None,
    reserve: str,
    runtime: RuntimeMode,
    template: str | None,
    allow_hooks: bool,
    test_input: tuple[str, ...],
    planning: Planning,
    force: bool,
    as_json: bool,
) -> None:
    """Writes the firmware project of a .tflite model or a .tgrs plan for a board.

    \b
    Example:
      tigris codegen kws.tflite --board mps2-an500 -o firmware/
      tigris codegen kws.tflite -m 64K --format core -o src/models/
      tigris codegen kws.tflite vww.tflite --share-arena --board mps2-an500 -o firmware/
    """
    tests = tuple(TestInput.parsed(text) for text in test_input)
    recipe = Recipe(
        models=tuple(path.name for path in models),
        names=core_names(models, names),
        format=form,
        board=board or "",
        boards_path=tuple(str(folder) for folder in boards_path),
        memory=pool or "",
        backend=backend,
        framework=framework or "",
        fast_region=fast_region or "",
        slow_region=slow_region or "",
        reserve=reserve,
        runtime=runtime,
        share_arena=share_arena,
        template=template or "",
        allow_hooks=allow_hooks,
        test_input=tuple(test.recorded for test in tests),
        **asdict(planning),
    )
    check_recipe(recipe)
    files = tuple(open_either(path) for path in models)
    made = generate(recipe, Places(files, tests, board, boards_path, template, allow_hooks), output, force)
    if as_json:
        print_json(made.answer)
    else:
        click.echo("\n".join(made.lines))


@click.command(short_help="Builds PROJECT, runs it in an emulator, compares.")
@click.argument("project", type=PATH)
@click.option("--emulator", type=click.Choice(tuple(EMULATORS)), help="default: the first that can be the board")
@click.option(
    "--twin", is_flag=True, help="run the same models, as bare metal, on an emulated board with the same core"
)
@BOARDS_PATH
@JSON
def verify(project: Path, emulator: str | None, twin: bool, boards_path: tuple[Path, ...], as_json: bool) -> None:
    """Builds the self-test of PROJECT, runs it in an emulator and compares outputs and memory.

    The board is the one recorded in PROJECT, unless a folder of --boards-path has one of that name. Where no emulator
    can be it, its twin is run, a board with the same core, and the answer says so.

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

        result = verify_project(project, emulator, twin=twin, board_folders=boards_path, stage=begins)
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
    if result.twin is None:
        click.echo(f"{result.board.name} in {report.emulator} ({report.machine}), {vectors}")
    else:
        click.echo(f"{result.board.name}: its own image was not run, but its twin")
        click.echo(f"  {result.twin.board.name} in {report.emulator} ({report.machine}), {vectors}")
        click.echo(f"  {result.twin.sentence}")
    click.echo(f"  RAM stated {expected.ram_bytes} B, measured {report.peak_bytes} B")
    click.echo(f"  stack reserved {expected.stack_bytes} B, measured {report.stack_bytes} B")
    if report.instructions is not None:
        click.echo(f"  {report.instructions} instructions per inference")
    if report.watch is not None:
        click.echo(f"  every memory access of {report.watch.inferences} inferences watched")
    click.echo("PASS" if result.ok else "FAIL")


def _verify_json(result: VerifyResult) -> dict[str, Any]:
    report, first = result.report, result.report.runs[0] if result.report.runs else None
    outputs = zip(
        result.expectation.outputs[0] if result.expectation.outputs else (),
        first.outputs if first else (),
        strict=False,
    )
    return {
        "passed": result.ok,
        "differences": list(result.differences),
        "board": result.board.name,
        "twin": result.twin.board.name if result.twin else None,
        "twin_is": result.twin.sentence if result.twin else None,
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
