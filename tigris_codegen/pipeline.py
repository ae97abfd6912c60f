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
from tigris_codegen.planner.problem import Problem, make_problem
from tigris_codegen.planner.search import Schedule, Search


@dataclass(frozen=True)
class Compiled:
    """A plan, proved, with its bytes."""

    plan: Plan
    plan_bytes: bytes


class Model:
    """A model ready to be planned at any number of budgets; what one budget taught serves the next."""

    def __init__(self, data: bytes, name: str) -> None:
        """ModelError where the model does not convert; `name` is the file's, for messages."""
        self.hash = hashlib.sha256(data).digest()[:16]
        self.bytes = len(data)
        self.graph: Graph = optimize(read_model(data, name))
        base = {t: base_tensor(self.graph, t) for t in range(len(self.graph.tensors))}
        self.problem: Problem = make_problem(self.graph, lower_graph(self.graph), base)
        self._search = Search(self.problem)

    def roomy(self) -> Compiled:
        """Every operator in one step, memory shared as well as that allows."""
        return self._compiled(self._search.roomy())

    def smallest(self) -> Compiled:
        """The plan with the least RAM found."""
        return self._compiled(self._search.smallest())

    def within(self, pool: int) -> Compiled:
        """A plan whose RAM, executor workspace included, is at most `pool` bytes; FitError where none was found."""
        schedule = self._search.within(pool - EXECUTOR.size)
        if schedule is None:
            compiled = self.smallest()
            if compiled.plan.ram_bytes <= pool:
                return compiled
            need = compiled.plan.ram_bytes
            raise FitError(
                f"the model needs {need} bytes of RAM, the pool has {pool}: {need - pool} too few",
                need,
                pool,
                f"the smallest pool is {need} bytes",
            )
        return self._compiled(schedule)

    def _compiled(self, schedule: Schedule) -> Compiled:
        plan = make_plan(self.problem, schedule, self.hash)
        verify(plan)
        return Compiled(plan, encode(plan))


def compile_model(model: bytes, name: str, fast: int | None = None) -> Compiled:
    """The plan of a `.tflite` file in one pool of `fast` bytes (everything but the stack), or with room for all."""
    made = Model(model, name)
    return made.roomy() if fast is None else made.within(fast)


def smallest_pool(model: bytes, name: str) -> int:
    """Bytes of the smallest pool found in which the model runs: everything that inference writes but the stack."""
    return Model(model, name).smallest().plan.ram_bytes
