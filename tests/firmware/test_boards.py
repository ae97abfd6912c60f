"""Boards that one can buy: each builds without a warning and says what fills its memory; `test_matrix.py` runs them.

The build's report on memory is compared with the image, byte for byte; `flash` and `debug` with what pyOCD and OpenOCD
would be told.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from tests.firmware import handmade
from tests.firmware.support import make_project, missing, missing_for
from tests.support import REPOSITORY
from tigris_codegen.boards import Board, list_boards, load_board
from tigris_codegen.codegen import TestVector
from tigris_codegen.emulate import find_cmsis, verify_project
from tigris_codegen.errors import TigrisError
from tigris_codegen.plan.codec import encode
from tigris_codegen.plan.plan import Plan

pytestmark = pytest.mark.skipif(bool(missing()), reason=f"missing: {', '.join(missing())}")

#: Boards with a debug probe, so boards that exist, which Unicorn can be.
BOARDS = [b for b in list_boards() if b.probe.pyocd and "baremetal" in b.frameworks and b.emulators.unicorn]
#: One of them per SoC.
SOCS = list({b.soc.name: b for b in BOARDS}.values())
#: A board of each kind of stack guard: none but the end of the RAM (version 7 of the architecture), a limit register.
#: And a program that is locked against writing, in front of the stack.
GUARDED = ("nucleo-f446re", "nucleo-f746zg", "nucleo-u5", "qemu-riscv32")
_HEAD = re.compile(r"^  (\w+): (\d+) of (\d+) bytes, \d+ %(?:: (\d+) TOO MANY)?$")
_PART = re.compile(r"^ +(\d+)  (\S.*)$")
_ALLOCATED, _THREAD_LOCAL = 0x2, 0x400


@pytest.fixture(autouse=True)
def in_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    """Headers from npm are looked for above the working folder, too."""
    monkeypatch.chdir(REPOSITORY)


def generate(out: Path, board: Board, plan: Plan | None = None, vectors: list[TestVector] | None = None) -> Path:
    """A project of a handmade plan, or of the given one."""
    plan, vectors = plan or handmade.lookup_plan(), vectors or handmade.lookup_vectors(1)
    return make_project(out, board, plan, vectors, framework="baremetal")


def cmake(project: Path, *arguments: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
    program = shutil.which("cmake")
    assert program is not None
    environment = os.environ | {"CMSIS_CORE_ROOT": str(find_cmsis(REPOSITORY))} | ({"PATH": path} if path else {})
    return subprocess.run(
        [program, *arguments], cwd=project, env=environment, capture_output=True, text=True, check=False
    )


def build(project: Path) -> subprocess.CompletedProcess[str]:
    configured = cmake(project, "--preset", "release")
    assert configured.returncode == 0, configured.stderr
    return cmake(project, "--build", "--preset", "release", "--parallel")


@dataclass(frozen=True)
class Region:
    """What the report says of a region."""

    used: int
    size: int
    excess: int
    parts: Mapping[str, int]


def report_of(image: str, printed: str) -> dict[str, Region]:
    """The report on an image, read from what the build printed."""
    lines = printed.splitlines()
    regions: dict[str, Region] = {}
    parts: dict[str, int] = {}
    for line in lines[lines.index(f"Memory of {image}:") + 1 :]:
        if head := _HEAD.match(line):
            parts = {}
            regions[head[1]] = Region(int(head[2]), int(head[3]), int(head[4] or 0), parts)
        elif part := _PART.match(line):
            parts[part[2]] = int(part[1])
        else:
            break
    return regions


def bytes_of(path: Path, board: Board) -> dict[str, int]:
    """The bytes of an image's sections in each region; the initial values of variables are in flash, too."""
    found: dict[str, int] = {}
    with path.open("rb") as stream:
        for section in ELFFile(stream).iter_sections():
            if not section["sh_flags"] & _ALLOCATED or section["sh_flags"] & _THREAD_LOCAL or not section["sh_size"]:
                continue
            names = [r.name for r in board.memory if r.base <= section["sh_addr"] < r.end]
            names += [board.frameworks["baremetal"].program] if section.name == ".data" else []
            for name in names:
                found[name] = found.get(name, 0) + section["sh_size"]
    return found


