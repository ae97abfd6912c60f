"""The whole matrix, for `make test-all`: every board that can be built and emulated here runs two models.

Boards that Unicorn can be run in it, with every memory access of every inference watched, all others where they can.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tests.firmware.support import DIGITS, digit_vectors, missing_for, recorded_vectors
from tests.support import REPOSITORY, shared
from tigris_codegen.boards import Board, list_boards
from tigris_codegen.codegen import TestVector, generate_project
from tigris_codegen.emulate import emulators_of, verify_project
from tigris_codegen.pipeline import Compiled, Model

pytestmark = pytest.mark.matrix

KEYWORDS = "mlperf_kws_int8"
RUN_HERE = ("unicorn", "qemu", "native")


def pairs() -> list[tuple[Board, str]]:
    """Boards with each emulator that needs nothing but this machine."""
    return [
        (board, emulator)
        for board in list_boards()
        if {"baremetal", "posix"} & board.frameworks.keys()
        for emulator in emulators_of(board)
        if emulator in RUN_HERE
    ]


PAIRS = pairs()
IDS = [f"{board.name}-{emulator}" for board, emulator in PAIRS]


@pytest.fixture(autouse=True)
def in_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    """Headers from npm are looked for above the working folder, too."""
    monkeypatch.chdir(REPOSITORY)


@cache
def compiled(model: str) -> Compiled:
    path = DIGITS / "digits.tflite" if model == "digits" else shared(f"models/files/{model}.tflite")
    return Model(path.read_bytes(), model).smallest()


def run(model: str, vectors: list[TestVector], board: Board, emulator: str, folder: Path) -> None:
    if absent := missing_for(board):
        pytest.skip(f"missing: {', '.join(absent)}")
    made = compiled(model)
    framework = "posix" if "posix" in board.frameworks else "baremetal"
    generate_project(made.plan_bytes, board, folder, core_name="model", vectors=vectors, framework=framework)
    result = verify_project(folder, emulator)
    result.check()
    report = result.report
    assert report.outputs == tuple(v.outputs for v in vectors)
    assert report.peak_bytes == report.stated_ram_bytes == made.plan.ram_bytes
    if emulator == "unicorn":
        assert report.watch is not None
        assert (report.watch.inferences, report.watch.strays) == (2 * len(vectors), ())


@pytest.mark.parametrize(("board", "emulator"), PAIRS, ids=IDS)
def test_digits(board: Board, emulator: str, tmp_path: Path) -> None:
    run("digits", digit_vectors(1), board, emulator, tmp_path / "project")


@pytest.mark.parametrize(("board", "emulator"), PAIRS, ids=IDS)
def test_the_keyword_model(board: Board, emulator: str, tmp_path: Path) -> None:
    run(KEYWORDS, recorded_vectors(KEYWORDS)[:1], board, emulator, tmp_path / "project")
