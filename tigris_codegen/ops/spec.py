"""What the home of an operator family declares.

Data flow: the frontend reads an operator's attributes through its `OpSpec`, checks its `rules`, and later stages ask
the spec to `lower` it to `Work`: a kernel, its parameters, and how bands of the output map to rows of the inputs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from tigris_codegen.errors import Refusal
from tigris_codegen.ir.graph import Graph, Op
from tigris_codegen.ir.rows import Rows
from tigris_codegen.plan.fields import Struct, Value


@dataclass(frozen=True)
class Kernel:
    """A runtime kernel: `tigris_k_<name>` and `tigris_k_<name>_check` in `runtime/src/kernels/<name>.c`.

    `id` is part of the plan format and never reused. `access` names the pattern by which `plan/verify.py` derives
    what a record reads and writes from the parameters alone.
    """

    id: int
    name: str
    params: Struct
    access: str
    doc: str


@dataclass(frozen=True)
class Constant:
    """Bytes for the constants section. `layout` 0 is TFLite's own order."""

    data: bytes
    layout: int = 0


@dataclass(frozen=True)
class Window:
    """Output rows [a, b) of one image need input rows [a*stride - pad, (b-1)*stride - pad + extent), clipped.

    With stride 1, extent 1 and pad 0 this is row to row; with a pad (also negative) it is PAD or a shifted copy.
    """

    stride: int
    extent: int
    pad: int
    in_rows: int
    out_rows: int

    def needs(self, first: int, stop: int) -> tuple[int, int]:
        """Half-open range of input rows for output rows [first, stop), counted over all images; may be empty."""
        image, last_image = first // self.out_rows, (stop - 1) // self.out_rows
        begin = (first - image * self.out_rows) * self.stride - self.pad
        end = (stop - 1 - last_image * self.out_rows) * self.stride - self.pad + self.extent
        begin = min(max(begin, 0), self.in_rows) + image * self.in_rows
        end = min(max(end, 0), self.in_rows) + last_image * self.in_rows
        return begin, max(begin, end)


@dataclass(frozen=True)
class PerImage:
    """Any output row of an image needs all input rows of the same image (of the whole tensor, with one image)."""

    in_rows: int
    out_rows: int

    def needs(self, first: int, stop: int) -> tuple[int, int]:
        return first // self.out_rows * self.in_rows, -(-stop // self.out_rows) * self.in_rows


BandMap = Window | PerImage


@dataclass(frozen=True)
class Operand:
    """A tensor as a kernel sees it: `rows` may differ from `rows_of(tensor)` (a view); it is then stored whole."""

    tensor: int
    rows: Rows


@dataclass(frozen=True)
class Work:
    """One kernel over one output.

    inputs       what the kernel reads besides constants in its parameters: at most 3, each with its band map
    first_row    first output row that this work writes, `row_count` how many (all of them, but for CONCATENATION
                 along the band axis, which is one Work per input)
    tileable     False: one record must write all rows
    parts        True: the kernel also accepts PART records over the rows of input 0
    accumulator_bytes, scratch_bytes  fast memory alive during the work
    grain        output channels per unit of a channel range, 0 where the kernel takes none
    """

    kernel: Kernel
    params: Mapping[str, Value | float | Constant | None]
    output: Operand
    inputs: tuple[Operand, ...]
    maps: tuple[BandMap, ...]
    source: int | None
    first_row: int
    row_count: int
    tileable: bool = True
    parts: bool = False
    accumulator_bytes: int = 0
    scratch_bytes: int = 0
    grain: int = 0
    tolerance: float = 0.0
    macs: int = 0


#: A rule's docstring is the rule, the refusal and the row in the docs at once. It returns the details of a
#: violation ("" for none to add), or None where the operator keeps the rule.
Rule = Callable[[Graph, Op], "str | None"]


class OpSpec(ABC):
    """The home of one TFLite operator."""

    kind: ClassVar[str]
    kernels: ClassVar[tuple[Kernel, ...]] = ()
    rules: ClassVar[tuple[Rule, ...]] = ()
    doc: ClassVar[str] = ""

    @abstractmethod
    def read_attributes(self, options: Any) -> Any:
        """The frozen attributes dataclass from the schema's options table, None where the operator has none."""

    def refusals(self, graph: Graph, op: Op) -> tuple[Refusal, ...]:
        """One refusal per broken rule."""
        found = []
        for rule in self.rules:
            details = rule(graph, op)
            if details is not None:
                reason = " ".join((rule.__doc__ or "").split()).rstrip(".")
                code = f"{self.kind.lower()}.{rule.__name__}"
                hint = getattr(rule, "hint", None)
                found.append(Refusal(code, reason + details, op.source, self.kind, hint))
        return tuple(found)

    @abstractmethod
    def lower(self, graph: Graph, op: Op) -> tuple[Work, ...]:
        """The kernels that compute the operator; empty for a view, which costs nothing."""
