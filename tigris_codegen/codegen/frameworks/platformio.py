"""PlatformIO: a project with an environment for each board of the family, the model and its runtime as a library.

PlatformIO's frameworks link with scripts of their own, so the arenas are variables, in sections whose names any such
script takes with its other variables: they lie in the framework's RAM, or where the board file's `regions` has a
section for a region.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tigris_codegen.boards import Board, list_boards
from tigris_codegen.codegen.context import PROJECT_STACK_NOTE, SurroundingsContext
from tigris_codegen.codegen.frameworks.framework import ProjectFramework, Request
from tigris_codegen.codegen.placement import Placement, place
from tigris_codegen.errors import FitError, UsageError

#: Platform -> what `platform =` says: the release whose board files were read, see `sources` there. PlatformIO's own
#: `raspberrypi` has no RP2350.
PLATFORMS: Mapping[str, str] = {
    "ststm32": "ststm32@19.6.0",
    "nordicnrf51": "nordicnrf51@9.0.0",
    "nordicnrf52": "nordicnrf52@10.11.0",
    "espressif32": "espressif32@6.13.0",
    "raspberrypi": ("https://github.com/maxgerhardt/platform-raspberrypi.git#2d445020acf8b792768a5fa5ba1870ac9607c11c"),
}
#: The frameworks of PlatformIO that the template has parts for.
ARDUINO, ESPIDF = "arduino", "espidf"
_BAUD = 115200
#: Like PlatformIO, which tells families of microcontrollers by the beginning of their names.
_FAMILY_LETTERS = 7
_BSS, _PSRAM = ".bss", ".ext_ram.bss"
#: Of the reserved stack this much is left to what runs when the self-test measures what is below.
_STACK_ABOVE = 1024
#: Where generated files of single environments are.
_FOLDER = "generated/platformio"
#: ESP-IDF's partitions in front of the application, and where flash is mapped from.
_PARTITIONS = ("nvs, data, nvs, 0x9000, 0x6000", "phy_init, data, phy, 0xf000, 0x1000")
_APPLICATION = 0x10000
_MIB = 0x100000


@dataclass(frozen=True)
class Environment:
    """A section `[env:NAME]` of platformio.ini; `options` are the lines that only some boards need."""

    name: str
    title: str
    platform: str
    board: str
    options: tuple[str, ...]


def _sections(board: Board, placed: Placement) -> tuple[str, str]:
    """The sections of the fast and of the slow arena, without the names of the arenas."""
    regions = board.frameworks["platformio"].regions
    return regions.get(placed.fast, _BSS), regions.get(placed.slow or "", _BSS)


def _surroundings(request: Request) -> SurroundingsContext:
    fast, slow = _sections(request.board, request.placement)
    return SurroundingsContext(
        f"{fast}.tigris_fast", f"{slow}.tigris_slow", ".rodata.tigris_plan", PROJECT_STACK_NOTE, hooks=True
    )


def _family(request: Request) -> Iterator[Board]:
    """The board, then those of its family on which the generated files are right and the model fits."""
    yield request.board
    use = request.board.frameworks["platformio"]
    letters = request.board.soc.name[:_FAMILY_LETTERS]
    for other in list_boards():
        theirs = other.frameworks.get("platformio")
        if theirs is None or other.name == request.board.name or other.soc.name[:_FAMILY_LETTERS] != letters:
            continue
        if (theirs.platform, theirs.sdk, theirs.stack) != (use.platform, use.sdk, use.stack):
            continue
        try:
            placed = place(request.plan, request.plan_bytes, other, "platformio")
        except FitError:
            continue
        if _sections(other, placed) == _sections(request.board, request.placement):
            yield other


def _environment(board: Board) -> Environment:
    use = board.frameworks["platformio"]
    options: tuple[str, ...] = ()
    if use.sdk == ESPIDF:
        options = (
            f"board_build.partitions = {_FOLDER}/{board.name}.csv",
            "board_build.cmake_extra_args = "
            f"-DSDKCONFIG_DEFAULTS={_FOLDER}/{board.name}.defaults;app/sdkconfig.defaults",
        )
    return Environment(board.name, board.title, PLATFORMS.get(use.platform, use.platform), use.id, options)


def _details(request: Request) -> Mapping[str, object]:
    use = request.board.frameworks["platformio"]
    if use.sdk not in (ARDUINO, ESPIDF):
        raise UsageError(
            f"{request.board.name}: projects for PlatformIO's framework {use.sdk} are not made.",
            f"the board file's frameworks.platformio.sdk may be {ARDUINO} or {ESPIDF}",
        )
    return {
        "environments": tuple(_environment(board) for board in _family(request)),
        "baud": _BAUD,
        "stack_above": _STACK_ABOVE,
        "arena_in_psram": _PSRAM in _sections(request.board, request.placement),
    }


def _partitions(board: Board) -> bytes:
    """The application has all of the flash that is left: the plan is one of its constants."""
    flash = board.region(board.frameworks["platformio"].program).size
    application = f"factory, app, factory, 0x{_APPLICATION:x}, 0x{flash - _APPLICATION:x}"
    return "\n".join(("# Name, Type, SubType, Offset, Size", *_PARTITIONS, application, "")).encode()


def _defaults(board: Board) -> bytes:
    use = board.frameworks["platformio"]
    settings = (
        f"CONFIG_ESPTOOLPY_FLASHSIZE_{board.region(use.program).size // _MIB}MB=y",
        "CONFIG_COMPILER_OPTIMIZATION_PERF=y",
        f"CONFIG_ESP_MAIN_TASK_STACK_SIZE={use.stack}",
        *use.settings,
    )
    return "\n".join((f"# What {board.title} needs.", *settings, "")).encode()


def _files(request: Request, template: Path) -> Mapping[str, bytes]:
    """ESP-IDF is configured by CMake, for each environment by files of its own."""
    if request.board.frameworks["platformio"].sdk != ESPIDF:
        return {}
    files = {
        "CMakeLists.txt": (template / "idf" / "CMakeLists.txt").read_bytes(),
        "app/CMakeLists.txt": (template / "idf" / "app.cmake").read_bytes(),
        "app/sdkconfig.defaults": (template / "idf" / "sdkconfig.defaults").read_bytes(),
    }
    for board in _family(request):
        files[f"{_FOLDER}/{board.name}.csv"] = _partitions(board)
        files[f"{_FOLDER}/{board.name}.defaults"] = _defaults(board)
    return files


FRAMEWORK = ProjectFramework(surroundings=_surroundings, details=_details, files=_files, runtimes=("copy", "module"))
