"""The C interface: statuses of every misuse, and headers that C++ takes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.format import native
from tests.format.plans import compiled

PROGRAM = Path(__file__).parent / "runtime_api.c"
#: The first record is a RUN of operator 0, whose operands fill the arena.
PLAN = ("conv_2d_3x3_same_s8", "roomy")


def assert_statuses(compiler: str, build: Path, folder: Path, *flags: str) -> None:
    """Compiles the program against a build of the runtime and runs it."""
    plan, program = folder / "plan.tgrs", folder / "runtime_api"
    plan.write_bytes(compiled(*PLAN).plan_bytes)
    sources = [PROGRAM, native.RUNTIME / "host" / "all_kernels.c", build / "libtigris_runtime.a"]
    native.run([compiler, *native.STRICT, *flags, *native.INCLUDES, *sources, "-lm", "-o", program])
    leaks_are_fine = {"ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run([program, plan], capture_output=True, text=True, timeout=60, env=leaks_are_fine)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_statuses_under_sanitizers(sanitized: Path, tmp_path: Path) -> None:
    assert_statuses(native.tool("gcc"), sanitized, tmp_path, *native.SANITIZE)


def test_statuses_with_clang(clang_build: Path, tmp_path: Path) -> None:
    assert_statuses(native.tool("clang"), clang_build, tmp_path)


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_public_headers_in_cpp(compiler: str, tmp_path: Path) -> None:
    """Each header alone, twice, then all of them."""
    headers = sorted(p.name for folder in ("include", "host") for p in (native.RUNTIME / folder).glob("*.h"))
    assert "tigris.h" in headers and "tigris_host.h" in headers
    for chosen in ([h] for h in headers):
        source = tmp_path / f"{chosen[0]}.cpp"
        source.write_text("".join(f'#include "{h}"\n' for h in (*chosen, *chosen, *headers)) + "int unused;\n")
        flags = ("-std=c++11", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-fsyntax-only")
        native.run([native.tool(compiler), *flags, *native.INCLUDES, source])
