"""Broken copies of the runtime: the bytes of a handful of corpus cases, or a hostile plan, give each of them away."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.format import native
from tests.mutation import cases
from tests.support import REPOSITORY


@dataclass(frozen=True)
class Mutant:
    """One text of one file below runtime/src, and what stands in its place."""

    name: str
    path: str
    old: str
    new: str


MUTANTS = (
    Mutant("half rounds up", "kernels/fixed_point.h", "(mask >> 1) + (x < 0)", "(mask >> 1)"),
    Mutant("scaled one bit less", "kernels/fixed_point.h", "shift > 0 ? 0 : -shift;", "shift > 0 ? 0 : 1 - shift;"),
    Mutant("no smallest value", "kernels/fixed_point.h", "x < low ? low :", "x < low ? high :"),
    Mutant("a row too few", "kernels/window.h", "(int32_t)axis->in - origin)", "(int32_t)axis->in - 1 - origin)"),
    Mutant("filter not moved", "kernels/window.h", "taps.tap = begin;", "taps.tap = 0u * begin;"),
    Mutant("pool rounds up", "kernels/average_pool_2d_s8.c", "sums[i] > 0 ? half : -half", "half"),
    Mutant("sums not cleared", "kernels/mean.h", "(call->flags & TIGRIS_FLAG_FIRST) != 0u", "call->flags == 0u"),
    Mutant(
        "bias not set", "kernels/fully_connected_s8.c", "(call->flags & TIGRIS_FLAG_FIRST) != 0u", "call->flags == 0u"
    ),
    Mutant("offset of a for b", "kernels/add_s8.c", "b + p->offset_b", "b + p->offset_a"),
    Mutant("wrong row broadcast", "kernels/broadcast.h", "repeats(repeat, 0u) ? 0u : call->row", "0u"),
    Mutant("block at the front", "kernels/concatenation.h", "row_bytes + p->offset;", "row_bytes;"),
    Mutant("pads by zero", "kernels/pad_s8.c", "(uint8_t)p->value;", "0u;"),
    Mutant("shift a row off", "tigris_exec.c", "front + (size_t)row * to", "front + (size_t)(row + 1u) * to"),
    Mutant("rows stand still", "tigris_exec.c", "executor->passes_done * record->advance", "0u"),
    Mutant("a pass too few", "tigris_exec.c", "passes = record->row;", "passes = record->row - 1u;"),
    Mutant("window of the output", "tigris_exec.c", "record->slot[i + 1u] : 0u", "record->slot[0] : 0u"),
    Mutant("copies to the front", "tigris_exec.c", "place(mem, to, row, record->slot[0])", "place(mem, to, 0, 0)"),
    Mutant("arena not compared", "tigris_load.c", "end > space_bytes(plan, tigris_space(operand))", "end == 0u"),
    Mutant("window not compared", "tigris_load.c", "extent.count <= held - first;", "held != 0u;"),
    Mutant("overlap allowed", "tigris_load.c", "if (spans_meet(spans[i], spans[k]) &&", "if (i > k &&"),
    Mutant("everything in place", "kernels/softmax.h", "extents->in_place = 0u;", "extents->in_place = 1u;"),
    Mutant("overtakes at once", "tigris_load.c", "output.start + written <= input.start + read", "written != 0u"),
    Mutant(
        "overtakes later", "tigris_load.c", "output.start + last * written <= input.start + last * read", "last != 0u"
    ),
    Mutant(
        "windows taken for whole",
        "tigris_load.c",
        "(uint64_t)tigris_held_rows(&plan->operands[operand])",
        "(uint64_t)plan->operands[operand].rows",
    ),
    Mutant("endless repeats", "tigris_load.c", "if (steps > left) {", "if (steps == 0u) {"),
)


@dataclass(frozen=True)
class Original:
    """Objects of the runtime as it is: source -> (object, everything that it includes); and the plans to judge by."""

    objects: dict[Path, tuple[Path, str]]
    plans: Path


FLAGS = ("-std=c99", "-O1", "-fPIC", "-ffp-contract=off")


def includes(folder: Path) -> tuple[str, ...]:
    return ("-I", str(folder / "include"), "-I", str(folder / "src"), "-I", str(folder / "host"))


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Original:
    folder, plans = tmp_path_factory.mktemp("original"), tmp_path_factory.mktemp("plans")
    gcc = native.tool("gcc")
    sources = [*native.SOURCES, *native.HOST_SOURCES]
    native.run([gcc, *FLAGS, *includes(native.RUNTIME), "-MMD", "-c", *sources], cwd=folder)
    cases.write(plans)
    made = {s: (folder / f"{s.stem}.o", (folder / f"{s.stem}.d").read_text()) for s in sources}
    assert judged(link(gcc, [o for o, _ in made.values()], folder), plans) == 0
    return Original(made, plans)


def link(gcc: str, objects: list[Path], folder: Path) -> Path:
    library = folder / "libtigris_host.so"
    native.run([gcc, "-shared", *objects, "-lm", "-o", library])
    return library


def judged(library: Path, plans: Path) -> int:
    """Exit code of the judge; negative where the mutant killed it or keeps it busy for ever."""
    command = [sys.executable, "-m", "tests.mutation.judge", str(plans)]
    environment = {**os.environ, "TIGRIS_HOST_LIBRARY": str(library), "PYTHONPATH": str(REPOSITORY)}
    try:
        return subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, timeout=60).returncode
    except subprocess.TimeoutExpired:
        return -1


@pytest.mark.parametrize("mutant", MUTANTS, ids=[m.name for m in MUTANTS])
def test_mutant_is_noticed(mutant: Mutant, original: Original, tmp_path: Path) -> None:
    gcc = native.tool("gcc")
    text = (native.RUNTIME / "src" / mutant.path).read_text()
    assert text.count(mutant.old) == 1, f"{mutant.path} has changed: the mutant no longer applies"
    copy = tmp_path / "runtime"
    for path in (*native.RUNTIME.glob("*/*.[ch]"), *native.RUNTIME.glob("src/kernels/*.[ch]")):
        target = copy / path.relative_to(native.RUNTIME)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    (copy / "src" / mutant.path).write_text(text.replace(mutant.old, mutant.new))
    name = f"/{Path(mutant.path).name}"
    affected = [s for s, (_, needs) in original.objects.items() if name in needs]
    assert affected
    changed = [copy / source.relative_to(native.RUNTIME) for source in affected]
    native.run([gcc, *FLAGS, *includes(copy), "-c", *changed], cwd=tmp_path)
    kept = [o for source, (o, _) in original.objects.items() if source not in affected]
    library = link(gcc, [*kept, *(tmp_path / f"{s.stem}.o" for s in affected)], tmp_path)
    assert judged(library, original.plans) != 0, "nothing notices it"
