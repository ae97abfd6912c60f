"""Every core type: QEMU's machines and, where Unicorn knows the core, the same image with every access watched.

What another architecture could get wrong is tried on each: its start-up, its faults, its clock, its alignment.
"""

from __future__ import annotations

import itertools
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from unicorn.unicorn_const import UC_HOOK_CODE, UC_HOOK_MEM_READ, UC_HOOK_MEM_WRITE

from tests.corpus import expectations
from tests.firmware import handmade
from tests.firmware.support import DIGITS, digit_vectors, make_project, missing_for, recorded_vectors
from tests.support import REPOSITORY, shared
from tigris_codegen.boards import Board, list_boards, load_board
from tigris_codegen.codegen import TestVector
from tigris_codegen.emulate import VerifyResult, build, emulators_of, run_qemu, unicorn, verify_project
from tigris_codegen.emulate.cores import CORES
from tigris_codegen.emulate.elf import Range, read_image
from tigris_codegen.errors import MissingError, TigrisError
from tigris_codegen.pipeline import Compiled, Model
from tigris_codegen.plan.plan import Plan
from tigris_codegen.report.stack import MEASURED

#: All machines but those on which tests/firmware/test_models.py runs more models.
MACHINES = [b for b in list_boards() if b.emulators.qemu and "baremetal" in b.frameworks and b.soc.core != "cortex-m7"]
ONE_OF_EACH = list({board.soc.core: board for board in MACHINES}.values())
BOTH = [board for board in MACHINES if "unicorn" in emulators_of(board)]
#: Of other kinds than the Cortex-M4: without aligned-anywhere accesses, and not Arm.
ODD = ("microbit", "qemu-riscv32")
KEYWORDS = "mlperf_kws_int8"

#: Boards of nowhere: cores of version 6 with SysTick, which the boards that we have do not show.
BOARD_OF_NOWHERE = """name = "nowhere"
title = "A board of nowhere"
soc = "nowhere"
clock_hz = 25_000_000
[console]
uart = "uart0"
baud = 115200
"""
SOC_OF_NOWHERE = """name = "nowhere"
title = "A SoC of nowhere"
core = "{core}"
fpu = "none"
dsp = false
mve = false
icache = false
dcache = false
interrupts = 8
priority_bits = 2
sources = ["nothing"]
memory = [
    {{ name = "flash", base = 0x00000000, size = 0x00040000, kind = "flash" }},
    {{ name = "ram", base = 0x20000000, size = 0x00008000, kind = "ram" }},
]
[frameworks.baremetal]
program = "flash"
data = "ram"
stack = 2048
takes = {{ flash = 0x10000, ram = 1024 }}
[uarts.uart0]
driver = "cmsdk"
base = 0x40004000
transmit = {{ address = 0x40004000 }}
[emulators.unicorn]
"""


@pytest.fixture(autouse=True)
def in_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    """Headers from npm are looked for above the working folder, too."""
    monkeypatch.chdir(REPOSITORY)


@cache
def digits() -> Compiled:
    return Model((DIGITS / "digits.tflite").read_bytes(), "digits").smallest()


@cache
def keywords() -> Compiled:
    return Model(shared(f"models/files/{KEYWORDS}.tflite").read_bytes(), KEYWORDS).smallest()


def need(board: Board) -> Board:
    """Skips, visibly, where the board's tools are missing."""
    if absent := missing_for(board):
        pytest.skip(f"missing: {', '.join(absent)}")
    return board


def project_of(board: Board, folder: Path, plan: Plan | None = None, vectors: list[TestVector] | None = None) -> Path:
    """A project of that plan, or of a handmade one."""
    return make_project(
        folder / "p",
        need(board),
        plan or handmade.lookup_plan(),
        vectors or handmade.lookup_vectors(1),
        framework="baremetal",
    )


