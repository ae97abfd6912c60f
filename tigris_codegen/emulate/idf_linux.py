"""ESP-IDF's target linux: the self-test of an ESP-IDF project as a program of this machine."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from tigris_codegen.boards import Board
from tigris_codegen.emulate import tools
from tigris_codegen.emulate.native import run_program
from tigris_codegen.emulate.report import Report
from tigris_codegen.errors import MissingError, UsageError

_IDF_VARIABLE = "IDF_PATH"
_PYTHON_VARIABLE = "IDF_PYTHON_ENV_PATH"
_FOLDER = "build_linux"


class IdfLinuxEmulator:
    """Runs the self-test as a program, whatever the board: partition table, core and self-test are the board's."""

    name = "linux"

    def supports(self, board: Board) -> bool:
        return "esp-idf" in board.frameworks

    def run(self, image: Path, board: Board, core: str, timeout: float) -> Report:
        if not self.supports(board):
            raise UsageError(f"{board.name} is no board of ESP-IDF.")
        return run_program([image.resolve()], self.name, timeout)


def _idf_py() -> list[Path]:
    """How ESP-IDF's command is called: as its export script left it, or through IDF_PATH."""
    on_path = shutil.which("idf.py")
    if on_path is not None:
        return [Path(on_path)]
    root = os.environ.get(_IDF_VARIABLE)
    if root and (Path(root) / "tools" / "idf.py").is_file():
        environment = os.environ.get(_PYTHON_VARIABLE)
        python = Path(environment) / "bin" / "python" if environment else Path(shutil.which("python3") or "python3")
        return [python, Path(root) / "tools" / "idf.py"]
    raise MissingError(
        f"ESP-IDF is missing: there is no idf.py, and {_IDF_VARIABLE} does not name its folder.",
        "install ESP-IDF 5.5 or newer (https://docs.espressif.com/projects/esp-idf/en/stable/esp32/get-started) and "
        "run `. $IDF_PATH/export.sh`; its target linux needs gcc and libbsd (Debian: `apt install gcc libbsd-dev`)",
    )


def build_idf_linux(project: Path, core: str, timeout: float) -> Path:
    """Builds the self-test of an ESP-IDF project for the target linux and returns the program.

    MissingError where ESP-IDF is missing, TigrisError with its words where the build fails.
    """
    command = _idf_py()
    root = project.resolve()
    options = ["-DIDF_TARGET=linux", f"-DSDKCONFIG={_FOLDER}/sdkconfig", "-DTIGRIS_SELFTEST=1"]
    tools.run([*command, "--preview", "-B", _FOLDER, *options, "build"], root, timeout)
    return root / _FOLDER / f"{core}.elf"
