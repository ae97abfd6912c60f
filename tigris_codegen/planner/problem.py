"""What the planner plans: works over stored tensors, with every band map translated to rows of the stored tensors."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tigris_codegen.ir.graph import Graph
from tigris_codegen.ir.rows import Rows, rows_of
from tigris_codegen.ops.spec import Kernel, Operand, Window, Work
from tigris_codegen.plan.fields import Struct
from tigris_codegen.plan.layout import ALIGNMENT, MAX_WINDOW, Space

#: The work of a COPY record: it has no kernel in the runtime.
COPY = Kernel(0, "copy", Struct("copy_params", "COPY has no parameters.", ()), "copy", "rows from pool to pool")


@dataclass(frozen=True)
class Stored:
    """A tensor that needs memory.

    whole   its rows may not slide through a window (interface, or seen as a view)
    space   the pool it lives in
    origin  number of the tensor in the graph: copies in other pools are the same tensor
    """

    name: str
    rows: int
    row_bytes: int
    per_image: int
    whole: bool
    origin: int
    space: Space = Space.FAST

    @property
    def bytes(self) -> int:
        return self.rows * self.row_bytes


@dataclass(frozen=True)
class Problem:
    """Works in execution order over stored tensors; constants are not stored.

    Keys of `stored` are tensor numbers of the graph, and numbers beyond them for copies in another pool. `inputs` and
    `outputs` are stored tensors: inputs are alive from the start (to the end with `keep_inputs`), outputs to the end.
    `base` maps every tensor of the graph to the stored one whose memory it shares.
    """

    graph: Graph = field(repr=False)
    works: tuple[Work, ...]
    stored: dict[int, Stored]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    base: dict[int, int]
    keep_inputs: bool = False

    @cached_property
    def producers(self) -> dict[int, tuple[int, ...]]:
        """Tensor -> the works that write it (several for a concatenation)."""
        found: dict[int, tuple[int, ...]] = {}
        for index, work in enumerate(self.works):
            found[work.output.tensor] = (*found.get(work.output.tensor, ()), index)
        return found

    @cached_property
    def kept(self) -> frozenset[int]:
        """Tensors that are alive to the end."""
        return frozenset((*self.outputs, *(self.inputs if self.keep_inputs else ())))

    @cached_property
    def last_use(self) -> dict[int, int]:
        """Tensor -> the last work that reads it; len(works) for kept ones, -1 for a tensor never read."""
        found = dict.fromkeys(self.stored, -1)
        for index, work in enumerate(self.works):
            for operand in work.inputs:
                if operand.tensor in found:
                    found[operand.tensor] = index
        return found | dict.fromkeys(self.kept, len(self.works))

    @cached_property
    def readers(self) -> dict[int, tuple[int, ...]]:
        """Stored tensor -> the works that read it."""
        found: dict[int, tuple[int, ...]] = dict.fromkeys(self.stored, ())
        for index, work in enumerate(self.works):
            for tensor in {operand.tensor for operand in work.inputs} & found.keys():
                found[tensor] = (*found[tensor], index)
        return found

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one inference, rows that nobody reads apart."""
        return sum(
            work.macs * (stop - first) // work.row_count if self.tileable[index] else work.macs
            for index, (work, (first, stop)) in enumerate(zip(self.works, self.output_rows, strict=True))
        )

    @cached_property
    def first_write(self) -> dict[int, int]:
        """Tensor -> the first work that writes it, -1 for model inputs."""
        return {t: -1 if t in self.inputs else self.producers[t][0] for t in self.stored}

    @cached_property
    def row_born(self) -> dict[int, NDArray[np.int64]]:
        """Tensor -> per row, the first work that writes it, -1 for model inputs, behind all works for none."""
        found: dict[int, NDArray[np.int64]] = {
            t: np.full(s.rows, -1 if t in self.inputs else len(self.works), np.int64) for t, s in self.stored.items()
        }
        for tensor, works in self.producers.items():
            for work in reversed(works):
                first, stop = self.output_rows[work]
                found[tensor][first:stop] = work
        return found

    @cached_property
    def tileable(self) -> tuple[bool, ...]:
        """Per work, whether it may run in bands of its output rows."""
        return tuple(w.tileable and not self._foreign(w.output.tensor, w.output.rows) for w in self.works)

    @cached_property
    def in_parts(self) -> tuple[bool, ...]:
        """Per work, whether it may fold the rows of its first input one after the other."""
        return tuple(w.parts and w.inputs[0].rows.count == self.stored[w.inputs[0].tensor].rows for w in self.works)

    @cached_property
    def output_rows(self) -> tuple[tuple[int, int], ...]:
        """Per work, the half-open range of stored rows that it writes in all: to the last that anything reads."""
        found = list(map(self._all_rows, range(len(self.works))))
        needed = {tensor: stored.rows if tensor in self.kept else 0 for tensor, stored in self.stored.items()}
        for index in reversed(range(len(self.works))):
            first, stop = found[index]
            stored = self.stored[self.works[index].output.tensor]
            # What is stored to the last written row is a window for the runtime.
            if self.tileable[index] and not stored.whole and stored.rows <= MAX_WINDOW:
                stop = min(stop, max(needed[self.works[index].output.tensor], first + 1))
                found[index] = first, stop
            for tensor, _, end in self.reads(index, first, stop):
                needed[tensor] = max(needed[tensor], end)
        return tuple(found)

    def _all_rows(self, index: int) -> tuple[int, int]:
        work, ahead = self.works[index], self.rows_ahead[index]
        if self._foreign(work.output.tensor, work.output.rows):
            return ahead, ahead + work.output.rows.total // self.stored[work.output.tensor].row_bytes
        return ahead + work.first_row, ahead + work.first_row + work.row_count

    @cached_property
    def rows_ahead(self) -> tuple[int, ...]:
        """Per work, the stored rows in front of the kernel's own row 0 of its output."""
        return tuple(work.output.at // self.stored[work.output.tensor].row_bytes for work in self.works)

    def shared_bytes(self, index: int) -> int:
        """Bytes of the work's output that take memory of an input dying there, where the work is one step."""
        work = self.works[index]
        output = self.stored[work.output.tensor]
        if self.producers[work.output.tensor] != (index,) or output.space is not Space.FAST:
            return 0
        sizes = (
            self.stored[source].bytes
            for source in (work.inputs[i].tensor for i in work.in_place)
            if source in self.stored
            and self.last_use[source] == index
            and self.stored[source].space is Space.FAST
            and [operand.tensor for operand in work.inputs].count(source) == 1
        )
        return min(output.bytes, next(sizes, 0))

    def reads(self, index: int, first: int, stop: int) -> tuple[tuple[int, int, int], ...]:
        """(tensor, first row, stop row) of the stored rows read for output rows [first, stop) of the work."""
        key = index, first, stop
        if key not in self._reads:
            self._reads[key] = self._compute_reads(index, first, stop)
        return self._reads[key]

    @cached_property
    def _reads(self) -> dict[tuple[int, int, int], tuple[tuple[int, int, int], ...]]:
        """What `reads` was asked before: schedules ask the same again and again."""
        return {}

    def _compute_reads(self, index: int, first: int, stop: int) -> tuple[tuple[int, int, int], ...]:
        work = self.works[index]
        if self._foreign(work.output.tensor, work.output.rows):
            first, stop = work.first_row, work.first_row + work.row_count
        else:
            first, stop = first - self.rows_ahead[index], stop - self.rows_ahead[index]
        found = []
        for operand, band_map in zip(work.inputs, work.maps, strict=True):
            if operand.tensor in self.stored:
                begin, end = band_map.needs(first, stop)
                found.append((operand.tensor, *self._to_stored(operand.tensor, operand.rows, begin, end)))
        return tuple(found)

    def waiting_bytes(self, begin: int, end: int, touched: Container[int]) -> int:
        """Fast bytes that works before `begin` wrote for works from `end` on, tensors in `touched` apart."""
        return sum(
            size
            for tensor, born, size in self._written_sizes
            if born < begin and self.last_use[tensor] >= end and tensor not in touched
        )

    @cached_property
    def _written_sizes(self) -> tuple[tuple[int, int, int], ...]:
        """(tensor, work, bytes of its rows that this work is the first to write), of fast tensors."""
        return tuple(
            (tensor, int(born), int(count) * stored.row_bytes)
            for tensor, stored in self.stored.items()
            if stored.space is Space.FAST
            for born, count in zip(*np.unique(self.row_born[tensor], return_counts=True), strict=True)
        )

    def _foreign(self, tensor: int, rows: Rows) -> bool:
        return tensor in self.stored and rows.bytes != self.stored[tensor].row_bytes

    def _to_stored(self, tensor: int, rows: Rows, begin: int, end: int) -> tuple[int, int]:
        row_bytes = self.stored[tensor].row_bytes
        return begin * rows.bytes // row_bytes, -(-end * rows.bytes // row_bytes)


def make_problem(graph: Graph, works: tuple[Work, ...], base: dict[int, int], *, keep_inputs: bool = False) -> Problem:
    """The problem of a lowered graph, everything in the fast pool."""
    inputs = tuple(dict.fromkeys(base[t] for t in graph.inputs))
    outputs = tuple(dict.fromkeys(base[t] for t in graph.outputs))
    used = dict.fromkeys((*inputs, *(o.tensor for w in works for o in (*w.inputs, w.output)), *outputs))
    rows = {t: rows_of(graph.tensors[t]) for t in used if graph.tensors[t].data is None}
    pinned = {*inputs, *outputs, *_seen_whole({t: r.bytes for t, r in rows.items()}, works)}
    stored = {t: Stored(graph.tensors[t].name, r.count, r.bytes, r.per_image, t in pinned, t) for t, r in rows.items()}
    return Problem(graph, works, stored, inputs, outputs, base, keep_inputs)


def _seen_whole(row_bytes: Mapping[int, int], works: tuple[Work, ...]) -> set[int]:
    """Tensors that some kernel sees in other rows than their own, or as its third input."""
    found = set()
    for work in works:
        for place, operand in enumerate((work.output, *work.inputs)):
            # A record has a place in the window for the output and the first two inputs.
            if operand.rows.bytes != row_bytes.get(operand.tensor, operand.rows.bytes) or place > 2:
                found.add(operand.tensor)
    return found


def join_parts(problem: Problem) -> Problem:
    """The problem in which what is only copied into a concatenation is made in its place there.

    That can be where the piece is whole rows of the concatenation, begins at an address that an operand may have, and
    nothing else reads it. The concatenation is then stored whole.
    """
    works, stored = list(problem.works), dict(problem.stored)
    gone: set[int] = set()
    for index, copy in enumerate(problem.works):
        target, piece = copy.output.tensor, copy.inputs[0].tensor if copy.inputs else -1
        at = copy.first_row * copy.output.rows.bytes
        if (
            copy.kernel.access != "place"
            or copy.output.rows.bytes != problem.stored[target].row_bytes
            or copy.params["blocks"] != 1
            or copy.params["in_block"] != copy.output.rows.bytes
            or at % ALIGNMENT
            or problem.readers.get(piece) != (index,)
            or piece in (*problem.inputs, *problem.outputs)
        ):
            continue
        gone.add(index)
        del stored[piece]
        stored[target] = replace(stored[target], whole=True)
        for number, work in enumerate(works):
            if work.output.tensor == piece:
                works[number] = replace(work, output=replace(work.output, tensor=target, at=work.output.at + at))
    if not gone:
        return problem
    return replace(problem, works=tuple(w for i, w in enumerate(works) if i not in gone), stored=stored)


def compute_again(problem: Problem, tensor: int, reader: int, depth: int) -> Problem | None:
    """The problem in which `reader` and the works behind it read not the tensor but a second one, computed for them.

    The works that make it are run once more in front of the reader: the tensor's own and, up to `depth` of them along
    each path, those of the inputs that nothing else keeps alive until then. To the rest of the planner, and to the
    plan, the second tensor is one like all others. None where a producer writes only a part of its tensor.
    """
    stored = dict(problem.stored)
    made: list[Work] = []
    seconds: dict[int, int] = {}

    def second(t: int, levels: int) -> int:
        if t in seconds or levels == 0 or t in problem.inputs or t not in problem.stored:
            return seconds.get(t, t)
        if levels < depth and problem.last_use[t] >= reader:
            return t
        work = problem.works[problem.producers[t][0]]
        inputs = tuple(replace(o, tensor=second(o.tensor, levels - 1)) for o in work.inputs)
        number = max(len(problem.graph.tensors), max(stored) + 1)
        seconds[t] = number
        stored[number] = replace(problem.stored[t], name=f"{problem.stored[t].name} (again)", origin=number)
        made.append(replace(work, inputs=inputs, output=replace(work.output, tensor=number)))
        return number

    number = second(tensor, depth)
    if number == tensor or any(len(problem.producers[t]) != 1 for t in seconds):
        return None
    works = []
    for index, work in enumerate(problem.works):
        if index == reader:
            works += made
        if index >= reader and index in problem.readers[tensor]:
            inputs = (replace(o, tensor=number) if o.tensor == tensor else o for o in work.inputs)
            work = replace(work, inputs=tuple(inputs))
        works.append(work)
    return replace(problem, works=tuple(works), stored=stored)


def spill(problem: Problem, tensors: Iterable[int]) -> Problem:
    """The problem with these tensors in the slow pool.

    What a kernel writes or reads of them stays in the fast pool: a copy moves each band out behind its producer and
    back in front of each consumer, by works like all others, so bands, windows and placement need no rule for it.
    """
    chosen = set(tensors)
    whole = _seen_whole({t: form.row_bytes for t, form in problem.stored.items()}, problem.works)
    stored = dict(problem.stored)
    for t in chosen:
        stored[t] = replace(stored[t], space=Space.SLOW, whole=True)
    works: list[Work] = []
    written_in: dict[int, int] = {}  # spilled tensor -> where its producers write

    def fast_copy(t: int) -> int:
        number = max(len(problem.graph.tensors), max(stored) + 1)
        stored[number] = replace(stored[t], space=Space.FAST, whole=t in whole)
        return number

    for index, work in enumerate(problem.works):
        inputs = []
        for operand in work.inputs:
            if operand.tensor in chosen:
                staged = fast_copy(operand.tensor)
                works.append(_copy(stored[operand.tensor], operand.tensor, staged))
                operand = replace(operand, tensor=staged)
            inputs.append(operand)
        target = work.output.tensor
        if target not in chosen:
            works.append(replace(work, inputs=tuple(inputs)))
            continue
        if target not in written_in:
            written_in[target] = fast_copy(target)
        output = replace(work.output, tensor=written_in[target])
        works.append(replace(work, inputs=tuple(inputs), output=output))
        if index == problem.producers[target][-1]:
            works.append(_copy(stored[target], written_in[target], target))
    return replace(problem, works=tuple(works), stored=stored)


def _copy(form: Stored, source: int, target: int) -> Work:
    rows = Rows(form.rows, form.row_bytes, form.per_image)
    return Work(
        kernel=COPY,
        params={},
        output=Operand(target, rows),
        inputs=(Operand(source, rows),),
        maps=(Window(1, 1, 0, form.rows, form.rows),),
        source=None,
        first_row=0,
        row_count=form.rows,
    )