def check(result: VerifyResult, plan: Plan, vectors: list[TestVector]) -> None:
    result.check()
    assert result.report.outputs == tuple(v.outputs for v in vectors)
    assert result.report.peak_bytes == result.report.stated_ram_bytes == plan.ram_bytes
    assert 0 < result.report.stack_bytes <= result.expectation.stack_bytes
    # What `analyze` states is held against what is measured.
    assert result.report.stack_bytes <= MEASURED.get(result.board.soc.core, result.report.stack_bytes)


def in_kernel(project: Path, statement: str) -> None:
    """Puts a statement before the lookup kernel's last one."""
    path = project / "generated/runtime/src/kernels/lookup_s8.c"
    before, name, body = path.read_text().partition("tigris_status_t tigris_k_lookup_s8(")
    assert "return TIGRIS_OK;" in body
    path.write_text(before + name + body.replace("return TIGRIS_OK;", f"{statement}\n    return TIGRIS_OK;", 1))


def in_start_up(project: Path, statement: str) -> None:
    path = project / "app/board_clock.c"
    assert "    return" in path.read_text()
    path.write_text(path.read_text().replace("    return", f"    {statement}\n    return", 1))


def test_every_core_type_that_unicorn_knows_has_a_board_here() -> None:
    boards = {b.soc.core for b in list_boards() if "baremetal" in b.frameworks and "unicorn" in emulators_of(b)}
    assert boards | {"cortex-m0plus"} == CORES.keys()
    assert {b.soc.core for b in BOTH} | {"cortex-m55"} == {b.soc.core for b in MACHINES}


@pytest.mark.parametrize("board", ONE_OF_EACH, ids=lambda board: board.name)
def test_digits_in_qemu_and_watched_in_unicorn(board: Board, tmp_path: Path) -> None:
    plan, vectors = digits().plan, digit_vectors(2)
    project = project_of(board, tmp_path, plan, vectors)
    qemu = verify_project(project, "qemu")
    check(qemu, plan, vectors)
    assert run_qemu(build(project), board) == qemu.report, "a run under -icount is the same each time"
    assert qemu.report.instructions is not None
    if board not in BOTH:
        return
    watched = verify_project(project, "unicorn")
    check(watched, plan, vectors)
    assert watched.report.watch is not None
    assert (watched.report.watch.inferences, watched.report.watch.strays) == (2 * len(vectors), ())
    assert (watched.report.stack_bytes, watched.report.log.count("\n")) == (
        qemu.report.stack_bytes,
        qemu.report.log.count("\n"),
    )
    count = watched.report.instructions
    # QEMU counts the clock's own start and stop, and instructions whose condition fails; only Thumb-2 has those.
    most = 1.03 if CORES[board.soc.core].it_blocks else 1.0
    assert count is not None
    assert count <= qemu.report.instructions <= most * count + 40


@pytest.mark.parametrize("board", ONE_OF_EACH, ids=lambda board: board.name)
def test_the_keyword_model(board: Board, tmp_path: Path) -> None:
    plan, vectors = keywords().plan, recorded_vectors(KEYWORDS)
    check(verify_project(project_of(board, tmp_path, plan, vectors), "qemu"), plan, vectors)


@pytest.mark.parametrize("core", ["cortex-m0", "cortex-m0plus"])
def test_cores_of_version_6_with_systick(core: str, tmp_path: Path) -> None:
    (tmp_path / "soc").mkdir()
    (tmp_path / "nowhere.toml").write_text(BOARD_OF_NOWHERE)
    (tmp_path / "soc" / "nowhere.toml").write_text(SOC_OF_NOWHERE.format(core=core))
    board = load_board(str(tmp_path / "nowhere.toml"))
    plan, vectors = handmade.lookup_plan(), handmade.lookup_vectors()
    project = project_of(board, tmp_path, plan, vectors)
    result = verify_project(project)
    check(result, plan, vectors)
    assert result.report.watch is not None and result.report.watch.strays == ()
    assert result.report.instructions == result.report.ticks > handmade.TENSOR_BYTES
    assert ("SCB->VTOR" in (project / "generated/platform/device.h").read_text()) == (core == "cortex-m0plus")
    assert "BusFault" not in (project / "generated/platform/entry.c").read_text()


