"""What `codegen` makes and `regenerate` makes again: a recipe, which tigris.lock records, and where its files are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

from tigris_codegen import resources
from tigris_codegen.cli.common import check_backend
from tigris_codegen.cli.files import ModelFile, PlanFile, Planning
from tigris_codegen.cli.fit import Planned, Planner, Target, make_target, placed, plan_for, plan_together
from tigris_codegen.cli.progress import Report, progress
from tigris_codegen.cli.vectors import TestInput, make_vectors
from tigris_codegen.codegen import (
    Core,
    CoreModel,
    Option,
    RuntimeMode,
    check_core_names,
    core_name_for,
    generate_cores,
    generate_project_of,
    need_together,
)
from tigris_codegen.errors import UsageError
from tigris_codegen.report.text import printable, ram_line, short
from tigris_codegen.sizes import show_size


@dataclass(frozen=True)
class Recipe:
    """The command line, with names in place of paths; empty texts are options that were not given."""

    models: tuple[str, ...]
    names: tuple[str, ...]
    format: str = "project"
    board: str = ""
    boards_path: tuple[str, ...] = ()
    memory: str = ""
    backend: str = "reference"
    framework: str = ""
    fast_region: str = ""
    slow_region: str = ""
    reserve: str = "0"
    runtime: RuntimeMode = "copy"
    share_arena: bool = False
    template: str = ""
    allow_hooks: bool = False
    test_input: tuple[str, ...] = ()
    keep_inputs: bool = False
    recompute: float = 0.0
    effort: int | None = None

    @property
    def planning(self) -> Planning:
        return Planning(self.keep_inputs, self.recompute, self.effort)

    @property
    def options(self) -> dict[str, Option]:
        """For the lock."""
        return asdict(self)

    @classmethod
    def recorded(cls, options: Mapping[str, Option]) -> Recipe:
        """What a lock says; UsageError where it says something else than a recipe."""
        known = {field.name: field for field in fields(cls)}
        if set(options) != set(known):
            odd = ", ".join(sorted(set(options) ^ set(known)))
            raise UsageError(f"tigris.lock does not record a whole command line: {odd}.", "run `tigris codegen` again")
        values: dict[str, Any] = dict(options)
        return cls(**values)


@dataclass(frozen=True)
class Places:
    """Where the things are that a recipe names; `board` is what to look for in `boards`, `allow_hooks` today's word."""

    models: tuple[ModelFile | PlanFile, ...]
    test_input: tuple[TestInput, ...] = ()
    board: str | None = None
    boards: tuple[Path, ...] = ()
    template: str | None = None
    allow_hooks: bool = False


@dataclass(frozen=True)
class Made:
    """What was made, for machines and for people."""

    answer: dict[str, Any]
    lines: tuple[str, ...]


def core_names(models: Sequence[Path], given: Sequence[str]) -> tuple[str, ...]:
    """The names of the cores: those given, or from the files' names."""
    if given and len(given) != len(models):
        raise UsageError(f"{len(given)} names for {len(models)} models", "--name, once for each model in their order")
    return tuple(given) or tuple(core_name_for(path.stem) for path in models)


def check_recipe(recipe: Recipe) -> None:
    """UsageError for options that contradict each other."""
    check_core_names(recipe.names)
    project = recipe.format == "project"
    if project and not recipe.board:
        raise UsageError("a project is for a board", "--board NAME (see tigris boards), or --format core")
    if recipe.share_arena and len(recipe.models) < 2:
        raise UsageError("one model has nobody to share its arena with", "name two models or more, or no --share-arena")
    if not project and recipe.template:
        raise UsageError("--template is for projects", "leave it out, or --format project")
    if not project and recipe.runtime == "module":
        raise UsageError("a core has no --runtime module", "--runtime none: the firmware that it goes into has it")
    if recipe.allow_hooks and not recipe.template:
        raise UsageError("--allow-hooks is for a template of your own", "--template FOLDER")


def generate(recipe: Recipe, places: Places, output: Path, force: bool) -> Made:
    """Plans the models and writes what the recipe says."""
    check_recipe(recipe)
    target = make_target(
        recipe.memory or None,
        places.board,
        recipe.framework or None,
        recipe.fast_region or None,
        recipe.slow_region or None,
        recipe.reserve,
        places.boards,
    )
    check_backend(recipe.backend, target.board)
    with progress(f"compiling {short(recipe.models[0])}") as report:
        planners = [_planner(file, recipe.planning, report) for file in places.models]
        planned = plan_together(planners, target, recipe.share_arena)
        try:
            if recipe.format == "core":
                return _cores(recipe, planned, output, force)
            return _project(recipe, places, planned, target, output, force)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise UsageError(f"{output} cannot be written: {reason}") from error


