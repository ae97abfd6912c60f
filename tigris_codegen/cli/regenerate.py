"""The command `regenerate`: what tigris.lock records, made again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click
from cookiecutter.repository import is_repo_url

from tigris_codegen.cli.common import BOARDS_PATH, JSON, PATH, print_json
from tigris_codegen.cli.files import ModelFile, PlanFile, open_either
from tigris_codegen.cli.generate import Places, Recipe, generate
from tigris_codegen.cli.vectors import TestInput
from tigris_codegen.codegen import (
    BOARD_FILES,
    LOCK_NAME,
    CoreLock,
    Lock,
    LockedModel,
    read_any_lock,
    read_lock,
    sha256,
)
from tigris_codegen.errors import UsageError


@dataclass(frozen=True)
class Recorded:
    """A command line as a lock has it: what it wrote where, and where to look for what it names."""

    recipe: Recipe
    models: tuple[LockedModel, ...]
    board: str
    output: Path
    folders: tuple[Path, ...]


@click.command(short_help="Makes PROJECT again from what its tigris.lock records.")
@click.argument("project", type=PATH)
@click.argument("models", metavar="[MODEL|PLAN]...", type=PATH, nargs=-1)
@click.option("--new-model", is_flag=True, help="take models that are not those recorded")
@click.option("--test-input", multiple=True, metavar="[NAME=]FILE", help="instead of those recorded")
@click.option("--template", metavar="FOLDER|URL", help="where the recorded template is now")
@click.option(
    "--allow-hooks", is_flag=True, help="run the programs that come with the template; never recorded as allowed"
)
@BOARDS_PATH
@click.option("--force", is_flag=True, help="overwrite generated files that were edited")
@JSON
def regenerate(
    project: Path,
    models: tuple[Path, ...],
    new_model: bool,
    test_input: tuple[str, ...],
    template: str | None,
    allow_hooks: bool,
    boards_path: tuple[Path, ...],
    force: bool,
    as_json: bool,
) -> None:
    """Makes a project, or cores, again as tigris.lock records: models, options, board, names, test inputs.

    PROJECT is a project's folder, a core's, or one with cores in it. The lock has names, not places: models and test
    inputs are looked for beside PROJECT and in the working folder, unless they are named. app/ is left alone.

    \b
    Example:
      tigris regenerate firmware/
      tigris regenerate firmware/ models/kws.tflite
    """
    recorded = _recorded(project)
    given = _given(models, recorded)
    made = []
    for item in recorded:
        files = tuple(
            _model(item, locked, name, given, new_model)
            for locked, name in zip(item.models, item.recipe.models, strict=True)
        )
        tests = tuple(TestInput.parsed(text) for text in test_input) or tuple(_tests(item))
        recipe = replace(
            item.recipe,
            models=tuple(file.path.name for file in files),
            test_input=tuple(test.recorded for test in tests),
            template=template or item.recipe.template,
        )
        boards = (*boards_path, *_boards(item))
        places = Places(files, tests, item.board or None, boards, _template(item, template), allow_hooks)
        made.append(generate(recipe, places, item.output, force))
    if as_json:
        print_json({"regenerated": [one.answer for one in made]})
    else:
        click.echo("\n".join(line for one in made for line in one.lines))


def _recorded(project: Path) -> tuple[Recorded, ...]:
    """The command lines that made what is in the folder; UsageError where there is nothing that was generated."""
    if not project.is_dir():
        raise UsageError(f"{project}: no such folder", "tigris codegen makes one")
    lock = read_any_lock(project / LOCK_NAME)
    if isinstance(lock, CoreLock):
        return (_of_core(project, lock),)
    if lock is None:
        locks = [(path.parent, read_any_lock(path)) for path in sorted(project.glob(f"*/{LOCK_NAME}"))]
        cores = [_of_core(folder, found) for folder, found in locks if isinstance(found, CoreLock)]
        if cores:
            return tuple({item.recipe: item for item in cores}.values())
    return (_of_project(project, read_lock(project)),)


def _of_project(project: Path, lock: Lock) -> Recorded:
    return Recorded(Recipe.recorded(lock.options), lock.models, lock.board, project, _folders(project))


def _of_core(folder: Path, lock: CoreLock) -> Recorded:
    """Of cores that were made together, all are made again, unless one was made again alone since."""
    output = folder.absolute().parent if folder.parent == Path() else folder.parent
    for model in (model for model in lock.models if model.core != lock.core):
        other = read_any_lock(output / model.core / LOCK_NAME)
        if not isinstance(other, CoreLock) or other.options != lock.options:
            raise UsageError(
                f"{lock.core} was made together with {model.core}, which is gone or was made again by another command.",
                "run `tigris codegen` for all of them again",
            )
    recipe = Recipe.recorded(lock.options)
    board = recipe.board
    if board.endswith(".toml") and not Path(board).is_file():
        board = Path(board).stem
    return Recorded(recipe, lock.models, board, output, _folders(folder, output))


def _folders(*beside: Path) -> tuple[Path, ...]:
    """Where files are looked for: beside what was generated, then in the working folder."""
    return tuple(dict.fromkeys([*(path.absolute().parent for path in beside), Path.cwd()]))


def _boards(item: Recorded) -> Iterator[Path]:
    """A project has its board itself; of a core it is where it was, or among Tigris's own."""
    yield item.output / BOARD_FILES
    yield from (Path(name) for name in item.recipe.boards_path if Path(name).is_dir())


