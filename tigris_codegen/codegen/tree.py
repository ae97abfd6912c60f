"""Writing a project: all files or none, the user's never."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tigris_codegen.codegen.lock import LOCK_NAME, Lock, read_lock, sha256
from tigris_codegen.errors import TigrisError, UsageError

APP = "app"
GENERATED = "generated"


class FileSet:
    """Files of a project by relative path; a second writer of one path is an error."""

    def __init__(self) -> None:
        self._files: dict[str, bytes] = {}

    def add(self, path: str, data: bytes, writer: str) -> None:
        if path in self._files:
            raise TigrisError(f"{writer} writes {path}, which is already written.")
        self._files[path] = data

    def app(self) -> dict[str, bytes]:
        """The user's files: written once, into a new project."""
        return {p: d for p, d in sorted(self._files.items()) if p.startswith(APP + "/")}

    def generated(self) -> dict[str, bytes]:
        """Everything else: written again by each run."""
        return {p: d for p, d in sorted(self._files.items()) if not p.startswith(APP + "/")}


def check_target(out: Path, force: bool) -> Lock | None:
    """The lock of the project in `out`, None where a new one may be made; UsageError where writing would lose work."""
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is not a folder.")
    if not out.exists() or not any(out.iterdir()):
        return None
    lock = read_lock(out)
    edited = sorted(_edited(out, lock))
    if edited and not force:
        raise UsageError(
            f"{out} has generated files that were changed: {', '.join(edited)}.",
            "move the changes to app/, or use --force to lose them",
        )
    return lock


def _edited(out: Path, lock: Lock) -> Iterator[str]:
    for path, digest in lock.files.items():
        if (out / path).is_file() and sha256((out / path).read_bytes()) != digest:
            yield path
    for found in (out / GENERATED).rglob("*"):
        path = found.relative_to(out).as_posix()
        if not found.is_dir() and path not in lock.files:
            yield path


def write_project(out: Path, files: FileSet, lock: Lock, previous: Lock | None) -> None:
    """Makes `out` hold the files and the lock.

    A new project appears by one rename. In an existing one `generated/` is exchanged by a rename, the files beside it
    are replaced one by one and the lock last, so that every file is at all times wholly old or wholly new.
    """
    with _folder_beside(out) as work:
        new = work / "new"
        contents = {**files.generated(), LOCK_NAME: lock.to_bytes()}
        if previous is None:
            contents.update(files.app())
        _write(new, contents)
        if previous is None:
            if out.exists():
                out.rmdir()
            new.rename(out)
            return
        if (out / GENERATED).exists():
            (out / GENERATED).rename(work / "old")
        (new / GENERATED).rename(out / GENERATED)
        for path in contents:
            if not path.startswith(GENERATED + "/") and path != LOCK_NAME:
                (out / path).parent.mkdir(parents=True, exist_ok=True)
                os.replace(new / path, out / path)
        for path in previous.files:
            if path not in contents and not path.startswith(GENERATED + "/"):
                (out / path).unlink(missing_ok=True)
        os.replace(new / LOCK_NAME, out / LOCK_NAME)


def _write(folder: Path, contents: Mapping[str, bytes]) -> None:
    for path, data in contents.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)


@contextmanager
def _folder_beside(out: Path) -> Iterator[Path]:
    """A temporary folder on the same file system as `out`."""
    parent = out.absolute().parent
    parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=parent))
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)
