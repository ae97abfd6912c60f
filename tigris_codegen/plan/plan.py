"""The plan as a value: what the planner decides, the file holds and the runtime obeys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod

from tigris_codegen.plan.fields import Value
from tigris_codegen.plan.kernel_table import KERNEL_FORMS
from tigris_codegen.plan.layout import EXECUTOR, Backend, DTypeId, Flag, Kind, Space

#: Bytes of one element.
DTYPE_BYTES = {
    DTypeId.S8: 1,
    DTypeId.U8: 1,
    DTypeId.S16: 2,
    DTypeId.S32: 4,
    DTypeId.S64: 8,
    DTypeId.F32: 4,
    DTypeId.BOOL: 1,
}

#: Element type -> numpy name.
DTYPE_NAMES = {
    DTypeId.S8: "int8",
    DTypeId.U8: "uint8",
    DTypeId.S16: "int16",
    DTypeId.S32: "int32",
    DTypeId.S64: "int64",
    DTypeId.F32: "float32",
    DTypeId.BOOL: "bool",
}


NO_FLAGS = Flag(0)


@dataclass(frozen=True)
class Operand:
    """A range of memory seen as rows. Offsets and sizes in bytes; `window` rows are held, 0 = all of them.

    Operands with the same `tensor` are views of the same bytes; None for working memory and constants.
    """

    space: Space
    offset: int
    row_bytes: int
    rows: int
    window: int = 0
    tensor: int | None = None

    @property
    def bytes(self) -> int:
        return (self.window or self.rows) * self.row_bytes


@dataclass(frozen=True)
class Operator:
    """One kernel with its parameters (constants as references) and operands (indices into Plan.operands)."""

    kernel: int
    source: int | None
    params: Mapping[str, Value]
    output: int
    inputs: tuple[int, ...]
    accumulator: int | None = None
    scratch: int | None = None

    @property
    def kernel_name(self) -> str:
        return KERNEL_FORMS[self.kernel].name


@dataclass(frozen=True)
class Record:
    """One step of the schedule; the fields are those of `layout.RECORD`."""

    kind: Kind
    target: int = 0
    row: int = 0
    rows: int = 0
    flags: Flag = NO_FLAGS
    channel: int = 0
    channels: int = 0
    advance: int = 0
    slot: tuple[int, int, int] = (0, 0, 0)


@dataclass(frozen=True)
class Port:
    """A model input or output. `scale` 0 = not quantized."""

    name: str
    operand: int
    dtype: DTypeId
    shape: tuple[int, ...]
    scale: float
    zero_point: int

    @property
    def bytes(self) -> int:
        return prod(self.shape) * DTYPE_BYTES[self.dtype]


@dataclass(frozen=True)
class Plan:
    """A whole plan. Sizes in bytes; `model_hash` is 16 bytes.

    `tolerance` is the largest absolute difference of a float output, 0 = exact.
    """

    backend: Backend
    model_hash: bytes
    fast_bytes: int
    slow_bytes: int
    state_bytes: int
    scratch_bytes: int
    tolerance: float
    operators: tuple[Operator, ...]
    operands: tuple[Operand, ...]
    records: tuple[Record, ...]
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    constants: bytes = field(repr=False)

    @property
    def workspace_bytes(self) -> int:
        """What the executor writes outside the arenas."""
        return EXECUTOR.size

    @property
    def ram_bytes(self) -> int:
        """The one number: everything that inference writes, stack apart."""
        return self.fast_bytes + self.slow_bytes + self.state_bytes + self.workspace_bytes

    @property
    def kernels(self) -> tuple[str, ...]:
        """Names of the kernels the plan needs, in id order."""
        return tuple(KERNEL_FORMS[k].name for k in sorted({o.kernel for o in self.operators}))
