"""Hostile plans in C, under sanitizers: see runtime/fuzz/README.md for the long run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.format import native
from tests.format.plans import SMALL, compiled

#: Statuses that changed plans must lead to, so that a fuzzer that never gets anywhere does not pass.
REACHED = (
    "done",
    "the plan is shorter than it says",
    "a table of the plan is inconsistent",
    "a kernel's parameters are inconsistent",
    "a record would leave its memory",
    "the schedule has a record of unknown form",
    "memory overlaps that must be apart",
)


def seeds(folder: Path) -> list[Path]:
    paths = []
    for case, budget in SMALL:
        paths.append(folder / f"{case}.{budget}.tgrs")
        paths[-1].write_bytes(compiled(case, budget).plan_bytes)
    return paths


def assert_reached(printed: str) -> None:
    counts = {text: int(number) for number, text in (line.split(" ", 1) for line in printed.splitlines())}
    for status in REACHED:
        assert counts.get(status, 0) > 0, f"no plan led to {status!r}: {printed}"
    assert counts["runs"] > 1000


def test_hostile_plans_with_gcc(sanitized: Path, tmp_path: Path) -> None:
    assert_reached(native.run([sanitized / "tigris_plan_fuzz", "500", *seeds(tmp_path)], cwd=tmp_path))


def test_hostile_plans_with_clang(shared_folder: Path, tmp_path: Path) -> None:
    clang = native.tool("clang")
    if not native.can_sanitize(clang, tmp_path):
        pytest.skip("clang's sanitizer libraries are not installed")
    options = ("-DTIGRIS_SANITIZE=ON", "-DTIGRIS_BUILD_FUZZ=ON")
    build = native.cmake_build(shared_folder / "clang", clang, *options)
    paths = seeds(tmp_path)
    assert_reached(native.run([build / "tigris_plan_fuzz", "200", *paths[:4]], cwd=tmp_path))
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for path in paths:
        path.rename(corpus / path.name)
    native.run([build / "tigris_plan_libfuzzer", "-runs=20000", "-max_len=4096", "-seed=1", corpus], cwd=tmp_path)
