"""From a schedule with addresses to the plan: operands, records, constants."""

from __future__ import annotations

from dataclasses import replace

from tigris_codegen.ir.graph import DType, Tensor
from tigris_codegen.ir.rows import Rows
from tigris_codegen.ops.spec import Constant, Work
from tigris_codegen.plan import layout
from tigris_codegen.plan.fields import Value
from tigris_codegen.plan.layout import ABSENT_CONST, ALIGNMENT, Backend, DTypeId, Kind, Space
from tigris_codegen.plan.plan import Operand, Operator, Plan, Port, Record
from tigris_codegen.planner.memory import Window
from tigris_codegen.planner.problem import COPY, Problem
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


class _Tables:
    """Operands and constants of a plan as they come to be needed."""

    def __init__(self, schedule: Schedule) -> None:
        self.problem = problem = schedule.problem
        self.constants = _Constants()
        self.operands: dict[Operand, int] = {}
        self.blocks = {**schedule.fast.blocks, **schedule.slow.blocks}
        self._addresses = {**schedule.fast.addresses, **schedule.slow.addresses}
        origins = dict.fromkeys(stored.origin for stored in problem.stored.values())
        self._numbers = {origin: number for number, origin in enumerate(origins)}

    def window(self, tensor: int) -> Window | None:
        return self.blocks["tensor", tensor].window

    def tensor(self, tensor: int, rows: Rows, at: int = 0) -> int:
        """Operand of a tensor, stored or constant, seen in these rows; of the part of it that begins at byte `at`."""
        if tensor not in self.problem.stored:
            data = self.problem.graph.tensors[tensor].data
            assert data is not None
            return self._index(Operand(Space.CONSTANTS, self.constants.offset(data), rows.bytes, rows.count))
        stored, window = self.problem.stored[tensor], self.window(tensor)
        address, number = self._addresses["tensor", tensor] + at, self._numbers[stored.origin]
        return self._index(Operand(stored.space, address, rows.bytes, rows.count, window.rows if window else 0, number))

    def stored(self, tensor: int) -> int:
        """Operand of a stored tensor in its own rows."""
        stored = self.problem.stored[tensor]
        return self.tensor(tensor, Rows(stored.rows, stored.row_bytes, stored.per_image))

    def memory(self, kind: str, work: int) -> int | None:
        """Operand of a work's accumulator or scratch; None where it has none."""
        block = self.blocks.get((kind, work))
        if block is None:
            return None
        return self._index(Operand(Space.FAST, self._addresses[kind, work], block.bytes, 1))

    def _index(self, operand: Operand) -> int:
        return self.operands.setdefault(operand, len(self.operands))


def make_plan(schedule: Schedule, model_hash: bytes) -> Plan:
    """The plan of a schedule."""
    problem = schedule.problem
    tables = _Tables(schedule)
    run = [index for index, work in enumerate(problem.works) if work.kernel is not COPY]
    operators = tuple(_operator(problem.works[index], index, tables) for index in run)
    targets = {index: place for place, index in enumerate(run)}
    records = fold_repeats(_records(schedule, tables, targets))
    inputs, outputs = (_ports(problem, numbers, tables) for numbers in (problem.graph.inputs, problem.graph.outputs))
    return Plan(
        backend=Backend.REFERENCE,
        model_hash=model_hash,
        fast_bytes=schedule.fast.bytes,
        slow_bytes=schedule.slow.bytes,
        state_bytes=0,
        scratch_bytes=max((w.scratch_bytes for w in problem.works), default=0),
        tolerance=max((w.tolerance for w in problem.works), default=0.0),
        operators=operators,
        operands=tuple(tables.operands),
        records=records,
        inputs=inputs,
        outputs=outputs,
        constants=bytes(tables.constants.data),
    )


def _operator(work: Work, index: int, tables: _Tables) -> Operator:
    return Operator(
        kernel=work.kernel.id,
        source=work.source,
        params=_params(work, tables.constants),
        output=tables.tensor(work.output.tensor, work.output.rows, work.output.at),
        inputs=tuple(tables.tensor(o.tensor, o.rows) for o in work.inputs),
        accumulator=tables.memory("accumulator", index),
        scratch=tables.memory("scratch", index),
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


def _ports(problem: Problem, tensors: tuple[int, ...], tables: _Tables) -> tuple[Port, ...]:
    """Inputs or outputs; a tensor that is listed twice gets a name of its own each time, because names are keys."""
    found: dict[str, Port] = {}
    for t in tensors:
        port = _port(problem.graph.tensors[t], tables.stored(problem.base[t]))
        name, copies = port.name, 1
        while name in found:
            copies += 1
            name = f"{port.name}#{copies}"
        found[name] = replace(port, name=name)
    return tuple(found.values())


def _port(tensor: Tensor, operand: int) -> Port:
    q = tensor.quantization
    scale, zero_point = (q.scale, q.zero_point) if q else (0.0, 0)
    return Port(tensor.name, operand, DTYPES[tensor.dtype], tensor.shape, scale, zero_point)


def _records(schedule: Schedule, tables: _Tables, targets: dict[int, int]) -> list[Record]:
    """Steps as records, each followed by the shifts that keep windows contiguous; `targets`: operator of each work."""
    problem = schedule.problem
    windows = {tensor: window for tensor in problem.stored if (window := tables.window(tensor))}
    shifts: dict[int, list[Record]] = {}
    for tensor, window in windows.items():
        for shift in window.shifts:
            record = Record(Kind.SHIFT, tables.stored(tensor), shift.first, shift.kept)
            shifts.setdefault(shift.tick, []).append(record)
    records: list[Record] = []
    for tick, step in enumerate(schedule.steps):
        origins = {tensor: window.origins[tick] for tensor, window in windows.items() if tick in window.origins}
        work = problem.works[step.work]
        slot = _places(work, step, origins)
        if work.kernel is COPY:
            source, target = tables.stored(work.inputs[0].tensor), tables.stored(work.output.tensor)
            records.append(Record(Kind.COPY, target, step.first, step.count, channel=source, slot=slot))
        else:
            records.append(Record(Kind.RUN, targets[step.work], step.first, step.count, step.flags, slot=slot))
        records += shifts.get(tick, ())
    return records


def _places(work: Work, step: Step, origins: dict[int, int]) -> tuple[int, int, int]:
    """Places in their windows of the first row written, and of the first row read of inputs 0 and 1."""
    written, first, stop = step.write
    slots = [first - origins[written] if written in origins and stop > first else 0]
    reads = {tensor: (begin, end) for tensor, begin, end in step.reads}
    for operand in work.inputs[:2]:
        begin, end = reads.get(operand.tensor, (0, 0))
        slots.append(begin - origins[operand.tensor] if operand.tensor in origins and end > begin else 0)
    output, input_0, input_1 = (*slots, 0, 0)[:3]
    return output, input_0, input_1


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
