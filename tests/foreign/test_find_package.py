"""The runtime as a library of the system: built, installed, found by somebody else's CMake project."""

from __future__ import annotations

from pathlib import Path

from tests.foreign.support import FIRMWARE, Models, need, run, write_cores
from tests.support import REPOSITORY


def test_an_installed_runtime_is_found_and_serves_two_cores(tmp_path: Path, models: Models) -> None:
    need("cmake", "ninja", "cc", "c++")
    build, prefix = tmp_path / "build", tmp_path / "the prefix"
    run("cmake", "-S", REPOSITORY / "runtime", "-B", build, "-G", "Ninja", "-DTIGRIS_WERROR=ON")
    run("cmake", "--build", build)
    run("cmake", "--install", build, "--prefix", prefix)
    cores = tmp_path / "models"
    write_cores(models, cores, cores, runtime="none")
    assert not (cores / "tigris_runtime").exists()
    (tmp_path / "vectors.h").write_text(models.vectors)
    firmware = tmp_path / "firmware"
    folders = [f"-DDIGITS={cores / 'digits'}", f"-DADDER={cores / 'adder'}", f"-DVECTORS={tmp_path}"]
    run("cmake", "-S", FIRMWARE, "-B", firmware, "-G", "Ninja", *folders, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", firmware)
    assert run(firmware / "firmware") == models.printed
