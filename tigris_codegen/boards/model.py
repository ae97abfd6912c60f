"""What is known of a board: the schema of its TOML file, of its SoC's, and the two together as one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from tigris_codegen.errors import UsageError

Identifier = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]
FileName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*$")]
Address = Annotated[int, Field(ge=0, le=0xFFFFFFFF)]
Size = Annotated[int, Field(gt=0, le=0xFFFFFFFF)]
FrameworkName = Literal["baremetal"]
Sources = Annotated[tuple[str, ...], Field(strict=False, min_length=1)]


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


class Uart(_Table):
    """A UART: which driver serves it and where its registers are."""

    driver: Literal["cmsdk"]
    base: Address


class Console(_Table):
    """Where the firmware prints."""

    uart: Identifier
    baud: Annotated[int, Field(gt=0)]


class Framework(_Table):
    """How a framework uses the memory: `program` holds code and plan, `data` variables and stack.

    `takes` is what the framework and the application's frame need of a region, the stack apart.
    """

    program: Identifier
    data: Identifier
    stack: Annotated[int, Field(ge=512, multiple_of=8)]
    takes: Mapping[Identifier, Annotated[int, Field(ge=0)]] = Field(default_factory=dict)


class Qemu(_Table):
    """The machine of QEMU that is this board."""

    machine: Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]+$")]


class Emulators(_Table):
    """What can run the board's firmware."""

    qemu: Qemu | None = None


class SocFile(_Table):
    """boards/soc/<name>.toml."""

    name: FileName
    title: str
    core: Literal["cortex-m4", "cortex-m7"]
    fpu: Literal["none", "sp", "dp"]
    dsp: bool
    mve: bool
    icache: bool
    dcache: bool
    interrupts: Annotated[int, Field(ge=1, le=480)]
    priority_bits: Annotated[int, Field(ge=2, le=8)]
    sources: Sources
    uarts: Mapping[Identifier, Uart]


class BoardFile(_Table):
    """boards/<name>.toml."""

    name: FileName
    title: str
    soc: FileName
    clock_hz: Annotated[int, Field(gt=0)]
    flash: str
    sources: Sources
    memory: Annotated[tuple[Memory, ...], Field(strict=False, min_length=1)]
    console: Console
    frameworks: Annotated[Mapping[FrameworkName, Framework], Field(min_length=1)]
    emulators: Emulators = Emulators()


@dataclass(frozen=True)
class Board:
    """A board with its SoC. `flash` says how an image gets onto it; `clock_hz` is the core's clock after reset."""

    name: str
    title: str
    soc: SocFile
    clock_hz: int
    flash: str
    sources: tuple[str, ...]
    memory: tuple[Memory, ...]
    console: Console
    frameworks: Mapping[FrameworkName, Framework]
    emulators: Emulators

    @property
    def console_uart(self) -> Uart:
        return self.soc.uarts[self.console.uart]

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
        """`available`, RAM only: where arenas may go, fastest first."""
        left = self.available(framework)
        return {r.name: left[r.name] for r in self.memory if r.kind == "ram"}
