"""Bare metal: the project's own linker script places the sections, drivers of the template serve console and clock.

What differs between Arm and RISC-V is in two folders of the template with files of the same names, which the project's
files include; what differs between cores of one architecture are values here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from tigris_codegen.boards import Board
from tigris_codegen.codegen.context import PROJECT_STACK_NOTE, SurroundingsContext
from tigris_codegen.codegen.frameworks.framework import ProjectFramework, Request

_SECTIONS = SurroundingsContext(".tigris_fast", ".tigris_slow", ".tigris_plan", PROJECT_STACK_NOTE)


@dataclass(frozen=True)
class _ArmCore:
    """A Cortex-M: CMSIS-Core's header and macro of its revision, its version of the architecture."""

    header: str
    revision: str
    architecture: str

    @property
    def baseline(self) -> bool:
        """Without BusFault, MemManage and UsageFault."""
        return self.architecture == "v6-M"

    @property
    def stack_limit(self) -> bool:
        """With a register that holds the stack's limit."""
        return self.architecture in ("v8-M", "v8.1-M")


_ARM: Mapping[str, _ArmCore] = {
    "cortex-m0": _ArmCore("core_cm0.h", "__CM0_REV", "v6-M"),
    "cortex-m0plus": _ArmCore("core_cm0plus.h", "__CM0PLUS_REV", "v6-M"),
    "cortex-m3": _ArmCore("core_cm3.h", "__CM3_REV", "v7-M"),
    "cortex-m4": _ArmCore("core_cm4.h", "__CM4_REV", "v7-M"),
    "cortex-m7": _ArmCore("core_cm7.h", "__CM7_REV", "v7-M"),
    "cortex-m33": _ArmCore("core_cm33.h", "__CM33_REV", "v8-M"),
    "cortex-m55": _ArmCore("core_cm55.h", "__CM55_REV", "v8.1-M"),
}
_FPU_FLAGS: Mapping[tuple[str, str], str] = {
    ("cortex-m4", "sp"): "-mfpu=fpv4-sp-d16",
    ("cortex-m7", "sp"): "-mfpu=fpv5-sp-d16",
    ("cortex-m7", "dp"): "-mfpu=fpv5-d16",
    ("cortex-m33", "sp"): "-mfpu=fpv5-sp-d16",
    ("cortex-m55", "dp"): "-mfpu=auto",
}
#: Exceptions 1 to 15 -> handler and CMSIS-Core's name; what a baseline core lacks; what only version 8 has.
_EXCEPTIONS: Mapping[int, tuple[str, str]] = {
    1: ("Reset_Handler", "Reset"),
    2: ("NMI_Handler", "NonMaskableInt"),
    3: ("HardFault_Handler", "HardFault"),
    4: ("MemManage_Handler", "MemoryManagement"),
    5: ("BusFault_Handler", "BusFault"),
    6: ("UsageFault_Handler", "UsageFault"),
    7: ("SecureFault_Handler", "SecureFault"),
    11: ("SVC_Handler", "SVCall"),
    12: ("DebugMon_Handler", "DebugMonitor"),
    14: ("PendSV_Handler", "PendSV"),
    15: ("SysTick_Handler", "SysTick"),
}
_NOT_BASELINE = {4, 5, 6, 7, 12}
_ONLY_VERSION_8 = {7}
_RESET, _SYSTICK = 1, 15
#: What the README calls the clock of the self-test.
_CLOCKS: Mapping[str, str] = {
    "systick": "SysTick",
    "mcycle": "the core's cycle counter, `mcycle`",
    "nrf_timer": "the timer at {base}",
}


@dataclass(frozen=True)
class FeatureContext:
    """A macro that CMSIS-Core wants to know."""

    name: str
    value: int


@dataclass(frozen=True)
class ExceptionContext:
    """An exception as CMSIS-Core numbers it."""

    name: str
    number: int


@dataclass(frozen=True)
class DetailsContext:
    """What the template prints on any architecture: `parts` is the folder of the files that differ."""

    parts: str
    flags: str
    drivers: tuple[str, ...]
    clock: str


@dataclass(frozen=True)
class ArmContext(DetailsContext):
    """And what it prints on Cortex-M. `exceptions` are the handlers of exceptions 1 to 15, empty where there is none.

    `weak_handlers` are those that nothing defines unless the application does, `strong_handlers` the drivers'.
    """

    cmsis_header: str
    features: tuple[FeatureContext, ...]
    exceptions: tuple[str, ...]
    numbered_exceptions: tuple[ExceptionContext, ...]
    weak_handlers: tuple[str, ...]
    strong_handlers: tuple[str, ...]
    stack_limit: bool
    vector_table_offset: bool
    coprocessors: bool


@dataclass(frozen=True)
class RiscvContext(DetailsContext):
    """And what it prints on RISC-V.

    `program_pmp` is the address register of physical memory protection for the region of the program, as one naturally
    aligned power of two; empty where the core has none or the region is no such range.
    """

    float_unit: bool
    program_pmp: str