def _find(name: str, item: Recorded) -> Path | None:
    return next((folder / name for folder in item.folders if (folder / name).exists()), None)


def _looked_in(item: Recorded) -> str:
    return " nor in ".join(str(folder) for folder in item.folders)


def _given(models: Sequence[Path], recorded: Sequence[Recorded]) -> dict[str, Path]:
    """The named files by the recorded names they stand for: by their own, or the only one whatever its name."""
    known = [name for item in recorded for name in item.recipe.models]
    if len(models) == len(known) == 1:
        return {known[0]: models[0]}
    for path in models:
        if path.name not in known:
            raise UsageError(
                f"{path}: no model of that name is recorded", f"recorded: {', '.join(dict.fromkeys(known))}"
            )
    return {path.name: path for path in models}


def _model(
    item: Recorded, locked: LockedModel, name: str, given: dict[str, Path], new_model: bool
) -> ModelFile | PlanFile:
    """The file of a recorded model; UsageError where it is not found, or is another, which `new_model` allows."""
    path = given.get(name) or _find(name, item)
    if path is None:
        raise UsageError(
            f"the model {name} is neither in {_looked_in(item)}",
            f"name it: tigris regenerate {item.output} FOLDER/{name}",
        )
    file = open_either(path)
    same = (
        sha256(file.data) == locked.plan_sha256
        if isinstance(file, PlanFile)
        else hashlib.sha256(file.data).hexdigest().startswith(locked.model_hash)
    )
    if not same and not new_model:
        raise UsageError(
            f"{path} is not the model that {locked.core} was made from: its hash is another",
            "--new-model takes it, or name the recorded one",
        )
    return file


def _tests(item: Recorded) -> Iterator[TestInput]:
    for text in item.recipe.test_input:
        target, _, name = text.rpartition("=")
        path = _find(name, item)
        if path is None:
            raise UsageError(f"the test input {name} is neither in {_looked_in(item)}", f"--test-input FOLDER/{name}")
        yield TestInput(target, path)


def _template(item: Recorded, given: str | None) -> str | None:
    recorded = item.recipe.template
    if given or not recorded or is_repo_url(recorded):
        return given or recorded or None
    path = _find(recorded, item)
    if path is None:
        raise UsageError(f"the template {recorded} is neither in {_looked_in(item)}", "--template FOLDER")
    return str(path)
