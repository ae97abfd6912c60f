"""What the commands say of a model or a plan, as values; `text.py` prints them, `as_json` is their JSON form."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from typing import Any

from tigris_codegen.errors import Refusal
from tigris_codegen.ir.rows import band_axis
from tigris_codegen.pipeline import Compiled, Model
from tigris_codegen.plan.layout import Flag, Kind, Space
from tigris_codegen.plan.plan import DTYPE_NAMES, Operand, Operator, Plan, Port, Record
from tigris_codegen.plan.verify import expand
from tigris_codegen.report.price import FrontierPoint, frontier_points, weights_read_again
from tigris_codegen.sizes import Pools


@dataclass(frozen=True)
class PortRow:
    """One model input or output. `scale` 0 = not quantized."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    bytes: int
    scale: float
    zero_point: int


@dataclass(frozen=True)
class OperatorRow:
    """One kernel of a plan. `bands` counts its calls in one inference.

    index      the operator's index in the model's file; None for one that the compiler added
    name       what the model's file calls it; the kernel's name in capitals where only the plan is known
    band_axis  axis of its tensor that the bands cut; None where it runs whole, or where only the plan is known
    why_whole  why it runs whole: "fits", "not tileable" or "one row"; None like `band_axis`, and where it runs in bands
    """

    index: int | None
    name: str
    kernel: str
    rows: int
    row_bytes: int
    bands: int
    band_axis: int | None
    why_whole: str | None


@dataclass(frozen=True)
class Ram:
    """Everything that inference writes but the stack; scratch is part of fast."""

    total_bytes: int
    fast_bytes: int
    slow_bytes: int
    state_bytes: int
    workspace_bytes: int
    scratch_bytes: int


@dataclass(frozen=True)
class Flash:
    """The plan, and the weights and tables in it."""

    plan_bytes: int
    weight_bytes: int


@dataclass(frozen=True)
class Traffic:
    """What one inference moves to and from the slow arena."""

    slow_read_bytes: int
    slow_written_bytes: int


@dataclass(frozen=True)
class PlanReport:
    """A plan in figures; `calls` and `shifted_bytes` of one inference, `tolerance` of its float outputs (0 = exact).

    macs              multiply-accumulates of one inference, None where only the plan is known
    macs_again        those of them that compute values again
    reread_bytes      constants (weights, tables) that bands read once more, None where only the plan is known
    """

    backend: str
    ram: Ram
    flash: Flash
    traffic: Traffic
    records: int
    calls: int
    shifted_bytes: int
    macs: int | None
    macs_again: int | None
    reread_bytes: int | None
    tolerance: float
    inputs: tuple[PortRow, ...]
    outputs: tuple[PortRow, ...]
    operators: tuple[OperatorRow, ...]


@dataclass(frozen=True)
class Analysis:
    """A model against a memory.

    pool_bytes  the budget, None where none was given; `slow_pool_bytes` the second pool's
    regions     the board's memory regions for the fast and the slow arena, where the plan was made for them
    frontier    what less RAM costs, in one pool, least RAM first
    described   which plan the figures are of: "fitting" the memory, the "smallest" (where none fits), or the one with
                "whole" operators (where no memory was named); None for a model that does not convert
    """

    model: str
    fits: bool
    board: str | None
    pool_bytes: int | None
    slow_pool_bytes: int | None
    regions: tuple[str, ...]
    refusals: tuple[Refusal, ...]
    smallest_single_pool_bytes: int | None
    whole_operators_bytes: int | None
    frontier: tuple[FrontierPoint, ...]
    stack_bytes: int | None
    described: str | None
    plan: PlanReport | None


@dataclass(frozen=True)
class Memory:
    """What a model is analyzed against, as the user named it."""

    pools: Pools | None = None
    board: str | None = None
    stack_bytes: int | None = None

    @property
    def named(self) -> bool:
        return self.pools is not None or self.board is not None


def analyze(
    model: Model, name: str, memory: Memory, chosen: Compiled | None, regions: tuple[str, ...] = ()
) -> Analysis:
    """The model against a memory; `chosen` is the plan for it (the roomy one for no memory), None where none fits."""
    smallest, roomy = model.smallest(), model.roomy()
    pools = memory.pools
    return Analysis(
        model=name,
        fits=chosen is not None,
        board=memory.board,
        pool_bytes=pools.fast if pools else None,
        slow_pool_bytes=pools.slow if pools else None,
        regions=regions,
        refusals=(),
        smallest_single_pool_bytes=smallest.plan.ram_bytes,
        whole_operators_bytes=roomy.plan.ram_bytes,
        frontier=frontier_points(model.frontier()),
        stack_bytes=memory.stack_bytes,
        described="smallest" if chosen is None else "fitting" if memory.named else "whole",
        plan=report_plan(chosen or smallest, model),
    )


def refused(name: str, memory: Memory, refusals: tuple[Refusal, ...]) -> Analysis:
    """The analysis of a model that does not convert."""
    pools = memory.pools
    return Analysis(
        model=name,
        fits=False,
        board=memory.board,
        pool_bytes=pools.fast if pools else None,
        slow_pool_bytes=pools.slow if pools else None,
        regions=(),
        refusals=refusals,
        smallest_single_pool_bytes=None,
        whole_operators_bytes=None,
        frontier=(),
        stack_bytes=memory.stack_bytes,
        described=None,
        plan=None,
    )