def _clock_driver(board: Board) -> str:
    if board.soc.timer is not None:
        return board.soc.timer.driver
    return {"arm": "systick", "riscv": "mcycle"}[board.architecture]


def _clock_text(board: Board) -> str:
    base = board.soc.timer.base if board.soc.timer else 0
    return _CLOCKS[_clock_driver(board)].format(base=f"0x{base:08x}")


def _drivers(board: Board) -> tuple[str, ...]:
    uart = board.console_uart
    assert uart is not None, "boards.load wants a console for bare metal"
    return (f"clock_{_clock_driver(board)}.c", f"uart_{uart.driver}.c")


def _arm_flags(board: Board) -> str:
    """The compiler's names of core, extensions and FPU."""
    soc, fpu = board.soc, board.compile_fpu
    lacks = ""
    if soc.core == "cortex-m33" and not soc.dsp:
        lacks = "+nodsp"
    elif soc.core == "cortex-m55" and not soc.mve:
        lacks = "+nomve"
    floats = "-mfloat-abi=soft" if fpu == "none" else f"-mfloat-abi=hard {_FPU_FLAGS[soc.core, fpu]}"
    return f"-mcpu={soc.core}{lacks} -mthumb {floats}"


def _arm(board: Board) -> ArmContext:
    soc, core = board.soc, _ARM[board.soc.core]
    absent = (_NOT_BASELINE if core.baseline else set()) | (set() if core.stack_limit else _ONLY_VERSION_8)
    known = {number: names for number, names in _EXCEPTIONS.items() if number not in absent}
    strong = (_SYSTICK,) if _clock_driver(board) == "systick" else ()
    has_vtor = soc.core != "cortex-m0"
    features = {
        core.revision: 0,
        "__MPU_PRESENT": has_vtor,
        "__VTOR_PRESENT": has_vtor,
        "__NVIC_PRIO_BITS": soc.priority_bits or 0,
        "__Vendor_SysTickConfig": 0,
        "__FPU_PRESENT": board.compile_fpu != "none",
        "__FPU_DP": soc.fpu == "dp",
        "__DSP_PRESENT": soc.dsp,
        "__ICACHE_PRESENT": soc.icache,
        "__DCACHE_PRESENT": soc.dcache,
        "__DTCM_PRESENT": 0,
    }
    return ArmContext(
        parts="arm",
        flags=_arm_flags(board),
        drivers=_drivers(board),
        clock=_clock_text(board),
        cmsis_header=core.header,
        features=tuple(FeatureContext(name, int(value)) for name, value in features.items()),
        exceptions=tuple(known[number][0] if number in known else "" for number in range(1, 16)),
        numbered_exceptions=tuple(
            ExceptionContext(name, number - 16) for number, (_, name) in known.items() if number != _RESET
        ),
        weak_handlers=tuple(h for number, (h, _) in known.items() if number not in (_RESET, *strong)),
        strong_handlers=tuple(known[number][0] for number in strong),
        stack_limit=core.stack_limit,
        vector_table_offset=has_vtor,
        coprocessors=board.compile_fpu != "none" or soc.mve,
    )


def _riscv(board: Board) -> RiscvContext:
    isa = board.soc.isa
    assert isa is not None, "boards.load wants it for bare metal"
    registers = next((letter for letter in "df" if letter in isa.removeprefix("rv32i")), "")
    return RiscvContext(
        parts="riscv",
        # The default version of the specification has CSR instructions in an extension of their own, for which there
        # is no C library.
        flags=f"-march={isa} -misa-spec=2.2 -mabi=ilp32{registers} -mcmodel=medany",
        drivers=_drivers(board),
        clock=_clock_text(board),
        float_unit=bool(registers),
        program_pmp=_program_pmp(board),
    )


def _program_pmp(board: Board) -> str:
    region = board.region(board.frameworks["baremetal"].program)
    if not board.soc.pmp or region.size & (region.size - 1) or region.base % region.size:
        return ""
    # Bits 33 to 2 of the address, ones below that say the size: the privileged specification's NAPOT.
    return f"0x{region.base >> 2 | (region.size >> 3) - 1:08x}"


_CONTEXTS: Mapping[str, Callable[[Board], DetailsContext]] = {"arm": _arm, "riscv": _riscv}


def _details(request: Request) -> Mapping[str, object]:
    context = _CONTEXTS[request.board.architecture](request.board)
    return {field.name: getattr(context, field.name) for field in fields(context)}


def _files(request: Request, template: Path) -> Mapping[str, bytes]:
    return {
        f"generated/platform/{name}": (template / "drivers" / name).read_bytes() for name in _drivers(request.board)
    }


FRAMEWORK = ProjectFramework(surroundings=lambda _: _SECTIONS, details=_details, files=_files, several=True)
