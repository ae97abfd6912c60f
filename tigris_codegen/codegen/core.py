"""A plan as a core: the model's C files for firmware that exists, and the runtime that the cores beside it share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tigris_codegen import resources
from tigris_codegen.codegen.context import CORE_STACK_BYTES, IN_FIRMWARE, check_core_name, core_context, plan_backend
from tigris_codegen.codegen.lock import (
    LOCK_NAME,
    CoreLock,
    Option,
    RuntimeLock,
    hashes,
    lock_bytes,
    portable_options,
    read_any_lock,
    sha256,
)
from tigris_codegen.codegen.render import render
from tigris_codegen.codegen.sources import runtime_files, runtime_version
from tigris_codegen.codegen.tree import check_folder, write_folder
from tigris_codegen.plan.codec import decode
from tigris_codegen.plan.layout import FORMAT_VERSION
from tigris_codegen.plan.plan import Plan

#: `copy`: the runtime's files go beside the core. `none`: the firmware has the runtime already.
RuntimeMode = Literal["copy", "none"]
#: The folder beside the cores. No core has this name: see `context.check_core_name`.
RUNTIME_FOLDER = "tigris_runtime"


@dataclass(frozen=True)
class Core:
    """A generated core: its folder, that of the runtime, its files, whether it is new."""

    path: Path
    runtime: Path | None
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
    """Writes the core of a plan into `out/<core_name>` and, unless `runtime` is `none`, the runtime into
    `out/tigris_runtime`, with the kernels of all cores in `out`, which share it. Nothing else in `out` is touched.

    `options` is the command line, kept in the core's tigris.lock.

    Raises PlanError for bytes that are no plan, UsageError for a name that is none, for folders of these names that
    are not ours, and, without `force`, for generated files that were edited.
    """
    plan = decode(plan_bytes)
    check_core_name(core_name)
    folder, shared = out / core_name, out / RUNTIME_FOLDER
    existed = check_folder(CoreLock, folder, force)
    if runtime == "copy":
        check_folder(RuntimeLock, shared, force)
    own = runtime_files(resources.runtime_dir(), plan.kernels)
    version = runtime_version(own)
    files = _core_files(plan, plan_bytes, core_name, runtime, version)
    lock = CoreLock(
        tool=f"tigris-codegen {version}",
        core=core_name,
        backend=plan_backend(plan),
        runtime=runtime,
        options=portable_options(options),
        plan_format=FORMAT_VERSION,
        plan_sha256=sha256(plan_bytes),
        model_hash=plan.model_hash.hex(),
        kernels=plan.kernels,
        files=hashes(files),
    )
    if runtime == "copy":
        # Before the core: it is never without its kernels.
        kernels = tuple(sorted({*plan.kernels, *_kernels_of_others(out, core_name)}))
        _write_runtime(shared, kernels, version)
    write_folder(folder, {**files, LOCK_NAME: lock_bytes(lock)})
    return Core(folder, shared if runtime == "copy" else None, tuple(lock.files), not existed)


def _core_files(plan: Plan, plan_bytes: bytes, name: str, runtime: RuntimeMode, version: str) -> dict[str, bytes]:
    values = {
        "project": name,
        "version": version,
        "backend": plan_backend(plan),
        "runtime": runtime,
        "core": core_context(plan, plan_bytes, name, IN_FIRMWARE, CORE_STACK_BYTES),
    }
    templates = resources.templates_dir()
    return dict(sorted({**render(templates / "_core", values), **render(templates / "core", values)}.items()))


def _kernels_of_others(out: Path, name: str) -> Iterable[str]:
    """Kernels of the other cores in `out` that use the runtime there. A core whose folder was deleted is forgotten."""
    for path in sorted(out.glob(f"*/{LOCK_NAME}")):
        lock = read_any_lock(path)
        if isinstance(lock, CoreLock) and lock.runtime == "copy" and path.parent.name != name:
            yield from lock.kernels


def _write_runtime(folder: Path, kernels: tuple[str, ...], version: str) -> None:
    runtime = runtime_files(resources.runtime_dir(), kernels)
    values = {"project": RUNTIME_FOLDER, "version": version, "sources": runtime.sources}
    files = {**runtime.contents, **render(resources.templates_dir() / "_runtime", values)}
    lock = RuntimeLock(f"tigris-codegen {version}", kernels, hashes(dict(sorted(files.items()))))
    write_folder(folder, {**files, LOCK_NAME: lock_bytes(lock)})
