"""TOML files -> Board. Everything wrong with a file is one UsageError that names the file and every key."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from tigris_codegen import resources
from tigris_codegen.boards.model import Board, BoardFile, SocFile
from tigris_codegen.errors import MissingError, UsageError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]

File = TypeVar("File", bound=BaseModel)


def _folders(extra: Iterable[Path]) -> list[Path]:
    return [*extra, resources.boards_dir()]


def _names(folders: Iterable[Path]) -> list[str]:
    return sorted({path.stem for folder in folders for path in folder.glob("*.toml")})


def _find(kind: str, name: str, folders: Sequence[Path]) -> Path:
    for folder in folders:
        for path in folder.glob("*.toml"):
            if path.stem == name:
                return path
    known = _names(folders)
    near = difflib.get_close_matches(name, known, n=5, cutoff=0.4)
    raise MissingError(
        f"there is no {kind} {name}.",
        ("near names: " + ", ".join(near)) if near else f"known {kind}s: " + ", ".join(known),
    )


def _read(path: Path, form: type[File]) -> File:
    where = f"{path.parent.name}/{path.name}"
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{where}: not TOML: {error}") from error
    try:
        file = form.model_validate(values)
    except ValidationError as error:
        found = [_sentence(e["loc"], e["type"], e["msg"]) for e in error.errors()]
        raise UsageError("\n".join(f"{where}: {sentence}" for sentence in found)) from error
    if values["name"] != path.stem:
        raise UsageError(f"{where}: name: {values['name']} is not the name of the file")
    return file


def _sentence(location: tuple[int | str, ...], kind: str, message: str) -> str:
    key = ".".join(str(part) for part in location if part != "[key]")
    if kind == "extra_forbidden":
        return f"{key}: unknown key"
    if kind == "missing":
        return f"{key}: missing"
    return f"{key}: {message[0].lower()}{message[1:]}"


def _contradictions(board: BoardFile, soc: SocFile) -> list[str]:
    """What the schema cannot see: names that lead nowhere, regions that overlap, takes that exceed a region."""
    found = []
    regions = {region.name: region for region in board.memory}
    if len(regions) != len(board.memory):
        found.append("memory: two regions have one name")
    for one, other in combinations(board.memory, 2):
        if one.base < other.end and other.base < one.end:
            found.append(f"memory: {one.name} and {other.name} overlap")
    found += [f"memory: {r.name} ends behind the 32-bit address space" for r in board.memory if r.end > 1 << 32]
    if board.console.uart not in soc.uarts:
        found.append(f"console.uart: {soc.name} has no UART {board.console.uart}")
    for name, use in board.frameworks.items():
        for key, region, kind in (("program", use.program, "flash"), ("data", use.data, "ram")):
            if region not in regions:
                found.append(f"frameworks.{name}.{key}: no memory region {region}")
            elif regions[region].kind != kind:
                found.append(f"frameworks.{name}.{key}: {region} is not {kind}")
        for region, taken in use.takes.items():
            if region not in regions:
                found.append(f"frameworks.{name}.takes: no memory region {region}")
            elif taken + (use.stack if region == use.data else 0) > regions[region].size:
                found.append(f"frameworks.{name}.takes: more than the {regions[region].size} bytes of {region}")
    return found


def load_board(name: str, extra: Sequence[Path] = ()) -> Board:
    """The board of that name, looked for in the folders `extra` first, then among Tigris's own.

    Raises MissingError for an unknown board (with near names) and UsageError for a file that is wrong. A folder's SoC
    files are in its folder `soc`; a board may name a SoC of any folder.
    """
    folders = _folders(extra)
    path = _find("board", name, folders)
    board = _read(path, BoardFile)
    soc = _read(_find("SoC", board.soc, [folder / "soc" for folder in folders]), SocFile)
    wrong = _contradictions(board, soc)
    if wrong:
        raise UsageError("\n".join(f"{path.parent.name}/{path.name}: {sentence}" for sentence in wrong))
    return Board(
        name=board.name,
        title=board.title,
        soc=soc,
        clock_hz=board.clock_hz,
        flash=board.flash.strip(),
        sources=board.sources,
        memory=board.memory,
        console=board.console,
        frameworks=board.frameworks,
        emulators=board.emulators,
    )


def list_boards(extra: Sequence[Path] = ()) -> tuple[Board, ...]:
    """Every board of the folders `extra` and of Tigris, by name."""
    return tuple(load_board(name, extra) for name in _names(_folders(extra)))
