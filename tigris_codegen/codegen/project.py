"""Plan + Board -> project tree."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from tigris_codegen import resources
from tigris_codegen.boards import Board
from tigris_codegen.codegen.context import ProjectContext, check_core_name, plan_backend, project_context
from tigris_codegen.codegen.frameworks import FRAMEWORKS
from tigris_codegen.codegen.frameworks.framework import Request
from tigris_codegen.codegen.lock import Lock, Option, hashes, portable_options, sha256
from tigris_codegen.codegen.placement import Placement, place
from tigris_codegen.codegen.render import render
from tigris_codegen.codegen.sources import RuntimeFiles, runtime_files, runtime_version
from tigris_codegen.codegen.tree import GENERATED, FileSet, check_project, write_project
from tigris_codegen.codegen.vectors import TestVector, check_vectors
from tigris_codegen.errors import UsageError
from tigris_codegen.plan.codec import decode
from tigris_codegen.plan.layout import FORMAT_VERSION
from tigris_codegen.plan.plan import DTYPE_NAMES, Plan

#: What the self-test must give, for the host to compare; see `emulate.verify`.
EXPECTED = f"{GENERATED}/selftest/expected.json"
#: The board as it was when the project was made: a folder of boards, see `boards.load_board`.
BOARD_FILES = f"{GENERATED}/board"


@dataclass(frozen=True)
class Project:
    """A generated project: its folder, its generated files, where the arenas are, whether it is new."""

    path: Path
    files: tuple[str, ...]
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
    fast_region: str | None = None,
    slow_region: str | None = None,
    options: Mapping[str, Option] | None = None,
    force: bool = False,
) -> Project:
    """Writes the firmware project of a plan into `out`, which is new, empty or a project made before.

    `vectors` are the self-test's inputs and expected outputs, `framework` None means the board's first. `options` is
    the command line, kept in tigris.lock; an absolute path in it is kept by its last name only, so that the project is
    the same wherever it is made. Regions are chosen by `placement.place` unless named.

    Raises PlanError for bytes that are no plan, FitError for a plan that does not fit, UsageError for arguments that do
    not fit each other, for a folder that is not a project, and, without `force`, for generated files that were edited.
    """
    plan = decode(plan_bytes)
    name = board.framework_name(framework)
    check_core_name(core_name)
    check_vectors(plan, vectors)
    planned_for = plan_backend(plan)
    if backend != planned_for:
        raise UsageError(f"the plan was made for the backend {planned_for}, not {backend}.")
    if plan.state_bytes:
        raise UsageError(f"the plan keeps {plan.state_bytes} bytes of state; projects for such plans are not made yet.")
    placement = place(plan, len(plan_bytes), board, name, fast_region, slow_region)
    previous = check_project(out, force)
    runtime = runtime_files(resources.runtime_dir(), plan.kernels)
    version = runtime_version(runtime)
    request = Request(plan, len(plan_bytes), board, placement)
    context = project_context(
        plan,
        plan_bytes,
        board,
        name,
        placement,
        vectors,
        runtime.sources,
        core_name=core_name,
        version=version,
        surroundings=FRAMEWORKS[name].surroundings(request),
        details=FRAMEWORKS[name].details(request),
    )
    files = _files(context, runtime, name)
    for path, data in FRAMEWORKS[name].files(request, resources.templates_dir() / name).items():
        files.add(path, data, f"the framework {name}")
    for path, data in board.files.items():
        files.add(f"{BOARD_FILES}/{path}", data, "the board")
    files.add(EXPECTED, _expected(plan, vectors, board.frameworks[name].stack), "the self-test")
    lock = Lock(
        tool=f"tigris-codegen {version}",
        core=core_name,
        board=board.name,
        framework=name,
        backend=backend,
        options=portable_options(options),
        plan_format=FORMAT_VERSION,
        plan_sha256=sha256(plan_bytes),
        model_hash=plan.model_hash.hex(),
        files=hashes(files.generated()),
    )
    write_project(out, files, lock, previous)
    return Project(out, tuple(lock.files), placement, previous is None)


def _files(context: ProjectContext, runtime: RuntimeFiles, framework: str) -> FileSet:
    files = FileSet()
    values = {field.name: getattr(context, field.name) for field in fields(context)}
    for path, data in render(resources.templates_dir() / "_core", values).items():
        files.add(f"{GENERATED}/core/{path}", data, "the template _core")
    for template in ("_common", framework):
        for path, data in render(resources.templates_dir() / template, values).items():
            files.add(path, data, f"the template {template}")
    for path, data in runtime.contents.items():
        files.add(f"{GENERATED}/runtime/{path}", data, "the runtime")
    return files


def _expected(plan: Plan, vectors: Sequence[TestVector], stack_bytes: int) -> bytes:
    values = {
        "ram_bytes": plan.ram_bytes,
        "stack_bytes": stack_bytes,
        "tolerance": plan.tolerance,
        "outputs": [{"name": p.name, "dtype": DTYPE_NAMES[p.dtype], "shape": list(p.shape)} for p in plan.outputs],
        "vectors": [[output.hex() for output in vector.outputs] for vector in vectors],
    }
    return (json.dumps(values, indent=1, sort_keys=True) + "\n").encode()
