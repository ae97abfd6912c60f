"""Boards' own images in Unicorn, every access of every inference watched; and that each thing this proves can fail."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from unicorn.unicorn_const import UC_HOOK_CODE

from tests.firmware import handmade
from tests.firmware.support import DIGITS, digit_vectors, missing
from tests.support import REPOSITORY
from tigris_codegen.boards import Board, load_board
from tigris_codegen.codegen import TestVector, generate_project
from tigris_codegen.emulate import VerifyResult, build, run_qemu, unicorn, verify_project
from tigris_codegen.emulate.elf import Range, read_image
from tigris_codegen.errors import TigrisError, UsageError
from tigris_codegen.pipeline import Compiled, Model
from tigris_codegen.plan.codec import encode
from tigris_codegen.plan.plan import Plan

pytestmark = pytest.mark.skipif(bool(missing()), reason=f"missing: {', '.join(missing())}")

#: One of each core that no machine of QEMU stands for in `test_cores.py`.
UNICORN_BOARDS = [load_board(name) for name in ("nucleo-h7", "nucleo-f446re", "nucleo-u5")]
Make = Callable[..., Path]


@pytest.fixture(autouse=True)
def in_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    """Headers from npm are looked for above the working folder, too."""
    monkeypatch.chdir(REPOSITORY)


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Generates a project of a handmade plan into a fresh folder."""

    def generate(board: str, plan: Plan, vectors: list[TestVector]) -> Path:
        out = tmp_path / board
        generate_project(encode(plan), load_board(board), out, core_name="digits", vectors=vectors)
        return out

    return generate


@cache
def digits() -> Compiled:
    return Model((DIGITS / "digits.tflite").read_bytes(), "digits").smallest()


