"""What is known of a board: the schema of its TOML file, of its SoC's, and the two together as one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from tigris_codegen.errors import UsageError

Identifier = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]
FileName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*$")]
Address = Annotated[int, Field(ge=0, le=0xFFFFFFFF)]
Register = Annotated[int, Field(ge=0, le=0xFFFFFFFC, multiple_of=4)]
Word = Annotated[int, Field(ge=0, le=0xFFFFFFFF)]
Size = Annotated[int, Field(gt=0, le=0xFFFFFFFF)]
FrameworkName = Literal["baremetal", "zephyr", "esp-idf", "platformio", "posix"]
Core = Literal[
    "cortex-m0",
    "cortex-m0plus",
    "cortex-m3",
    "cortex-m4",
    "cortex-m7",
    "cortex-m33",
    "cortex-m55",
    "riscv32",
    "xtensa-lx6",
    "xtensa-lx7",
    "host",
]
Architecture = Literal["arm", "riscv", "xtensa", "host"]
_ARCHITECTURES: Mapping[str, Architecture] = {"cortex": "arm", "riscv32": "riscv", "xtensa": "xtensa", "host": "host"}
#: Architecture -> QEMU's program for it, with what it is told of every machine.
_QEMU: Mapping[Architecture, tuple[str, ...]] = {
    "arm": ("qemu-system-arm",),
    "riscv": ("qemu-system-riscv32", "-bios", "none"),
}
Sources = Annotated[tuple[str, ...], Field(strict=False)]
#: A line of a Kconfig configuration file.
Setting = Annotated[str, StringConstraints(pattern=r"^CONFIG_[A-Z0-9_]+=\S+$")]


class _Table(BaseModel):
    """A TOML table: exactly the keys below, exactly their types."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Memory(_Table):
    """A memory region; a board lists its regions fastest first. Sizes in bytes."""

    name: Identifier
    base: Address
    size: Size
    kind: Literal["flash", "ram"]

    @property
    def end(self) -> int:
        return self.base + self.size


class Bits(_Table):
    """Bits of a register that start-up sets; `what` says for whom."""

    address: Register
    bits: Annotated[int, Field(gt=0, le=0xFFFFFFFF)]
    what: str


class Transmit(_Table):
    """How a UART sends, for an emulator.

    A write to `address` sends what is written or, with `dma`, the `count` bytes at `pointer`; then `done`, where there
    is such a register, reads 1. While the bits of `off_while` are set, the address is that of another register.
    """

    class Flag(_Table):
        address: Register
        bits: Word

    class Dma(_Table):
        pointer: Register
        count: Register
        done: Register

    address: Register
    dma: Dma | None = None
    done: Register | None = None
    off_while: Flag | None = None


class Uart(_Table):
    """A UART: which driver serves it, where its registers are, what switches its clock on."""

    driver: Literal["cmsdk", "stm32_v1", "stm32_v2", "nrf_uarte", "nrf_uart", "ns16550"]
    base: Register
    transmit: Transmit
    enable: Bits | None = None


class Timer(_Table):
    """A timer at the core's clock: which driver serves it, where its registers are."""

    driver: Literal["nrf_timer"]
    base: Register


class Port(_Table):
    """A GPIO port; `number` is what drivers that take pins by number call it."""

    base: Register
    number: Annotated[int, Field(ge=0)] = 0
    enable: Bits | None = None


class Pin(_Table):
    """A pin and the alternate function that connects it."""

    port: Identifier
    pin: Annotated[int, Field(ge=0, le=31)]
    function: Annotated[int, Field(ge=0, le=15)] = 0


class Console(_Table):
    """Where the firmware prints; `tx` is needed where a UART has no pin of its own."""

    uart: Identifier
    baud: Annotated[int, Field(gt=0)]
    tx: Pin | None = None


