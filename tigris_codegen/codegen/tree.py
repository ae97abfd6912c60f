"""Writing generated folders: all files or none, the user's never."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tigris_codegen.codegen.lock import (
    LOCK_NAME,
    AnyLock,
    ArenaLock,
    CoreLock,
    Lock,
    RuntimeLock,
    lock_bytes,
    read_lock_of,
    sha256,
)
from tigris_codegen.errors import TigrisError, UsageError

APP = "app"
GENERATED = "generated"
#: The lock that comes into force when the files it names are in place. Left behind, it says that a run was cut short.
NEXT_LOCK_NAME = "tigris.lock.next"


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


# Projects: `generated/` and the files beside it are ours, everything else in the folder the user's.


def check_project(out: Path, force: bool) -> tuple[Lock, ...] | None:
    """The locks of the project in `out`, None where a new one may be made; UsageError where writing would lose work.

    Two locks where the run before was cut short: each file is then as one of them says.
    """
    if not _is_used(out):
        return None
    locks: tuple[Lock, ...] = (read_lock_of(Lock, out),)
    if (out / NEXT_LOCK_NAME).exists():
        locks += (read_lock_of(Lock, out, NEXT_LOCK_NAME),)
    _refuse_edited(out, out / GENERATED, locks, force, "move the changes to app/, or use --force to lose them")
    return locks


def write_project(out: Path, files: FileSet, lock: Lock, previous: tuple[Lock, ...] | None) -> None:
    """Makes `out` hold the files and the lock.

    A new project appears by one rename. In an existing one `generated/` is exchanged by a rename and the files beside
    it are replaced one by one, between the writing of the next lock and its coming into force: wherever that is cut
    short, every file is wholly old or wholly new, and the next run knows both.
    """
    if previous is None:
        write_folder(out, {**files.generated(), **files.app(), LOCK_NAME: lock_bytes(lock)})
        return
    contents = files.generated()
    with _folder_beside(out) as work:
        new = work / "new"
        _write(new, {**contents, LOCK_NAME: lock_bytes(lock)})
        os.replace(new / LOCK_NAME, out / NEXT_LOCK_NAME)
        _exchange(new / GENERATED, out / GENERATED, work / "old")
        for path in contents:
            if not path.startswith(GENERATED + "/"):
                (out / path).parent.mkdir(parents=True, exist_ok=True)
                os.replace(new / path, out / path)
        for path in {path for lock in previous for path in lock.files}:
            if path not in contents and not path.startswith(GENERATED + "/"):
                (out / path).unlink(missing_ok=True)
        os.replace(out / NEXT_LOCK_NAME, out / LOCK_NAME)


# Folders that are ours as a whole, their lock included: a core, the runtime beside it.


def check_folder(kind: type[CoreLock] | type[ArenaLock] | type[RuntimeLock], folder: Path, force: bool) -> bool:
    """Whether such a folder is there already; UsageError where writing it would lose work."""
    if not _is_used(folder):
        return False
    lock = read_lock_of(kind, folder)
    _refuse_edited(folder, folder, (lock,), force, "keep your files elsewhere, or use --force to lose the changes")
    return True


def write_folder(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Makes `folder` hold exactly these files, by renames; where it does already, not even its times change."""
    if _is_used(folder) and _holds(folder, contents):
        return
    with _folder_beside(folder) as work:
        _write(work / "new", contents)
        _exchange(work / "new", folder, work / "old")


def _is_used(folder: Path) -> bool:
    """Whether there is anything in the folder."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is not a folder.")
    return folder.exists() and any(folder.iterdir())


def _holds(folder: Path, contents: Mapping[str, bytes]) -> bool:
    paths = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if not p.is_dir()}
    return paths == contents.keys() and all((folder / path).read_bytes() == data for path, data in contents.items())


def _refuse_edited(root: Path, owned: Path, locks: tuple[AnyLock, ...], force: bool, hint: str) -> None:
    """UsageError for files that are not as a lock says and, in the folder that is ours, for files that none names."""
    edited = sorted(_edited(root, owned, locks))
    if edited and not force:
        raise UsageError(f"{root} has generated files that were changed: {', '.join(edited)}.", hint)


def _edited(root: Path, owned: Path, locks: tuple[AnyLock, ...]) -> Iterator[str]:
    known: dict[str, set[str]] = {}
    for lock in locks:
        for path, digest in lock.files.items():
            known.setdefault(path, set()).add(digest)
    for path, digests in known.items():
        if (root / path).is_file() and sha256((root / path).read_bytes()) not in digests:
            yield path
    for found in owned.rglob("*"):
        path = found.relative_to(root).as_posix()
        if not found.is_dir() and path not in known and path != LOCK_NAME:
            yield path


def _exchange(new: Path, target: Path, old: Path) -> None:
    if target.exists():
        target.rename(old)
    new.rename(target)


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
