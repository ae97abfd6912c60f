"""Broken pieces of the compiler: the verifier, the loader or the bytes give each of them away."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from tests.corpus import expectations
from tests.format.plans import assert_gives_the_bytes
from tests.mutation.cases import CASES
from tigris_codegen.ops import spec
from tigris_codegen.pipeline import Model
from tigris_codegen.plan import codec
from tigris_codegen.planner import emit, memory, problem, schedule


@dataclass(frozen=True)
class Mutant:
    """One text of one function, and what stands in its place."""

    name: str
    function: Callable[..., Any]
    old: str
    new: str


MUTANTS = (
    Mutant("band needs a row later", spec.Window.needs, "begin = min(max(begin, 0)", "begin = min(max(begin + 1, 0)"),
    Mutant("band needs a row less", spec.Window.needs, "- self.pad + self.extent", "- self.pad + self.extent - 1"),
    Mutant("rows die early", memory._windowed, "read[live] <= tick", "read[live] <= tick + 1"),
    Mutant("window too low", memory._windowed, "rows = max(rows, frontier - origin)", "rows = max(1, rows)"),
    Mutant(
        "shift of a row less",
        memory._windowed,
        "live - origin, frontier - live)",
        "live - origin, frontier - live - 1)",
    ),
    Mutant("whole rows end early", memory._whole, "out=high[begin : end + 1]", "out=np.zeros(end + 1 - begin, int)"),
    Mutant("blocks overlap", memory._taken, "high[both][order])", "high[both][order] - 16)"),
    Mutant("written a place late", emit._places, "first - origins[written] if", "first - origins[written] + 1 if"),
    Mutant("read a place late", emit._places, "begin - origins[operand.tensor]", "begin + 1 - origins[operand.tensor]"),
    Mutant("shifts forgotten", emit._records, "records += shifts.get(tick, ())", "records += ()"),
    Mutant("unlike records folded", emit._passes, "replace(b, row=a.row) != a or (step", "(step"),
    Mutant("first part is not first", schedule.section_steps, "Flag.FIRST if begin == 0", "Flag.FIRST if begin == 1"),
    Mutant("last part is not last", schedule.section_steps, "Flag.LAST if end == rows", "Flag.LAST if begin == 0"),
    Mutant("inputs not waited for", schedule.section_steps, "ensure_rows(tensor, end)\n            work", "work"),
    Mutant(
        "views a row short",
        problem.Problem._to_stored,
        "-(-end * rows.bytes // row_bytes)",
        "(end - 1) * rows.bytes // row_bytes",
    ),
    Mutant("slots not written", codec._encode_record, '"slot": record.slot', '"slot": (0, 0, 0)'),
)


def assert_good(case: str, budget: str) -> None:
    """What the corpus test does: plan, proof, run from garbage, the interpreter's bytes."""
    made = Model((expectations.DATA / f"{case}.tflite").read_bytes(), case, effort=4)
    plan = partial(made.within, *map(int, budget.split("+"))) if "+" in budget else getattr(made, budget)
    compiled = plan()
    assert_gives_the_bytes(case, compiled.plan_bytes, compiled.plan.tolerance)


@pytest.mark.parametrize(("case", "budget"), CASES)
def test_the_original_is_good(case: str, budget: str) -> None:
    assert_good(case, budget)


@pytest.mark.parametrize("mutant", MUTANTS, ids=[m.name for m in MUTANTS])
def test_mutant_is_noticed(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    source = textwrap.dedent(inspect.getsource(mutant.function))
    assert source.count(mutant.old) == 1, f"{mutant.function.__qualname__} has changed: the mutant no longer applies"
    namespace = dict(vars(inspect.getmodule(mutant.function)))
    exec(compile(source.replace(mutant.old, mutant.new), mutant.name, "exec"), namespace)
    broken = namespace[mutant.function.__name__]
    monkeypatch.setattr(mutant.function, "__code__", broken.__code__)
    for case, budget in CASES:
        try:
            assert_good(case, budget)
        except Exception:
            return
    pytest.fail("nothing notices it")
