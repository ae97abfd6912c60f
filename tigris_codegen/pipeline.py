"""The whole way, each stage returning a new value: bytes -> Graph -> Graph -> Work -> Plan -> plan bytes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from tigris_codegen.errors import FitError
from tigris_codegen.frontend import read_model
from tigris_codegen.ir.graph import Graph
from tigris_codegen.ops.lower import lower_graph
from tigris_codegen.ops.spec import Work, base_tensor
from tigris_codegen.passes import optimize
from tigris_codegen.plan.codec import encode
from tigris_codegen.plan.layout import EXECUTOR, Space
from tigris_codegen.plan.plan import Plan
from tigris_codegen.plan.verify import verify
from tigris_codegen.planner.cuts import Progress
from tigris_codegen.planner.emit import make_plan
from tigris_codegen.planner.pools import Pools
from tigris_codegen.planner.problem import COPY, Problem, make_problem
from tigris_codegen.planner.search import EFFORT, Schedule, bottleneck


@dataclass(frozen=True)
class MapShape:
    """What one thing in memory occupies over time, for pictures.

    From kernel call `first` on, at call first + i it occupies bytes [low[i], high[i]) of its pool; nothing where both
    are equal. `kind` is "tensor", "window", "accumulator" or "scratch"; `name` the tensor's, or the operator's kernel.
    """

    name: str
    kind: str
    space: Space
    first: int
    low: tuple[int, ...]
    high: tuple[int, ...]


@dataclass(frozen=True)
class Compiled:
    """A plan, proved, with its bytes.

    `memory_map` and `works`, one per operator of the plan, are empty for a plan that was read from a file, and `macs`,
    the multiply-accumulates of one inference, is 0.
    """

    plan: Plan
    plan_bytes: bytes
    memory_map: tuple[MapShape, ...] = ()
    works: tuple[Work, ...] = ()
    macs: int = 0


class Model:
    """A model ready to be planned at any number of budgets; what one budget taught serves the next."""

    def __init__(
        self,
        data: bytes,
        name: str,
        *,
        keep_inputs: bool = False,
        effort: int = EFFORT,
        recompute: float = 0.0,
        progress: Progress | None = None,
    ) -> None:
        """ModelError where the model does not convert; `name` is the file's, for messages.

        `keep_inputs` leaves the inputs intact for the caller, `effort` counts placement orders tried per schedule.
        `recompute` is the part of the model's multiply-accumulates that may be spent on computing values again where
        nothing else saves enough memory: 0.1 for a tenth.
        """
        self.hash = hashlib.sha256(data).digest()[:16]
        self.bytes = len(data)
        self.graph: Graph = optimize(read_model(data, name))
        base = {t: base_tensor(self.graph, t) for t in range(len(self.graph.tensors))}
        self.problem = make_problem(self.graph, lower_graph(self.graph), base, keep_inputs=keep_inputs)
        self.recompute = recompute
        self._pools = Pools(self.problem, effort, progress, int(self.problem.macs * recompute))

    def roomy(self) -> Compiled:
        """Every operator in one step, memory shared as well as that allows."""
        return self._compiled(self._pools.roomy())

    def smallest(self) -> Compiled:
        """The plan with the least RAM found."""
        return self._compiled(self._pools.smallest())

    def frontier(self) -> tuple[Compiled, ...]:
        """Plans of one pool from whole operators to the least RAM found, each with less RAM and more calls."""
        return tuple(self._compiled(schedule) for schedule in self._pools.frontier())

    def within(self, pool: int, slow: int | None = None) -> Compiled:
        """A plan whose RAM, executor workspace included, is at most `pool` bytes, and `slow` bytes of a slow pool.

        The slow pool is used only where the fast one does not suffice. FitError where no plan was found.
        """
        found = self._pools.within(pool - EXECUTOR.size, slow)
        if found is not None:
            return self._compiled(found)
        raise self._does_not_fit(pool, slow)

    def _does_not_fit(self, pool: int, slow: int | None) -> FitError:
        """By how much, where, what is alive there, and the ways out."""
        need = self.smallest().plan.ram_bytes
        schedule = self._pools.smallest()
        problem = schedule.problem
        index, held = bottleneck(schedule)
        names = ", ".join(f"{_short(_block_name(problem, kind, n))} {size} B" for kind, n, size in held[:4])
        more = f" and {len(held) - 4} more" if len(held) > 4 else ""
        at = ""
        if index >= 0:
            work = problem.works[index]
            source = "" if work.source is None else f"operator {work.source}, "
            at = f"; most is alive at {source}{work.kernel.name}: {names}{more}"
        also = "" if slow is None else f", and {slow} bytes of slow memory do not make up for it"
        ways = [f"a pool of {need} bytes"]
        if slow is None:
            ways.append("a second pool, as in -m 64K+8M")
        if not self.recompute and any(kind == "tensor" and len(problem.readers[n]) > 1 for kind, n, _ in held):
            ways.append("computing again what waits for a later reader, as in --recompute 50%")
        if self.problem.keep_inputs:
            ways.append("inputs that a run may consume (no --keep-inputs)")
        return FitError(
            f"the model needs {need} bytes of RAM, the pool has {pool}: {need - pool} too few{also}{at}",
            need,
            pool,
            "ways out: " + "; ".join(ways),
        )

    def _compiled(self, schedule: Schedule) -> Compiled:
        plan = make_plan(schedule, self.hash)
        verify(plan)
        works = tuple(work for work in schedule.problem.works if work.kernel is not COPY)
        return Compiled(plan, encode(plan), _memory_map(schedule), works, schedule.problem.macs)


def _short(name: str) -> str:
    return name if len(name) <= 32 else "..." + name[-29:]


def _block_name(problem: Problem, kind: str, number: int) -> str:
    return problem.stored[number].name if kind == "tensor" else problem.works[number].kernel.name


def _memory_map(schedule: Schedule) -> tuple[MapShape, ...]:
    shapes = []
    for layout in (schedule.fast, schedule.slow):
        for (kind, number), block in layout.blocks.items():
            address = layout.addresses[block.key]
            name = _block_name(schedule.problem, kind, number)
            low, high = (tuple(int(address + n) for n in edge) for edge in (block.low, block.high))
            shapes.append(MapShape(name, "window" if block.window else kind, block.space, block.first, low, high))
    return tuple(shapes)


def compile_model(model: bytes, name: str, fast: int | None = None, slow: int | None = None) -> Compiled:
    """The plan of a `.tflite` file in pools of `fast` and `slow` bytes, or with room for everything.

    The fast pool holds all that inference writes but the stack; a slow pool is used only where it is needed.
    """
    made = Model(model, name)
    return made.roomy() if fast is None else made.within(fast, slow)


def smallest_pool(model: bytes, name: str) -> int:
    """Bytes of the smallest pool found in which the model runs: everything that inference writes but the stack."""
    return Model(model, name).smallest().plan.ram_bytes
