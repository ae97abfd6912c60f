"""What Unicorn must be told of a core, and the clocks that a self-test reads."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from unicorn.arm_const import (
    UC_ARM_REG_LR,
    UC_ARM_REG_PC,
    UC_ARM_REG_R0,
    UC_ARM_REG_SP,
    UC_CPU_ARM_CORTEX_M0,
    UC_CPU_ARM_CORTEX_M3,
    UC_CPU_ARM_CORTEX_M4,
    UC_CPU_ARM_CORTEX_M7,
    UC_CPU_ARM_CORTEX_M33,
)
from unicorn.riscv_const import (
    UC_CPU_RISCV32_SIFIVE_E31,
    UC_RISCV_REG_A0,
    UC_RISCV_REG_PC,
    UC_RISCV_REG_RA,
    UC_RISCV_REG_SP,
    UC_RISCV_REG_X0,
)
from unicorn.unicorn_const import (
    UC_ARCH_ARM,
    UC_ARCH_RISCV,
    UC_HOOK_CODE,
    UC_MODE_MCLASS,
    UC_MODE_RISCV32,
    UC_MODE_THUMB,
)

from tigris_codegen.boards import Board
from tigris_codegen.emulate.elf import Image, Range


@dataclass(frozen=True)
class Core:
    """A core as Unicorn knows it; the registers are Unicorn's numbers.

    `operation` is the register in which semihosting is told what to do, `semihosting` the instruction by which it is
    called. `code_bit` is set in addresses of code, `vector_table` says where the core starts, `it_blocks` whether an
    instruction can make others conditional. `registers` is where the architecture puts registers: peripherals and the
    core's own.
    """

    architecture: int
    mode: int
    model: int
    program_counter: int
    stack_pointer: int
    link: int
    operation: int
    semihosting: bytes
    code_bit: int
    vector_table: bool
    it_blocks: bool
    registers: tuple[Range, ...]


def _arm(model: int, *, it_blocks: bool = True) -> Core:
    return Core(
        architecture=UC_ARCH_ARM,
        mode=UC_MODE_THUMB | UC_MODE_MCLASS,
        model=model,
        program_counter=UC_ARM_REG_PC,
        stack_pointer=UC_ARM_REG_SP,
        link=UC_ARM_REG_LR,
        operation=UC_ARM_REG_R0,
        semihosting=b"\xab\xbe",
        code_bit=1,
        vector_table=True,
        it_blocks=it_blocks,
        registers=(Range(0x40000000, 0x60000000), Range(0xE0000000, 0xE0100000)),
    )


_RISCV = Core(
    architecture=UC_ARCH_RISCV,
    mode=UC_MODE_RISCV32,
    model=UC_CPU_RISCV32_SIFIVE_E31,
    program_counter=UC_RISCV_REG_PC,
    stack_pointer=UC_RISCV_REG_SP,
    link=UC_RISCV_REG_RA,
    operation=UC_RISCV_REG_A0,
    semihosting=b"\x73\x00\x10\x00",
    code_bit=0,
    vector_table=False,
    it_blocks=False,
    registers=(),
)

#: Cortex-M0 and M0+ execute the same instructions; Unicorn has no Cortex-M55.
CORES: Mapping[str, Core] = {
    "cortex-m0": _arm(UC_CPU_ARM_CORTEX_M0, it_blocks=False),
    "cortex-m0plus": _arm(UC_CPU_ARM_CORTEX_M0, it_blocks=False),
    "cortex-m3": _arm(UC_CPU_ARM_CORTEX_M3),
    "cortex-m4": _arm(UC_CPU_ARM_CORTEX_M4),
    "cortex-m7": _arm(UC_CPU_ARM_CORTEX_M7),
    "cortex-m33": _arm(UC_CPU_ARM_CORTEX_M33),
    "riscv32": _RISCV,
}


class Machine(Protocol):
    """What a clock needs of the emulated machine."""

    uc: Any
    image: Image

    def read_register(self, address: int) -> int: ...

    def write_register(self, address: int, value: int) -> None: ...

    def call(self, function: int) -> None:
        """Calls a function of the firmware between two instructions."""
        ...


class Clock(Protocol):
    """The clock of the self-test. Time only passes while it is told to: a tick for each instruction."""

    def is_running(self) -> bool:
        """Whether the firmware measures time now."""
        ...

    def pass_time(self, ticks: int) -> None: ...


class SysTick:
    """The core's timer of 24 bits, whose interrupts are taken when time passes."""

    _CONTROL, _VALUE = 0xE000E010, 0xE000E018
    _BITS = 24
    _VECTOR = 15

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def is_running(self) -> bool:
        return bool(self._machine.read_register(self._CONTROL) & 1)

    def pass_time(self, ticks: int) -> None:
        handler = self._machine.read_register(self._machine.image.symbol("vectors") + 4 * self._VECTOR)
        for _ in range(ticks >> self._BITS):
            self._machine.call(handler)
        self._machine.write_register(self._VALUE, -ticks & ((1 << self._BITS) - 1))


