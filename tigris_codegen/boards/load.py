"""TOML files -> Board. Everything wrong with a file is one UsageError that names the file and every key."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from tigris_codegen import resources
from tigris_codegen.boards.model import Board, BoardFile, Emulators, Framework, FrameworkName, SocFile
from tigris_codegen.errors import MissingError, UsageError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]

File = TypeVar("File", bound=BaseModel)

#: Framework -> the names that it has of its own for a board, which it cannot do without.
_NAMES: Mapping[str, tuple[str, ...]] = {
    "zephyr": ("id",),
    "esp-idf": ("id",),
    "platformio": ("id", "platform", "sdk"),
}
_ALL_NAMES = ("id", "platform", "sdk")
#: Those that make programs for the machine that builds them: Zephyr has a board for it, ESP-IDF a target.
_FRAMEWORKS_OF_HOST = ("posix", "zephyr", "esp-idf")


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


def _merge(file: BoardFile, soc: SocFile, files: Mapping[str, bytes]) -> Board:
    """What the board says, what it does not say from its SoC; UsageError for what neither says."""
    clock_hz = file.clock_hz or soc.clock_hz
    memory = file.memory or soc.memory
    frameworks = _merge_frameworks(file, soc)
    if clock_hz is None or memory is None or not frameworks:
        values = {"clock_hz": clock_hz, "memory": memory, "frameworks": frameworks or None}
        absent = [key for key, value in values.items() if value is None]
        raise UsageError("\n".join(f"{key}: missing, here and in the SoC {soc.name}" for key in absent))
    return Board(
        name=file.name,
        title=file.title,
        soc=soc,
        clock_hz=clock_hz,
        flash=file.flash.strip(),
        probe=file.probe,
        sources=file.sources,
        icache=soc.icache if file.icache is None else file.icache,
        dcache=soc.dcache if file.dcache is None else file.dcache,
        memory=memory,
        console=file.console,
        frameworks=frameworks,
        emulators=Emulators(
            qemu=file.emulators.qemu,
            unicorn=soc.emulators.unicorn,
            renode=file.emulators.renode,
            native=soc.emulators.native,
        ),
        files=files,
    )


def _merge_frameworks(file: BoardFile, soc: SocFile) -> dict[FrameworkName, Framework]:
    """In the order of the SoC's file, then those that only the board names; not what only the SoC names, unfinished."""
    merged: dict[FrameworkName, Framework] = {}
    for name in dict.fromkeys([*soc.frameworks, *file.frameworks]):
        said: dict[str, Any] = {}
        for part in (soc.frameworks.get(name), file.frameworks.get(name)):
            if part is not None:
                said |= part.model_dump(exclude_none=True)
        needed = ("program", "data", "stack", "takes", *_NAMES.get(name, ()))
        absent = [key for key in needed if key not in said]
        if not absent:
            merged[name] = Framework(**said)
        elif name in file.frameworks:
            raise UsageError("\n".join(f"frameworks.{name}.{key}: missing" for key in absent))
    return merged


def _contradictions(board: Board) -> list[str]:
    """What the schema cannot see: names that lead nowhere, regions that overlap, takes that exceed a region."""
    return [
        *_of_memory(board),
        *_of_frameworks(board),
        *_of_framework_names(board),
        *_of_core(board),
        *_of_console(board),
    ]


def _of_memory(board: Board) -> Iterator[str]:
    if len({region.name for region in board.memory}) != len(board.memory):
        yield "memory: two regions have one name"
    for one, other in combinations(board.memory, 2):
        if one.base < other.end and other.base < one.end:
            yield f"memory: {one.name} and {other.name} overlap"
    for region in board.memory:
        if region.end > 1 << 32:
            yield f"memory: {region.name} ends behind the 32-bit address space"