def rounded(size: int) -> int:
    return -(-size // 4) * 4


@pytest.mark.parametrize("board", SOCS, ids=[b.name for b in SOCS])
def test_the_build_says_what_fills_the_memory(board: Board, tmp_path: Path) -> None:
    plan = handmade.lookup_plan()
    project = generate(tmp_path / "p", board, plan)
    built = build(project)
    assert built.returncode == 0, built.stdout + built.stderr
    assert "warning" not in built.stdout + built.stderr
    use = board.frameworks["baremetal"]
    for image in ("digits", "digits_selftest"):
        report = report_of(image, built.stdout)
        assert {name: region.used for name, region in report.items()} == bytes_of(
            project / f"build/release/{image}.elf", board
        )
        for name, region in report.items():
            assert region.used == sum(region.parts.values())
            assert (region.size, region.excess) == (board.region(name).size, 0)
        assert report[use.program].parts["plan"] == rounded(len(encode(plan)))
        assert report[use.data].parts["stack"] == use.stack
        arenas = sum(region.parts.get("fast arena", 0) for region in report.values())
        assert arenas == plan.fast_bytes
        assert {"runtime and kernels", "C library", "core", "application"} <= set(report[use.program].parts)


@pytest.mark.parametrize("board", ["nucleo-f446re", "nucleo-f746zg"])
def test_a_region_that_overflows_fails_the_build_and_is_explained(board: str, tmp_path: Path) -> None:
    known = load_board(board)
    use = known.frameworks["baremetal"]
    region = known.region(use.data)
    project = generate(tmp_path / "p", known)
    main = project / "app/main.c"
    text = main.read_text()
    assert "int main(void)\n{\n" in text
    main.write_text(
        text.replace(
            "int main(void)\n{\n",
            f"static volatile char too_much[{region.size}];\n\nint main(void)\n{{\n    too_much[0] = 1;\n",
        )
    )
    built = build(project)
    assert built.returncode != 0
    report = report_of("digits", built.stdout)
    assert report[region.name].parts["application"] == region.size
    assert report[region.name].excess == report[region.name].used - region.size > 0
    said = " ".join((built.stdout + built.stderr).split())
    assert f"{region.name} is {report[region.name].excess} bytes too small for what stands above" in said
    assert not (project / "build/release/digits.elf").exists()


@pytest.mark.parametrize("board", GUARDED)
def test_a_stack_that_overflows_faults(board: str, tmp_path: Path) -> None:
    if absent := missing_for(load_board(board)):
        pytest.skip(f"missing: {', '.join(absent)}")
    project = generate(tmp_path / "p", load_board(board))
    clock = project / "app/board_clock.c"
    text = clock.read_text()
    assert "uint32_t board_clock_init(void)\n{\n" in text
    deep = """static uint32_t deep(uint32_t depth)
{
    volatile uint32_t frame[64];

    frame[0] = depth;
    return depth == 0u ? 0u : deep(depth - 1u) + frame[0];
}

uint32_t board_clock_init(void)
{
    (void)deep(1000u);
"""
    clock.write_text(text.replace("uint32_t board_clock_init(void)\n{\n", deep))
    with pytest.raises(TigrisError, match=r"failed under Unicorn at .*\((deep|board_clock_init)"):
        verify_project(project, "unicorn")


# flash and debug


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder with pyOCD and OpenOCD that print what they are told."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("pyocd", "openocd"):
        (folder / name).write_text(f'#!/bin/sh\necho "{name}:" "$@"\n')
        (folder / name).chmod(0o755)
    return folder


def probe(project: Path, action: str, path: str, *settings: str) -> subprocess.CompletedProcess[str]:
    """What the targets run, without a build before it."""
    script = "generated/cmake/probe.cmake"
    arguments = (f"-DACTION={action}", "-DELF=digits.elf", "-DHEX=digits.hex", *settings, "-P", script)
    return cmake(project, *arguments, path=path)


@pytest.mark.skipif(os.name != "posix", reason="programs are shell scripts")
@pytest.mark.parametrize("board", BOARDS, ids=[b.name for b in BOARDS])
def test_what_a_probes_software_is_told(board: Board, tmp_path: Path, programs: Path) -> None:
    project = generate(tmp_path / "p", board)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    flashed = probe(project, "flash", path)
    assert flashed.stdout == f"pyocd: flash --no-wait --target {board.probe.pyocd} digits.hex\n"
    served = probe(project, "debug", path)
    assert served.stdout == f"pyocd: gdbserver --no-wait --target {board.probe.pyocd} --port 3333\n"
    assert "gdb-multiarch digits.elf" in served.stderr
    files = " ".join(f"-f {file}" for file in board.probe.openocd)
    other = probe(project, "flash", path, "-DPROBE=openocd")
    assert other.stdout == f"openocd: {files} -c program {{digits.hex}} verify reset exit\n"


@pytest.mark.skipif(os.name != "posix", reason="programs are shell scripts")
def test_flash_builds_the_application_first(tmp_path: Path, programs: Path) -> None:
    project = generate(tmp_path / "p", load_board("nucleo-f446re"))
    assert cmake(project, "--preset", "release").returncode == 0
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    flashed = cmake(project, "--build", "--preset", "release", "--target", "flash", path=path)
    assert flashed.returncode == 0, flashed.stdout + flashed.stderr
    image = project / "build/release/digits.hex"
    assert f"pyocd: flash --no-wait --target stm32f446retx {image}" in flashed.stdout
    assert image.is_file()


@pytest.mark.skipif(os.name != "posix", reason="programs are shell scripts")
def test_a_probes_software_that_is_missing_or_fails_is_named(tmp_path: Path, programs: Path) -> None:
    project = generate(tmp_path / "p", load_board("nucleo-f446re"))
    nothing = probe(project, "flash", str(tmp_path))
    assert nothing.returncode != 0
    assert "Neither is here: pyocd, openocd" in nothing.stderr
    unknown = probe(project, "flash", str(programs), "-DPROBE=jlink")
    assert unknown.returncode != 0
    (programs / "pyocd").write_text("#!/bin/sh\nexit 7\n")
    failed = probe(project, "flash", f"{programs}{os.pathsep}{os.environ['PATH']}")
    assert failed.returncode != 0
    assert "pyocd failed (7)" in failed.stderr
    assert "pyocd pack install" in failed.stderr


def test_a_board_without_a_probe_says_so(tmp_path: Path) -> None:
    project = generate(tmp_path / "p", load_board("mps2-an386"))
    answer = probe(project, "flash", os.environ["PATH"])
    assert answer.returncode != 0
    assert "names no debug probe" in " ".join(answer.stderr.split())