class NrfTimer:
    """A timer of the nRF families: a task starts it, another captures its value."""

    _START, _CAPTURED = 0x000, 0x540

    def __init__(self, machine: Machine, base: int) -> None:
        self._machine = machine
        self._base = base

    def is_running(self) -> bool:
        return bool(self._machine.read_register(self._base + self._START))

    def pass_time(self, ticks: int) -> None:
        """The task's register reads 0 again, so that the next inference is not taken for one that is timed."""
        self._machine.write_register(self._base + self._START, 0)
        self._machine.write_register(self._base + self._CAPTURED, ticks)


class CycleCounter:
    """mcycle of a RISC-V core. Unicorn's is the host's clock and cannot be set, so accesses to it are done here."""

    _LOW, _HIGH = 0xB00, 0xB80
    _READ, _READ_MASK = 0x00002073, 0x000FF07F
    _CLEAR = 0x00001073

    def __init__(self, machine: Machine) -> None:
        self._count = 0
        self._running = False
        for address, word in _words(machine.image):
            csr = word >> 20
            if csr not in (self._LOW, self._HIGH):
                continue
            if word & self._READ_MASK == self._READ:
                machine.uc.hook_add(UC_HOOK_CODE, self._on_read, user_data=word, begin=address, end=address)
            elif word & ~(0xFFF << 20) == self._CLEAR:
                machine.uc.hook_add(UC_HOOK_CODE, self._on_clear, begin=address, end=address)

    def is_running(self) -> bool:
        return self._running

    def pass_time(self, ticks: int) -> None:
        self._running = False
        self._count += ticks

    def _on_read(self, uc: Any, address: int, size: int, word: int) -> None:
        value = self._count >> 32 if word >> 20 == self._HIGH else self._count & 0xFFFFFFFF
        uc.reg_write(UC_RISCV_REG_X0 + (word >> 7 & 31), value)
        uc.reg_write(UC_RISCV_REG_PC, address + size)

    def _on_clear(self, uc: Any, address: int, size: int, data: object) -> None:
        self._count = 0
        self._running = True
        uc.reg_write(UC_RISCV_REG_PC, address + size)


def _words(image: Image) -> Iterator[tuple[int, int]]:
    """Whatever may be an instruction of 32 bits: those of 16 bits leave them on any even address."""
    for start, data in image.segments:
        for at in range(0, len(data) - 3, 2):
            yield start + at, struct.unpack_from("<I", data, at)[0]


def clock_of(board: Board, machine: Machine) -> Clock:
    """The clock that the board's self-test reads."""
    timer = board.soc.timer
    if timer is not None:
        return NrfTimer(machine, timer.base)
    clocks: Mapping[str, Callable[[Machine], Clock]] = {"arm": SysTick, "riscv": CycleCounter}
    return clocks[board.architecture](machine)
