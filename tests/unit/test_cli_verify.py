"""`tigris verify`: what it answers, and that a difference is one."""

from __future__ import annotations

import json
import shutil
import zlib
from pathlib import Path

import pytest

from tests.unit.cli_support import SMALL, Result, Tigris, assert_shape
from tigris_codegen.emulate import find_cmsis
from tigris_codegen.errors import MissingError
from tigris_codegen.report.stack import MARGIN, MEASURED, stack_bytes

VERIFIED = {
    "passed": bool,
    "differences": [str],
    "board": str,
    "emulator": str,
    "machine": str,
    "ram_bytes": int,
    "peak_bytes": int,
    "stack_peak_bytes": int,
    "instructions": int,
    "ticks": int,
    "outputs": [{"name": str, "crc32": int}],
}


@pytest.fixture
def tigris(capsys: pytest.CaptureFixture[str]) -> Tigris:
    return Tigris(capsys)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the project of this module goes; skips where it cannot be built and run."""
    for program in ("arm-none-eabi-gcc", "qemu-system-arm", "cmake"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is missing")
    try:
        find_cmsis(Path.cwd())
    except MissingError as error:
        pytest.skip(str(error))
    return tmp_path_factory.mktemp("verify") / "firmware"


def assert_refused(result: Result, code: int, said: str) -> None:
    assert result.code == code
    assert said in result.err


def test_a_project_passes_then_differs(tigris: Tigris, project: Path) -> None:
    assert tigris("codegen", SMALL, "--board", "mps2-an500", "-o", project).code == 0
    expected = json.loads((project / "generated/selftest/expected.json").read_text())

    result = tigris("verify", project, "--json")
    assert result.code == 0, result.err
    answer = result.json
    assert_shape(answer, VERIFIED)
    assert answer["passed"] and not answer["differences"]
    assert answer["board"] == "mps2-an500"
    assert answer["peak_bytes"] <= answer["ram_bytes"] == expected["ram_bytes"]
    data = [bytes.fromhex(output) for output in expected["cores"][0]["vectors"][0]]
    assert [row["crc32"] for row in answer["outputs"]] == [zlib.crc32(output) for output in data]
    assert answer["instructions"] > 0
    # What `analyze` states is held against what is measured.
    stated = stack_bytes("cortex-m7")
    assert stated is not None
    assert 0 < answer["stack_peak_bytes"] <= stated

    expected["cores"][0]["vectors"][0][0] = bytes(byte ^ 1 for byte in data[0]).hex()
    (project / "generated/selftest/expected.json").write_text(json.dumps(expected))
    text = tigris("verify", project)
    assert text.code == 5
    assert text.out.splitlines()[-1] == "FAIL"
    said = [line for line in text.err.splitlines() if line.startswith("tigris: ")]
    assert said and "values differ" in said[0]
    differs = tigris("verify", project, "--json")
    assert differs.code == 5
    assert_shape(differs.json, VERIFIED)
    assert not differs.json["passed"]
    assert differs.json["error"]["kind"] == "difference"


def test_what_is_no_project(tigris: Tigris, tmp_path: Path) -> None:
    assert_refused(tigris("verify", tmp_path / "gone"), 2, "no such folder")
    assert_refused(tigris("verify", tmp_path), 2, "not a project made by tigris codegen")
    assert tigris("verify", tmp_path, "--json").json["error"]["kind"] == "usage"


def test_a_missing_tool(tigris: Tigris, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "p"
    assert tigris("codegen", SMALL, "--board", "mps2-an386", "-o", project).code == 0
    monkeypatch.setenv("PATH", "")
    result = tigris("verify", project)
    assert_refused(result, 4, "tigris: cmake is missing\n")
    assert "  -> install CMake" in result.err


def test_the_stack_is_stated_only_where_it_was_measured() -> None:
    assert stack_bytes("cortex-m4") == MEASURED["cortex-m4"] + MARGIN
    assert stack_bytes("abacus") is None
