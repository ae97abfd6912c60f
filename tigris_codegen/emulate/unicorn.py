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
from unicorn.unicorn_const import (
    UC_HOOK_CODE,
    UC_HOOK_INSN_INVALID,
    UC_HOOK_INTR,
    UC_HOOK_MEM_READ,
    UC_HOOK_MEM_READ_UNMAPPED,
    UC_HOOK_MEM_WRITE,
    UC_HOOK_MEM_WRITE_UNMAPPED,
    UC_MEM_WRITE,
    UC_MEM_WRITE_UNMAPPED,
)

from tigris_codegen.boards import Board
from tigris_codegen.emulate.cores import CORES, clock_of
from tigris_codegen.emulate.elf import Image, Range, read_image
from tigris_codegen.emulate.report import Report, Stray, Watch, parse_report
from tigris_codegen.errors import TigrisError, UsageError

#: The package says its types for Python 2 only.
_Uc: Any = _unicorn.Uc  # type: ignore[attr-defined]
_UcError: type[Exception] = _unicorn.UcError  # type: ignore[attr-defined]
_PAGE = 0x1000
_ADDRESSES = 1 << 32
#: Instructions per slice. What is left after the shortest is counted one by one.
_SLICES = (1 << 20, 1 << 12)
#: An IT instruction, and the most bytes of it and those that it makes conditional.
_IT, _LONGEST_IT_BLOCK = 0xBF00, 18
#: The longest access: one that begins before a range may reach into it.
_LONGEST_ACCESS = 8
_MOST_STRAYS = 16
_EXIT, _EXIT_EXTENDED = 0x18, 0x20


@dataclass(frozen=True)
class Access:
    """What an inference may touch; every writable range is also among those that may be read."""

    read: tuple[Range, ...]
    write: tuple[Range, ...]


class UnicornEmulator:
    """The emulator library Unicorn."""

    name = "Unicorn"

    def supports(self, board: Board) -> bool:
        return board.emulators.unicorn is not None and board.soc.core in CORES

    def run(self, image: Path, board: Board, core: str, timeout: float) -> Report:
        if not self.supports(board):
            raise UsageError(f"Unicorn cannot be {board.name}.")
        machine = _Machine(read_image(image), board, time.monotonic() + timeout)
        inferences = _run_watched(machine, core)
        report = parse_report(machine.log(), self.name, board.soc.name, 1.0)
        return replace(report, watch=Watch(inferences, tuple(machine.strays)))


def _run_watched(machine: _Machine, project: str) -> int:
    """Runs the image to its end; the number of inferences."""
    image = machine.image
    stack_limit = image.symbol("__stack_limit")
    entries = {_entry(image, core): _variables(machine, core) for core in _cores(image, project)}
    inferences = 0
    while (begin := machine.run_to_any(tuple(entries))) is not None:
        own = (*entries[begin], Range(stack_limit, machine.stack_pointer()))
        with_constants = Access(read=(*own, *image.constants), write=own)
        machine.run_inference(inferences, machine.return_address(), with_constants)
        inferences += 1
    return inferences


def _cores(image: Image, project: str) -> tuple[str, ...]:
    """The cores of a project: the one of its name, or those whose names together are its name."""
    plans = {name.removesuffix("_plan") for name in image.symbols if name.endswith("_plan")}
    cores = tuple(sorted(name for name in plans if f"{name}_init" in image.symbols))
    together = sum(len(core) + 1 for core in cores) == len(project) + 1 and all(core in project for core in cores)
    return cores if together and project not in cores else (project,)


def _entry(image: Image, core: str) -> int:
    """Where an inference of the core begins; a core with state has one entry only."""
    with_state = f"{core}_run_with_state"
    return image.symbol(
        with_state if f"{core}_run" not in image.symbols and with_state in image.symbols else f"{core}_run"
    )


def _variables(machine: _Machine, core: str) -> tuple[Range, ...]:
    """What an inference of the core may write besides the stack: its own variables, and an arena that it shares."""
    objects = machine.image.objects
    own = tuple(r for r in objects.get(f"{core}.c", ()) if machine.is_ram(r))
    if not own:
        raise TigrisError(f"the image does not say where the variables of {core}.c are.")
    return own + tuple(r for name, r in machine.image.variables.items() if _is_shared_arena(machine.image, name, core))


