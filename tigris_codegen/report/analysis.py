"""What `tigris analyze` and `tigris inspect` say, as values; `text.py` prints them, `as_json` is their JSON form."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from tigris_codegen.errors import FitError, Refusal
from tigris_codegen.pipeline import Compiled, Model
from tigris_codegen.plan.layout import Kind
from tigris_codegen.plan.plan import DTYPE_NAMES, Plan, Port
from tigris_codegen.plan.verify import expand


@dataclass(frozen=True)
class PortRow:
    """One model input or output."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    bytes: int
    scale: float
    zero_point: int


@dataclass(frozen=True)
class OperatorRow:
    """One kernel of a plan. `bands` counts its calls in one inference."""

    index: int
    name: str
    source: int | None
    output_rows: int
    row_bytes: int
    bands: int


@dataclass(frozen=True)
class PlanReport:
    """A plan in figures; sizes in bytes, `calls` and `shifted_bytes` of one inference."""

    ram_bytes: int
    fast_bytes: int
    slow_bytes: int
    state_bytes: int
    workspace_bytes: int
    scratch_bytes: int
    plan_bytes: int
    constant_bytes: int
    records: int
    calls: int
    shifted_bytes: int
    inputs: tuple[PortRow, ...]
    outputs: tuple[PortRow, ...]
    operators: tuple[OperatorRow, ...]


@dataclass(frozen=True)
class Analysis:
    """A model against a memory. `pool_bytes` None: no budget was given; `plan` is the one that fits, or None."""

    model: str
    fits: bool
    pool_bytes: int | None
    refusals: tuple[Refusal, ...]
    smallest_single_pool_bytes: int | None
    roomy_bytes: int | None
    plan: PlanReport | None


def _port(port: Port) -> PortRow:
    return PortRow(port.name, DTYPE_NAMES[port.dtype], port.shape, port.bytes, port.scale, port.zero_point)


def report_plan(plan: Plan, plan_bytes: int) -> PlanReport:
    """The figures of a plan of `plan_bytes` bytes."""
    calls = [0] * len(plan.operators)
    shifted = 0
    for record, _ in expand(plan.records):
        if record.kind is Kind.RUN:
            calls[record.target] += 1
        elif record.kind is Kind.SHIFT:
            shifted += record.rows * plan.operands[record.target].row_bytes
    operators = tuple(
        OperatorRow(
            index,
            op.kernel_name,
            op.source,
            plan.operands[op.output].rows,
            plan.operands[op.output].row_bytes,
            calls[index],
        )
        for index, op in enumerate(plan.operators)
    )
    return PlanReport(
        ram_bytes=plan.ram_bytes,
        fast_bytes=plan.fast_bytes,
        slow_bytes=plan.slow_bytes,
        state_bytes=plan.state_bytes,
        workspace_bytes=plan.workspace_bytes,
        scratch_bytes=plan.scratch_bytes,
        plan_bytes=plan_bytes,
        constant_bytes=len(plan.constants),
        records=len(plan.records),
        calls=sum(calls),
        shifted_bytes=shifted,
        inputs=tuple(_port(p) for p in plan.inputs),
        outputs=tuple(_port(p) for p in plan.outputs),
        operators=operators,
    )


def analyze(model: Model, name: str, pool: int | None) -> Analysis:
    """The model against a pool of `pool` bytes, None = with room for everything."""
    smallest, roomy = model.smallest(), model.roomy()
    chosen: Compiled | None = roomy
    if pool is not None:
        try:
            chosen = model.within(pool)
        except FitError:
            chosen = None
    return Analysis(
        model=name,
        fits=chosen is not None,
        pool_bytes=pool,
        refusals=(),
        smallest_single_pool_bytes=smallest.plan.ram_bytes,
        roomy_bytes=roomy.plan.ram_bytes,
        plan=report_plan(chosen.plan, len(chosen.plan_bytes)) if chosen else None,
    )


def refused(name: str, pool: int | None, refusals: tuple[Refusal, ...]) -> Analysis:
    """The analysis of a model that does not convert."""
    return Analysis(name, False, pool, refusals, None, None, None)


def as_json(value: Analysis | PlanReport) -> dict[str, Any]:
    """The JSON form: the dataclass's fields."""
    return asdict(value)
