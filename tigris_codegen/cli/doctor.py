"""The command `tigris doctor`: which tools are here, in which version, and how to get those that are not."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from importlib import metadata
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tigris_codegen.cli.common import JSON, print_json, show, stop
from tigris_codegen.emulate import find_cmsis, find_picolibc
from tigris_codegen.errors import MissingError, TigrisError
from tigris_codegen.resources import host_library
from tigris_codegen.session import load_status

LEAST_CMAKE = (3, 21)
_TIMEOUT = 20.0


@dataclass(frozen=True)
class Tool:
    """A tool: `needed` by what the demo does, `use` what for, `problem` why one that is there does not do."""

    name: str
    needed: bool
    use: str
    install: str
    version: str | None = None
    path: str | None = None
    problem: str | None = None

    @property
    def found(self) -> bool:
        return self.path is not None and self.problem is None


def _version(path: str) -> str | None:
    """The first version number that a program prints."""
    try:
        done = subprocess.run(
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    # Behind brackets, which hold a packager's name and version.
    text = re.sub(r"\([^)]*\)", "", done.stdout.decode(errors="replace"))
    match = re.search(r"\d+(?:\.\d+)+", text)
    return match[0] if match else None


def _program(tool: Tool, *names: str) -> Tool:
    """The first of these programs on the search path."""
    path = next((found for name in names or (tool.name,) if (found := shutil.which(name))), None)
    if path is None:
        return tool
    version = _version(path)
    return replace(tool, path=path, version=version, problem=None if version else "does not run")


def _cmake(tool: Tool) -> Tool:
    tool = _program(tool)
    numbers = tuple(int(n) for n in (tool.version or "0").split(".")[:2])
    least = ".".join(map(str, LEAST_CMAKE))
    return replace(tool, problem=f"older than {least}") if tool.found and numbers < LEAST_CMAKE else tool


def _newlib(tool: Tool) -> Tool:
    compiler = shutil.which("arm-none-eabi-gcc")
    if compiler is None:
        return tool
    try:
        done = subprocess.run(
            [compiler, "-print-file-name=libc_nano.a"], capture_output=True, text=True, timeout=_TIMEOUT, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return tool
    path = Path(done.stdout.strip())
    return replace(tool, path=str(path.resolve())) if path.is_absolute() else tool


def _picolibc(tool: Tool) -> Tool:
    try:
        return replace(tool, path=str(find_picolibc()))
    except TigrisError:
        return tool


def _cmsis(tool: Tool) -> Tool:
    try:
        return replace(tool, path=str(find_cmsis(Path.cwd())))
    except MissingError as error:
        # The variable is set but wrong: that is the thing to say.
        return replace(tool, problem=None if error.hint else str(error).rstrip("."))


def _host_library(tool: Tool) -> Tool:
    try:
        path = str(host_library())
    except MissingError:
        return tool
    try:
        load_status(b"")  # loads the library
    except MissingError as error:
        return replace(tool, path=path, problem=str(error))
    return replace(tool, path=path)


def _package(tool: Tool) -> Tool:
    """A Python package in this environment."""
    try:
        found = metadata.distribution(tool.name)
    except metadata.PackageNotFoundError:
        return tool
    return replace(tool, version=found.version, path=str(found.locate_file("")))


_TOOLS: tuple[tuple[Tool, Callable[[Tool], Tool]], ...] = (
    (
        Tool("host library", True, "tigris run, and the self-test's expected outputs", "install tigris-codegen again"),
        _host_library,
    ),
    (
        Tool("cc", False, "build the host library when Tigris is installed", "apt install gcc libc6-dev"),
        lambda tool: _program(tool, "cc", "gcc"),
    ),
    (Tool("clang", False, "the runtime's tests and its fuzz target", "apt install clang"), _program),
    (Tool("cmake", True, "build projects", "pip install cmake, or apt install cmake"), _cmake),
    (
        Tool("ninja", True, "build projects (or make)", "pip install ninja, or apt install ninja-build"),
        lambda tool: _program(tool, "ninja", "make"),
    ),
    (Tool("arm-none-eabi-gcc", True, "compile for Cortex-M", "apt install gcc-arm-none-eabi"), _program),
    (Tool("newlib", True, "C library for Cortex-M", "apt install libnewlib-arm-none-eabi"), _newlib),
    (
        Tool(
            "CMSIS-Core",
            True,
            "headers for Cortex-M",
            "npm install @xpack-3rd-party/arm-cmsis-core in the project's folder or above it, or set CMSIS_CORE_ROOT",
        ),
        _cmsis,
    ),
    (Tool("qemu-system-arm", True, "emulate whole boards", "apt install qemu-system-arm"), _program),
    (
        Tool("riscv64-unknown-elf-gcc", False, "compile for RISC-V", "apt install gcc-riscv64-unknown-elf"),
        _program,
    ),
    (Tool("picolibc", False, "C library for RISC-V", "apt install picolibc-riscv64-unknown-elf"), _picolibc),
    (Tool("qemu-system-riscv32", False, "emulate the RISC-V board", "apt install qemu-system-misc"), _program),
    (Tool("unicorn", False, "emulate a board's own image", "pip install unicorn"), _package),
    (Tool("node", False, "npm runs on it", "apt install nodejs"), _program),
    (Tool("npm", False, "install the CMSIS-Core headers", "apt install npm"), _program),
    (
        Tool("tflite-micro", False, "the oracle of the tests and the demo", "pip install --pre tflite-micro"),
        _package,
    ),
)


def examine() -> tuple[Tool, ...]:
    """Every tool as it is on this machine."""
    with ThreadPoolExecutor() as pool:
        return tuple(pool.map(lambda entry: entry[1](entry[0]), _TOOLS))


@click.command(short_help="Which tools are here, and how to get the others.")
@JSON
def doctor(as_json: bool) -> None:
    """Lists the tools that Tigris uses, found and missing, with how to install each.

    Exit code 0 where all that the demo needs is there, else 4.

    \b
    Example:
      tigris doctor
    """
    tools = examine()
    missing = [tool for tool in tools if tool.needed and not tool.found]
    answer = {"ok": not missing, "tools": [{**asdict(tool), "found": tool.found} for tool in tools]}
    if not as_json:
        show(lambda console: _print_tools(console, tools))
    elif not missing:
        print_json(answer)
    if missing:
        names = ", ".join(tool.name for tool in missing)
        stop(MissingError(f"needed and not here: {names}", "install them as the list says"), answer)


def _print_tools(console: Console, tools: tuple[Tool, ...]) -> None:
    table = Table("", "tool", "version", "for", box=None, header_style="bold", padding=(0, 2, 0, 0), pad_edge=False)
    for tool in tools:
        mark = Text("ok", "green") if tool.found else Text("missing", "red") if tool.needed else Text("-", "dim")
        use = Text(tool.use)
        if not tool.found:
            use.append(f"\n{tool.problem}" if tool.problem else "")
            use.append(f"\n-> {tool.install}")
        table.add_row(mark, tool.name, tool.version or "", use)
    console.print(table)
    console.print("\nA tool marked - is only needed for what its line says.", highlight=False)
