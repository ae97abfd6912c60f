"""Unicorn: a board's own image on the board's own memory map, with every access of every inference watched.

An inference may read code, constants and its own memory, and write its own memory: the arenas and variables of its core
and the stack below its caller. Everything else in the address space is hooked, by address, inside Unicorn, so that
Python hears of an access only when it strays. Instructions are counted inside Unicorn, too: it runs slices of a known
length, and the last, broken slice again, from a copy of the inference's memory, in shorter ones. An instruction whose
condition fails is not counted (QEMU counts it).
"""

from __future__ import annotations

import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import unicorn as _unicorn
from unicorn.arm_const import (
    UC_ARM_REG_LR,
    UC_ARM_REG_PC,
    UC_ARM_REG_R0,
    UC_ARM_REG_SP,
    UC_CPU_ARM_CORTEX_M4,
    UC_CPU_ARM_CORTEX_M7,
)
from unicorn.unicorn_const import (
    UC_ARCH_ARM,
    UC_HOOK_CODE,
    UC_HOOK_INTR,
    UC_HOOK_MEM_READ,
    UC_HOOK_MEM_READ_UNMAPPED,
    UC_HOOK_MEM_WRITE,
    UC_HOOK_MEM_WRITE_UNMAPPED,
    UC_MEM_WRITE,
    UC_MEM_WRITE_UNMAPPED,
    UC_MODE_MCLASS,
    UC_MODE_THUMB,
)

from tigris_codegen.boards import Board
from tigris_codegen.emulate.elf import Image, Range, read_image
from tigris_codegen.emulate.report import Report, Stray, Watch, parse_report
from tigris_codegen.errors import TigrisError, UsageError

#: The package says its types for Python 2 only.
_Uc: Any = _unicorn.Uc  # type: ignore[attr-defined]
_UcError: type[Exception] = _unicorn.UcError  # type: ignore[attr-defined]
_CORES = {"cortex-m4": UC_CPU_ARM_CORTEX_M4, "cortex-m7": UC_CPU_ARM_CORTEX_M7}
_PAGE = 0x1000
_ADDRESSES = 1 << 32
#: Where the architecture puts registers: peripherals and the core's own.
_REGISTERS = (Range(0x40000000, 0x60000000), Range(0xE0000000, 0xE0100000))
#: Instructions per slice. What is left after the shortest is counted one by one.
_SLICES = (1 << 20, 1 << 12)
#: An IT instruction, and the most bytes of it and those that it makes conditional.
_IT, _LONGEST_IT_BLOCK = 0xBF00, 18
#: The longest access: one that begins before a range may reach into it.
_LONGEST_ACCESS = 8
_MOST_STRAYS = 16
_BREAKPOINT = 7
_EXIT, _EXIT_EXTENDED = 0x18, 0x20
_SYSTICK_CONTROL, _SYSTICK_VALUE = 0xE000E010, 0xE000E018
_SYSTICK_BITS = 24
_VECTOR_TABLE = 0xE000ED08
_SYSTICK_VECTOR = 15


@dataclass(frozen=True)
class Access:
    """What an inference may touch; every writable range is also among those that may be read."""

    read: tuple[Range, ...]
    write: tuple[Range, ...]


class UnicornEmulator:
    """The emulator library Unicorn."""

    name = "Unicorn"

    def supports(self, board: Board) -> bool:
        return board.emulators.unicorn is not None and board.soc.core in _CORES

    def run(self, image: Path, board: Board, core: str, timeout: float) -> Report:
        if not self.supports(board):
            raise UsageError(f"Unicorn cannot be {board.name}.")
        machine = _Machine(read_image(image), board, time.monotonic() + timeout)
        inferences = _run_watched(machine, core)
        report = parse_report(machine.log(), self.name, board.soc.name, 1.0)
        return replace(report, watch=Watch(inferences, tuple(machine.strays)))


def _run_watched(machine: _Machine, core: str) -> int:
    """Runs the image to its end; the number of inferences."""
    image = machine.image
    begin, stack_limit = image.symbol(f"{core}_run"), image.symbol("__stack_limit")
    variables = tuple(r for r in image.objects.get(f"{core}.c", ()) if machine.is_ram(r))
    if not variables:
        raise TigrisError(f"the image does not say where the variables of {core}.c are.")
    inferences = 0
    while machine.run_to(begin):
        own = (*variables, Range(stack_limit, machine.stack_pointer()))
        with_constants = Access(read=(*own, *image.constants), write=own)
        machine.run_inference(inferences, machine.return_address(), with_constants)
        inferences += 1
    return inferences


