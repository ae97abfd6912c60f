"""Generated projects against the copies beside this file: the file list, and a few files whole.

After a wanted change: `TIGRIS_GOLDEN=update python -m pytest tests/golden`, then read the difference before committing.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.firmware import handmade
from tigris_codegen.boards import Board, list_boards
from tigris_codegen.codegen import generate_project

HERE = Path(__file__).resolve().parent
UPDATE = os.environ.get("TIGRIS_GOLDEN") == "update"

#: Files compared whole for every board: what the board decides. Names are enough of all others.
OF_THE_BOARD = {
    "baremetal": ("generated/platform/board.h", "generated/platform/device.h", "generated/platform/linker.ld"),
    "esp-idf": ("partitions.csv", "sdkconfig.defaults*", "generated/tigris_model/linker.lf"),
    "platformio": ("platformio.ini", "generated/platformio/*"),
    "posix": (),
    "zephyr": ("boards/*.overlay", "prj.conf", "west.yml"),
}
#: Files compared whole once, for one board of the framework. Runtime files are copies, plan and vectors are data.
OF_THE_FRAMEWORK = {
    ("baremetal", "nucleo-h7"): (
        "CMakeLists.txt",
        "README.md",
        "app/board_clock.c",
        "app/main.c",
        "generated/cmake/*.cmake",
        "generated/core/digits.c",
        "generated/core/digits.h",
        "generated/platform/entry.c",
        "generated/platform/startup.c",
    ),
    ("baremetal", "microbit"): ("generated/platform/entry.c",),
    ("baremetal", "qemu-riscv32"): (
        "README.md",
        "generated/cmake/device.cmake",
        "generated/cmake/toolchain.cmake",
        "generated/platform/entry.c",
    ),
    ("zephyr", "nucleo-h7"): (
        "CMakeLists.txt",
        "Kconfig",
        "README.md",
        "app/main.c",
        "generated/platform/main.c",
        "generated/platform/platform.c",
        "sample.yaml",
    ),
    ("esp-idf", "esp32s3-devkitc"): (
        "CMakeLists.txt",
        "README.md",
        "app/CMakeLists.txt",
        "app/idf_component.yml",
        "app/main.c",
        "generated/core/digits.c",
        "generated/core/digits_plan.h",
        "generated/platform/plan.c",
        "generated/platform/platform.c",
        "generated/platform/watchdog.c",
        "generated/tigris_model/CMakeLists.txt",
        "generated/tigris_model/Kconfig",
        "generated/tigris_model/idf_component.yml",
        "pytest_digits.py",
    ),
    ("platformio", "nucleo-f446re"): (
        "README.md",
        "app/main.cpp",
        "app/platformio.ini",
        "generated/library.json",
        "generated/platform/platform.cpp",
        "test/test_selftest/test_main.cpp",
    ),
    ("platformio", "esp32s3-devkitc-psram"): (
        "CMakeLists.txt",
        "README.md",
        "app/CMakeLists.txt",
        "app/main.cpp",
        "app/sdkconfig.defaults",
        "generated/platform/platform.cpp",
        "test/test_selftest/test_main.cpp",
    ),
    ("posix", "posix"): (
        "CMakeLists.txt",
        "README.md",
        "app/main.c",
        "generated/core/digits.c",
        "generated/core/digits.h",
        "generated/platform/arenas.ld",
        "generated/platform/platform.c",
    ),
}
PROJECTS = [(board, framework) for board in list_boards() for framework in board.frameworks]


@pytest.mark.parametrize(("board", "framework"), PROJECTS, ids=[f"{b.name}-{f}" for b, f in PROJECTS])
def test_project(board: Board, framework: str, tmp_path: Path) -> None:
    made = generate_project(
        handmade.lookup_bytes(),
        board,
        tmp_path / "project",
        core_name="digits",
        vectors=handmade.lookup_vectors(),
        framework=framework,
    )
    golden = HERE / f"{board.name}-{framework}"
    whole = (*OF_THE_BOARD[framework], *OF_THE_FRAMEWORK.get((framework, board.name), ()))
    found = [path for pattern in whole for path in made.path.glob(pattern)]
    actual = {path.relative_to(made.path).as_posix(): path.read_text() for path in found}
    paths = sorted(p.relative_to(made.path).as_posix() for p in made.path.rglob("*") if p.is_file())
    actual["FILES"] = "".join(f"{path}\n" for path in paths)
    if UPDATE:
        shutil.rmtree(golden, ignore_errors=True)
        for name, text in actual.items():
            (golden / name).parent.mkdir(parents=True, exist_ok=True)
            (golden / name).write_text(text)
    stored = {p.relative_to(golden).as_posix(): p.read_text() for p in golden.rglob("*") if p.is_file()}
    assert actual == stored