def _of_frameworks(board: Board) -> Iterator[str]:
    regions = {region.name: region for region in board.memory}
    for name, use in board.frameworks.items():
        if name not in _FRAMEWORKS_OF_HOST if board.soc.core == "host" else name == "posix":
            yield f"frameworks.{name}: not for the core {board.soc.core}"
        for key, region, kind in (("program", use.program, "flash"), ("data", use.data, "ram")):
            if region not in regions:
                yield f"frameworks.{name}.{key}: no memory region {region}"
            elif regions[region].kind != kind:
                yield f"frameworks.{name}.{key}: {region} is not {kind}"
        for region, taken in use.takes.items():
            if region not in regions:
                yield f"frameworks.{name}.takes: no memory region {region}"
            elif taken + (use.stack if region == use.data else 0) > regions[region].size:
                yield f"frameworks.{name}.takes: more than the {regions[region].size} bytes of {region}"


def _of_framework_names(board: Board) -> Iterator[str]:
    regions = {region.name for region in board.memory}
    for name, use in board.frameworks.items():
        for key in set(_ALL_NAMES) - set(_NAMES.get(name, ())):
            if getattr(use, key):
                yield f"frameworks.{name}.{key}: {name} has no use for it"
        for region in use.regions:
            if region not in regions:
                yield f"frameworks.{name}.regions: no memory region {region}"


def _of_core(board: Board) -> Iterator[str]:
    soc = board.soc
    for cache in ("icache", "dcache"):
        if getattr(board, cache) and not getattr(soc, cache):
            yield f"{cache}: {soc.name} has none"
    if "baremetal" in board.frameworks and soc.core.startswith("cortex-m"):
        for key in ("interrupts", "priority_bits"):
            if getattr(soc, key) is None:
                yield f"{key}: missing in the SoC {soc.name}"
    if soc.isa is None and "baremetal" in board.frameworks and board.architecture == "riscv":
        yield f"isa: missing in the SoC {soc.name}"
    if soc.isa is not None and board.architecture != "riscv":
        yield f"isa: {soc.name} is no RISC-V"


def _of_console(board: Board) -> Iterator[str]:
    soc, console = board.soc, board.console
    if console is None:
        if "baremetal" in board.frameworks:
            yield "console: missing"
        return
    if console.uart not in soc.uarts:
        yield f"console.uart: {soc.name} has no UART {console.uart}"
    elif console.tx is None and soc.ports:
        yield f"console.tx: missing, {console.uart} has no pin of its own"
    if console.tx is not None and console.tx.port not in soc.ports:
        yield f"console.tx.port: {soc.name} has no port {console.tx.port}"


def load_board(name: str, extra: Sequence[Path] = ()) -> Board:
    """The board of that name, looked for in the folders `extra` first, then among Tigris's own.

    A name that ends with `.toml` is the path of a board file; its folder is then looked in first. Raises MissingError
    for an unknown board (with near names) and UsageError for a file that is wrong. A folder's SoC files are in its
    folder `soc`; a board may name a SoC of any folder.
    """
    if name.endswith(".toml"):
        path = Path(name)
        if not path.is_file():
            raise MissingError(f"there is no board file {name}.")
        folders = _folders([path.parent, *extra])
    else:
        folders = _folders(extra)
        path = _find("board", name, folders)
    file = _read(path, BoardFile)
    soc_path = _find("SoC", file.soc, [folder / "soc" for folder in folders])
    soc = _read(soc_path, SocFile)
    files = {path.name: path.read_bytes(), f"soc/{soc_path.name}": soc_path.read_bytes()}
    try:
        board = _merge(file, soc, files)
        wrong = _contradictions(board)
    except UsageError as error:
        wrong = str(error).splitlines()
    if wrong:
        raise UsageError("\n".join(f"{path.parent.name}/{path.name}: {sentence}" for sentence in wrong))
    return board


def list_boards(extra: Sequence[Path] = ()) -> tuple[Board, ...]:
    """Every board of the folders `extra` and of Tigris, by name."""
    return tuple(load_board(name, extra) for name in _names(_folders(extra)))