class FrameworkFile(_Table):
    """How a framework uses the memory, as far as a file says: a board's file completes that of its SoC, key by key."""

    program: Identifier | None = None
    data: Identifier | None = None
    stack: Annotated[int, Field(ge=512, multiple_of=8)] | None = None
    takes: Mapping[Identifier, Annotated[int, Field(ge=0)]] | None = None
    id: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_./@-]+$")] | None = None
    regions: Mapping[Identifier, str] | None = None
    settings: Annotated[tuple[Setting, ...], Field(strict=False)] | None = None
    platform: FileName | None = None
    sdk: FileName | None = None


@dataclass(frozen=True)
class Framework:
    """How a framework uses the memory: `program` holds code and plan, `data` variables and stack.

    `takes` is what the framework and the application's frame need of a region, the stack apart. A framework with boards
    of its own has a name for this one (`id`: a Zephyr board, an ESP-IDF target, a PlatformIO board), for regions
    (`regions`: a devicetree node, a section) and `settings` that its Kconfig needs. `platform` and `sdk` are
    PlatformIO's `platform` and `framework`.
    """

    program: str
    data: str
    stack: int
    takes: Mapping[str, int]
    id: str = ""
    regions: Mapping[str, str] = field(default_factory=dict)
    settings: tuple[str, ...] = ()
    platform: str = ""
    sdk: str = ""


class Probe(_Table):
    """What a debug probe's software calls the board: a target of pyOCD, configuration files of OpenOCD."""

    pyocd: Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]+$")] | None = None
    openocd: Annotated[
        tuple[Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_./-]+\.cfg$")], ...], Field(strict=False)
    ] = ()


class Qemu(_Table):
    """The machine of QEMU that is this board; `clock_hz` where its core runs at another clock than the board's."""

    machine: Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]+$")]
    clock_hz: Annotated[int, Field(gt=0)] | None = None


class Renode(_Table):
    """The platform of Renode that is this board: its file, and the name that the console's UART has there."""

    platform: Annotated[str, StringConstraints(pattern=r"^platforms/[a-z0-9_/.-]+\.repl$")]
    uart: Identifier


class Stub(_Table):
    """What a register reads until firmware writes it; `what` says why that is enough."""

    address: Register
    value: Word
    what: str


class Unicorn(_Table):
    """Unicorn can be this SoC: registers are memory that holds 0, but for these."""

    stubs: Annotated[tuple[Stub, ...], Field(strict=False)] = ()


class Native(_Table):
    """Programs run on the machine that builds them."""


class SocEmulators(_Table):
    """What can run any board of the SoC."""

    unicorn: Unicorn | None = None
    native: Native | None = None


class BoardEmulators(_Table):
    """What can run this board beside that."""

    qemu: Qemu | None = None
    renode: Renode | None = None


