"""The runtime's files that a plan links: the core, the plan's kernels and what those include, nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tigris_codegen.errors import MissingError, TigrisError

#: `copy`: the runtime's files are among the generated ones. `none`: the firmware that a core goes into has the runtime.
#: `module`: the framework has it, as its module, component or library.
RuntimeMode = Literal["copy", "none", "module"]
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.MULTILINE)


@dataclass(frozen=True)
class RuntimeFiles:
    """Files to copy, keyed by their path below `runtime/`, and the paths of those that are compiled, sorted."""

    contents: dict[str, bytes]
    sources: tuple[str, ...]


def runtime_files(runtime: Path, kernels: Iterable[str]) -> RuntimeFiles:
    """What firmware with these kernels is built from."""
    source_folder = runtime / "src"
    pending = sorted((runtime / "include").glob("*.h")) + sorted(source_folder.glob("*.c"))
    for kernel in kernels:
        path = source_folder / "kernels" / f"{kernel}.c"
        if not path.is_file():
            raise MissingError(f"this version of Tigris has no kernel {kernel}.")
        pending.append(path)
    taken: dict[Path, bytes] = {}
    while pending:
        path = pending.pop()
        if path in taken:
            continue
        taken[path] = path.read_bytes()
        pending += _included(path, taken[path], runtime)
    contents = {path.relative_to(runtime).as_posix(): data for path, data in taken.items()}
    return RuntimeFiles(dict(sorted(contents.items())), tuple(sorted(c for c in contents if c.endswith(".c"))))


def runtime_version(runtime: RuntimeFiles) -> str:
    """The version that the runtime's header states."""
    match = re.search(rb'#define TIGRIS_VERSION "([^"]+)"', runtime.contents["include/tigris.h"])
    if match is None:
        raise TigrisError("runtime/include/tigris.h does not define TIGRIS_VERSION.")
    return match.group(1).decode()


def _included(path: Path, text: bytes, runtime: Path) -> list[Path]:
    """The runtime's files that `text` includes, and the source file beside each such header (its definitions)."""
    found = []
    for match in _INCLUDE.finditer(text):
        name = match.group(1).decode()
        for folder in (path.parent, runtime / "src", runtime / "include"):
            header = (folder / name).resolve()
            if header.is_file() and header.is_relative_to(runtime.resolve()):
                header = runtime / header.relative_to(runtime.resolve())
                found += [header] + [s for s in (header.with_suffix(".c"),) if s.is_file()]
                break
    return found
