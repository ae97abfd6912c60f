"""Proof of a plan, independent of the planner and of the operators' homes.

From the kernels' parameters alone it derives which rows each record reads and writes, executes the schedule on memory
whose every byte is labelled with the tensor byte it holds, and checks that every read finds exactly the bytes it
expects, that nothing is computed twice and that the outputs are whole at the end. What a live byte is follows from
that: overwriting one makes a later read fail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tigris_codegen.plan.kernel_table import KERNEL_FORMS
from tigris_codegen.plan.layout import MAX_STEPS, Flag, Kind, Space
from tigris_codegen.plan.plan import Operand, Operator, Plan, Record

GARBAGE = -1
#: Labels of accumulators begin where those of so many tensors end.
MAX_SHARED_TENSORS = 1 << 20


class PlanFault(Exception):
    """A plan that would compute wrong bytes: a fault of the planner, with the record at which it shows."""


@dataclass(frozen=True)
class Access:
    """What one RUN record touches: a row range per input, and of the output whole rows or a strided part of each.

    `part` is (first byte, block bytes, stride, blocks) within each output row, None = whole rows. `in_place` says of
    each input whether the kernel reads its elements in the order in which it writes the output's, each before that
    one: then the two may overlap as long as no write reaches an element that is still to be read.
    """

    inputs: tuple[tuple[int, int], ...]
    output: tuple[int, int]
    part: tuple[int, int, int, int] | None = None
    accumulator_bytes: int = 0
    in_place: tuple[bool, ...] = ()


Params = Mapping[str, Any]


@dataclass(frozen=True)
class _Call:
    """A RUN record with what its rule may look at."""

    record: Record
    row: int
    params: Params
    element: int
    output: Operand
    inputs: tuple[Operand, ...]

    @property
    def stop(self) -> int:
        return self.row + self.record.rows

    @property
    def part(self) -> bool:
        return bool(self.record.flags & Flag.PART)

    def sums(self) -> Access:
        """A record that folds rows of input 0 into 32-bit sums."""
        elements = self.output.rows * self.output.row_bytes // self.element
        return Access(((self.row, self.stop),), (0, self.output.rows), accumulator_bytes=4 * elements)


def _expect(condition: bool, what: str) -> None:
    if not condition:
        raise PlanFault(what)


def _slide(c: _Call, extent: int, stride: int, pad: int, in_h: int, out_h: int) -> tuple[int, int]:
    """Input rows under a window that slides down the images of a batch, from the first tap inside to the last."""

    def edge(row: int, tap: int) -> int:
        image, y = divmod(row, out_h)
        return image * in_h + min(max(y * stride - pad + tap, 0), in_h)

    first = edge(c.row, 0)
    return first, max(first, edge(c.stop - 1, extent))


def _window(c: _Call) -> Access:
    p = c.params
    _expect(c.output.row_bytes == p["out_w"] * p["out_c"] * c.element, "output rows are not out_w x out_c")
    _expect(c.inputs[0].row_bytes == p["in_w"] * p["in_c"] * c.element, "input rows are not in_w x in_c")
    _expect(c.output.rows * p["in_h"] == c.inputs[0].rows * p["out_h"], "input and output differ in images")
    extent = (p["kernel_h"] - 1) * p["dilation_h"] + 1
    rows = _slide(c, extent, p["stride_h"], p["pad_top"], p["in_h"], p["out_h"])
    if not c.record.channels:
        return Access((rows,), (c.row, c.stop))
    block = c.record.channels * c.element
    part = (c.record.channel * c.element, block, p["out_c"] * c.element, p["out_w"])
    return Access((rows,), (c.row, c.stop), part)


def _pool(c: _Call) -> Access:
    p = c.params
    _expect(c.inputs[0].row_bytes == p["in_w"] * p["channels"] * c.element, "input rows are not in_w x channels")
    if c.part:
        _expect(p["out_h"] == 1 and c.inputs[0].rows == p["in_h"], "parts of a pool that is not global in height")
        return c.sums()
    _expect(c.output.row_bytes == p["out_w"] * p["channels"] * c.element, "output rows are not out_w x channels")
    return Access((_slide(c, p["kernel_h"], p["stride_h"], p["pad_top"], p["in_h"], p["out_h"]),), (c.row, c.stop))


def _matrix(c: _Call) -> Access:
    p = c.params
    held = c.inputs[0].rows * c.inputs[0].row_bytes
    _expect(held == p["positions"] * p["in_features"] * c.element, "input is not positions x in_features")
    if c.part:
        _expect(p["positions"] == 1, "parts of a product of several vectors")
        return c.sums()
    vector = p["out_features"] * c.element
    begin = c.row * c.output.row_bytes // vector
    end = -(-c.stop * c.output.row_bytes // vector)
    size = p["in_features"] * c.element
    return Access(((begin * size // c.inputs[0].row_bytes, -(-end * size // c.inputs[0].row_bytes)),), (c.row, c.stop))


def _broadcast(c: _Call) -> Access:
    p = c.params
    ranges = []
    repeats = (p["repeat_a"], p["repeat_b"])
    for operand, repeat in zip(c.inputs, repeats, strict=True):
        ranges.append((0, operand.rows) if repeat & 1 else (c.row, c.stop))
    return Access(tuple(ranges), (c.row, c.stop), in_place=tuple(repeat == 0 for repeat in repeats))


def _rows_alike(c: _Call) -> Access:
    _expect(c.inputs[0].rows == c.output.rows, "input and output differ in rows")
    return Access(((c.row, c.stop),), (c.row, c.stop))


def _elementwise(c: _Call) -> Access:
    return replace(_rows_alike(c), in_place=(True,))


def _pad(c: _Call) -> Access:
    p = c.params
    in_h, out_h, top, front = p["in_dims"][1], p["out_dims"][1], p["before"][1], p["before"][0]
    wanted = [
        (image - front) * in_h + row - top
        for image, row in (divmod(r, out_h) for r in range(c.row, c.stop))
        if front <= image < front + p["in_dims"][0] and top <= row < top + in_h
    ]
    return Access(((wanted[0], wanted[-1] + 1) if wanted else (0, 0),), (c.row, c.stop))


def _mean(c: _Call) -> Access:
    if c.part:
        return c.sums()
    outer, *_ = dims = c.params["dims"]
    in_bytes = c.inputs[0].rows * c.inputs[0].row_bytes // outer
    out_bytes = dims[2] * dims[4] * c.element
    begin = c.row * c.output.row_bytes // out_bytes
    end = -(-c.stop * c.output.row_bytes // out_bytes)
    row = c.inputs[0].row_bytes
    return Access(((begin * in_bytes // row, -(-end * in_bytes // row)),), (c.row, c.stop))


def _place(c: _Call) -> Access:
    p = c.params

    def source(row: int) -> int:
        image, place = divmod(row, p["out_rows"])
        return int(image * p["in_rows"] + place - p["first_row"])

    part = (p["offset"], p["in_block"], p["out_block"], p["blocks"])
    return Access(((source(c.row), source(c.stop - 1) + 1),), (c.row, c.stop), part)


RULES: dict[str, Callable[[_Call], Access]] = {
    "window": _window,
    "pool": _pool,
    "matrix": _matrix,
    "broadcast": _broadcast,
    "vectors": _rows_alike,
    "elementwise": _elementwise,
    "pad": _pad,
    "mean": _mean,
    "place": _place,
}


def expand(records: tuple[Record, ...]) -> Iterator[tuple[Record, int]]:
    """The records in execution order, each with its row, REPEATs unrolled."""
    at, left = 0, MAX_STEPS
    while at < len(records):
        record = records[at]
        at += 1
        repeat = record.kind is Kind.REPEAT
        left -= record.target * record.row if repeat else 1
        _expect(left >= 0, f"more than {MAX_STEPS} records to execute")
        if not repeat:
            yield record, record.row
            continue
        body = records[at : at + record.target]
        _expect(record.row > 0 and len(body) == record.target > 0, "a REPEAT without passes, or without its body")
        at += record.target
        for number in range(record.row):
            for inner in body:
                yield inner, inner.row + number * inner.advance


class _Memory:
    """Every byte of a pool labelled with the tensor byte that it holds."""

    def __init__(self, fast_bytes: int, slow_bytes: int) -> None:
        self.pools = {
            Space.FAST: np.full(fast_bytes, GARBAGE, np.int64),
            Space.SLOW: np.full(slow_bytes, GARBAGE, np.int64),
        }

    def cells(self, operand: Operand, first: int, count: int) -> NDArray[np.int64]:
        """The labels of `count` rows from place `first` of an operand's memory on; PlanFault outside of it."""
        pool = self.pools[operand.space]
        held = operand.window or operand.rows
        begin = operand.offset + first * operand.row_bytes
        end = begin + count * operand.row_bytes
        _expect(
            first >= 0 and first + count <= held and end <= len(pool), f"rows {first} to {first + count} do not fit"
        )
        rows: NDArray[np.int64] = pool[begin:end]
        return rows


