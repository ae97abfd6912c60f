"""ESP-IDF: the application `app`, a component with model and runtime, and the plan in a partition of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tigris_codegen.boards import Board
from tigris_codegen.codegen.context import PROJECT_STACK_NOTE, SurroundingsContext
from tigris_codegen.codegen.frameworks.framework import ProjectFramework, Request
from tigris_codegen.errors import UsageError
from tigris_codegen.plan import layout

#: The target that makes a program for the machine that builds it.
LINUX = "linux"
#: ESP-IDF from which on the template is known to work, see docs/TESTING.md, and the ESP-NN that its backend takes.
IDF_VERSION, ESP_NN_VERSION = "5.5", "1.2"
#: The component's linker fragment and, for Linux, its linker script place the sections. What the self-test watches
#: behind the fast arena follows it by name.
_SECTIONS = SurroundingsContext(
    ".tigris_fast.arena", ".tigris_slow.arena", ".rodata.tigris_plan", PROJECT_STACK_NOTE, hooks=True
)
#: Where ESP-IDF's linker script puts variables, unless the board file says otherwise of a region; its name of PSRAM.
_VARIABLES, _PSRAM = "dram0_bss", "extern_ram"
#: Partitions of applications begin and end at multiples of this; the plan's, too, as flash is mapped in such pages.
PAGE = 0x10000
#: What ESP-IDF has in front of the application: bootloader, partition table, settings, radio calibration.
_NVS, _NVS_SIZE, _PHY, _PHY_SIZE = 0x9000, 0x6000, 0xF000, 0x1000
#: A partition type of one's own: ESP-IDF leaves 0x40 to 0xFE of `data`.
PLAN_SUBTYPE = 0x40
_MIB = 0x100000
#: Sizes of flash, in MiB, that ESP-IDF knows.
_FLASH_SIZES = (1, 2, 4, 8, 16, 32, 64, 128)
_APP_AT_LEAST = _MIB


@dataclass(frozen=True)
class Partition:
    """A line of partitions.csv."""

    name: str
    type: str
    subtype: str
    offset: int
    size: int

    @property
    def line(self) -> str:
        return f"{self.name}, {self.type}, {self.subtype}, 0x{self.offset:x}, 0x{self.size:x}"


def _flash_bytes(board: Board, plan_bytes: int) -> int:
    """The board's flash; for Linux, whose flash is a file, the smallest of at least 4 MiB that is enough."""
    use = board.frameworks["esp-idf"]
    if use.id == LINUX:
        need = PAGE + _APP_AT_LEAST + _pages(plan_bytes)
        return next(size * _MIB for size in _FLASH_SIZES if size >= 4 and size * _MIB >= need)
    size = board.region(use.program).size
    if size not in {known * _MIB for known in _FLASH_SIZES}:
        raise UsageError(
            f"{board.name} has {size} bytes of flash, for which ESP-IDF has no setting.",
            "MiB that it has: " + ", ".join(str(known) for known in _FLASH_SIZES),
        )
    return size


def _pages(size: int) -> int:
    return -(-size // PAGE) * PAGE


def partitions(flash_bytes: int, plan_bytes: int) -> tuple[Partition, ...]:
    """The plan at the end of the flash, in front of it the application with all that is left."""
    plan = flash_bytes - _pages(plan_bytes)
    return (
        Partition("nvs", "data", "nvs", _NVS, _NVS_SIZE),
        Partition("phy_init", "data", "phy", _PHY, _PHY_SIZE),
        Partition("factory", "app", "factory", PAGE, plan - PAGE),
        Partition("plan", "data", f"0x{PLAN_SUBTYPE:x}", plan, flash_bytes - plan),
    )


def _crc(plan_data: bytes) -> int:
    at = layout.HEADER.offsets()["crc32"]
    return int.from_bytes(plan_data[at : at + 4], "little")


def _details(request: Request) -> Mapping[str, object]:
    use = request.board.frameworks["esp-idf"]
    place = request.placement
    flash_bytes = _flash_bytes(request.board, request.plan_bytes)
    fast, slow = (use.regions.get(region or "", _VARIABLES) for region in (place.fast, place.slow))
    return {
        "runtime": request.runtime,
        "target": use.id,
        "linux": use.id == LINUX,
        "flash_mib": flash_bytes // _MIB,
        "partitions": partitions(flash_bytes, request.plan_bytes),
        "plan_subtype": f"0x{PLAN_SUBTYPE:x}",
        "plan_crc": f"0x{_crc(request.plan_data):08x}u",
        "settings": use.settings,
        "fast_target": fast,
        "slow_target": slow,
        "psram": _PSRAM in use.regions.values(),
        "arena_in_psram": _PSRAM in (fast, slow),
        "idf_version": IDF_VERSION,
        "esp_nn_version": ESP_NN_VERSION,
    }


def _plan_image(request: Request, _template: Path) -> Mapping[str, bytes]:
    return {f"generated/plan/{request.core_name}.tgrs": request.plan_data}


FRAMEWORK = ProjectFramework(
    surroundings=lambda _: _SECTIONS, details=_details, files=_plan_image, runtimes=("copy", "module")
)
