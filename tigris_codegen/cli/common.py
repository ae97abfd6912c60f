"""What the commands share: options, the form of answers and of errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click
from rich.console import Console

from tigris_codegen.boards import BACKENDS, Board, list_boards
from tigris_codegen.cli.files import RefusedModel
from tigris_codegen.errors import (
    DifferenceError,
    FitError,
    MissingError,
    ModelError,
    PlanError,
    TigrisError,
    UsageError,
)
from tigris_codegen.report.text import printable, refusal_lines

#: Columns of a report that is not printed on a terminal.
PIPE_COLUMNS = 100
#: Exit codes beyond those of `errors`.
BUG, STOPPED = 70, 130


def complete_board(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    folders = [folder for folder in context.params.get("boards_path") or () if folder.is_dir()]
    return [board.name for board in list_boards(folders) if board.name.startswith(incomplete)]


def _check_folders(context: click.Context, _parameter: click.Parameter, folders: tuple[Path, ...]) -> tuple[Path, ...]:
    for folder in folders:
        if not folder.is_dir() and not context.resilient_parsing:
            raise UsageError(f"--boards-path: {folder}: no such folder")
    return folders


#: A file or folder. What is wrong with it is found, and said in our words, when it is opened.
PATH = click.Path(path_type=Path, readable=False)
MODEL = click.argument("model", type=PATH)
POOL = click.option(
    "-m", "--memory", "pool", metavar="SIZE", help="RAM but the stack: one pool, 64K, or a fast and a slow one, 64K+8M"
)
JSON = click.option("--json", "as_json", is_flag=True, help="print one JSON object, also when the answer is no")
BOARDS_PATH = click.option(
    "--boards-path",
    multiple=True,
    type=PATH,
    metavar="FOLDER",
    is_eager=True,
    callback=_check_folders,
    help="folder with boards of your own, looked in first; may be given more than once",
)
BACKEND = click.option("--backend", default="reference", show_default=True, metavar="NAME", help="whose kernels")


Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def board_option(help: str) -> Callable[[Decorated], Decorated]:
    return click.option("--board", metavar="NAME", shell_complete=complete_board, help=f"{help} (see tigris boards)")


class Answered(Exception):
    """An error whose JSON answer says more than the error does; `answer` None: it is already printed."""

    def __init__(self, error: TigrisError, answer: dict[str, Any] | None) -> None:
        super().__init__(str(error))
        self.error = error
        self.answer = answer


def check_backend(name: str, board: Board | None = None) -> None:
    """UsageError for a backend that there is not, that is not for the board's core, or whose kernels are not there."""
    backend = BACKENDS.get(name)
    if backend is None:
        raise UsageError(f"there is no backend {name!r}", "backends: " + ", ".join(BACKENDS))
    if board is not None and not backend.suits(board):
        raise UsageError(
            f"the backend {name} is for {backend.boards}, {board.name} has a {board.soc.core} ({board.soc.name})",
            "--backend reference",
        )
    if not backend.ready:
        raise UsageError(f"the backend {name!r} has no kernels yet", "--backend reference")


def error_lines(error: TigrisError) -> list[str]:
    """The one form of errors: `tigris: what is wrong`, further lines indented, `  -> what to do`."""
    if isinstance(error, ModelError):
        prefix = f"tigris: {printable(error.path.name)}: " if isinstance(error, RefusedModel) else "tigris: "
        return [line if line.startswith("  -> ") else prefix + line for line in refusal_lines(error.refusals)]
    first, *more = [printable(line.expandtabs()).rstrip() for line in str(error).split("\n")]
    lines = [f"tigris: {_sentence(first)}"]
    # Differences and refusals are sentences of their own; what tools printed belongs to the first line.
    own = isinstance(error, DifferenceError | PlanError | UsageError)
    lines += [f"tigris: {_sentence(line)}" if own else f"  {line}" for line in more]
    if error.hint:
        lines.append(f"  -> {printable(error.hint)}")
    return lines


def _sentence(line: str) -> str:
    return line.removesuffix(".")


def error_json(error: TigrisError) -> dict[str, Any]:
    """An error as an answer."""
    kinds: tuple[tuple[type[TigrisError], str], ...] = (
        (ModelError, "model"),
        (PlanError, "plan"),
        (UsageError, "usage"),
        (FitError, "fit"),
        (MissingError, "missing"),
        (DifferenceError, "difference"),
    )
    kind = next((name for form, name in kinds if isinstance(error, form)), "failed")
    found: dict[str, Any] = {
        "kind": kind,
        "exit_code": error.exit_code,
        "message": str(error),
        "hint": error.hint,
        "refusals": [asdict(r) for r in error.refusals] if isinstance(error, ModelError) else [],
    }
    if isinstance(error, FitError):
        found |= {"need_bytes": error.need, "have_bytes": error.have}
    return {"error": found}


def fail(error: TigrisError) -> int:
    """Prints the error on stderr, what to do next below it, and returns its exit code."""
    for line in error_lines(error):
        click.echo(line, err=True)
    return error.exit_code


def stop(error: TigrisError, answer: dict[str, Any]) -> NoReturn:
    """Ends the command with an error whose JSON form is the answer with the error in it."""
    raise Answered(error, answer | error_json(error))


def print_json(value: dict[str, Any]) -> None:
    click.echo(json.dumps(_finite(value), indent=2, allow_nan=False))


def _finite(value: Any) -> Any:
    """The value with null for what JSON has no number for: a model may hold infinite scales."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value


def show(report: Callable[[Console], None], say: bool = True) -> str:
    """A report as wide as the terminal, in a pipe of a fixed width; returned, and printed where `say`."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=PIPE_COLUMNS)
    with console.capture() as captured:
        report(console)
    text = "\n".join(line.rstrip() for line in captured.get().splitlines())
    if say:
        click.echo(text)
    return text
