"""From a schedule with addresses to the plan: operands, records, constants."""

from __future__ import annotations

from dataclasses import replace

from tigris_codegen.ir.graph import DType, Tensor
from tigris_codegen.ir.rows import Rows, rows_of
from tigris_codegen.ops.spec import Constant, Work
from tigris_codegen.plan import layout
from tigris_codegen.plan.fields import Value
from tigris_codegen.plan.layout import ABSENT_CONST, ALIGNMENT, Backend, DTypeId, Kind, Space
from tigris_codegen.plan.plan import Operand, Operator, Plan, Port, Record
from tigris_codegen.planner.problem import Problem
from tigris_codegen.planner.schedule import Step
from tigris_codegen.planner.search import Schedule

DTYPES = {
    DType.S8: DTypeId.S8,
    DType.U8: DTypeId.U8,
    DType.S16: DTypeId.S16,
    DType.S32: DTypeId.S32,
    DType.S64: DTypeId.S64,
    DType.F32: DTypeId.F32,
    DType.BOOL: DTypeId.BOOL,
}


class _Constants:
    """The constants section; equal constants are stored once."""

    def __init__(self) -> None:
        self.data = bytearray()
        self._known: dict[bytes, int] = {}

    def offset(self, data: bytes) -> int:
        if data not in self._known:
            self._known[data] = len(self.data)
            self.data += data + bytes(-len(data) % ALIGNMENT)
        return self._known[data]

    def reference(self, constant: Constant) -> int:
        return constant.layout << layout.CONST_OFFSET_BITS | self.offset(constant.data)


class _Operands:
    """The operand table; equal operands are one entry."""

    def __init__(self) -> None:
        self.entries: dict[Operand, int] = {}

    def index(self, operand: Operand) -> int:
        return self.entries.setdefault(operand, len(self.entries))


def make_plan(problem: Problem, schedule: Schedule, model_hash: bytes) -> Plan:
    """The plan of a schedule in one pool."""
    constants, operands = _Constants(), _Operands()
    numbers = {tensor: number for number, tensor in enumerate(problem.stored)}

    def operand_of(tensor: int, rows: Rows) -> int:
        if tensor not in problem.stored:
            data = problem.graph.tensors[tensor].data
            assert data is not None
            return operands.index(Operand(Space.CONSTANTS, constants.offset(data), rows.bytes, rows.count))
        block = schedule.layout.blocks["tensor", tensor]
        address = schedule.layout.addresses["tensor", tensor]
        window = block.window.rows if block.window else 0
        return operands.index(Operand(Space.FAST, address, rows.bytes, rows.count, window, numbers[tensor]))

    def extra(kind: str, work: int) -> int | None:
        block = schedule.layout.blocks.get((kind, work))
        if block is None:
            return None
        return operands.index(Operand(Space.FAST, schedule.layout.addresses[kind, work], block.bytes, 1))

    operators = tuple(
        Operator(
            kernel=work.kernel.id,
            source=work.source,
            params=_params(work, constants),
            output=operand_of(work.output.tensor, work.output.rows),
            inputs=tuple(operand_of(o.tensor, o.rows) for o in work.inputs),
            accumulator=extra("accumulator", index),
            scratch=extra("scratch", index),
        )
        for index, work in enumerate(problem.works)
    )

    def ports(tensors: tuple[int, ...]) -> tuple[Port, ...]:
        bases = [problem.base[t] for t in tensors]
        return tuple(
            _port(problem.graph.tensors[t], operand_of(b, rows_of(problem.graph.tensors[b])))
            for t, b in zip(tensors, bases, strict=True)
        )

    inputs, outputs = ports(problem.graph.inputs), ports(problem.graph.outputs)
    return Plan(
        backend=Backend.REFERENCE,
        model_hash=model_hash,
        fast_bytes=schedule.layout.bytes,
        slow_bytes=0,
        state_bytes=0,
        scratch_bytes=max((w.scratch_bytes for w in problem.works), default=0),
        tolerance=max((w.tolerance for w in problem.works), default=0.0),
        operators=operators,
        records=fold_repeats(_records(problem, schedule, operators)),
        operands=tuple(operands.entries),
        inputs=inputs,
        outputs=outputs,
        constants=bytes(constants.data),
    )


