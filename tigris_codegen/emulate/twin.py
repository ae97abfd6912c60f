"""A project whose own image nothing here can run, run as its twin: the same plans, vectors and runtime on a board that
an emulator can be, as bare metal.

The twin has the same core. Where no board with that core can be emulated, the project is run as a program of this
machine, whose core is another; the answer says so.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from tigris_codegen.boards import Board, FrameworkName, list_boards
from tigris_codegen.codegen import (
    CoreModel,
    Lock,
    Need,
    TestVector,
    generate_project_of,
    need_together,
    place_need,
    sha256,
)
from tigris_codegen.emulate.emulator import Emulator
from tigris_codegen.errors import FitError, UsageError

#: What the twin of a board may be run by, the best first: those that everybody has.
_EMULATORS = ("qemu", "unicorn", "native")
#: Core -> another that executes the same instructions.
_SAME_INSTRUCTIONS: Mapping[str, str] = {"cortex-m0plus": "cortex-m0"}
#: The framework of a twin and the board that is this machine.
_BARE_METAL: FrameworkName = "baremetal"
_POSIX: FrameworkName = "posix"
_ARRAY = re.compile(r"uint8_t (\w+)\[[^\]]*\][^=;]*= \{(.*?)\};", re.DOTALL)


@dataclass(frozen=True)
class Twin:
    """The board that runs in the place of another, and by what; `sentence` says how the two are related."""

    board: Board
    framework: FrameworkName
    emulator: str
    sentence: str


def models_of(project: Path, lock: Lock) -> tuple[CoreModel, ...]:
    """The models of a project, as its generated C files have them; UsageError where those were changed."""
    generated = project / "generated"
    vectors = _arrays(generated / "selftest" / "vectors.c")
    models = []
    for locked in lock.models:
        plan = _arrays(generated / "core" / f"{locked.core}_plan.c").get(f"{locked.core}_plan", b"")
        if sha256(plan) != locked.plan_sha256:
            raise UsageError(f"{project} no longer has the plan that it was made with.", "generate the project again")
        models.append(CoreModel.decoded(locked.core, plan, _vectors(locked.core, vectors)))
    return tuple(models)


def _arrays(path: Path) -> dict[str, bytes]:
    """The byte arrays that a generated C file defines, by name."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error}.", "generate the project again") from error
    return {
        match[1]: bytes(int(byte, 16) for byte in re.findall(r"0x([0-9a-f]{2})", match[2]))
        for match in _ARRAY.finditer(text)
    }


def _vectors(core: str, arrays: Mapping[str, bytes]) -> tuple[TestVector, ...]:
    found: dict[int, dict[str, dict[int, bytes]]] = {}
    for name, data in arrays.items():
        if match := re.fullmatch(rf"{core}_(\d+)_(input|output)_(\d+)", name):
            found.setdefault(int(match[1]), {}).setdefault(match[2], {})[int(match[3])] = data
    return tuple(
        TestVector(*(tuple(block for _, block in sorted(blocks.get(kind, {}).items())) for kind in ("input", "output")))
        for _, blocks in sorted(found.items())
    )


def choose_twin(board: Board, need: Need, emulators: Mapping[str, Emulator]) -> Twin:
    """The board itself where an emulator can be it, else the one with the same core and the least RAM of those on which
    the models fit. Where they fit on none, the smallest with the board's memory: Unicorn can have any.
    """
    if board.soc.core == "host":
        return _this_machine("the board itself, as a program without its framework")
    same = [other for other in (board, *list_boards()) if _emulated(other, emulators) and _same_core(other, board)]
    if not same:
        return _this_machine(
            f"no emulator here can be the core {board.soc.core}: this was another core, the machine's own"
        )
    if board in same and _fits(need, board):
        return Twin(board, _BARE_METAL, _emulated(board, emulators), "the board itself, as bare metal")
    by_size = sorted((other for other in same if other.name != board.name), key=lambda b: (_ram(b), b.name))
    core = board.soc.core
    how = f"same core, {core}" if _SAME_INSTRUCTIONS.get(core) is None else f"same instructions as {core}"
    for other in by_size:
        if _fits(need, other):
            return Twin(other, _BARE_METAL, _emulated(other, emulators), how)
    for other in by_size:
        enlarged = _with_memory_of(board, other)
        if other.emulators.unicorn is not None and _fits(need, enlarged):
            return Twin(enlarged, _BARE_METAL, "unicorn", f"{how}, with as much memory as {board.name}")
    raise UsageError(f"no board with the core {board.soc.core} that can be emulated has memory for this.")


def _this_machine(sentence: str) -> Twin:
    (board,) = (b for b in list_boards() if b.soc.core == "host")
    return Twin(board, _POSIX, "native", sentence)


def _emulated(board: Board, emulators: Mapping[str, Emulator]) -> str:
    """The emulator that runs the board's bare-metal image, empty where none can."""
    if _BARE_METAL not in board.frameworks:
        return ""
    return next((name for name in _EMULATORS if emulators[name].supports(board)), "")


def _same_core(one: Board, other: Board) -> bool:
    cores = [_SAME_INSTRUCTIONS.get(b.soc.core, b.soc.core) for b in (one, other)]
    return cores[0] == cores[1]


def _ram(board: Board) -> int:
    return sum(region.size for region in board.memory if region.kind == "ram")


def _fits(need: Need, board: Board) -> bool:
    try:
        place_need(need, board, _BARE_METAL)
    except FitError:
        return False
    return True


def _with_memory_of(board: Board, twin: Board) -> Board:
    """The twin with at least as much flash and RAM as the board, where its program and its data are."""
    use = twin.frameworks[_BARE_METAL]
    sizes = {use.program: "flash", use.data: "ram"}
    memory = tuple(
        region.model_copy(
            update={"size": max(region.size, sum(r.size for r in board.memory if r.kind == sizes[region.name]))}
        )
        if region.name in sizes
        else region
        for region in twin.memory
    )
    return replace(twin, memory=memory)


@contextmanager
def twin_project(project: Path, lock: Lock, twin: Twin) -> Iterator[Path]:
    """A project of the same models for the twin, inside the project's folder, so that the same headers are found."""
    with tempfile.TemporaryDirectory(prefix=".tigris-twin-", dir=project) as folder:
        made = Path(folder) / project.resolve().name
        generate_project_of(
            models_of(project, lock),
            twin.board,
            made,
            framework=twin.framework,
            backend=lock.backend,
            share_arena=shares_arena(lock),
        )
        yield made


def shares_arena(lock: Lock) -> bool:
    """Whether the project's cores share an arena."""
    return bool(lock.options.get("share_arena", False))


def need_of_project(project: Path, lock: Lock) -> Need:
    """The memory that the project's models need."""
    return need_together(models_of(project, lock), shares_arena(lock))


def find_twin(project: Path, lock: Lock, board: Board, emulators: Mapping[str, Emulator]) -> Twin:
    """The twin of a project for that board."""
    return choose_twin(board, need_of_project(project, lock), emulators)