#: Bytes [start, stop) of a space.
Span = tuple[Space, int, int]


def _span(operand: Operand, place: int, rows: int) -> Span:
    start = operand.offset + place * operand.row_bytes
    return operand.space, start, start + rows * operand.row_bytes


def _meet(a: Span, b: Span) -> bool:
    return a[0] is b[0] and a[1] < b[2] and b[1] < a[2]


def _trails(output: Span, source: Span, elements: int) -> bool:
    """Whether writing element i of the output leaves all elements of the input behind i as they are, for every i."""
    out_size, in_size = ((span[2] - span[1]) // elements for span in (output, source))
    # Both ends move evenly, so the first and the last element decide for all between.
    return all(output[1] + out_size * n <= source[1] + in_size * n for n in (1, elements - 1) if n < elements)


class _Run:
    """One execution of the schedule on labels."""

    def __init__(self, plan: Plan, memory: _Memory, first_tensor: int = 0) -> None:
        """`first_tensor` is added to the plan's tensors in labels, where the memory holds those of other plans, too."""
        self.plan = plan
        self.memory = memory
        self.first_tensor = first_tensor
        sizes: dict[int, int] = {}
        for operand in plan.operands:
            if operand.tensor is not None:
                sizes[operand.tensor] = max(sizes.get(operand.tensor, 0), operand.rows * operand.row_bytes)
        self.written = {tensor: np.zeros(size, bool) for tensor, size in sizes.items()}
        self.starts = {operand: self._start(operand) for operand in plan.operands if operand.tensor is not None}
        self.sums: dict[int, int] = {}  # operator -> next row of its reduction in parts

    def _start(self, operand: Operand) -> int:
        """Where in its tensor an operand begins: at the start, but for a part, which lies inside the whole tensor."""
        assert operand.tensor is not None
        size, whole = operand.rows * operand.row_bytes, len(self.written[operand.tensor])
        if size == whole:
            return 0
        for other in self.plan.operands:
            same = other.tensor == operand.tensor and other.space is operand.space
            if same and other.rows * other.row_bytes == whole and not other.window and not operand.window:
                start = operand.offset - other.offset
                if 0 <= start <= whole - size:
                    return start
        raise PlanFault(f"tensor {operand.tensor} in two sizes")

    def _labels(self, operand: Operand, first: int, stop: int) -> NDArray[np.int64]:
        if operand.tensor is None:
            raise PlanFault("an operand that is no tensor")
        base = ((self.first_tensor + operand.tensor) << 40) + self.starts[operand]
        return np.arange(base + first * operand.row_bytes, base + stop * operand.row_bytes, dtype=np.int64)

    def run(self) -> None:
        for port in self.plan.inputs:
            operand = self.plan.operands[port.operand]
            self.memory.cells(operand, 0, operand.rows)[:] = self._labels(operand, 0, operand.rows)
            self._mark(operand, 0, operand.rows, None)
        for number, (record, row) in enumerate(expand(self.plan.records)):
            try:
                self._execute(record, row)
            except PlanFault as fault:
                raise PlanFault(f"record {number} ({self._describe(record, row)}): {fault}") from None
        for port in self.plan.outputs:
            operand = self.plan.operands[port.operand]
            found = self.memory.cells(operand, 0, operand.rows)
            _expect(np.array_equal(found, self._labels(operand, 0, operand.rows)), f"output {port.name!r} is not whole")
        _expect(not self.sums, "a reduction in parts was not finished")

    def _describe(self, record: Record, row: int) -> str:
        if record.kind is Kind.RUN and record.target < len(self.plan.operators):
            name = self.plan.operators[record.target].kernel_name
            return f"{name} of operator {record.target}, rows {row} to {row + record.rows}"
        return f"{record.kind.name} of operand {record.target}"

    def _execute(self, record: Record, row: int) -> None:
        if record.kind is Kind.RUN:
            self._run_kernel(record, row)
        elif record.kind is Kind.SHIFT:
            operand = self.plan.operands[record.target]
            kept = self.memory.cells(operand, row, record.rows).copy()
            self.memory.cells(operand, 0, record.rows)[:] = kept
        elif record.kind is Kind.COPY:
            to, source = self.plan.operands[record.target], self.plan.operands[record.channel]
            _expect(to.tensor == source.tensor and to.row_bytes == source.row_bytes, "a copy between different tensors")
            self._check(source, row, row + record.rows, record.slot[1] if source.window else row)
            place = record.slot[0] if to.window else row
            self.memory.cells(to, place, record.rows)[:] = self._labels(to, row, row + record.rows)
        else:
            raise PlanFault("a record of unknown kind")

    def _run_kernel(self, record: Record, row: int) -> None:
        op = self.plan.operators[record.target]
        form = KERNEL_FORMS[op.kernel]
        output = self.plan.operands[op.output]
        inputs = tuple(self.plan.operands[i] for i in op.inputs)
        element = 4 if form.name.endswith("f32") else 1
        access = RULES[form.access](_Call(record, row, op.params, element, output, inputs))
        _expect(record.rows > 0, "no rows")
        reads: list[Span] = []
        behind: list[Span] = []  # inputs that the output may follow
        writes: list[Span] = []
        for index, (operand, (first, stop)) in enumerate(zip(inputs, access.inputs, strict=True)):
            if stop > first and operand.space in self.memory.pools:
                place = record.slot[index + 1] if operand.window else first
                self._check(operand, first, stop, place)
                span = _span(operand, place, stop - first)
                (behind if index < len(access.in_place) and access.in_place[index] else reads).append(span)
        part, last = bool(record.flags & Flag.PART), bool(record.flags & Flag.LAST)
        work = [op.accumulator if part else None, op.scratch]
        writes += [_span(o, 0, o.rows) for o in (self.plan.operands[w] for w in work if w is not None)]
        first, stop = access.output
        place = record.slot[0] if output.window else first
        if last or not part:
            writes.append(_span(output, place, stop - first))
        for index, span in enumerate(writes):
            for other in (*writes[index + 1 :], *reads):
                _expect(not _meet(span, other), "what the record writes overlaps what else it touches")
            for other in behind:
                # The output is the last of the spans written; these kernels have no working memory.
                elements = (span[2] - span[1]) // element if index == len(writes) - 1 else 0
                apart = not _meet(span, other) or (elements > 0 and _trails(span, other, elements))
                _expect(apart, "what the record writes overtakes what it reads")
        if part:
            self._sum_part(record, row, op, access, inputs[0])
            if not last:
                return
        if op.scratch is not None:
            scratch = self.plan.operands[op.scratch]
            self.memory.cells(scratch, 0, scratch.rows)[:] = GARBAGE
        cells, labels = self.memory.cells(output, place, stop - first), self._labels(output, first, stop)
        chosen = self._mark(output, first, stop, access.part)
        cells[chosen] = labels[chosen]

    def _check(self, operand: Operand, first: int, stop: int, place: int) -> None:
        """Proves that the bytes read are the tensor's rows [first, stop)."""
        _expect(0 <= first <= stop <= operand.rows, f"rows {first} to {stop} of a tensor of {operand.rows}")
        found = self.memory.cells(operand, place, stop - first)
        wrong = np.flatnonzero(found != self._labels(operand, first, stop))
        if len(wrong):
            row = first + int(wrong[0]) // operand.row_bytes
            label = int(found[wrong[0]])
            holder = "nothing" if label == GARBAGE else f"tensor {label >> 40}, byte {label & ((1 << 40) - 1)}"
            raise PlanFault(f"row {row} of tensor {operand.tensor} was expected, the memory holds {holder}")

    def _sum_part(self, record: Record, row: int, op: Operator, access: Access, source: Operand) -> None:
        _expect(op.accumulator is not None, "a reduction in parts without an accumulator")
        assert op.accumulator is not None
        accumulator = self.plan.operands[op.accumulator]
        _expect(accumulator.bytes >= access.accumulator_bytes, "the accumulator is too small")
        cells = self.memory.cells(accumulator, 0, accumulator.rows)
        label = (np.int64(MAX_SHARED_TENSORS) << 40) + record.target  # no tensor has it
        if record.flags & Flag.FIRST:
            _expect(row == 0 and record.target not in self.sums, "a reduction in parts that starts in the middle")
            cells[:] = label
        else:
            _expect(self.sums.get(record.target) == row, "parts of a reduction that do not follow one another")
            _expect(bool((cells == label).all()), "the accumulator was overwritten")
        self.sums[record.target] = row + record.rows
        if record.flags & Flag.LAST:
            _expect(self.sums.pop(record.target) == source.rows, "a reduction in parts that ends too early")

    def _mark(
        self, operand: Operand, first: int, stop: int, part: tuple[int, int, int, int] | None
    ) -> NDArray[np.bool_]:
        """Which bytes of rows [first, stop) a record writes; each byte of a tensor is written once."""
        chosen = np.zeros((stop - first, operand.row_bytes), bool)
        if part is None:
            chosen[:] = True
        else:
            start, block, stride, blocks = part
            _expect(blocks > 0 and start + (blocks - 1) * stride + block <= operand.row_bytes, "a part beyond its row")
            for b in range(blocks):
                chosen[:, start + b * stride : start + b * stride + block] = True
        flat = chosen.reshape(-1)
        _expect(0 <= first <= stop <= operand.rows, "rows that the tensor does not have")
        if operand.tensor is None:
            raise PlanFault("an output that is no tensor")
        start = self.starts[operand]
        done = self.written[operand.tensor][start + first * operand.row_bytes : start + stop * operand.row_bytes]
        _expect(not (done & flat).any(), "a value is computed twice")
        done |= flat
        return flat


def verify(plan: Plan) -> None:
    """PlanFault at the first record that would read or leave a wrong byte."""
    _prove(plan, _Memory(plan.fast_bytes, plan.slow_bytes), 0)


def verify_shared(plans: Sequence[Plan], fast_bytes: int, slow_bytes: int) -> None:
    """PlanFault unless plans of which one runs at a time may share arenas of these sizes.

    Every plan runs in the arenas as the one before has left them, up and down the list (A, B, C, B, A), with labels of
    its own in each run: a byte that it did not write in this run, its inputs included, is a wrong byte to it. An arena
    larger than the largest plan needs is a fault, too.
    """
    for pool, shared, needed in (
        ("fast", fast_bytes, [plan.fast_bytes for plan in plans]),
        ("slow", slow_bytes, [plan.slow_bytes for plan in plans]),
    ):
        _expect(shared == max(needed), f"a shared {pool} arena of {shared} bytes, the plans need {max(needed)}")
    memory = _Memory(fast_bytes, slow_bytes)
    first_tensor = 0
    for number in (*range(len(plans)), *reversed(range(len(plans) - 1))):
        try:
            _prove(plans[number], memory, first_tensor)
        except PlanFault as fault:
            raise PlanFault(f"plan {number} in the shared arenas: {fault}") from None
        first_tensor += 1 + max((o.tensor for o in plans[number].operands if o.tensor is not None), default=0)
        _expect(first_tensor < MAX_SHARED_TENSORS, "too many tensors for one proof")


def _prove(plan: Plan, memory: _Memory, first_tensor: int) -> None:
    _expect(plan.state_bytes == 0, "the plan has state, which this proof does not know")
    try:
        _Run(plan, memory, first_tensor).run()
    except (ArithmeticError, LookupError, ValueError) as error:
        raise PlanFault(f"a number that does not fit its table: {error!r}") from error
