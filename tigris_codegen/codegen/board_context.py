"""The board as templates print it."""

from __future__ import annotations

from dataclasses import dataclass

from tigris_codegen.boards import Board

_CPU = {"cortex-m4": "Cortex-M4", "cortex-m7": "Cortex-M7", "host": "this machine"}
_CMSIS_HEADER = {"cortex-m4": "core_cm4.h", "cortex-m7": "core_cm7.h", "host": ""}
_CMSIS_REVISION = {"cortex-m4": "__CM4_REV", "cortex-m7": "__CM7_REV", "host": ""}
_FPU_FLAGS = {
    ("cortex-m4", "sp"): ("-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"),
    ("cortex-m7", "sp"): ("-mfloat-abi=hard", "-mfpu=fpv5-sp-d16"),
    ("cortex-m7", "dp"): ("-mfloat-abi=hard", "-mfpu=fpv5-d16"),
}


@dataclass(frozen=True)
class RegionContext:
    """A memory region, as the linker script writes it."""

    name: str
    attributes: str
    base: str
    size: str
    kind: str
    bytes: int


@dataclass(frozen=True)
class BitsContext:
    """Bits of a register that start-up sets; numbers are C, `what` is safe inside comments."""

    address: str
    bits: str
    what: str


@dataclass(frozen=True)
class PinContext:
    """The console's pin; `port` is the port's number, `port_base` where its registers are."""

    port: int
    port_base: str
    pin: int
    function: int


@dataclass(frozen=True)
class ConsoleContext:
    """The UART that the firmware prints on."""

    driver: str
    base: str
    baud: int
    tx: PinContext | None


@dataclass(frozen=True)
class BoardContext:
    """The board as startup code, linker script and README need it. `host` says that it is no microcontroller."""

    name: str
    title: str
    host: bool
    cpu: str
    cpu_flags: str
    cmsis_header: str
    cmsis_revision: str
    fpu: bool
    fpu_double: bool
    dsp: bool
    #: The SoC has the cache; start-up enables it.
    icache: bool
    dcache: bool
    enable_icache: bool
    enable_dcache: bool
    interrupts: int
    priority_bits: int
    clock_hz: int
    regions: tuple[RegionContext, ...]
    enable: tuple[BitsContext, ...]
    console: ConsoleContext | None
    flash: str
    qemu_machine: str
    unicorn: bool
    sources: tuple[str, ...]


def board_context(board: Board) -> BoardContext:
    """What the templates print of a board."""
    soc = board.soc
    flags = (f"-mcpu={soc.core}", "-mthumb", *_FPU_FLAGS.get((soc.core, board.compile_fpu), ("-mfloat-abi=soft",)))
    return BoardContext(
        name=board.name,
        title=board.title,
        host=soc.core == "host",
        cpu=_CPU[soc.core],
        cpu_flags="" if soc.core == "host" else " ".join(flags),
        cmsis_header=_CMSIS_HEADER[soc.core],
        cmsis_revision=_CMSIS_REVISION[soc.core],
        fpu=board.compile_fpu != "none",
        fpu_double=soc.fpu == "dp",
        dsp=soc.dsp,
        icache=soc.icache,
        dcache=soc.dcache,
        enable_icache=board.icache,
        enable_dcache=board.dcache,
        interrupts=soc.interrupts or 0,
        priority_bits=soc.priority_bits or 0,
        clock_hz=board.clock_hz,
        regions=tuple(
            RegionContext(r.name, "rx" if r.kind == "flash" else "rw", _hex(r.base), _hex(r.size), r.kind, r.size)
            for r in board.memory
        ),
        enable=_enable(board),
        console=_console(board),
        flash=board.flash,
        qemu_machine=board.emulators.qemu.machine if board.emulators.qemu else "",
        unicorn=board.emulators.unicorn is not None,
        sources=board.sources + soc.sources,
    )


def _hex(number: int) -> str:
    return f"0x{number:08x}"


def _enable(board: Board) -> tuple[BitsContext, ...]:
    """What start-up sets: what the memory needs, then the console's port, then the console."""
    found = list(board.soc.enable)
    if board.console is not None and board.console_uart is not None:
        port = board.soc.ports[board.console.tx.port] if board.console.tx else None
        found += [device.enable for device in (port, board.console_uart) if device and device.enable]
    return tuple(BitsContext(_hex(f.address), _hex(f.bits), f.what.replace("*/", "* /")) for f in found)


def _console(board: Board) -> ConsoleContext | None:
    console, uart = board.console, board.console_uart
    if console is None or uart is None:
        return None
    tx = None
    if console.tx is not None:
        port = board.soc.ports[console.tx.port]
        tx = PinContext(port.number, _hex(port.base), console.tx.pin, console.tx.function)
    return ConsoleContext(uart.driver, _hex(uart.base), console.baud, tx)
