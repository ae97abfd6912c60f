"""Running programs that Tigris does not bring along."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tigris_codegen.errors import MissingError, TigrisError

#: Program -> what to install.
_INSTALL = {
    "cmake": "install CMake 3.21 or newer (`pip install cmake` or `apt install cmake`)",
    "arm-none-eabi-gcc": "install the GNU toolchain for Arm (Debian: `apt install gcc-arm-none-eabi "
    "libnewlib-arm-none-eabi`)",
    "riscv64-unknown-elf-gcc": "install the GNU toolchain for RISC-V (Debian: `apt install gcc-riscv64-unknown-elf "
    "picolibc-riscv64-unknown-elf`)",
    "qemu-system-arm": "install QEMU (Debian: `apt install qemu-system-arm`)",
    "west": "install west and what Zephyr needs beside it (`pip install west`, then "
    "https://docs.zephyrproject.org/latest/develop/getting_started)",
    "pio": "install PlatformIO Core (`pip install platformio`)",
    "renode": "install Renode 1.16.1 or newer (https://github.com/renode/renode/releases)",
    "qemu-system-riscv32": "install QEMU (Debian: `apt install qemu-system-misc`)",
}


def find(program: str) -> Path:
    """The program on the search path; MissingError with what to install."""
    path = shutil.which(program)
    if path is None:
        raise MissingError(f"{program} is missing.", _INSTALL[program])
    return Path(path)


def run(command: Sequence[str | Path], folder: Path, timeout: float) -> str:
    """Runs to the end and returns what was printed; TigrisError with it where the program fails or takes too long."""
    name = Path(command[0]).name
    try:
        done = subprocess.run(
            [str(part) for part in command],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout,
            check=False,
            text=True,
            errors="replace",
        )
    except subprocess.TimeoutExpired as error:
        raise TigrisError(f"{name} did not end within {timeout:.0f} seconds.") from error
    if done.returncode != 0:
        raise TigrisError(f"{name} failed:\n" + "\n".join(done.stdout.splitlines()[-40:]))
    return done.stdout
