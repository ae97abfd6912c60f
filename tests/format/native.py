"""Compiling the runtime: flags, compilers that may be absent, and one sanitized build that the tests share."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support import REPOSITORY

RUNTIME = REPOSITORY / "runtime"
SOURCES = sorted([*RUNTIME.glob("src/*.c"), *RUNTIME.glob("src/kernels/*.c")])
HOST_SOURCES = sorted(RUNTIME.glob("host/*.c"))
INCLUDES = ("-I", str(RUNTIME / "include"), "-I", str(RUNTIME / "src"), "-I", str(RUNTIME / "host"))
STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-ffp-contract=off")
SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def tool(name: str) -> str:
    """The path of a program; skips the calling test where it is absent."""
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed")
    return path


def run(command: Sequence[str | Path], environment: dict[str, str] | None = None, cwd: Path | None = None) -> str:
    """What the command prints; the test fails with its messages where it fails."""
    done = subprocess.run(
        [str(c) for c in command],
        capture_output=True,
        text=True,
        timeout=600,
        cwd=cwd,
        env={**os.environ, **(environment or {})},
    )
    assert done.returncode == 0, f"{' '.join(map(str, command[:3]))} ... gave {done.returncode}:\n{done.stderr[-4000:]}"
    return done.stdout


def can_sanitize(compiler: str, folder: Path) -> bool:
    """Whether the compiler's sanitizer libraries are there."""
    source = folder / "empty.c"
    source.write_text("int main(void) { return 0; }\n")
    command = [compiler, *SANITIZE, str(source), "-o", str(folder / "empty")]
    return subprocess.run(command, capture_output=True).returncode == 0


def cmake_build(folder: Path, compiler: str, *options: str) -> Path:
    """A build of runtime/ with warnings as errors, made once for all test processes that share the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            configure = ("-G", "Ninja", f"-DCMAKE_C_COMPILER={compiler}", "-DCMAKE_BUILD_TYPE=None")
            flags = ("-DCMAKE_C_FLAGS=-O1", "-DTIGRIS_WERROR=ON")
            run([tool("cmake"), "-S", RUNTIME, "-B", folder / "build", *configure, *flags, *options])
            run([tool("ninja"), "-C", folder / "build"])
            (folder / "done").touch()
    return folder / "build"
