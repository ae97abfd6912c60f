"""The board as templates print it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tigris_codegen.boards import Board

_CPU: Mapping[str, str] = {
    "cortex-m0": "Cortex-M0",
    "cortex-m0plus": "Cortex-M0+",
    "cortex-m3": "Cortex-M3",
    "cortex-m4": "Cortex-M4",
    "cortex-m7": "Cortex-M7",
    "cortex-m33": "Cortex-M33",
    "cortex-m55": "Cortex-M55",
    "riscv32": "RISC-V 32",
    "xtensa-lx6": "Xtensa LX6",
    "xtensa-lx7": "Xtensa LX7",
    "host": "this machine",
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
    #: Whether start-up enables the cache.
    enable_icache: bool
    enable_dcache: bool
    interrupts: int
    clock_hz: int
    regions: tuple[RegionContext, ...]
    enable: tuple[BitsContext, ...]
    console: ConsoleContext | None
    #: Where the timer's registers are that the self-test measures time with; empty where that is the core's own.
    timer_base: str
    flash: str
    #: What pyOCD calls the board, and OpenOCD's configuration files for it; empty where they are not known.
    pyocd: str
    openocd: tuple[str, ...]
    qemu_command: str
    unicorn: bool
    sources: tuple[str, ...]


def board_context(board: Board) -> BoardContext:
    """What the templates print of a board."""
    soc = board.soc
    return BoardContext(
        name=board.name,
        title=board.title,
        host=soc.core == "host",
        cpu=_CPU[soc.core],
        enable_icache=board.icache,
        enable_dcache=board.dcache,
        interrupts=soc.interrupts or 0,
        clock_hz=board.clock_hz,
        regions=tuple(
            RegionContext(r.name, "rx" if r.kind == "flash" else "rw", _hex(r.base), _hex(r.size), r.kind, r.size)
            for r in board.memory
        ),
        enable=_enable(board),
        console=_console(board),
        timer_base=_hex(soc.timer.base) if soc.timer else "",
        flash=board.flash,
        pyocd=board.probe.pyocd or "",
        openocd=board.probe.openocd,
        qemu_command=" ".join(board.qemu_command),
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
