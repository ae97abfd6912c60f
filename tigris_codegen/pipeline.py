"""The whole way, each stage returning a new value: bytes -> Graph -> Graph -> Work -> Plan -> plan bytes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from tigris_codegen.errors import FitError
from tigris_codegen.frontend import read_model
from tigris_codegen.ir.graph import Graph
from tigris_codegen.ops.lower import lower_graph
from tigris_codegen.ops.spec import base_tensor
from tigris_codegen.passes import optimize
from tigris_codegen.plan.codec import encode
from tigris_codegen.plan.layout import EXECUTOR
from tigris_codegen.plan.plan import Plan
from tigris_codegen.plan.verify import verify
from tigris_codegen.planner.emit import make_plan
from tigris_codegen.planner.pools import in_two_pools
from tigris_codegen.planner.problem import Problem, make_problem
from tigris_codegen.planner.search import EFFORT, Progress, Schedule, Search


@dataclass(frozen=True)
class Compiled:
    """A plan, proved, with its bytes."""

    plan: Plan
    plan_bytes: bytes


class Model:
    """A model ready to be planned at any number of budgets; what one budget taught serves the next."""

    def __init__(
        self,
        data: bytes,
        name: str,
        *,
        keep_inputs: bool = False,
        effort: int = EFFORT,
        progress: Progress | None = None,
    ) -> None:
        """ModelError where the model does not convert; `name` is the file's, for messages.

        `keep_inputs` leaves the inputs intact for the caller, `effort` counts placement orders tried per schedule.
        """
        self.hash = hashlib.sha256(data).digest()[:16]
        self.bytes = len(data)
        self.graph: Graph = optimize(read_model(data, name))
        base = {t: base_tensor(self.graph, t) for t in range(len(self.graph.tensors))}
        self.problem = make_problem(self.graph, lower_graph(self.graph), base, keep_inputs=keep_inputs)
        self._effort, self._progress = effort, progress
        self._search = Search(self.problem, effort, progress)

    def roomy(self) -> Compiled:
        """Every operator in one step, memory shared as well as that allows."""
        return self._compiled(self.problem, self._search.roomy())

    def smallest(self) -> Compiled:
        """The plan with the least RAM found."""
        return self._compiled(self.problem, self._search.smallest())

    def within(self, pool: int, slow: int | None = None) -> Compiled:
        """A plan whose RAM, executor workspace included, is at most `pool` bytes, and `slow` bytes of a slow pool.

        The slow pool is used only where the fast one does not suffice. FitError where no plan was found.
        """
        fast = pool - EXECUTOR.size
        schedule = self._search.within(fast)
        if schedule is not None:
            return self._compiled(self.problem, schedule)
        if slow is not None:
            found = in_two_pools(self.problem, fast, slow, self._effort, self._progress)
            if found is not None:
                return self._compiled(*found)
        need = self.smallest().plan.ram_bytes
        also = "" if slow is None else f", and a slow pool of {slow} bytes does not help"
        raise FitError(
            f"the model needs {need} bytes of RAM, the pool has {pool}: {need - pool} too few{also}",
            need,
            pool,
            f"the smallest single pool is {need} bytes",
        )

    def _compiled(self, problem: Problem, schedule: Schedule) -> Compiled:
        plan = make_plan(problem, schedule, self.hash)
        verify(plan)
        return Compiled(plan, encode(plan))


def compile_model(model: bytes, name: str, fast: int | None = None, slow: int | None = None) -> Compiled:
    """The plan of a `.tflite` file in pools of `fast` and `slow` bytes, or with room for everything.

    The fast pool holds all that inference writes but the stack; a slow pool is used only where it is needed.
    """
    made = Model(model, name)
    return made.roomy() if fast is None else made.within(fast, slow)


def smallest_pool(model: bytes, name: str) -> int:
    """Bytes of the smallest pool found in which the model runs: everything that inference writes but the stack."""
    return Model(model, name).smallest().plan.ram_bytes
