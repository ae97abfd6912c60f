"""What the planner plans: works over stored tensors, with every band map translated to rows of the stored tensors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from tigris_codegen.ir.graph import Graph
from tigris_codegen.ir.rows import Rows, rows_of
from tigris_codegen.ops.spec import Work


@dataclass(frozen=True)
class Stored:
    """A tensor that needs memory. `whole`: its rows may not slide through a window (interface, or seen as a view)."""

    name: str
    rows: int
    row_bytes: int
    whole: bool

    @property
    def bytes(self) -> int:
        return self.rows * self.row_bytes


@dataclass(frozen=True)
class Problem:
    """Works in execution order over stored tensors (keys: tensor numbers of the graph); constants are not stored.

    `inputs` and `outputs` are stored tensors: inputs are alive from the start, outputs to the end. `base` maps every
    tensor to the one whose memory it shares (itself, where it is no view).
    """

    graph: Graph
    works: tuple[Work, ...]
    stored: dict[int, Stored]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    base: dict[int, int]

    @cached_property
    def producers(self) -> dict[int, tuple[int, ...]]:
        """Tensor -> the works that write it (several for a concatenation)."""
        found: dict[int, tuple[int, ...]] = {}
        for index, work in enumerate(self.works):
            found[work.output.tensor] = (*found.get(work.output.tensor, ()), index)
        return found

    @cached_property
    def last_use(self) -> dict[int, int]:
        """Tensor -> the last work that reads it; len(works) for outputs, -1 for a tensor never read."""
        found = dict.fromkeys(self.stored, -1)
        for index, work in enumerate(self.works):
            for operand in work.inputs:
                if operand.tensor in found:
                    found[operand.tensor] = index
        return found | dict.fromkeys(self.outputs, len(self.works))

    @cached_property
    def first_write(self) -> dict[int, int]:
        """Tensor -> the first work that writes it, -1 for model inputs."""
        return {t: -1 if t in self.inputs else self.producers[t][0] for t in self.stored}

    def tileable(self, index: int) -> bool:
        """Whether the work may run in bands of its output rows."""
        work = self.works[index]
        return work.tileable and not self._foreign(work.output.tensor, work.output.rows)

    def output_rows(self, index: int) -> tuple[int, int]:
        """Half-open range of stored rows that the work writes in all."""
        work = self.works[index]
        if self._foreign(work.output.tensor, work.output.rows):
            return 0, self.stored[work.output.tensor].rows
        return work.first_row, work.first_row + work.row_count

    def reads(self, index: int, first: int, stop: int) -> tuple[tuple[int, int, int], ...]:
        """(tensor, first row, stop row) of the stored rows read for output rows [first, stop) of the work."""
        work = self.works[index]
        if self._foreign(work.output.tensor, work.output.rows):
            first, stop = work.first_row, work.first_row + work.row_count
        found = []
        for operand, band_map in zip(work.inputs, work.maps, strict=True):
            if operand.tensor in self.stored:
                begin, end = band_map.needs(first, stop)
                found.append((operand.tensor, *self._to_stored(operand.tensor, operand.rows, begin, end)))
        return tuple(found)

    def _foreign(self, tensor: int, rows: Rows) -> bool:
        return tensor in self.stored and rows.bytes != self.stored[tensor].row_bytes

    def _to_stored(self, tensor: int, rows: Rows, begin: int, end: int) -> tuple[int, int]:
        row_bytes = self.stored[tensor].row_bytes
        return begin * rows.bytes // row_bytes, -(-end * rows.bytes // row_bytes)

    @cached_property
    def image_rows(self) -> tuple[int, ...]:
        """Per work, the output rows of one image: a band of a windowed operator stays within one."""
        return tuple(
            rows_of(self.graph.tensors[w.output.tensor]).per_image if w.maps else w.row_count for w in self.works
        )


def make_problem(graph: Graph, works: tuple[Work, ...], base: dict[int, int]) -> Problem:
    """The problem of a lowered graph."""
    inputs = tuple(dict.fromkeys(base[t] for t in graph.inputs))
    outputs = tuple(dict.fromkeys(base[t] for t in graph.outputs))
    used = dict.fromkeys((*inputs, *(o.tensor for w in works for o in (*w.inputs, w.output)), *outputs))
    pinned = {*inputs, *outputs}
    for work in works:
        for place, operand in enumerate((work.output, *work.inputs)):
            # A record has a place in the window for the output and the first two inputs.
            if operand.rows.bytes != rows_of(graph.tensors[operand.tensor]).bytes or place > 2:
                pinned.add(operand.tensor)
    stored = {}
    for t in used:
        tensor = graph.tensors[t]
        if tensor.data is None:
            rows = rows_of(tensor)
            stored[t] = Stored(tensor.name, rows.count, rows.bytes, t in pinned)
    return Problem(graph, works, stored, inputs, outputs, base)
