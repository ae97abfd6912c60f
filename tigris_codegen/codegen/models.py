"""The models of one firmware: what each core is made from, and the memory they need together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from tigris_codegen.codegen.names import check_core_name
from tigris_codegen.codegen.vectors import TestVector
from tigris_codegen.errors import PlanError, UsageError
from tigris_codegen.plan.codec import decode
from tigris_codegen.plan.plan import Plan
from tigris_codegen.plan.verify import PlanFault, verify_shared

#: Arenas are aligned to it, so that two of them in one section may have a gap between.
ARENA_ALIGN = 16


@dataclass(frozen=True)
class CoreModel:
    """A model on its way into firmware: its core's name, its plan, the self-test's vectors."""

    name: str
    plan: Plan
    data: bytes
    vectors: tuple[TestVector, ...] = ()

    @classmethod
    def decoded(cls, name: str, data: bytes, vectors: Sequence[TestVector] = ()) -> CoreModel:
        """PlanError for bytes that are no plan, UsageError for a name that is none."""
        check_core_name(name)
        return cls(name, decode(data), data, tuple(vectors))


@dataclass(frozen=True)
class Need:
    """Bytes of memory that models need on a board; `variables` are workspaces and states."""

    program: int
    fast: int
    slow: int
    variables: int

    @property
    def ram(self) -> int:
        """The one number: all that inferences write but the stack."""
        return self.fast + self.slow + self.variables


def need_of(plan: Plan, plan_bytes: int) -> Need:
    """What one model needs."""
    return Need(plan_bytes, plan.fast_bytes, plan.slow_bytes, plan.workspace_bytes + plan.state_bytes)


def need_together(models: Sequence[CoreModel], share_arena: bool) -> Need:
    """What models need together: arenas as the largest needs them, or each its own, one behind the other."""
    needs = [need_of(model.plan, len(model.data)) for model in models]
    fast, slow = (_arena([getattr(need, pool) for need in needs], share_arena) for pool in ("fast", "slow"))
    return Need(sum(n.program for n in needs), fast, slow, sum(n.variables for n in needs))


def _arena(sizes: Sequence[int], shared: bool) -> int:
    if shared or len(sizes) == 1:
        return max(sizes)
    return sum(-(-size // ARENA_ALIGN) * ARENA_ALIGN for size in sizes)


def project_name(models: Sequence[CoreModel]) -> str:
    """What a project of these models is called."""
    return "_".join(model.name for model in models)


def check_together(models: Sequence[CoreModel], share_arena: bool) -> None:
    """UsageError where these cores cannot be in one firmware, PlanError where they cannot share an arena."""
    check_core_names([model.name for model in models])
    if not share_arena:
        return
    if len(models) < 2:
        raise UsageError(
            "one model has nobody to share its arena with.", "name two models or more, or no --share-arena"
        )
    stateful = [model.name for model in models if model.plan.state_bytes]
    if stateful:
        raise UsageError(f"{stateful[0]} keeps state, for which sharing is not proved yet.", "leave --share-arena out")
    need = need_together(models, share_arena)
    try:
        verify_shared([model.plan for model in models], need.fast, need.slow)
    except PlanFault as fault:
        raise PlanError(f"the arena cannot be shared: {fault}.", "compile the models again") from fault


def check_core_names(names: Sequence[str]) -> None:
    """UsageError unless these can name the cores of one firmware, whose files have different names in any case."""
    for name in names:
        check_core_name(name)
    for one, other in combinations(names, 2):
        a, b = one.lower(), other.lower()
        hint = "--name, once for each model in their order"
        if a == b:
            raise UsageError(f"two cores are called {one}.", hint)
        if b == f"{a}_plan" or a == f"{b}_plan":
            raise UsageError(f"{one} and {other} would write the same files.", hint)
