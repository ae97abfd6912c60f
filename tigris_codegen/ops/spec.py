"""What the home of an operator family declares.

Data flow: the frontend reads an operator's attributes through its `OpSpec`, checks its `rules`, and later stages ask
the spec to `lower` it to `Work`: a kernel, its parameters, and how bands of the output map to rows of the inputs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from tigris_codegen.errors import Refusal
from tigris_codegen.ir.graph import Graph, Op, Tensor
from tigris_codegen.ir.rows import Rows
from tigris_codegen.plan.fields import Struct, Value

#: As many inputs as an operator has.
MANY_INPUTS = 1 << 16


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
    """A tensor as a kernel sees it: `rows` may differ from `rows_of(tensor)` (a view); it is then stored whole.

    An output may be a part of a tensor, which begins `at` bytes behind the tensor's start.
    """

    tensor: int
    rows: Rows
    at: int = 0


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
    in_place     inputs whose memory the output may take: the kernel goes through the elements of both in ascending
                 order, one for one, and reads each before it writes it
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
    in_place: tuple[int, ...] = ()
    tolerance: float = 0.0
    macs: int = 0


#: A rule's docstring is the rule, the refusal and the row in the docs at once. It returns the details of a
#: violation ("" for none to add), or None where the operator keeps the rule.
Rule = Callable[[Graph, Op], "str | None"]


#: Kinds whose output is its first input's memory under another shape. Filled as the specs are defined.
_VIEWS: set[str] = set()


def hint(text: str) -> Callable[[Rule], Rule]:
    """Attaches to a rule what to do where it is broken."""

    def attach(rule: Rule) -> Rule:
        vars(rule)["hint"] = text
        return rule

    return attach


class OpSpec(ABC):
    """The home of one TFLite operator.

    options       its options table in the TFLite schema, "" where it has none
    attributes    the class of its attributes
    inputs        how many inputs it may have: least and most
    optional      inputs from this position on may be left out
    used_inputs   inputs that matter; what stands behind them is not looked at
    kept_inputs   inputs that stay operands; the used ones behind them are read into the attributes
    is_view       True: the output is the memory of input 0 under another shape
    requirements  rules, each of which makes no sense where one before it is broken, nor do `rules` then
    """

    kind: ClassVar[str]
    kernels: ClassVar[tuple[Kernel, ...]] = ()
    requirements: ClassVar[tuple[Rule, ...]] = ()
    rules: ClassVar[tuple[Rule, ...]] = ()
    doc: ClassVar[str] = ""
    options: ClassVar[str] = ""
    attributes: ClassVar[type[Any]]
    inputs: ClassVar[tuple[int, int]] = (1, 1)
    optional: ClassVar[int] = MANY_INPUTS
    used_inputs: ClassVar[int] = MANY_INPUTS
    kept_inputs: ClassVar[int] = MANY_INPUTS
    is_view: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.is_view:
            _VIEWS.add(cls.kind)

    @abstractmethod
    def read_attributes(self, options: Any, inputs: Sequence[Tensor | None]) -> Any:
        """The frozen attributes from the schema's options table and the inputs; never raises, whatever they hold."""

    def refusals(self, graph: Graph, op: Op) -> tuple[Refusal, ...]:
        """The first broken requirement; where all are met, one refusal per broken rule."""
        first = next(self._broken(self.requirements, graph, op), None)
        return (first,) if first else tuple(self._broken(self.rules, graph, op))

    def _broken(self, rules: tuple[Rule, ...], graph: Graph, op: Op) -> Iterator[Refusal]:
        for rule in rules:
            details = rule(graph, op)
            if details is not None:
                code = f"{self.kind.lower()}.{rule.__name__}"
                yield Refusal(code, rule_text(rule) + details, op.source, self.kind, vars(rule).get("hint"))

    def constant(self, graph: Graph, op: Op) -> bytes | None:
        """The output's bytes where the inputs are constant and the compiler computes it; None otherwise."""
        return None

    @abstractmethod
    def lower(self, graph: Graph, op: Op) -> tuple[Work, ...]:
        """The kernels that compute the operator; empty for a view, which costs nothing."""


def rule_text(rule: Rule) -> str:
    """What a rule refuses, in words."""
    return " ".join((rule.__doc__ or "").split()).rstrip(".")


def is_view(op: Op) -> bool:
    """Whether the operator's output is its first input's memory."""
    return op.kind in _VIEWS


def base_tensor(graph: Graph, tensor: int) -> int:
    """The tensor whose memory `tensor` is: itself, or what it views."""
    views = {op.outputs[0]: op.inputs[0] for op in graph.ops if is_view(op)}
    while tensor in views:
        tensor = views[tensor]
    return tensor