def _is_shared_arena(image: Image, name: str, core: str) -> bool:
    """Whether a global variable is one of an arena that the core shares with others."""
    arena = name.removesuffix("_fast").removesuffix("_slow")
    return arena.endswith("_arena") and f"{arena}_fast" in image.variables and core in arena


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
        self._core = core = CORES[board.soc.core]
        self.uc = uc = _Uc(core.architecture, core.mode)
        uc.ctl_set_cpu_model(core.model)
        for region in board.memory:
            uc.mem_map(region.base, -(-region.size // _PAGE) * _PAGE)
        for address, data in image.segments:
            uc.mem_write(address, data)
        uc.hook_add(UC_HOOK_MEM_READ_UNMAPPED | UC_HOOK_MEM_WRITE_UNMAPPED, self._on_unmapped)
        uc.hook_add(UC_HOOK_INTR, self._on_exception)
        uc.hook_add(UC_HOOK_INSN_INVALID, self._on_invalid_instruction)
        unicorn, uart = board.emulators.unicorn, board.console_uart
        assert unicorn is not None and uart is not None
        self._transmit = uart.transmit
        uc.hook_add(UC_HOOK_MEM_WRITE, self._on_transmit, begin=uart.transmit.address, end=uart.transmit.address)
        self.write_register(uart.transmit.address, 0)
        for stub in unicorn.stubs:
            self.write_register(stub.address, stub.value)
        self._clock = clock_of(board, self)
        self._pc = image.symbol("Reset_Handler")
        if core.vector_table:
            stack, self._pc = struct.unpack("<II", uc.mem_read(image.symbol("vectors"), 8))
            uc.reg_write(core.stack_pointer, stack)

    def log(self) -> str:
        """All that was printed."""
        return self._printed.decode("utf-8", errors="replace")

    def is_ram(self, wanted: Range) -> bool:
        """Whether a range lies in one of the board's RAMs."""
        return any(r.kind == "ram" and r.base <= wanted.start and wanted.end <= r.end for r in self.board.memory)

    def stack_pointer(self) -> int:
        return int(self.uc.reg_read(self._core.stack_pointer))

    def return_address(self) -> int:
        return int(self.uc.reg_read(self._core.link)) & ~self._core.code_bit

    def run_to(self, address: int) -> bool:
        """Runs until the instruction at `address` is next, or, which is False, the program ends."""
        self._forget_translations()
        self._run(address)
        return not self._ended

    def run_to_any(self, addresses: Sequence[int]) -> int | None:
        """Runs until the instruction at one of the addresses is next; which, or None where the program ends."""
        if len(addresses) == 1:
            return addresses[0] if self.run_to(addresses[0]) else None
        hooks = [self.uc.hook_add(UC_HOOK_CODE, self._on_end, begin=at, end=at) for at in addresses]
        reached = self.run_to(addresses[0])
        for hook in hooks:
            self.uc.hook_del(hook)
        self._forget_translations()
        return self._pc if reached else None

    def run_inference(self, number: int, end: int, allowed: Access) -> None:
        """Runs until the instruction at `end` is next, watching every access.

        While the firmware measures time, instructions are counted, and its clock sees a tick for each.
        """
        self._inference = number
        hooks = [
            self.uc.hook_add(hook, self._on_stray, user_data=ranges, begin=hole.start, end=hole.end - 1)
            for hook, ranges in ((UC_HOOK_MEM_READ, _merged(allowed.read)), (UC_HOOK_MEM_WRITE, _merged(allowed.write)))
            for hole in _holes(ranges)
        ]
        timed = self._clock.is_running()
        if timed:
            ticks = self._count(end, allowed.write)
        else:
            self._forget_translations()
            self._run(end)
        for handle in hooks:
            self.uc.hook_del(handle)
        if self._ended:
            raise TigrisError(f"the firmware ended inside an inference, at {self._where()}.")
        if timed:
            self._clock.pass_time(ticks)

    def call(self, function: int) -> None:
        """Calls a function between two instructions."""
        before, back = self.uc.context_save(), self._pc
        self.uc.reg_write(self._core.link, back | self._core.code_bit)
        self._pc = function & ~self._core.code_bit
        self.run_to(back)
        self.uc.context_restore(before)

    def _count(self, end: int, memory: Sequence[Range]) -> int:
        """Runs until the instruction at `end` is next; how many instructions that took."""
        count = 0
        self._forget_translations()
        for length in _SLICES:
            while ran := self._whole_slice(end, length, memory):
                count += ran
        rest: list[int] = []
        hook = self.uc.hook_add(UC_HOOK_CODE, lambda uc, address, size, data: rest.append(address))
        self._forget_translations()
        self._run(end)
        self.uc.hook_del(hook)
        return count + len(rest)

    def _whole_slice(self, end: int, length: int, memory: Sequence[Range]) -> int:
        """Runs that many instructions, or some fewer; how many. 0, and nothing is done, where `end` comes before.

        Unicorn may run one more than it says, uncounted, where it ought to stop inside an IT block: after such a place
        the slice is run again, shorter.
        """
        context, pc = self.uc.context_save(), self._pc
        contents = [(r.start, bytes(self.uc.mem_read(r.start, r.end - r.start))) for r in memory]
        for ran in range(length, 0, -1):
            self._run(end, ran)
            if self._pc != end and not self._ended and not self._in_or_after_it_block():
                return ran
            at_end = self._pc == end or self._ended
            self._ended = False
            self._pc = pc
            self.uc.context_restore(context)
            for start, data in contents:
                self.uc.mem_write(start, data)
            if at_end:
                break
        return 0

    def _in_or_after_it_block(self) -> bool:
        """Whether what is before the next instruction may be an IT block."""
        if not self._core.it_blocks:
            return False
        code = bytes(self.uc.mem_read(self._pc - _LONGEST_IT_BLOCK, _LONGEST_IT_BLOCK))
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
        self.uc.ctl_flush_tb()

    def _run(self, end: int, instructions: int = 0) -> None:
        """Runs until the instruction at `end` is next, the program ends, or so many instructions are done; 0 = all."""
        left = max(self.deadline - time.monotonic(), 1e-3)
        try:
            self.uc.emu_start(self._pc | self._core.code_bit, end, timeout=int(left * 1e6), count=instructions)
        except _UcError as error:
            if not self._ended:
                self._fault = self._fault or str(error)
        self._pc = int(self.uc.reg_read(self._core.program_counter)) & ~self._core.code_bit
        if self._fault:
            raise TigrisError(f"the firmware failed under Unicorn at {self._where()}: {self._fault}.")
        if time.monotonic() > self.deadline:
            raise TigrisError(f"the firmware did not end in time under Unicorn; it printed:\n{self.log()[-2000:]}")

    def _where(self) -> str:
        return f"0x{self._pc:08x} ({self.image.name_of(self._pc)})"

    def _on_end(self, uc: Any, address: int, size: int, data: object) -> None:
        uc.emu_stop()

    def _on_unmapped(self, uc: Any, kind: int, address: int, size: int, value: int, data: object) -> bool:
        if any(r.start <= address < r.end for r in self._core.registers):
            uc.mem_map(address // _PAGE * _PAGE, _PAGE)
            return True
        verb = "wrote" if kind == UC_MEM_WRITE_UNMAPPED else "read"
        self._fault = f"it {verb} 0x{address:08x}, where {self.board.name} has nothing"
        return False

    def _on_exception(self, uc: Any, number: int, data: object) -> None:
        self._ended = self._asks_to_end()
        if not self._ended:
            self._fault = f"exception {number}"
        uc.emu_stop()

    def _on_invalid_instruction(self, uc: Any, data: object) -> bool:
        """To Unicorn a breakpoint of RISC-V is one, and an error."""
        self._ended = self._asks_to_end()
        return False

    def _asks_to_end(self) -> bool:
        """Whether the current instruction is the call of semihosting that ends a program."""
        pc = int(self.uc.reg_read(self._core.program_counter)) & ~self._core.code_bit
        code = self._core.semihosting
        operation = self.uc.reg_read(self._core.operation)
        return bytes(self.uc.mem_read(pc, len(code))) == code and operation in (_EXIT, _EXIT_EXTENDED)

    def _on_transmit(self, uc: Any, kind: int, address: int, size: int, value: int, data: object) -> None:
        dma, done, off = self._transmit.dma, self._transmit.done, self._transmit.off_while
        if off is not None and self.read_register(off.address) & off.bits:
            return
        if done is not None:
            self.write_register(done, 1)
        if dma is None:
            self._printed.append(value & 0xFF)
            return
        self._printed += uc.mem_read(self.read_register(dma.pointer), self.read_register(dma.count))
        self.write_register(dma.done, 1)

    def _on_stray(self, uc: Any, kind: int, address: int, size: int, value: int, allowed: Sequence[Range]) -> None:
        if _covered(address, address + size, allowed) or len(self.strays) >= _MOST_STRAYS:
            return
        pc = int(uc.reg_read(self._core.program_counter)) & ~self._core.code_bit
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

    def write_register(self, address: int, value: int) -> None:
        self._map_register(address)
        self.uc.mem_write(address, struct.pack("<I", value))

    def read_register(self, address: int) -> int:
        self._map_register(address)
        return int(struct.unpack("<I", self.uc.mem_read(address, 4))[0])

    def _map_register(self, address: int) -> None:
        """Registers come into being, as 0, when they are first touched."""
        if not any(first <= address <= last for first, last, _ in self.uc.mem_regions()):
            self.uc.mem_map(address // _PAGE * _PAGE, _PAGE)


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
