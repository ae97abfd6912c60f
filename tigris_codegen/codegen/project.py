"""Plans + Board -> project tree."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path

from tigris_codegen import resources
from tigris_codegen.boards import Board, FrameworkName
from tigris_codegen.codegen.context import ProjectContext, RunContext, plan_backend, project_context, selftest_runs
from tigris_codegen.codegen.frameworks import FRAMEWORKS
from tigris_codegen.codegen.frameworks.framework import Request
from tigris_codegen.codegen.lock import Lock, Option, hashes, locked_models, portable_options
from tigris_codegen.codegen.models import CoreModel, Need, check_together, need_together, project_name
from tigris_codegen.codegen.placement import Placement, place_need
from tigris_codegen.codegen.render import render
from tigris_codegen.codegen.sources import RuntimeFiles, RuntimeMode, runtime_files, runtime_version
from tigris_codegen.codegen.template import Template, open_template
from tigris_codegen.codegen.tree import GENERATED, FileSet, check_project, write_project
from tigris_codegen.codegen.vectors import TestVector, check_vectors
from tigris_codegen.errors import UsageError
from tigris_codegen.plan.layout import FORMAT_VERSION
from tigris_codegen.plan.plan import DTYPE_NAMES

#: What the self-test must give, for the host to compare; see `emulate.verify`.
EXPECTED = f"{GENERATED}/selftest/expected.json"
#: The board as it was when the project was made: a folder of boards, see `boards.load_board`.
BOARD_FILES = f"{GENERATED}/board"


@dataclass(frozen=True)
class Project:
    """A generated project: its folder, its generated files, the memory it needs and where, whether it is new."""

    path: Path
    files: tuple[str, ...]
    need: Need
    placement: Placement
    created: bool


def generate_project(
    plan_bytes: bytes,
    board: Board,
    out: Path,
    *,
    core_name: str,
    vectors: Sequence[TestVector],
    framework: str | None = None,
    backend: str = "reference",
    runtime: RuntimeMode = "copy",
    fast_region: str | None = None,
    slow_region: str | None = None,
    template: str | None = None,
    allow_hooks: bool = False,
    options: Mapping[str, Option] | None = None,
    force: bool = False,
) -> Project:
    """`generate_project_of` for one plan."""
    return generate_project_of(
        [CoreModel.decoded(core_name, plan_bytes, vectors)],
        board,
        out,
        framework=framework,
        backend=backend,
        runtime=runtime,
        fast_region=fast_region,
        slow_region=slow_region,
        template=template,
        allow_hooks=allow_hooks,
        options=options,
        force=force,
    )


def generate_project_of(
    models: Sequence[CoreModel],
    board: Board,
    out: Path,
    *,
    share_arena: bool = False,
    framework: str | None = None,
    backend: str = "reference",
    runtime: RuntimeMode = "copy",
    fast_region: str | None = None,
    slow_region: str | None = None,
    template: str | None = None,
    allow_hooks: bool = False,
    options: Mapping[str, Option] | None = None,
    force: bool = False,
) -> Project:
    """Writes the firmware project of these models into `out`, which is new, empty or a project made before.

    The models' vectors are the self-test's inputs and expected outputs, `framework` None means the board's first,
    `template` is a user's own in place of the framework's. `options` is the command line, kept in tigris.lock; an
    absolute path in it is kept by its last name only, so that the project is the same wherever it is made. Regions are
    chosen by `placement.place_need` unless named.

    Raises FitError for plans that do not fit, PlanError where they cannot share an arena, UsageError for arguments
    that do not fit each other, for a folder that is not a project, and, without `force`, for generated files that were
    edited.
    """
    name = board.framework_name(framework)
    check_together(models, share_arena)
    for model in models:
        check_vectors(model.plan, model.vectors)
        planned_for = plan_backend(model.plan)
        if backend != planned_for:
            raise UsageError(f"the plan was made for the backend {planned_for}, not {backend}.")
    _check_framework(name, len(models), runtime, template)
    need = need_together(models, share_arena)
    placement = place_need(need, board, name, fast_region, slow_region)
    previous = check_project(out, force)
    files_of_runtime = runtime_files(resources.runtime_dir(), {k for model in models for k in model.plan.kernels})
    version = runtime_version(files_of_runtime)
    project = project_name(models)
    first = models[0]
    request = Request(project, first.plan, first.data, need.program, board, placement, runtime)
    context = project_context(
        models,
        board,
        name,
        placement,
        files_of_runtime.sources,
        version=version,
        surroundings=FRAMEWORKS[name].surroundings(request),
        details=FRAMEWORKS[name].details(request),
        share_arena=share_arena,
        runtime=runtime,
    )
    with _template(name, template, allow_hooks) as chosen:
        files = _files(context, files_of_runtime, chosen)
    for path, data in FRAMEWORKS[name].files(request, resources.templates_dir() / name).items():
        files.add(path, data, f"the framework {name}")
    for path, data in board.files.items():
        files.add(f"{BOARD_FILES}/{path}", data, "the board")
    files.add(EXPECTED, _expected(models, need, board.frameworks[name].stack), "the self-test")
    lock = Lock(
        tool=f"tigris-codegen {version}",
        core=project,
        models=locked_models(models),
        board=board.name,
        framework=name,
        backend=backend,
        runtime=runtime,
        options=portable_options(options),
        plan_format=FORMAT_VERSION,
        files=hashes(files.generated()),
    )
    write_project(out, files, lock, previous)
    return Project(out, tuple(lock.files), need, placement, previous is None)


def _check_framework(name: FrameworkName, models: int, runtime: RuntimeMode, template: str | None) -> None:
    """UsageError for what the framework, or its template, does not take."""
    framework = FRAMEWORKS[name]
    if models > 1 and not framework.several and template is None:
        able = [known for known, other in FRAMEWORKS.items() if other.several]
        raise UsageError(
            f"projects for {name} take one model, not {models}.",
            f"--format core, whose cores go into any firmware, or --framework {' or '.join(able)}",
        )
    if runtime not in framework.runtimes:
        able = [known for known, other in FRAMEWORKS.items() if runtime in other.runtimes]
        hint = f"frameworks with --runtime {runtime}: {', '.join(able)}" if able else "--format core takes it"
        raise UsageError(f"projects for {name} have no --runtime {runtime}.", hint)


@contextmanager
def _template(framework: FrameworkName, template: str | None, allow_hooks: bool) -> Iterator[Template]:
    """The framework's own template, or the user's."""
    if template is None:
        yield Template(resources.templates_dir() / framework, hooks=False)
        return
    with open_template(template, allow_hooks) as opened:
        yield opened


def _files(context: ProjectContext, runtime: RuntimeFiles, template: Template) -> FileSet:
    files = FileSet()
    values = {field.name: getattr(context, field.name) for field in fields(context)}
    templates = resources.templates_dir()
    for core in context.cores:
        for path, data in render(templates / "_core", {**values, "core": core}).items():
            files.add(f"{GENERATED}/core/{path}", data, f"the core {core.name}")
    if context.arena:
        for path, data in render(templates / "_arena", values).items():
            files.add(f"{GENERATED}/core/{path}", data, "the shared arena")
    for path, data in render(templates / "_common", values).items():
        files.add(path, data, "the template _common")
    for path, data in render(template.folder, values, hooks=template.hooks).items():
        files.add(path, data, f"the template {template.folder.name}")
    if context.runtime == "copy":
        for path, data in runtime.contents.items():
            files.add(f"{GENERATED}/runtime/{path}", data, "the runtime")
    return files


def _expected(models: Sequence[CoreModel], need: Need, stack_bytes: int) -> bytes:
    """Outputs and vectors of each core, and which of them each run of the self-test gives."""
    cores = [
        {
            "name": model.name,
            "tolerance": model.plan.tolerance,
            "outputs": [
                {"name": p.name, "dtype": DTYPE_NAMES[p.dtype], "shape": list(p.shape)} for p in model.plan.outputs
            ],
            "vectors": [[output.hex() for output in vector.outputs] for vector in model.vectors],
        }
        for model in models
    ]
    runs: Sequence[RunContext] = selftest_runs([len(model.vectors) for model in models])
    values = {
        "ram_bytes": need.ram,
        "stack_bytes": stack_bytes,
        "cores": cores,
        "runs": [{"core": run.core, "vector": run.vector} for run in runs],
    }
    return (json.dumps(values, indent=1, sort_keys=True) + "\n").encode()
