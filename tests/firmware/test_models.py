"""Published models as firmware in QEMU: the interpreter's recorded bytes, in exactly the RAM that was stated."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tests.firmware.support import DIGITS, digit_vectors, missing, recorded_vectors
from tests.support import REPOSITORY, shared
from tigris_codegen.boards import load_board
from tigris_codegen.codegen import TestVector, generate_project
from tigris_codegen.emulate import verify_project
from tigris_codegen.pipeline import Compiled, Model

pytestmark = pytest.mark.skipif(
    bool(missing("qemu-system-arm")), reason=f"missing: {', '.join(missing('qemu-system-arm'))}"
)

#: A Cortex-M4F and a Cortex-M7.
BOARDS = ("mps2-an386", "mps2-an500")
KEYWORDS = "mlperf_kws_int8"
MODELS = (KEYWORDS, "mlperf_vww_int8", "tflm_person_detect", "mlperf_resnet_int8", "openmv_fomo_face")


@cache
def made(model: str) -> Model:
    return Model(shared(f"models/files/{model}.tflite").read_bytes(), model)


def check(compiled: Compiled, vectors: list[TestVector], board: str, folder: Path) -> None:
    plan = compiled.plan
    assert vectors
    generate_project(compiled.plan_bytes, load_board(board), folder, core_name="model", vectors=vectors)
    result = verify_project(folder)
    result.check()
    assert result.report.outputs == tuple(v.outputs for v in vectors)
    assert result.report.stated_ram_bytes == plan.ram_bytes
    assert result.report.peak_bytes == plan.ram_bytes


@pytest.fixture(autouse=True)
def in_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    """Headers from npm are looked for above the working folder, too."""
    monkeypatch.chdir(REPOSITORY)


@pytest.mark.parametrize(
    ("model", "board"),
    [(m, BOARDS[0]) for m in MODELS]
    + [(KEYWORDS, BOARDS[1]), *(pytest.param(m, BOARDS[1], marks=pytest.mark.matrix) for m in MODELS[1:])],
)
def test_the_smallest_pool(model: str, board: str, tmp_path: Path) -> None:
    check(made(model).smallest(), recorded_vectors(model), board, tmp_path / "project")


def test_a_roomy_pool(tmp_path: Path) -> None:
    check(made(KEYWORDS).roomy(), recorded_vectors(KEYWORDS), BOARDS[1], tmp_path / "project")


@pytest.mark.parametrize("board", BOARDS)
def test_digits(board: str, tmp_path: Path) -> None:
    model = Model((DIGITS / "digits.tflite").read_bytes(), "digits")
    vectors = digit_vectors(10)
    check(model.smallest(), vectors, board, tmp_path / "project")
