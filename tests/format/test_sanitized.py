"""The corpus and the digits example once more, through a host library built with sanitizers."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.corpus.cases import CASES
from tests.format import native
from tests.format.plans import compiled
from tests.support import REPOSITORY

#: Every second case: the budgets differ from case to case, so that all are there.
SAMPLE = sorted(CASES)[::2]


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the plans, made here, where Python runs at full speed."""
    folder = tmp_path_factory.mktemp("plans")
    for number, case in enumerate(SAMPLE):
        budget = ("roomy", "smallest")[number % 2]
        made = compiled(case, budget)
        (folder / f"{case}.{budget}.tgrs").write_bytes(made.plan_bytes)
    for budget in ("roomy", "smallest"):
        (folder / f"digits.{budget}.tgrs").write_bytes(compiled("digits", budget).plan_bytes)
    return folder


def test_corpus_under_sanitizers(sanitized: Path, work: Path) -> None:
    gcc = native.tool("gcc")
    library = native.run([gcc, "-print-file-name=libasan.so"]).strip()
    environment = {
        "LD_PRELOAD": library,
        "ASAN_OPTIONS": "detect_leaks=0",
        "TIGRIS_HOST_LIBRARY": str(sanitized / "libtigris_host.so"),
        "PYTHONPATH": str(REPOSITORY),
    }
    printed = native.run([sys.executable, "-m", "tests.format.run_plans", work], environment, cwd=REPOSITORY)
    assert printed.split() == [str(len(SAMPLE) + 2), "plans"]