class Emulators(_Table):
    """What can run the board's firmware."""

    qemu: Qemu | None = None
    unicorn: Unicorn | None = None
    renode: Renode | None = None
    native: Native | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Those that can."""
        return tuple(name for name, value in self if value is not None)


MemoryMap = Annotated[tuple[Memory, ...], Field(strict=False, min_length=1)]
Frameworks = Mapping[FrameworkName, FrameworkFile]


class SocFile(_Table):
    """boards/soc/<name>.toml. `clock_hz`, `memory` and `frameworks` hold where a board does not say otherwise."""

    name: FileName
    title: str
    core: Core
    fpu: Literal["none", "sp", "dp"]
    #: What the compiler may use of the FPU, where that is less.
    compile_fpu: Literal["none", "sp", "dp"] | None = None
    dsp: bool
    mve: bool
    icache: bool
    dcache: bool
    #: RISC-V: physical memory protection, with which start-up keeps the program from being written.
    pmp: bool = False
    #: Of a RISC-V core: its instruction set, in the compiler's words.
    isa: Annotated[str, StringConstraints(pattern=r"^rv32i[mafdc]*$")] | None = None
    interrupts: Annotated[int, Field(ge=1, le=480)] | None = None
    priority_bits: Annotated[int, Field(ge=2, le=8)] | None = None
    sources: Annotated[Sources, Field(min_length=1)]
    clock_hz: Annotated[int, Field(gt=0)] | None = None
    memory: MemoryMap | None = None
    frameworks: Frameworks = Field(default_factory=dict)
    #: What start-up switches on before it touches the memory.
    enable: Annotated[tuple[Bits, ...], Field(strict=False)] = ()
    uarts: Mapping[Identifier, Uart] = Field(default_factory=dict)
    ports: Mapping[Identifier, Port] = Field(default_factory=dict)
    #: What the self-test measures time with, where that is not the core's own clock (SysTick, mcycle).
    timer: Timer | None = None
    emulators: SocEmulators = SocEmulators()


class BoardFile(_Table):
    """boards/<name>.toml."""

    name: FileName
    title: str
    soc: FileName
    console: Console | None = None
    flash: str = "Write the `.hex` or `.elf` file to the board with its debug probe."
    probe: Probe = Probe()
    sources: Sources = ()
    icache: bool | None = None
    dcache: bool | None = None
    clock_hz: Annotated[int, Field(gt=0)] | None = None
    memory: MemoryMap | None = None
    frameworks: Frameworks = Field(default_factory=dict)
    emulators: BoardEmulators = BoardEmulators()


@dataclass(frozen=True)
class Board:
    """A board with its SoC.

    `flash` says how an image gets onto it, `probe` what a debug probe needs to know; `clock_hz` is the core's clock
    after reset; `icache` and `dcache` say which caches start-up enables; `files` are the TOML files it was read
    from, by their path below a folder of boards.
    """

    name: str
    title: str
    soc: SocFile
    clock_hz: int
    flash: str
    probe: Probe
    sources: tuple[str, ...]
    icache: bool
    dcache: bool
    memory: tuple[Memory, ...]
    console: Console | None
    frameworks: Mapping[FrameworkName, Framework]
    emulators: Emulators
    files: Mapping[str, bytes]

    @property
    def console_uart(self) -> Uart | None:
        return self.soc.uarts[self.console.uart] if self.console else None

    @property
    def architecture(self) -> Architecture:
        return _ARCHITECTURES[self.soc.core.partition("-")[0]]

    @property
    def qemu_command(self) -> tuple[str, ...]:
        """The program and its options that make QEMU the board; empty where QEMU cannot be it."""
        if self.emulators.qemu is None or self.architecture not in _QEMU:
            return ()
        program, *options = _QEMU[self.architecture]
        return (program, "-M", self.emulators.qemu.machine, *options)

    @property
    def compile_fpu(self) -> str:
        """What the compiler may use of the FPU."""
        return self.soc.compile_fpu or self.soc.fpu

    def region(self, name: str) -> Memory:
        """The memory region of that name; UsageError for one that the board does not have."""
        for region in self.memory:
            if region.name == name:
                return region
        raise UsageError(
            f"{self.name} has no memory region {name}.", "its regions: " + ", ".join(r.name for r in self.memory)
        )

    def framework_name(self, name: str | None) -> FrameworkName:
        """`name` if the board supports it, the board's first framework for None; else UsageError."""
        for known in self.frameworks:
            if name in (None, known):
                return known
        raise UsageError(
            f"{self.name} has no framework {name}.", "its frameworks: " + ", ".join(str(f) for f in self.frameworks)
        )

    def available(self, framework: FrameworkName) -> dict[str, int]:
        """Bytes of each region that a model may use (its plan in flash, its arenas in RAM), in the board's order."""
        use = self.frameworks[framework]
        left = {r.name: r.size - use.takes.get(r.name, 0) for r in self.memory}
        left[use.data] -= use.stack
        return left

    def arena_regions(self, framework: FrameworkName) -> dict[str, int]:
        """`available`, RAM only and only where there is any: where arenas may go, fastest first."""
        left = self.available(framework)
        return {r.name: left[r.name] for r in self.memory if r.kind == "ram" and left[r.name] > 0}
