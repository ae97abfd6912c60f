"""Plans as cores: the models' C files for firmware that exists, and the runtime that the cores beside them share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tigris_codegen import resources
from tigris_codegen.codegen.context import (
    CORE_STACK_BYTES,
    IN_FIRMWARE,
    ArenaContext,
    arena_context,
    core_context,
    plan_backend,
)
from tigris_codegen.codegen.lock import (
    LOCK_NAME,
    ArenaLock,
    CoreLock,
    LockedModel,
    Option,
    RuntimeLock,
    hashes,
    lock_bytes,
    locked_models,
    portable_options,
    read_any_lock,
)
from tigris_codegen.codegen.models import CoreModel, check_together
from tigris_codegen.codegen.render import render
from tigris_codegen.codegen.sources import RuntimeMode, runtime_files, runtime_version
from tigris_codegen.codegen.tree import check_folder, write_folder
from tigris_codegen.errors import UsageError
from tigris_codegen.plan.layout import FORMAT_VERSION

#: The folder beside the cores. No core has this name: see `names.check_core_name`.
RUNTIME_FOLDER = "tigris_runtime"


@dataclass(frozen=True)
class Core:
    """A generated core: its folder, those of the runtime and of the shared arena, its files, whether it is new."""

    path: Path
    runtime: Path | None
    arena: Path | None
    files: tuple[str, ...]
    created: bool


def generate_core(
    plan_bytes: bytes,
    out: Path,
    *,
    core_name: str,
    runtime: RuntimeMode = "copy",
    options: Mapping[str, Option] | None = None,
    force: bool = False,
) -> Core:
    """`generate_cores` for one plan."""
    model = CoreModel.decoded(core_name, plan_bytes)
    return generate_cores([model], out, runtime=runtime, options=options, force=force)[0]


def generate_cores(
    models: Sequence[CoreModel],
    out: Path,
    *,
    share_arena: bool = False,
    runtime: RuntimeMode = "copy",
    options: Mapping[str, Option] | None = None,
    force: bool = False,
) -> tuple[Core, ...]:
    """Writes the core of each model into `out/<name>` and, unless `runtime` is `none`, the runtime into
    `out/tigris_runtime`, with the kernels of all cores in `out`, which share it. Nothing else in `out` is touched.

    With `share_arena` the arena of all goes into `out/<names>_arena`. `options` is the command line, kept in each
    core's tigris.lock.

    Raises UsageError for names that cannot be together, for folders of these names that are not ours, and, without
    `force`, for generated files that were edited; PlanError where the plans cannot share an arena.
    """
    if runtime == "module":
        raise UsageError("a core is built by the firmware, which may have the runtime already.", "--runtime none")
    check_together(models, share_arena)
    arena = arena_context(models, IN_FIRMWARE) if share_arena else None
    shared = out / RUNTIME_FOLDER
    existed = [check_folder(CoreLock, out / model.name, force) for model in models]
    if arena:
        check_folder(ArenaLock, out / arena.name, force)
    if runtime == "copy":
        check_folder(RuntimeLock, shared, force)
    kernels = sorted({kernel for model in models for kernel in model.plan.kernels})
    version = runtime_version(runtime_files(resources.runtime_dir(), kernels))
    # What a core needs comes before it: it is never without its kernels or its arena.
    if runtime == "copy":
        others = _kernels_of_others(out, {model.name for model in models})
        _write_runtime(shared, tuple(sorted({*kernels, *others})), version)
    if arena:
        _write_arena(out / arena.name, arena, version)
    made = []
    for model, was_there in zip(models, existed, strict=True):
        lock = _write_core(out / model.name, model, arena, runtime, version, locked_models(models), options)
        made.append(
            Core(
                path=out / model.name,
                runtime=shared if runtime == "copy" else None,
                arena=out / arena.name if arena else None,
                files=tuple(lock.files),
                created=not was_there,
            )
        )
    return tuple(made)


def _write_core(
    folder: Path,
    model: CoreModel,
    arena: ArenaContext | None,
    runtime: RuntimeMode,
    version: str,
    models: tuple[LockedModel, ...],
    options: Mapping[str, Option] | None,
) -> CoreLock:
    backend = plan_backend(model.plan)
    values = {
        "project": model.name,
        "version": version,
        "backend": backend,
        "runtime": runtime,
        "core": core_context(model, IN_FIRMWARE, CORE_STACK_BYTES, arena=arena),
    }
    templates = resources.templates_dir()
    files = dict(sorted({**render(templates / "_core", values), **render(templates / "core", values)}.items()))
    lock = CoreLock(
        tool=f"tigris-codegen {version}",
        core=model.name,
        models=models,
        backend=backend,
        runtime=runtime,
        arena=arena.name if arena else "",
        options=portable_options(options),
        plan_format=FORMAT_VERSION,
        kernels=model.plan.kernels,
        files=hashes(files),
    )
    write_folder(folder, {**files, LOCK_NAME: lock_bytes(lock)})
    return lock


def _write_arena(folder: Path, arena: ArenaContext, version: str) -> None:
    values = {"project": arena.name, "version": version, "arena": arena}
    templates = resources.templates_dir()
    files = dict(sorted({**render(templates / "_arena", values), **render(templates / "arena", values)}.items()))
    lock = ArenaLock(f"tigris-codegen {version}", arena.users, hashes(files))
    write_folder(folder, {**files, LOCK_NAME: lock_bytes(lock)})


def _kernels_of_others(out: Path, names: set[str]) -> Iterable[str]:
    """Kernels of the other cores in `out` that use the runtime there. A core whose folder was deleted is forgotten."""
    for path in sorted(out.glob(f"*/{LOCK_NAME}")):
        lock = read_any_lock(path)
        if isinstance(lock, CoreLock) and lock.runtime == "copy" and path.parent.name not in names:
            yield from lock.kernels


def _write_runtime(folder: Path, kernels: tuple[str, ...], version: str) -> None:
    runtime = runtime_files(resources.runtime_dir(), kernels)
    values = {"project": RUNTIME_FOLDER, "version": version, "sources": runtime.sources}
    files = {**runtime.contents, **render(resources.templates_dir() / "_runtime", values)}
    lock = RuntimeLock(f"tigris-codegen {version}", kernels, hashes(dict(sorted(files.items()))))
    write_folder(folder, {**files, LOCK_NAME: lock_bytes(lock)})
