"""Cores in somebody else's firmware: two of them in one binary, in C and C++, as CMake targets and as plain files."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.firmware import handmade
from tests.foreign.support import FIRMWARE, Models, need, run, write_cores
from tests.support import REPOSITORY
from tigris_codegen.codegen import generate_core
from tigris_codegen.codegen.context import CORE_STACK_BYTES
from tigris_codegen.plan.codec import encode

STRICT = ("-Wall", "-Wextra", "-Wconversion", "-Werror")
COMPILERS = {"gcc": "g++", "clang": "clang++"}


def c_files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.c"))


def includes(models: Path, *cores: str) -> list[str]:
    folders = [*cores, "tigris_runtime/include", "tigris_runtime/src"]
    return [f"-I{models / folder}" for folder in folders]


@pytest.mark.parametrize("compiler", COMPILERS)
def test_two_cores_as_plain_files(tmp_path: Path, models: Models, compiler: str) -> None:
    cxx = COMPILERS[compiler]
    need(compiler, cxx)
    cores = tmp_path / "models"
    write_cores(models, cores, cores)
    (tmp_path / "vectors.h").write_text(models.vectors)
    flags = [*STRICT, *includes(cores, "digits", "adder"), f"-I{FIRMWARE}", f"-I{tmp_path}"]
    run(
        compiler,
        "-c",
        "-O1",
        "-std=c99",
        "-ffp-contract=off",
        *flags,
        *c_files(cores),
        FIRMWARE / "main.c",
        cwd=tmp_path,
    )
    run(cxx, "-c", "-std=c++11", *flags, FIRMWARE / "score.cpp", cwd=tmp_path)
    run(cxx, "-o", "firmware", *sorted(tmp_path.glob("*.o")), "-lm", cwd=tmp_path)
    assert run(tmp_path / "firmware") == models.printed


@pytest.mark.parametrize("apart", [False, True], ids=["one-folder", "two-folders"])
def test_two_cores_as_cmake_targets(tmp_path: Path, models: Models, apart: bool) -> None:
    need("cmake", "ninja", "cc", "c++")
    digits = tmp_path / "the models"
    adder = tmp_path / "more models" if apart else digits
    write_cores(models, digits, adder)
    (tmp_path / "vectors.h").write_text(models.vectors)
    build = tmp_path / "build"
    folders = [f"-DDIGITS={digits / 'digits'}", f"-DADDER={adder / 'adder'}", f"-DVECTORS={tmp_path}"]
    run("cmake", "-S", FIRMWARE, "-B", build, "-G", "Ninja", *folders)
    run("ninja", "-C", build)
    assert run(build / "firmware") == models.printed
    if apart:
        header = adder / "tigris_runtime/tigris_runtime.cmake"
        header.write_text(header.read_text().replace(" 0.", " 9."))
        done = subprocess.run(["cmake", build], capture_output=True, text=True)
        assert done.returncode != 0 and "generate all cores with one version" in done.stderr


def test_the_arena_costs_no_flash_and_the_linker_script_may_place_it(tmp_path: Path, models: Models) -> None:
    need("gcc", "readelf")
    generate_core(models.digits.plan_bytes, tmp_path, core_name="digits")
    run("gcc", "-c", *includes(tmp_path, "digits"), *c_files(tmp_path / "digits"), cwd=tmp_path)
    headers = run("readelf", "-SW", tmp_path / "digits.o", tmp_path / "digits_plan.o")
    sections = {name: (kind, int(size, 16)) for name, kind, size in re.findall(SECTION, headers)}
    assert sections[".bss.tigris_fast"] == ("NOBITS", models.digits.plan.fast_bytes)
    assert sections[".rodata.tigris_plan"] == ("PROGBITS", len(models.digits.plan_bytes))


#: Name, type and size in readelf's list of sections.
SECTION = r"\] (\.\S+)\s+(\S+)\s+[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+)"


def test_a_second_run_is_refused_while_one_is_under_way(tmp_path: Path, models: Models) -> None:
    need("gcc")
    generate_core(models.digits.plan_bytes, tmp_path, core_name="digits")
    kernel = f"tigris_k_{models.digits.plan.kernels[0]}"
    flags = ["-std=c99", *STRICT, f"-DKERNEL={kernel}", f"-Wl,--wrap={kernel}", "-pthread"]
    files = [*c_files(tmp_path), FIRMWARE / "busy.c"]
    run("gcc", *flags, *includes(tmp_path, "digits"), *files, "-o", tmp_path / "busy", "-lm")
    assert run(tmp_path / "busy") == REFUSED


REFUSED = """\
early run: a pointer is NULL
init: done
run: done
run inside: a run is under way on the same memory
init inside: a run is under way on the same memory
next run: done
"""
DELAYED = """\
early init: a pointer is NULL
early run: a pointer is NULL
init: done
left: done
right: done
left 0
left 1
right 0
left 2
right 3
anew: done
left 0
right 5
behind 99
short init: the state is missing or too small
no init: the state is missing or too small
short run: the state is missing or too small
no state: the state is missing or too small
crooked: the plan, an arena, the state or the workspace is not aligned
"""


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_model_with_state_serves_two_streams(tmp_path: Path, compiler: str) -> None:
    need(compiler)
    plan = handmade.delay_plan()
    core = generate_core(encode(plan), tmp_path, core_name="delay")
    header = (core.path / "delay.h").read_text()
    stated = {m[1]: int(m[2]) for m in re.finditer(r"#define DELAY_(\w+)_BYTES (\d+)u", header)}
    assert stated["STATE"] == handmade.STATE_BYTES
    assert stated["RAM"] == plan.ram_bytes == 3 * handmade.STATE_BYTES + stated["WORKSPACE"]
    assert "delay_run(" not in header + (core.path / "delay.c").read_text()
    files = [*c_files(tmp_path), FIRMWARE / "delay.c"]
    run(compiler, "-std=c99", *STRICT, *includes(tmp_path, "delay"), *files, "-o", tmp_path / "program", "-lm")
    assert run(tmp_path / "program") == DELAYED


def frames(folder: Path, name: str) -> dict[str, int]:
    """Stack of each function in a file, as GCC has written it beside the object."""
    found = {}
    for line in (folder / f"{name}.su").read_text().splitlines():
        where, size, kind = line.split("\t")
        assert kind == "static", f"the stack of {where} is not bounded"
        found[where.rsplit(":", 1)[1]] = int(size)
    return found


@pytest.mark.parametrize("optimize", ["-O2", "-Os"])
def test_no_kernel_takes_more_stack_than_a_core_states(tmp_path: Path, optimize: str) -> None:
    need("arm-none-eabi-gcc")
    runtime = REPOSITORY / "runtime"
    kernels = c_files(runtime / "src/kernels")
    target = ["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=soft", "-std=c99", "-ffp-contract=off", optimize]
    folders = [f"-I{runtime / 'include'}", f"-I{runtime / 'src'}"]
    plan = generate_core(encode(handmade.lookup_plan()), tmp_path / "c", core_name="core_under_test")
    files: Sequence[Path] = [*kernels, runtime / "src/tigris_exec.c", plan.path / "core_under_test.c"]
    run("arm-none-eabi-gcc", "-c", "-fstack-usage", *target, *folders, f"-I{plan.path}", *files, cwd=tmp_path)
    entries = ("tigris_run", "tigris_run_with_state")
    executor = sum(size for name, size in frames(tmp_path, "tigris_exec").items() if name not in entries)
    entry = frames(tmp_path, "core_under_test")
    core = entry["core_under_test_run_with_state"] + entry.get("run", 0)
    # In each file all functions but the check, as if each called the next; 128 bytes are left to the C library.
    for kernel in kernels:
        own = sum(size for name, size in frames(tmp_path, kernel.stem).items() if not name.endswith("_check"))
        assert core + executor + own + 128 <= CORE_STACK_BYTES, kernel.stem


@pytest.mark.parametrize("cpu", ["cortex-m0", "cortex-m3", "cortex-m33"])
def test_a_core_needs_no_library_for_its_busy_flag(tmp_path: Path, models: Models, cpu: str) -> None:
    need("arm-none-eabi-gcc", "arm-none-eabi-nm")
    generate_core(models.digits.plan_bytes, tmp_path, core_name="digits")
    flags = ["-std=c99", "-O2", *STRICT, f"-mcpu={cpu}", "-mthumb"]
    run("arm-none-eabi-gcc", "-c", *flags, *includes(tmp_path, "digits"), tmp_path / "digits/digits.c", cwd=tmp_path)
    undefined = run("arm-none-eabi-nm", "-u", tmp_path / "digits.o").split()
    names = {name for name in undefined if name != "U" and not name.startswith(("tigris_", "digits_", "__aeabi_"))}
    assert names <= {"roundf", "memcpy", "memset"}