class _Machine:
    """The board. Registers are memory, but for the console's and the stubs that the SoC file names."""

    def __init__(self, image: Image, board: Board, deadline: float) -> None:
        self.image = image
        self.board = board
        self.deadline = deadline
        self.strays: list[Stray] = []
        self._printed = bytearray()
        self._ended = False
        self._fault = ""
        self._inference = 0
        self._uc = uc = _Uc(UC_ARCH_ARM, UC_MODE_THUMB | UC_MODE_MCLASS)
        uc.ctl_set_cpu_model(_CORES[board.soc.core])
        for region in board.memory:
            uc.mem_map(region.base, -(-region.size // _PAGE) * _PAGE)
        for address, data in image.segments:
            uc.mem_write(address, data)
        uc.hook_add(UC_HOOK_MEM_READ_UNMAPPED | UC_HOOK_MEM_WRITE_UNMAPPED, self._on_unmapped)
        uc.hook_add(UC_HOOK_INTR, self._on_exception)
        unicorn, uart = board.emulators.unicorn, board.console_uart
        assert unicorn is not None and uart is not None
        self._transmit = uart.transmit
        uc.hook_add(UC_HOOK_MEM_WRITE, self._on_transmit, begin=uart.transmit.address, end=uart.transmit.address)
        for stub in unicorn.stubs:
            self._write_register(stub.address, stub.value)
        stack, self._pc = struct.unpack("<II", uc.mem_read(image.symbol("vectors"), 8))
        uc.reg_write(UC_ARM_REG_SP, stack)

    def log(self) -> str:
        """All that was printed."""
        return self._printed.decode("utf-8", errors="replace")

    def is_ram(self, wanted: Range) -> bool:
        """Whether a range lies in one of the board's RAMs."""
        return any(r.kind == "ram" and r.base <= wanted.start and wanted.end <= r.end for r in self.board.memory)

    def stack_pointer(self) -> int:
        return int(self._uc.reg_read(UC_ARM_REG_SP))

    def return_address(self) -> int:
        return int(self._uc.reg_read(UC_ARM_REG_LR)) & ~1

    def run_to(self, address: int) -> bool:
        """Runs until the instruction at `address` is next, or, which is False, the program ends."""
        self._forget_translations()
        self._run(address)
        return not self._ended

    def run_inference(self, number: int, end: int, allowed: Access) -> None:
        """Runs until the instruction at `end` is next, watching every access.

        While the firmware measures time, instructions are counted, and SysTick sees a tick for each.
        """
        self._inference = number
        hooks = [
            self._uc.hook_add(hook, self._on_stray, user_data=ranges, begin=hole.start, end=hole.end - 1)
            for hook, ranges in ((UC_HOOK_MEM_READ, _merged(allowed.read)), (UC_HOOK_MEM_WRITE, _merged(allowed.write)))
            for hole in _holes(ranges)
        ]
        timed = bool(self._read_register(_SYSTICK_CONTROL) & 1)
        if timed:
            ticks = self._count(end, allowed.write)
        else:
            self._forget_translations()
            self._run(end)
        for handle in hooks:
            self._uc.hook_del(handle)
        if self._ended:
            raise TigrisError(f"the firmware ended inside an inference, at {self._where()}.")
        if timed:
            self._pass_time(ticks)

    def _pass_time(self, ticks: int) -> None:
        """SysTick's interrupts are taken now, its value is what remains."""
        table = self._read_register(_VECTOR_TABLE)
        handler = self._read_register(table + 4 * _SYSTICK_VECTOR)
        for _ in range(ticks >> _SYSTICK_BITS):
            self._call(handler)
        self._write_register(_SYSTICK_VALUE, -ticks & ((1 << _SYSTICK_BITS) - 1))

    def _call(self, function: int) -> None:
        """Calls a function between two instructions."""
        before, back = self._uc.context_save(), self._pc
        self._uc.reg_write(UC_ARM_REG_LR, back | 1)
        self._pc = function & ~1
        self.run_to(back)
        self._uc.context_restore(before)

    def _count(self, end: int, memory: Sequence[Range]) -> int:
        """Runs until the instruction at `end` is next; how many instructions that took."""
        count = 0
        self._forget_translations()
        for length in _SLICES:
            while ran := self._whole_slice(end, length, memory):
                count += ran
        rest: list[int] = []
        hook = self._uc.hook_add(UC_HOOK_CODE, lambda uc, address, size, data: rest.append(address))
        self._forget_translations()
        self._run(end)
        self._uc.hook_del(hook)
        return count + len(rest)

    def _whole_slice(self, end: int, length: int, memory: Sequence[Range]) -> int:
        """Runs that many instructions, or some fewer; how many. 0, and nothing is done, where `end` comes before.

        Unicorn may run one more than it says, uncounted, where it ought to stop inside an IT block: after such a place
        the slice is run again, shorter.
        """
        context, pc = self._uc.context_save(), self._pc
        contents = [(r.start, bytes(self._uc.mem_read(r.start, r.end - r.start))) for r in memory]
        for ran in range(length, 0, -1):
            self._run(end, ran)
            if self._pc != end and not self._ended and not self._in_or_after_it_block():
                return ran
            at_end = self._pc == end or self._ended
            self._ended = False
            self._pc = pc
            self._uc.context_restore(context)
            for start, data in contents:
                self._uc.mem_write(start, data)
            if at_end:
                break
        return 0

    def _in_or_after_it_block(self) -> bool:
        """Whether what is before the next instruction may be an IT block."""
        code = bytes(self._uc.mem_read(self._pc - _LONGEST_IT_BLOCK, _LONGEST_IT_BLOCK))
        for start in range(0, _LONGEST_IT_BLOCK, 2):
            half = int.from_bytes(code[start : start + 2], "little")
            if half & 0xFF00 == _IT and half & 0xF:
                conditional = 4 - ((half & -half).bit_length() - 1)
                at = start + 2
                for _ in range(conditional):
                    at += _instruction_bytes(code, at)
                if at >= _LONGEST_IT_BLOCK:
                    return True
        return False

    def _forget_translations(self) -> None:
        """To be called before the end or the hooks of a run change: what was translated before looks for neither."""
        self._uc.ctl_flush_tb()

    def _run(self, end: int, instructions: int = 0) -> None:
        """Runs until the instruction at `end` is next, the program ends, or so many instructions are done; 0 = all."""
        left = max(self.deadline - time.monotonic(), 1e-3)
        try:
            self._uc.emu_start(self._pc | 1, end, timeout=int(left * 1e6), count=instructions)
        except _UcError as error:
            self._fault = self._fault or str(error)
        self._pc = int(self._uc.reg_read(UC_ARM_REG_PC)) & ~1
        if self._fault:
            raise TigrisError(f"the firmware failed under Unicorn at {self._where()}: {self._fault}.")
        if time.monotonic() > self.deadline:
            raise TigrisError(f"the firmware did not end in time under Unicorn; it printed:\n{self.log()[-2000:]}")

    def _where(self) -> str:
        return f"0x{self._pc:08x} ({self.image.name_of(self._pc)})"

    def _on_unmapped(self, uc: Any, kind: int, address: int, size: int, value: int, data: object) -> bool:
        if any(r.start <= address < r.end for r in _REGISTERS):
            uc.mem_map(address // _PAGE * _PAGE, _PAGE)
            return True
        verb = "wrote" if kind == UC_MEM_WRITE_UNMAPPED else "read"
        self._fault = f"it {verb} 0x{address:08x}, where {self.board.name} has nothing"
        return False

    def _on_exception(self, uc: Any, number: int, data: object) -> None:
        operation = uc.reg_read(UC_ARM_REG_R0)
        if number == _BREAKPOINT and operation in (_EXIT, _EXIT_EXTENDED):
            self._ended = True
        else:
            self._fault = f"exception {number}"
        uc.emu_stop()

    def _on_transmit(self, uc: Any, kind: int, address: int, size: int, value: int, data: object) -> None:
        dma = self._transmit.dma
        if dma is None:
            self._printed.append(value & 0xFF)
            return
        self._printed += uc.mem_read(self._read_register(dma.pointer), self._read_register(dma.count))
        self._write_register(dma.done, 1)

    def _on_stray(self, uc: Any, kind: int, address: int, size: int, value: int, allowed: Sequence[Range]) -> None:
        if _covered(address, address + size, allowed) or len(self.strays) >= _MOST_STRAYS:
            return
        pc = int(uc.reg_read(UC_ARM_REG_PC)) & ~1
        stray = Stray(
            self._inference,
            "write" if kind == UC_MEM_WRITE else "read",
            address,
            size,
            self.image.name_of(address),
            pc,
            self.image.name_of(pc),
        )
        if stray not in self.strays:  # it may be in a loop, and a slice may run twice
            self.strays.append(stray)

    def _write_register(self, address: int, value: int) -> None:
        try:
            self._uc.mem_write(address, struct.pack("<I", value))
        except _UcError:
            self._uc.mem_map(address // _PAGE * _PAGE, _PAGE)
            self._uc.mem_write(address, struct.pack("<I", value))

    def _read_register(self, address: int) -> int:
        return int(struct.unpack("<I", self._uc.mem_read(address, 4))[0])


def _instruction_bytes(code: bytes, at: int) -> int:
    """Length of a Thumb instruction: 4 bytes where its first five bits are 0b11101 or more."""
    return 4 if at + 1 < len(code) and code[at + 1] >> 3 >= 0b11101 else 2


def _merged(ranges: Sequence[Range]) -> list[Range]:
    merged: list[Range] = []
    for r in sorted(ranges, key=lambda r: r.start):
        if merged and r.start <= merged[-1].end:
            merged[-1] = Range(merged[-1].start, max(merged[-1].end, r.end))
        elif r.start < r.end:
            merged.append(r)
    return merged


def _holes(ranges: Sequence[Range]) -> list[Range]:
    """What merged ranges leave of the address space, with the places before from where an access may reach into it."""
    holes, start = [], 0
    for r in ranges:
        if start < r.start:
            holes.append(Range(max(0, start - _LONGEST_ACCESS + 1), r.start))
        start = r.end
    if start < _ADDRESSES:
        holes.append(Range(max(0, start - _LONGEST_ACCESS + 1), _ADDRESSES))
    return holes


def _covered(start: int, end: int, ranges: Sequence[Range]) -> bool:
    """Whether merged ranges hold every address from `start` up to `end`."""
    return any(r.start <= start and end <= r.end for r in ranges)