def report_plan(compiled: Compiled, model: Model | None = None) -> PlanReport:
    """The figures of a plan, with the model's own names and axes where `model` is what it was made of."""
    plan = compiled.plan
    steps = list(expand(plan.records))
    runs: list[list[Record]] = [[] for _ in plan.operators]
    shifted = 0
    for record, _ in steps:
        if record.kind is Kind.RUN:
            runs[record.target].append(record)
        elif record.kind is Kind.SHIFT:
            shifted += record.rows * plan.operands[record.target].row_bytes
    origins = _Origins(model) if model else None
    return PlanReport(
        backend=plan.backend.name.lower().replace("_", "-"),
        ram=Ram(
            total_bytes=plan.ram_bytes,
            fast_bytes=plan.fast_bytes,
            slow_bytes=plan.slow_bytes,
            state_bytes=plan.state_bytes,
            workspace_bytes=plan.workspace_bytes,
            scratch_bytes=plan.scratch_bytes,
        ),
        flash=Flash(len(compiled.plan_bytes), len(plan.constants)),
        traffic=_traffic(plan, (record for record, _ in steps)),
        records=len(plan.records),
        calls=sum(map(len, runs)),
        shifted_bytes=shifted,
        macs=compiled.macs if model else None,
        macs_again=compiled.macs - model.problem.macs if model else None,
        reread_bytes=sum(weights_read_again(compiled, model)) if model else None,
        tolerance=plan.tolerance,
        inputs=tuple(map(_port, plan.inputs)),
        outputs=tuple(map(_port, plan.outputs)),
        operators=tuple(_operator(plan, op, runs[i], origins) for i, op in enumerate(plan.operators)),
    )


def _port(port: Port) -> PortRow:
    return PortRow(port.name, DTYPE_NAMES[port.dtype], port.shape, port.bytes, port.scale, port.zero_point)


class _Origins:
    """Where a plan's operators come from in the model."""

    def __init__(self, model: Model) -> None:
        self.problem = model.problem
        self.works = {(w.source, w.kernel.id): i for i, w in reversed(list(enumerate(self.problem.works)))}
        self.kinds = {op.outputs[0]: op.kind for op in self.problem.graph.ops}
        self.kind_of_source = {op.source: op.kind for op in self.problem.graph.ops if op.source is not None}

    def name(self, op: Operator) -> str | None:
        work = self.problem.works[self.works[op.source, op.kernel]]
        return self.kind_of_source[op.source] if op.source is not None else self.kinds.get(work.output.tensor)

    def axis(self, op: Operator, records: list[Record]) -> int:
        """The axis that several records of an operator cut: of input 0 for a reduction in parts, else of the output."""
        work = self.problem.works[self.works[op.source, op.kernel]]
        operand = work.inputs[0] if records[0].flags & Flag.PART else work.output
        shape = self.problem.graph.tensors[operand.tensor].shape
        axis = len(shape) - 1 if records[0].channels else band_axis(shape)
        return 0 if axis is None or operand.rows.per_image == 1 else axis

    def why_whole(self, op: Operator) -> str:
        index = self.works[op.source, op.kernel]
        work = self.problem.works[index]
        if work.parts and work.inputs[0].rows.count > 1:
            return "fits"
        if work.row_count <= 1:
            return "one row"
        return "fits" if self.problem.tileable[index] else "not tileable"


def _operator(plan: Plan, op: Operator, records: list[Record], origins: _Origins | None) -> OperatorRow:
    output = plan.operands[op.output]
    whole = len(records) == 1
    kernel = op.kernel_name
    name = (origins and origins.name(op)) or kernel.rpartition("_")[0].upper()
    axis = origins.axis(op, records) if origins and not whole else None
    why = origins.why_whole(op) if origins and whole else None
    return OperatorRow(op.source, name, kernel, output.rows, output.row_bytes, len(records), axis, why)


def _traffic(plan: Plan, records: Iterable[Record]) -> Traffic:
    """Bytes moved by COPY records, and the rows that kernels themselves touch of operands in the slow arena.

    Of an operand that has other rows than the output, all are counted: which ones a band needs only its kernel knows.
    """
    read = written = 0
    for record in records:
        if record.kind is Kind.COPY:
            target, source = plan.operands[record.target], plan.operands[record.channel]
            read += _slow(source, record.rows)
            written += _slow(target, record.rows)
        elif record.kind is Kind.RUN:
            op = plan.operators[record.target]
            output = plan.operands[op.output]
            part = record.flags & Flag.PART
            if not part or record.flags & Flag.LAST:
                written += _slow(output, output.rows if part else record.rows)
            for operand in (plan.operands[i] for i in op.inputs):
                same = part or operand.rows == output.rows
                read += _slow(operand, record.rows if same else operand.rows)
    return Traffic(read, written)


def _slow(operand: Operand, rows: int) -> int:
    return rows * operand.row_bytes if operand.space is Space.SLOW else 0


def as_json(value: Analysis | PlanReport) -> dict[str, Any]:
    """The JSON form: the fields; an analysis has those of its plan on its own level, null where there is no plan."""
    found = asdict(value)
    if isinstance(value, Analysis):
        plan = found.pop("plan")
        found |= plan or {field.name: None for field in fields(PlanReport)} | {"operators": []}
    return found