@pytest.mark.parametrize("board", [b for b in MACHINES if b.soc.core in ("cortex-m0", "cortex-m55", "riscv32")])
def test_floats_and_the_c_librarys_functions(board: Board, tmp_path: Path) -> None:
    case = "chain_conv_global_average_pool_softmax_f32"
    compiled = Model((expectations.DATA / f"{case}.tflite").read_bytes(), case).smallest()
    assert "softmax_f32" in compiled.plan.kernels
    with np.load(expectations.DATA / "chains.npz") as arrays:
        vectors = [
            TestVector(
                (arrays[expectations.key(case, "in", 0, n)].tobytes(),),
                (arrays[expectations.key(case, "out", 0, n)].tobytes(),),
            )
            for n in range(expectations.SETS)
        ]
    verify_project(project_of(board, tmp_path, compiled.plan, vectors), "qemu").check()


def test_the_vector_unit_is_compiled_for(tmp_path: Path) -> None:
    image = build(project_of(load_board("mps3-an547"), tmp_path))
    said = subprocess.run(["arm-none-eabi-readelf", "-A", image], check=True, capture_output=True, text=True).stdout
    assert "Tag_MVE_arch: MVE Integer and FP" in said


@pytest.mark.parametrize("name", ODD)
def test_a_fault_is_told(name: str, tmp_path: Path) -> None:
    board = load_board(name)
    project = project_of(board, tmp_path)
    in_start_up(project, '__asm volatile(".2byte %s");' % ("0xde00" if board.architecture == "arm" else "0, 0"))
    image = build(project)
    with pytest.raises(TigrisError, match="an exception that nothing handles"):
        run_qemu(image, board, timeout=60)
    with pytest.raises(TigrisError, match=r"failed under Unicorn at .*board_clock_init"):
        verify_project(project, "unicorn")


def test_an_unaligned_access_is_a_fault_where_the_core_has_none(tmp_path: Path) -> None:
    """In QEMU; Unicorn lets it pass."""
    board = load_board("microbit")
    project = project_of(board, tmp_path)
    in_kernel(project, "(void)*(volatile uint32_t *)((uintptr_t)call->input[0].data | 1u);")
    with pytest.raises(TigrisError, match="an exception that nothing handles"):
        run_qemu(build(project), board, timeout=60)


def unaligned(board: Board, image_path: Path) -> list[tuple[int, int]]:
    """Accesses of the first inference, address and size, that are not aligned to their size."""
    found: list[tuple[int, int]] = []
    machine: Any = unicorn._Machine(read_image(image_path), board, time.monotonic() + 60)
    assert machine.run_to(machine.image.symbol("digits_run"))

    def see(uc: Any, kind: int, address: int, size: int, value: int, data: object) -> None:
        if address % size:
            found.append((address, size))

    machine.uc.hook_add(UC_HOOK_MEM_READ | UC_HOOK_MEM_WRITE, see)
    assert machine.run_to(machine.return_address())
    return found


@pytest.mark.parametrize("case", ["chain_conv_reshape_fully_connected_f32", "chain_broadcast_chain_s8"])
def test_risc_v_needs_no_unaligned_access(case: str, tmp_path: Path) -> None:
    board = load_board("qemu-riscv32")
    compiled = Model((expectations.DATA / f"{case}.tflite").read_bytes(), case).smallest()
    ports = compiled.plan.inputs, compiled.plan.outputs
    vector = TestVector(*(tuple(bytes(port.bytes) for port in side) for side in ports))
    assert unaligned(board, build(project_of(board, tmp_path, compiled.plan, [vector]))) == []


