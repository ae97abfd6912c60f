"""Builds a project, runs it in an emulator and compares what it did with what was stated."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from tigris_codegen.boards import Board, load_board
from tigris_codegen.codegen.lock import Lock, read_lock
from tigris_codegen.codegen.project import BOARD_FILES, EXPECTED
from tigris_codegen.emulate.build import build
from tigris_codegen.emulate.emulator import TIMEOUT, Emulator
from tigris_codegen.emulate.idf_linux import IdfLinuxEmulator
from tigris_codegen.emulate.native import NativeEmulator
from tigris_codegen.emulate.native_sim import NativeSimEmulator
from tigris_codegen.emulate.platformio import build_platformio
from tigris_codegen.emulate.qemu import QemuEmulator
from tigris_codegen.emulate.renode import RenodeEmulator
from tigris_codegen.emulate.report import Report
from tigris_codegen.emulate.twin import Twin, find_twin, twin_project
from tigris_codegen.emulate.unicorn import UnicornEmulator
from tigris_codegen.errors import DifferenceError, MissingError, UsageError

T = TypeVar("T")

#: The first that can be the board runs it.
EMULATORS: Mapping[str, Emulator] = {
    "qemu": QemuEmulator(),
    "unicorn": UnicornEmulator(),
    "renode": RenodeEmulator(),
    "native": NativeEmulator(),
}

#: Framework -> what runs its projects, whatever their board.
FRAMEWORK_EMULATORS: Mapping[str, Emulator] = {"esp-idf": IdfLinuxEmulator(), "zephyr": NativeSimEmulator()}
#: Frameworks whose images are for nothing but the board: built, then run as the board's twin.
_ONLY_BUILT = "platformio"


@dataclass(frozen=True)
class ExpectedOutput:
    """A model output and how it is compared: `tolerance` is the largest difference of a float, 0 = equal bytes."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    tolerance: float


@dataclass(frozen=True)
class Expectation:
    """What the project says its self-test gives: per run the outputs of the core that runs, and their bytes."""

    ram_bytes: int
    stack_bytes: int
    outputs: tuple[tuple[ExpectedOutput, ...], ...]
    vectors: tuple[tuple[bytes, ...], ...]


@dataclass(frozen=True)
class VerifyResult:
    """The report, what was expected, and every difference as a sentence; `ok` without differences.

    Where the board's own image was not run, the report is that of its `twin`.
    """

    board: Board
    expectation: Expectation
    report: Report
    differences: tuple[str, ...]
    twin: Twin | None = None

    @property
    def ok(self) -> bool:
        return not self.differences

    def check(self) -> None:
        """DifferenceError unless `ok`."""
        if self.differences:
            raise DifferenceError("\n".join(self.differences))


def read_expectation(project: Path) -> Expectation:
    """The expectation recorded in a generated project."""
    try:
        values = json.loads((project / EXPECTED).read_text(encoding="utf-8"))
        cores = [
            tuple(
                ExpectedOutput(o["name"], o["dtype"], tuple(o["shape"]), float(core["tolerance"]))
                for o in core["outputs"]
            )
            for core in values["cores"]
        ]
        vectors = [
            [tuple(bytes.fromhex(output) for output in vector) for vector in core["vectors"]]
            for core in values["cores"]
        ]
        return Expectation(
            ram_bytes=int(values["ram_bytes"]),
            stack_bytes=int(values["stack_bytes"]),
            outputs=tuple(cores[run["core"]] for run in values["runs"]),
            vectors=tuple(vectors[run["core"]][run["vector"]] for run in values["runs"]),
        )
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise UsageError(f"{project / EXPECTED} cannot be read: {error}.", "generate the project again") from error


def emulators_of(board: Board) -> tuple[str, ...]:
    """The names of the emulators that can be the board; the first is used where none is named."""
    return tuple(name for name, emulator in EMULATORS.items() if emulator.supports(board))


def choose_emulator(board: Board, name: str | None, framework: str = "") -> Emulator:
    """The emulator of that name, or the board's first; UsageError where it cannot be the board.

    What a framework builds may need an emulator of its own.
    """
    if framework in FRAMEWORK_EMULATORS:
        own = FRAMEWORK_EMULATORS[framework]
        if name not in (None, own.name):
            raise UsageError(f"{name} cannot run a project for {framework}.", f"what can: {own.name}")
        return own
    able = emulators_of(board)
    if name is not None and name not in able:
        raise UsageError(
            f"{name} cannot be the board {board.name}.", "what can: " + ", ".join(able) if able else "nothing known can"
        )
    if not able:
        raise UsageError(f"no emulator can be the board {board.name}.")
    return EMULATORS[name or able[0]]