def _planner(file: ModelFile | PlanFile, planning: Planning, report: Report) -> Planner:
    """How a file's plan is made; the model is converted here, once."""
    if isinstance(file, PlanFile):
        return partial(placed, file.decoded())
    return partial(plan_for, file.convert(report, planning))


def _models(recipe: Recipe, planned: Sequence[Planned], vectors: Sequence[Any] = ()) -> list[CoreModel]:
    each = vectors or [()] * len(planned)
    return [
        CoreModel.decoded(name, made.compiled.plan_bytes, tests)
        for name, made, tests in zip(recipe.names, planned, each, strict=True)
    ]


def _project(
    recipe: Recipe, places: Places, planned: Sequence[Planned], target: Target, output: Path, force: bool
) -> Made:
    assert target.board is not None
    vectors = make_vectors([made.compiled for made in planned], recipe.names, places.test_input)
    models = _models(recipe, planned, vectors)
    first = planned[0]
    project = generate_project_of(
        models,
        target.board,
        output,
        share_arena=recipe.share_arena,
        framework=target.framework,
        backend=recipe.backend,
        runtime=recipe.runtime,
        fast_region=first.fast_region,
        slow_region=next((made.slow_region for made in planned if made.slow_region), None),
        template=places.template,
        allow_hooks=places.allow_hooks,
        options=recipe.options,
        force=force,
    )
    regions = asdict(project.placement)
    answer = {
        "project": str(project.path),
        "created": project.created,
        "files": list(project.files),
        "placement": regions,
        "ram_bytes": project.need.ram,
        "plan_bytes": project.need.program,
        "share_arena": recipe.share_arena,
        "cores": [_sizes(model) for model in models],
    }
    arenas = [f"{kind} arena in {regions[kind]}" for kind in ("fast", "slow") if regions.get(kind)]
    ram = ram_line(models[0].plan) if len(models) == 1 else f"RAM {show_size(project.need.ram)}"
    where = printable(str(project.path))
    lines = [
        _written(where, project.created, len(project.files)),
        f"  {', '.join([ram, *arenas, f'plan {show_size(project.need.program)}'])}",
    ]
    if len(models) > 1:
        shared = ", in arenas that they share" if recipe.share_arena else ""
        lines.append(f"  cores: {', '.join(model.name for model in models)}{shared}")
    if recipe.runtime == "module":
        lines.append(f"  the runtime's module: {printable(str(resources.runtime_dir()))}")
    return Made(answer, (*lines, f"  next: tigris verify {where}"))


def _cores(recipe: Recipe, planned: Sequence[Planned], output: Path, force: bool) -> Made:
    models = _models(recipe, planned)
    cores = generate_cores(
        models,
        output,
        share_arena=recipe.share_arena,
        runtime=recipe.runtime,
        options=recipe.options,
        force=force,
    )
    need = need_together(models, recipe.share_arena)
    each = [_core_json(core) | _sizes(model) for core, model in zip(cores, models, strict=True)]
    answer = {
        **(_core_json(cores[0]) if len(cores) == 1 else {}),
        "ram_bytes": need.ram,
        "plan_bytes": need.program,
        "share_arena": recipe.share_arena,
        "cores": each,
    }
    lines = []
    for core, model in zip(cores, models, strict=True):
        lines += [
            _written(printable(str(core.path)), core.created, len(core.files)),
            f"  {ram_line(model.plan)}, plan {show_size(len(model.data))}",
        ]
    if recipe.share_arena:
        lines += [
            f"{printable(str(cores[0].arena))}: the arenas that they share",
            f"  RAM {show_size(need.ram)} together",
        ]
    return Made(answer, tuple(lines))


def _core_json(core: Core) -> dict[str, Any]:
    return {
        "core": str(core.path),
        "runtime": str(core.runtime) if core.runtime else None,
        "arena": str(core.arena) if core.arena else None,
        "created": core.created,
        "files": list(core.files),
    }


def _sizes(model: CoreModel) -> dict[str, Any]:
    return {"name": model.name, "ram_bytes": model.plan.ram_bytes, "plan_bytes": len(model.data)}


def _written(where: str, created: bool, files: int) -> str:
    return f"{where}: {'new' if created else 'updated'}, {files} generated files"