def test_an_unaligned_access_on_risc_v_is_seen(tmp_path: Path) -> None:
    board = load_board("qemu-riscv32")
    project = project_of(board, tmp_path)
    in_kernel(project, "(void)*(volatile uint32_t *)((uintptr_t)call->input[0].data | 1u);")
    image = build(project)
    arena = read_image(image).symbol("__tigris_fast_start")
    assert {address for address, _ in unaligned(board, image)} == {arena + 1}


@pytest.mark.parametrize("name", ODD)
def test_a_write_behind_the_arena_is_named(name: str, tmp_path: Path) -> None:
    board, plan = load_board(name), handmade.lookup_plan()
    project = project_of(board, tmp_path, plan)
    in_kernel(project, f"*((volatile uint8_t *)call->input[0].data + {plan.fast_bytes + 99}) = 1u;")
    watch = verify_project(project, "unicorn").report.watch
    address = read_image(build(project)).symbol("__tigris_fast_start") + plan.fast_bytes + 99
    assert watch is not None
    assert {(s.kind, s.address, s.function.partition("+")[0]) for s in watch.strays} == {
        ("write", address, "tigris_k_lookup_s8")
    }


def _seen(counter: Iterator[int], *_: Any) -> None:
    next(counter)


@pytest.mark.parametrize("name", ODD)
def test_instructions_are_counted_exactly(name: str, tmp_path: Path) -> None:
    board = load_board(name)
    image = read_image(build(project_of(board, tmp_path)))
    counts = []
    for way in ("slices", "hook"):
        machine: Any = unicorn._Machine(image, board, time.monotonic() + 60)
        assert machine.run_to(image.symbol("digits_run"))
        end = machine.return_address()
        if way == "slices":
            counts.append(machine._count(end, (Range(board.region("ram").base, board.region("ram").end),)))
        else:
            seen = itertools.count()
            machine.uc.hook_add(UC_HOOK_CODE, partial(_seen, seen))
            assert machine.run_to(end)
            counts.append(next(seen))
        assert machine._pc == end
    assert counts[0] == counts[1] > handmade.TENSOR_BYTES


@pytest.mark.parametrize("board", MACHINES, ids=lambda board: board.name)
def test_the_memory_is_as_large_as_the_board_file_says(board: Board, tmp_path: Path) -> None:
    """The self-test paints the whole arena, which fills the board's last region."""
    plan = handmade.lookup_plan()
    region, room = list(board.arena_regions("baremetal").items())[-1]
    plan = replace(
        plan, fast_bytes=room - (plan.workspace_bytes if region == board.frameworks["baremetal"].data else 0)
    )
    vectors = handmade.lookup_vectors(1)
    make_project(tmp_path / "p", need(board), plan, vectors, "baremetal", fast_region=region)
    verify_project(tmp_path / "p", "qemu").check()


def test_a_missing_toolchain_for_risc_v_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = project_of(load_board("qemu-riscv32"), tmp_path)
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    for program in ("cmake", "ninja"):
        (tmp_path / "bin" / program).write_text("#!/bin/sh\n")
        (tmp_path / "bin" / program).chmod(0o755)
    with pytest.raises(MissingError, match="riscv64-unknown-elf-gcc is missing") as error:
        build(project)
    assert "gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf" in str(error.value.hint)
    (tmp_path / "bin" / "riscv64-unknown-elf-gcc").write_text("#!/bin/sh\necho picolibc.specs\n")
    (tmp_path / "bin" / "riscv64-unknown-elf-gcc").chmod(0o755)
    with pytest.raises(MissingError, match="picolibc, the C library for RISC-V, is missing") as error:
        build(project)
    with pytest.raises(MissingError, match="qemu-system-riscv32 is missing") as error:
        run_qemu(project / "x.elf", load_board("qemu-riscv32"))
    assert error.value.exit_code == 4
