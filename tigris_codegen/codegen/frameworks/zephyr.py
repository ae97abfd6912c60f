"""Zephyr: a west application; the devicetree says which memory regions hold the arenas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tigris_codegen import resources
from tigris_codegen.boards import Board
from tigris_codegen.codegen.context import PROJECT_STACK_NOTE, SurroundingsContext, plan_backend
from tigris_codegen.codegen.frameworks.framework import ProjectFramework, Request

#: The release that the template was checked against, see docs/TESTING.md.
REVISION = "v4.4.0"
#: The arenas' own linker script places them; the plan is one of the constants.
_SECTIONS = SurroundingsContext(".tigris_fast", ".tigris_slow", ".rodata.tigris_plan", PROJECT_STACK_NOTE)
#: Files of the runtime's Zephyr module that a project with a copy of the runtime has, too.
_MODULE_FILES = ("Kconfig", "arenas.ld")
#: Beginning of a SoC's name -> the modules of Zephyr's manifest with its vendor's sources.
_VENDOR_MODULES: Mapping[str, tuple[str, ...]] = {
    "stm32": ("hal_stm32",),
    "nrf": ("hal_nordic",),
    "rp2": ("hal_rpi_pico",),
    "esp32": ("hal_espressif", "hal_xtensa"),
    "cmsdk": (),
    "iotkit": (),
    "sse300": (),
    "qemu": (),
    "host": (),
}


@dataclass(frozen=True)
class NewRegion:
    """A region that Zephyr's devicetree lacks: a node of the overlay. `name` is the linker's."""

    label: str
    node: str
    name: str
    base: str
    size: str


@dataclass(frozen=True)
class ChosenArena:
    """An arena that is not in Zephyr's own RAM, and the label of its region's node."""

    name: str
    label: str


def _label(board: Board, region: str) -> str:
    return board.frameworks["zephyr"].regions.get(region, f"tigris_{region}")


def _arenas(request: Request) -> Iterator[tuple[str, str]]:
    """Each arena with its region, but for those in Zephyr's own RAM."""
    place = request.placement
    for name, region in (("fast", place.fast), ("slow", place.slow)):
        if region is not None and region != place.data:
            yield name, region


def _new_regions(request: Request) -> Iterator[NewRegion]:
    known = request.board.frameworks["zephyr"].regions
    for name in dict.fromkeys(region for _, region in _arenas(request)):
        if name not in known:
            region = request.board.region(name)
            label = _label(request.board, name)
            yield NewRegion(
                label, f"{name.replace('_', '-')}@{region.base:x}", label.upper(), hex(region.base), hex(region.size)
            )


def _modules(board: Board, backend: str) -> tuple[str, ...]:
    """The modules of Zephyr's manifest that the project needs; none, which means all, for a SoC unknown here."""
    for beginning, vendor in _VENDOR_MODULES.items():
        if board.soc.name.startswith(beginning):
            arm = ("cmsis_6", "cmsis-nn") if board.soc.core.startswith("cortex-m") else ()
            # Zephyr builds CMSIS-NN only together with CMSIS-DSP.
            dsp = ("cmsis-dsp",) if backend == "cmsis-nn" else ()
            return tuple(sorted((*arm, *dsp, *vendor, "picolibc")))
    return ()


def _settings(request: Request, backend: str) -> tuple[str, ...]:
    use = request.board.frameworks["zephyr"]
    return (
        "CONFIG_TIGRIS=y",
        f"CONFIG_TIGRIS_BACKEND_{backend.upper().replace('-', '_')}=y",
        f"CONFIG_MAIN_STACK_SIZE={use.stack}",
        "CONFIG_PRINTK=y",
        "CONFIG_SPEED_OPTIMIZATIONS=y",
        *use.settings,
    )


def _details(request: Request) -> Mapping[str, object]:
    backend = plan_backend(request.plan)
    use = request.board.frameworks["zephyr"]
    return {
        "runtime": request.runtime,
        "revision": REVISION,
        "modules": _modules(request.board, backend),
        "settings": _settings(request, backend),
        # Zephyr looks for the overlay of a board with qualifiers by this name.
        "overlay": use.id.replace("/", "_"),
        "new_regions": tuple(_new_regions(request)),
        "arenas": tuple(ChosenArena(name, _label(request.board, region)) for name, region in _arenas(request)),
    }


def _module_files(request: Request, _template: Path) -> Mapping[str, bytes]:
    if request.runtime == "module":
        return {}
    folder = resources.runtime_dir() / "zephyr"
    return {f"generated/zephyr/{name}": (folder / name).read_bytes() for name in _MODULE_FILES}


FRAMEWORK = ProjectFramework(
    surroundings=lambda _: _SECTIONS, details=_details, files=_module_files, runtimes=("copy", "module")
)
