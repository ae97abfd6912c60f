"""Generated projects, built with the real toolchain and run in QEMU; and that each thing they prove can fail."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.firmware import handmade
from tests.firmware.support import make_project, missing, missing_for
from tests.support import REPOSITORY
from tigris_codegen.boards import Board, list_boards, load_board
from tigris_codegen.codegen import TestVector
from tigris_codegen.emulate import VerifyResult, build, find_cmsis, run_qemu, verify_project
from tigris_codegen.errors import DifferenceError, MissingError, TigrisError
from tigris_codegen.plan.plan import Plan

QEMU_BOARDS = [board for board in list_boards() if board.emulators.qemu is not None]


pytestmark = pytest.mark.skipif(
    bool(missing("qemu-system-arm")), reason=f"missing: {', '.join(missing('qemu-system-arm'))}"
)


@pytest.fixture(autouse=True)
def in_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    """Headers from npm are looked for above the working folder, too."""
    monkeypatch.chdir(REPOSITORY)


Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Generates a project into a fresh folder whose path holds a space."""

    def generate(board: Board, plan: Plan, vectors: list[TestVector], **options: str) -> Path:
        return make_project(tmp_path / "a project", board, plan, vectors, **options)

    return generate


def replace_in(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def check_passes(result: VerifyResult, plan: Plan, vectors: list[TestVector]) -> None:
    result.check()
    assert result.report.passed
    assert result.report.outputs == tuple(v.outputs for v in vectors)
    assert result.report.peak_bytes == plan.ram_bytes
    assert 0 < result.report.stack_bytes <= result.board.frameworks["baremetal"].stack
    assert result.report.instructions is not None
    assert result.report.instructions > handmade.TENSOR_BYTES


@pytest.mark.parametrize("board", QEMU_BOARDS, ids=[b.name for b in QEMU_BOARDS])
def test_every_board_gives_the_bytes_in_the_stated_ram(make: Make, board: Board) -> None:
    if absent := missing_for(board):
        pytest.skip(f"missing: {', '.join(absent)}")
    plan, vectors = handmade.lookup_plan(), handmade.lookup_vectors()
    project = make(board, plan, vectors)
    first = verify_project(project)
    check_passes(first, plan, vectors)
    again = run_qemu(project / "build/emulate/digits_selftest.elf", board)
    assert again == first.report, "a run under -icount is the same each time"


def test_two_arenas_in_two_regions(make: Make) -> None:
    plan, vectors = handmade.lookup_plan(slow=True), handmade.lookup_vectors()
    project = make(load_board("mps2-an500"), plan, vectors, slow_region="psram")
    check_passes(verify_project(project), plan, vectors)
    symbols = subprocess.run(
        ["arm-none-eabi-nm", project / "build/emulate/digits_selftest.elf"], check=True, capture_output=True, text=True
    )
    places = {line.split()[-1]: int(line.split()[0], 16) for line in symbols.stdout.splitlines()}
    assert places["slow_arena"] == 0x60000000
    assert 0x20000000 <= places["fast_arena"] < 0x20400000
    assert places["digits_plan"] % 16 == places["fast_arena"] % 16 == 0


@pytest.mark.parametrize("slow", [False, True])
def test_a_plan_that_just_fits_links_and_runs(make: Make, slow: bool) -> None:
    board = load_board("mps2-an386")
    plan = handmade.lookup_plan(slow=slow)
    room = board.arena_regions("baremetal")["ram"] - plan.workspace_bytes - plan.slow_bytes
    plan = replace(plan, fast_bytes=room)
    project = make(board, plan, handmade.lookup_vectors(1))
    result = verify_project(project)
    result.check()
    assert result.report.peak_bytes <= plan.ram_bytes == board.arena_regions("baremetal")["ram"]


def test_the_release_build_is_warning_free_and_has_both_images(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    project = make(load_board("mps2-an386"), handmade.lookup_plan(), handmade.lookup_vectors())
    monkeypatch.setenv("CMSIS_CORE_ROOT", str(find_cmsis(REPOSITORY)))
    for command in (["cmake", "--preset", "release"], ["cmake", "--build", "--preset", "release"]):
        done = subprocess.run(command, cwd=project, check=True, capture_output=True, text=True)
        assert "warning" not in (done.stdout + done.stderr).lower()
    for image in ("digits", "digits_selftest"):
        data = (project / f"build/release/{image}.elf").read_bytes()
        assert str(project).encode() not in data
        assert (project / f"build/release/{image}.hex").exists()


def test_a_wrong_expectation_fails_on_the_device_and_on_the_host(make: Make) -> None:
    vectors = handmade.lookup_vectors()
    wrong = bytearray(vectors[1].outputs[0])
    wrong[100] ^= 0x40
    vectors[1] = TestVector(vectors[1].inputs, (bytes(wrong),))
    result = verify_project(make(load_board("mps2-an386"), handmade.lookup_plan(), vectors))
    assert not result.report.passed
    got = wrong[100] ^ 0x40
    assert result.report.failure == f"vector=1 output=0 byte=100 got=0x{got:02x} expected=0x{wrong[100]:02x}"
    assert any("vector 1, output 0 (scores): 1 of 192 values differ, the first at 100" in d for d in result.differences)
    with pytest.raises(DifferenceError):
        result.check()


def test_a_float_within_the_tolerance_passes_and_one_beyond_fails(make: Make, tmp_path: Path) -> None:
    board = load_board("mps2-an386")
    project = make(board, handmade.clamp_plan(1e-3), [handmade.clamp_vector(0.5e-3)])
    assert verify_project(project).ok
    shutil.rmtree(project)
    project = make(board, handmade.clamp_plan(1e-3), [handmade.clamp_vector(2e-3)])
    assert not verify_project(project).report.passed
    shutil.rmtree(project)
    project = make(board, handmade.clamp_plan(0.0), [handmade.clamp_vector(0.0)])
    assert verify_project(project).ok


def test_a_write_behind_the_arena_is_seen(make: Make) -> None:
    plan = handmade.lookup_plan()
    project = make(load_board("mps2-an386"), plan, handmade.lookup_vectors())
    kernel = project / "generated/runtime/src/kernels/lookup_s8.c"
    text = kernel.read_text()
    body = text.index("tigris_status_t tigris_k_lookup_s8(")
    # Whichever paint this byte equals, the other run shows it.
    stray = f"*((volatile uint8_t *)call->input[0].data + {plan.fast_bytes} + 99) = 0xA5u;"
    assert "return TIGRIS_OK;" in text[body:]
    kernel.write_text(text[:body] + text[body:].replace("return TIGRIS_OK;", f"{stray}\n    return TIGRIS_OK;", 1))
    result = verify_project(project)
    assert result.report.peak_bytes == plan.ram_bytes + 100
    assert any("bytes of RAM were used" in d for d in result.differences)


def test_a_result_that_depends_on_old_memory_fails(make: Make) -> None:
    plan = handmade.lookup_plan()
    project = make(load_board("mps2-an386"), plan, handmade.lookup_vectors())
    # The input is not written: the lookup then reads what the arena held before.
    replace_in(
        project / "generated/selftest/selftest.c", "    memcpy(digits_input_0(),", "    (void)memcmp(digits_input_0(),"
    )
    assert not verify_project(project).report.passed


def test_a_damaged_plan_is_refused_by_the_loader(make: Make) -> None:
    project = make(load_board("mps2-an386"), handmade.lookup_plan(), handmade.lookup_vectors())
    replace_in(project / "generated/core/digits_plan.c", "0x54, 0x47, 0x52, 0x53", "0x54, 0x47, 0x52, 0x54")
    report = verify_project(project).report
    assert not report.passed
    assert report.failure is not None
    assert report.failure.startswith("vector=0 status=")
    assert report.runs == ()


def test_a_fault_ends_the_run_and_is_told(make: Make) -> None:
    board = load_board("mps2-an386")
    project = make(board, handmade.lookup_plan(), handmade.lookup_vectors())
    replace_in(project / "app/board_clock.c", "    return", '    __asm volatile("udf #0");\n    return')
    image = build(project)
    with pytest.raises(TigrisError, match="an exception that nothing handles"):
        run_qemu(image, board, timeout=60)


def test_a_program_that_does_not_end_is_stopped(make: Make) -> None:
    board = load_board("mps2-an386")
    project = make(board, handmade.lookup_plan(), handmade.lookup_vectors())
    replace_in(
        project / "app/board_clock.c", "    return", "    for (volatile int i = 0; i == 0;) {\n    }\n    return"
    )
    image = build(project)
    with pytest.raises(TigrisError, match="did not end within 2 seconds"):
        run_qemu(image, board, timeout=2)


def test_a_build_that_fails_says_what_the_compiler_said(make: Make) -> None:
    project = make(load_board("mps2-an386"), handmade.lookup_plan(), handmade.lookup_vectors())
    replace_in(project / "generated/runtime/src/kernels/lookup_s8.c", "tigris_k_lookup_s8(", "tigris_k_other_s8(")
    with pytest.raises(TigrisError, match=r"undefined reference to `tigris_k_lookup_s8'"):
        build(project)


def test_missing_tools_are_named_with_what_to_install(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    project = make(load_board("mps2-an386"), handmade.lookup_plan(), handmade.lookup_vectors())
    monkeypatch.setenv("CMSIS_CORE_ROOT", str(project))
    with pytest.raises(MissingError, match="CMSIS_CORE_ROOT names"):
        build(project)
    monkeypatch.delenv("CMSIS_CORE_ROOT")
    monkeypatch.chdir("/")
    monkeypatch.setattr(sys, "prefix", str(project))
    with pytest.raises(MissingError, match="CMSIS-Core") as error:
        build(project)
    assert "npm install @xpack-3rd-party/arm-cmsis-core" in str(error.value.hint)
    monkeypatch.setenv("PATH", str(project))
    with pytest.raises(MissingError, match="cmake is missing"):
        build(project)
    with pytest.raises(MissingError, match="qemu-system-arm is missing") as error:
        run_qemu(project / "x.elf", load_board("mps2-an386"))
    assert error.value.exit_code == 4