def replace_in(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def in_kernel(project: Path, statement: str) -> None:
    """Puts a statement before the lookup kernel's last one."""
    path = project / "generated/runtime/src/kernels/lookup_s8.c"
    text = path.read_text()
    body = text.index("tigris_status_t tigris_k_lookup_s8(")
    assert "return TIGRIS_OK;" in text[body:]
    path.write_text(text[:body] + text[body:].replace("return TIGRIS_OK;", f"{statement}\n    return TIGRIS_OK;", 1))


def strays(result: VerifyResult) -> set[tuple[str, int, str]]:
    assert result.report.watch is not None
    return {(s.kind, s.address, s.function.partition("+")[0]) for s in result.report.watch.strays}


@pytest.mark.parametrize("board", UNICORN_BOARDS, ids=[b.name for b in UNICORN_BOARDS])
def test_digits_on_the_boards_own_memory_map(board: Board, tmp_path: Path) -> None:
    vectors = digit_vectors(2)
    generate_project(digits().plan_bytes, board, tmp_path / "p", core_name="digits", vectors=vectors)
    result = verify_project(tmp_path / "p")
    result.check()
    report = result.report
    assert (report.emulator, report.machine) == ("Unicorn", board.soc.name)
    assert report.outputs == tuple(v.outputs for v in vectors)
    assert report.peak_bytes == report.stated_ram_bytes == digits().plan.ram_bytes
    assert report.watch is not None
    assert (report.watch.inferences, report.watch.strays) == (2 * len(vectors), ())
    # More than SysTick's 24 bits hold: its interrupt was taken.
    assert report.instructions is not None
    assert report.instructions == report.ticks > 1 << 24


def test_a_posix_program(tmp_path: Path) -> None:
    vectors = digit_vectors(10)
    generate_project(digits().plan_bytes, load_board("posix"), tmp_path / "p", core_name="digits", vectors=vectors)
    result = verify_project(tmp_path / "p")
    result.check()
    report = result.report
    assert (report.emulator, report.instructions, report.watch) == ("native", None, None)
    assert report.outputs == tuple(v.outputs for v in vectors)
    assert report.peak_bytes == digits().plan.ram_bytes
    assert report.ticks > 0


@pytest.mark.skipif(bool(missing("qemu-system-arm")), reason="missing: qemu-system-arm")
def test_unicorn_and_qemu_agree(make: Make) -> None:
    plan, vectors = handmade.lookup_plan(), handmade.lookup_vectors()
    project = make("mps2-an386", plan, vectors)
    result = verify_project(project, "unicorn")
    result.check()
    qemu = run_qemu(project / "build/emulate/digits_selftest.elf", load_board("mps2-an386"))
    assert result.report.outputs == qemu.outputs == tuple(v.outputs for v in vectors)
    assert (result.report.peak_bytes, result.report.stack_bytes) == (qemu.peak_bytes, qemu.stack_bytes)
    # QEMU counts the clock's own start and stop, and instructions whose condition fails.
    assert result.report.instructions is not None and qemu.instructions is not None
    assert result.report.instructions <= qemu.instructions <= 1.03 * result.report.instructions + 40


def test_a_board_that_is_no_machine_of_an_emulator(make: Make) -> None:
    project = make("nucleo-f446re", handmade.lookup_plan(), handmade.lookup_vectors(1))
    with pytest.raises(UsageError, match="qemu cannot be the board nucleo-f446re") as error:
        verify_project(project, "qemu")
    assert error.value.hint == "what can: unicorn"


@pytest.mark.parametrize("board", ["nucleo-h7", "nucleo-f446re"])
def test_floats(make: Make, board: str) -> None:
    verify_project(make(board, handmade.clamp_plan(0.0), [handmade.clamp_vector()])).check()


def test_a_project_remembers_its_board(tmp_path: Path) -> None:
    folder = tmp_path / "boards"
    folder.mkdir()
    own = """name = "mine"
title = "Mine"
soc = "nrf52840"
[console]
uart = "uarte0"
baud = 1000000
tx = { port = "p1", pin = 2 }
"""
    (folder / "mine.toml").write_text(own)
    project = tmp_path / "p"
    vectors = handmade.lookup_vectors(1)
    generate_project(
        handmade.lookup_bytes(), load_board(str(folder / "mine.toml")), project, core_name="digits", vectors=vectors
    )
    (folder / "mine.toml").unlink()
    result = verify_project(project)
    result.check()
    assert result.board.title == "Mine"


@pytest.mark.parametrize("distance", [0, 99, 5000])
def test_a_write_behind_the_arena_is_named(make: Make, distance: int) -> None:
    plan = handmade.lookup_plan()
    project = make("nucleo-f446re", plan, handmade.lookup_vectors(1))
    in_kernel(
        project, f"*((volatile uint8_t *)call->input[0].data + {plan.fast_bytes + distance}) = call->input[0].data[0];"
    )
    result = verify_project(project)
    image = read_image(build(project))
    address = image.symbol("__tigris_fast_start") + plan.fast_bytes + distance
    assert strays(result) == {("write", address, "tigris_k_lookup_s8")}
    assert any(f"write of 1 bytes at 0x{address:08x}" in d and "(tigris_k_lookup_s8" in d for d in result.differences)


def test_an_access_that_begins_inside_and_ends_outside_is_seen(make: Make) -> None:
    plan = handmade.lookup_plan()
    project = make("nucleo-f446re", plan, handmade.lookup_vectors(1))
    in_kernel(project, f"(void)*(volatile uint32_t *)(uintptr_t)(call->input[0].data + {plan.fast_bytes - 2});")
    end = read_image(build(project)).symbol("__tigris_fast_start") + plan.fast_bytes
    assert strays(verify_project(project)) == {("read", end - 2, "tigris_k_lookup_s8")}


@pytest.mark.parametrize(
    ("statement", "kind", "place"),
    [
        ("(void)*(volatile uint32_t *)0x40021000u;", "read", 0x40021000),
        ("*(volatile uint32_t *)0xE000E014u = 5u;", "write", 0xE000E014),
        ("extern uint32_t SystemCoreClock; (void)*(volatile uint32_t *)&SystemCoreClock;", "read", "SystemCoreClock"),
        ("*(volatile uint32_t *)0x08000100u = 0u;", "write", 0x08000100),
    ],
    ids=["peripheral", "core-register", "variable", "code"],
)
def test_other_memory_is_not_an_inferences_own(make: Make, statement: str, kind: str, place: int | str) -> None:
    project = make("nucleo-f446re", handmade.lookup_plan(), handmade.lookup_vectors(1))
    in_kernel(project, f"{{ {statement} }}")
    image = read_image(build(project))
    address = image.symbol(place) if isinstance(place, str) else place
    assert strays(verify_project(project)) == {(kind, address, "tigris_k_lookup_s8")}


def test_an_access_to_nothing_is_a_fault(make: Make) -> None:
    project = make("nucleo-f446re", handmade.lookup_plan(), handmade.lookup_vectors(1))
    in_kernel(project, "(void)*(volatile uint32_t *)0x90000000u;")
    with pytest.raises(
        TigrisError, match=r"failed under Unicorn at .*tigris_k_lookup_s8.*it read 0x90000000, where nucleo-f446re"
    ):
        verify_project(project)


def test_an_undefined_instruction_is_a_fault(make: Make) -> None:
    project = make("nucleo-f446re", handmade.lookup_plan(), handmade.lookup_vectors(1))
    replace_in(project / "app/board_clock.c", "    return", '    __asm volatile("udf #0");\n    return')
    with pytest.raises(TigrisError, match=r"failed under Unicorn at .*board_clock_init"):
        verify_project(project)


@pytest.mark.parametrize("where", ["outside", "inside"])
def test_a_program_that_does_not_end_is_stopped(make: Make, where: str) -> None:
    project = make("nucleo-f446re", handmade.lookup_plan(), handmade.lookup_vectors(1))
    endless = "for (volatile int i = 0; i == 0;) {\n    }"
    if where == "outside":
        replace_in(project / "app/board_clock.c", "    return", f"    {endless}\n    return")
    else:
        in_kernel(project, endless)
    with pytest.raises(TigrisError, match="did not end in time under Unicorn"):
        verify_project(project, timeout=2)


def test_a_wrong_expectation_fails(make: Make) -> None:
    vectors = handmade.lookup_vectors(1)
    wrong = bytes([vectors[0].outputs[0][0] ^ 1]) + vectors[0].outputs[0][1:]
    result = verify_project(make("nrf52840dk", handmade.lookup_plan(), [TestVector(vectors[0].inputs, (wrong,))]))
    assert not result.report.passed
    assert not result.ok


def test_an_image_without_the_cores_variables_proves_nothing(make: Make) -> None:
    project = make("nucleo-f446re", handmade.lookup_plan(), handmade.lookup_vectors(1))
    image = build(project)
    with pytest.raises(TigrisError, match="no symbol other_run"):
        unicorn.UnicornEmulator().run(image, load_board("nucleo-f446re"), "other", 60)
    text = project / "not.elf"
    text.write_text("no image")
    with pytest.raises(TigrisError, match="cannot be read as an ELF image"):
        unicorn.UnicornEmulator().run(text, load_board("nucleo-f446re"), "digits", 60)


def count_by_hook(machine: Any, end: int) -> int:
    """How many instructions an inference takes, one call each."""
    seen: list[int] = []
    hook = machine.uc.hook_add(UC_HOOK_CODE, lambda uc, address, size, data: seen.append(address))
    machine.uc.ctl_flush_tb()
    machine._run(end)
    machine.uc.hook_del(hook)
    return len(seen)


@pytest.mark.parametrize("slices", [(1 << 20, 1 << 12), (64, 7), (3,)])
def test_instructions_are_counted_exactly(make: Make, monkeypatch: pytest.MonkeyPatch, slices: tuple[int, ...]) -> None:
    project = make("nucleo-f446re", handmade.lookup_plan(), handmade.lookup_vectors(1))
    board, image = load_board("nucleo-f446re"), read_image(build(project))
    monkeypatch.setattr(unicorn, "_SLICES", slices)
    counts = []
    for way in ("slices", "hook"):
        machine = unicorn._Machine(image, board, time.monotonic() + 60)
        assert machine.run_to(image.symbol("digits_run"))
        end = machine.return_address()
        own = (Range(0x20000000, 0x20020000),)
        counts.append(machine._count(end, own) if way == "slices" else count_by_hook(machine, end))
        assert machine._pc == end
    assert counts[0] == counts[1] > handmade.TENSOR_BYTES


def test_holes_are_what_ranges_leave() -> None:
    ranges = unicorn._merged(
        [Range(0x100, 0x200), Range(0x40, 0x50), Range(0x180, 0x300), Range(0x50, 0x60), Range(5, 5)]
    )
    assert ranges == [Range(0x40, 0x60), Range(0x100, 0x300)]
    assert unicorn._holes(ranges) == [Range(0, 0x40), Range(0x59, 0x100), Range(0x2F9, 1 << 32)]
    assert unicorn._holes([Range(0, 1 << 32)]) == []
    assert unicorn._covered(0x2FC, 0x300, ranges)
    assert not unicorn._covered(0x2FD, 0x301, ranges)