def _params(work: Work, constants: _Constants) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for name, value in work.params.items():
        if value is None:
            found[name] = ABSENT_CONST
        elif isinstance(value, Constant):
            found[name] = constants.reference(value)
        else:
            found[name] = value
    return found


def _port(tensor: Tensor, operand: int) -> Port:
    q = tensor.quantization
    scale, zero_point = (q.scale, q.zero_point) if q else (0.0, 0)
    return Port(tensor.name, operand, DTYPES[tensor.dtype], tensor.shape, scale, zero_point)


def _records(problem: Problem, schedule: Schedule, operators: tuple[Operator, ...]) -> list[Record]:
    """Steps as records, each followed by the shifts that keep windows contiguous."""
    windows = {
        key[1]: block.window for key, block in schedule.layout.blocks.items() if key[0] == "tensor" and block.window
    }
    shifts: dict[int, list[Record]] = {}
    for tensor, window in windows.items():
        target = operators[problem.producers[tensor][0]].output
        for shift in window.shifts:
            shifts.setdefault(shift.tick, []).append(Record(Kind.SHIFT, target, shift.first, shift.kept))
    records: list[Record] = []
    for tick, step in enumerate(schedule.steps):
        origins = {tensor: window.origins[tick] for tensor, window in windows.items() if tick in window.origins}
        records.append(_run(problem, step, origins))
        records += shifts.get(tick, ())
    return records


def _run(problem: Problem, step: Step, origins: dict[int, int]) -> Record:
    written, first, stop = step.write
    slots = [first - origins[written] if written in origins and stop > first else 0]
    reads = {tensor: (begin, end) for tensor, begin, end in step.reads}
    for operand in problem.works[step.work].inputs[:2]:
        begin, end = reads.get(operand.tensor, (0, 0))
        slots.append(begin - origins[operand.tensor] if operand.tensor in origins and end > begin else 0)
    output, input_0, input_1 = (*slots, 0, 0)[:3]
    return Record(Kind.RUN, step.work, step.first, step.count, step.flags, slot=(output, input_0, input_1))


def fold_repeats(records: list[Record], longest: int = 96) -> tuple[Record, ...]:
    """The same schedule with runs of alike records under a REPEAT.

    A body repeats where each of its records comes again with only `row` moved on, by the same amount each pass.
    """
    folded: list[Record] = []
    at = 0
    while at < len(records):
        best_saving, best_body, best_passes = 0, 0, 0
        for body in range(1, min(longest, (len(records) - at) // 2) + 1):
            passes = _passes(records, at, body)
            saving = body * (passes - 1) - 1
            if saving > best_saving:
                best_saving, best_body, best_passes = saving, body, passes
        if best_saving:
            body_records = records[at : at + best_body]
            after = records[at + best_body : at + 2 * best_body]
            folded.append(Record(Kind.REPEAT, best_body, best_passes))
            folded += [replace(a, advance=b.row - a.row) for a, b in zip(body_records, after, strict=True)]
            at += best_body * best_passes
        else:
            folded.append(records[at])
            at += 1
    return tuple(folded)


def _passes(records: list[Record], at: int, body: int) -> int:
    """How many times the records [at, at + body) come in a row; 1 = once."""
    advances = []
    for q in range(body):
        a, b = records[at + q], records[at + body + q]
        step = b.row - a.row
        if not 0 <= step <= 255 or replace(b, row=a.row) != a or (step and a.kind is Kind.SHIFT):
            return 1
        advances.append(step)
    if not any(advances):
        return 1
    passes = 2
    while at + (passes + 1) * body <= len(records):
        start = at + passes * body
        for q in range(body):
            a, b = records[at + q], records[start + q]
            if b.row != a.row + passes * advances[q] or replace(b, row=a.row) != a:
                return passes
        passes += 1
    return passes