def verify_project(
    project: Path,
    emulator: str | None = None,
    *,
    twin: bool = False,
    board_folders: Sequence[Path] = (),
    timeout: float = TIMEOUT,
    stage: Callable[[str], None] = lambda _: None,
) -> VerifyResult:
    """Builds the project's self-test, runs it as its board and compares outputs and memory with the expectation.

    The board is the one recorded in the project; `board_folders` are looked in before that. `stage` hears what begins.
    A project of PlatformIO is built and then run as its twin, as is a board that no emulator can be; with `twin` any
    project is, without its framework. The result names the twin.

    Differences are in the result, not raised; MissingError for a tool, TigrisError for a build or run that fails.
    """
    lock = read_lock(project)
    board = load_board(lock.board, (*board_folders, project / BOARD_FILES))
    if twin and emulator is not None:
        raise UsageError("the twin has an emulator of its own.", "either --twin or --emulator")
    if lock.framework == _ONLY_BUILT and emulator is not None:
        raise UsageError(f"{emulator} cannot run a project for {lock.framework}.", "without --emulator its twin is run")
    nothing_can = lock.framework not in FRAMEWORK_EMULATORS and not emulators_of(board) and emulator is None
    if lock.framework == _ONLY_BUILT and not twin:
        stage(f"building {project.name}")
        _with_hint(lambda: build_platformio(project, board.name))
    if twin or nothing_can or lock.framework == _ONLY_BUILT:
        return _verify_twin(project, lock, board, timeout, stage)
    chosen = choose_emulator(board, emulator, lock.framework)
    expectation = read_expectation(project)
    stage(f"building {project.name}")
    image = _with_hint(lambda: build(project)) if lock.framework in FRAMEWORK_EMULATORS else build(project)
    stage(f"running {project.name} in {chosen.name}")
    report = chosen.run(image, board, lock.core, timeout)
    return VerifyResult(board, expectation, report, differences(expectation, report))


def _with_hint(build_it: Callable[[], T]) -> T:
    """What is missing for a framework is not needed for the twin."""
    try:
        return build_it()
    except MissingError as error:
        hint = "; ".join(filter(None, (error.hint, "or `--twin`, which runs the same models without the framework")))
        raise MissingError(str(error), hint) from error


def _verify_twin(project: Path, lock: Lock, board: Board, timeout: float, stage: Callable[[str], None]) -> VerifyResult:
    """Its outputs are those that the project expects, its stack is compared with what is reserved on the twin."""
    twin = find_twin(project, lock, board, EMULATORS)
    own = EMULATORS[twin.emulator]
    with twin_project(project, lock, twin) as made:
        expectation = replace(read_expectation(project), stack_bytes=twin.board.frameworks[twin.framework].stack)
        stage(f"building {project.name} for {twin.board.name}")
        image = build(made)
        stage(f"running {project.name} as {twin.board.name} in {own.name}")
        report = own.run(image, twin.board, lock.core, timeout)
    return VerifyResult(board, expectation, report, differences(expectation, report), twin)


def differences(expectation: Expectation, report: Report) -> tuple[str, ...]:
    """Every way in which the report is not as expected."""
    found = []
    if not report.passed:
        found.append(f"the firmware's own self-test failed: {report.failure}")
    if [run.vector for run in report.runs] != list(range(len(expectation.vectors))):
        found.append(f"{len(report.runs)} test vectors were run, not {len(expectation.vectors)}")
    for run, ports, expected in zip(report.runs, expectation.outputs, expectation.vectors, strict=False):
        if len(run.outputs) != len(expected):
            found.append(f"vector {run.vector}: {len(run.outputs)} outputs, not {len(expected)}")
            continue
        for index, (port, got, want) in enumerate(zip(ports, run.outputs, expected, strict=True)):
            difference = _difference(port, got, want)
            if difference:
                found.append(f"vector {run.vector}, output {index} ({port.name}): {difference}")
    if report.stated_ram_bytes != expectation.ram_bytes:
        found.append(f"the firmware states {report.stated_ram_bytes} bytes of RAM, the project {expectation.ram_bytes}")
    if report.peak_bytes > expectation.ram_bytes:
        found.append(f"{report.peak_bytes} bytes of RAM were used, {expectation.ram_bytes} were stated")
    if report.stack_bytes > expectation.stack_bytes:
        found.append(f"{report.stack_bytes} bytes of stack were used, {expectation.stack_bytes} are reserved")
    if report.watch is not None:
        found += [str(stray) for stray in report.watch.strays]
    return tuple(found)


def _difference(port: ExpectedOutput, got: bytes, want: bytes) -> str | None:
    if got == want:
        return None
    if len(got) != len(want):
        return f"{len(got)} bytes, not {len(want)}"
    a, b = (np.frombuffer(data, dtype=port.dtype) for data in (got, want))
    if port.dtype == "float32":
        distance = np.abs(a.astype(np.float64) - b.astype(np.float64))
        wrong = ~(distance <= port.tolerance) & (a.view(np.uint32) != b.view(np.uint32))
    else:
        wrong = a != b
    if not wrong.any():
        return None
    first = int(np.flatnonzero(wrong)[0])
    return f"{int(wrong.sum())} of {a.size} values differ, the first at {first}: {a[first]}, expected {b[first]}"
