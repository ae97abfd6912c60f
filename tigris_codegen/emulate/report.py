"""What the self-test prints, read back."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass

from tigris_codegen.errors import TigrisError

_START = re.compile(r"^TIGRIS (\S+) START vectors=(\d+) ram=(\d+) hz=(\d+)$")
_OUTPUT = re.compile(r"^TIGRIS (\S+) OUTPUT (\d+) (\d+) ((?:[0-9a-f]{2})*)$")
_RUN = re.compile(r"^TIGRIS (\S+) RUN (\d+) peak=(\d+) stack=(\d+) ticks=(\d+)$")
_PASS = re.compile(r"^TIGRIS (\S+) PASS crc=0x([0-9a-f]{8}) peak=(\d+) stack=(\d+) ticks=(\d+)$")
_FAIL = re.compile(r"^TIGRIS (\S+) FAIL(.*)$")


@dataclass(frozen=True)
class RunReport:
    """One test vector. Sizes in bytes; `ticks` of the core's clock; `instructions` as the emulator counts them."""

    vector: int
    outputs: tuple[bytes, ...]
    peak_bytes: int
    stack_bytes: int
    ticks: int
    instructions: int | None


@dataclass(frozen=True)
class Stray:
    """An access of an inference to memory that is not its own. Names are the nearest before the address."""

    inference: int
    kind: str
    address: int
    bytes: int
    name: str
    pc: int
    function: str

    def __str__(self) -> str:
        return (
            f"inference {self.inference}: {self.kind} of {self.bytes} bytes at 0x{self.address:08x} ({self.name}), "
            f"which is not its own, by 0x{self.pc:08x} ({self.function})"
        )


@dataclass(frozen=True)
class Watch:
    """How many inferences were watched, every access of each, and the first accesses that strayed.

    An inference may read code, constants and plan, and read and write the arenas and variables of its core and the
    stack below its caller.
    """

    inferences: int
    strays: tuple[Stray, ...]


@dataclass(frozen=True)
class Report:
    """A run of the self-test under an emulator.

    `passed` is the firmware's own verdict, `failure` its words where that is no. The figures are the largest over all
    vectors; `instructions` is None where the emulator does not count them. `peak_bytes` is to be compared with the
    stated RAM. `log` is all that was printed. `watch` is None where the emulator does not watch accesses.
    """

    name: str
    passed: bool
    failure: str | None
    runs: tuple[RunReport, ...]
    vectors: int
    stated_ram_bytes: int
    peak_bytes: int
    stack_bytes: int
    ticks: int
    instructions: int | None
    emulator: str
    machine: str
    log: str
    watch: Watch | None = None

    @property
    def outputs(self) -> tuple[tuple[bytes, ...], ...]:
        """The bytes of each output, per vector."""
        return tuple(run.outputs for run in self.runs)


def parse_report(log: str, emulator: str, machine: str, instructions_per_tick: float | None) -> Report:
    """The report in a console log.

    TigrisError for a log that is cut off or contradicts itself: such a run has proved nothing.
    """
    start = verdict = None
    outputs: dict[int, dict[int, bytes]] = {}
    measured: dict[int, tuple[int, int, int]] = {}
    for line in log.splitlines():
        if match := _START.match(line):
            start = match
        elif match := _OUTPUT.match(line):
            outputs.setdefault(int(match[2]), {})[int(match[3])] = bytes.fromhex(match[4])
        elif match := _RUN.match(line):
            measured[int(match[2])] = (int(match[3]), int(match[4]), int(match[5]))
        elif match := _PASS.match(line) or _FAIL.match(line):
            verdict = match
    if start is None or verdict is None:
        raise TigrisError(f"the firmware did not finish under {emulator}; it printed:\n{_tail(log)}")

    def count(ticks: int) -> int | None:
        return None if instructions_per_tick is None else round(ticks * instructions_per_tick)

    runs = tuple(
        RunReport(vector, _in_order(outputs.get(vector, {})), *figures, count(figures[2]))
        for vector, figures in sorted(measured.items())
    )
    passed = verdict.re is _PASS
    worst = [max((figures[i] for figures in measured.values()), default=0) for i in range(3)]
    if passed:
        crc = 0
        for run in runs:
            for output in run.outputs:
                crc = zlib.crc32(output, crc)
        if len(runs) != int(start[2]) or crc != int(verdict[2], 16) or worst != [int(verdict[i]) for i in (3, 4, 5)]:
            raise TigrisError(f"the console log is damaged: its lines do not give its last line\n{_tail(log)}")
    return Report(
        name=start[1],
        passed=passed,
        failure=None if passed else verdict[2].strip(),
        runs=runs,
        vectors=int(start[2]),
        stated_ram_bytes=int(start[3]),
        peak_bytes=worst[0],
        stack_bytes=worst[1],
        ticks=worst[2],
        instructions=count(worst[2]),
        emulator=emulator,
        machine=machine,
        log=log,
    )


def _in_order(outputs: dict[int, bytes]) -> tuple[bytes, ...]:
    return tuple(outputs[index] for index in sorted(outputs))


def _tail(log: str, lines: int = 20) -> str:
    return "\n".join(line[:200] for line in log.splitlines()[-lines:]) or "(nothing)"
