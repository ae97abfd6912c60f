#!/usr/bin/env python3
"""RAM of models at the smallest pool, and what it costs, next to other tools: the table of docs/RAM.md.

  smallest   the smallest single pool found: all that inference writes but the stack
  whole      the same with every operator in one step
  calls      kernel calls of one inference at the smallest pool (with whole operators: one per operator)
  records    records of the schedule in the plan's file at the smallest pool
  shifted    bytes that inference moves inside windows at the smallest pool
  re-read    constant bytes that it reads once more than once there
  run time   of inference on this machine at the smallest pool, with whole operators = 1: the median of ratios of runs
             that alternate in one process, in processor time of this thread
  TFLM       the interpreter's smallest arena, from the manifest beside the models; for a model that no manifest names,
             measured here in steps of 1 KiB. Its structures are part of it, and larger here than on a 32-bit device
  peer       the least fast + slow memory of tigris-ml over the budgets tried, from the manifest
  bound      with --bound: the row bound of ram_bound.py, which is run once per model

Models that do not convert are left out, and named on stderr. Without arguments: every model of ../shared/models.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from tflite_micro.python.tflite_micro import runtime

from tigris_codegen.errors import ModelError
from tigris_codegen.pipeline import Compiled, Model
from tigris_codegen.report.analysis import report_plan
from tigris_codegen.report.price import weights_read_again
from tigris_codegen.resources import host_library

SHARED = Path(__file__).resolve().parents[2] / "shared"

STEP = 1024
MOST_STEPS = 1 << 16

#: Run times: at least so many pairs of samples, until so many seconds are over; a sample takes about so many seconds.
PAIRS = 11
SECONDS = 1.0
SAMPLE_SECONDS = 0.004

MOST_RUN_RATIO = 1.5

#: ram_bound.py tries every section; for a model of many operators that takes too long.
BOUND_SECONDS = 120


@dataclass(frozen=True)
class Row:
    """One model's figures, in bytes but `calls`, `records` and the ratios; None where a tool has no figure."""

    model: str
    smallest: int
    whole: int
    activation: int
    calls: int
    whole_calls: int
    records: int
    shifted: int
    weights: int
    read_again: int
    run_time_ratio: float | None
    seconds_to_plan: float
    tflm: int | None
    peer: int | None
    bound: int | None


class Runner:
    """Inference of one plan on the host, timed without what surrounds it."""

    def __init__(self, made: Compiled) -> None:
        self._library = ctypes.CDLL(str(host_library()))
        self._library.tigris_host_input.restype = ctypes.c_void_p
        self._handle = ctypes.c_void_p()
        status = self._library.tigris_host_open(
            made.plan_bytes, ctypes.c_size_t(len(made.plan_bytes)), ctypes.byref(self._handle)
        )
        if status:
            raise RuntimeError(f"the host library does not open the plan: status {status}")
        rng = np.random.default_rng(0)
        self._inputs = [rng.integers(0, 64, port.bytes, np.uint8).tobytes() for port in made.plan.inputs]

    def __enter__(self) -> Runner:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._library.tigris_host_close(self._handle)

    def seconds(self, runs: int) -> float:
        """Processor time of this thread for that many inferences, each on fresh inputs."""
        spent = 0
        for _ in range(runs):
            for index, data in enumerate(self._inputs):
                ctypes.memmove(self._library.tigris_host_input(self._handle, index), data, len(data))
            begin = time.thread_time_ns()
            status = self._library.tigris_host_run(self._handle)
            spent += time.thread_time_ns() - begin
            if status:
                raise RuntimeError(f"the run stopped with status {status}")
        return spent / 1e9


def run_time_ratio(small: Compiled, whole: Compiled) -> float:
    """Run time of one plan over that of the other: the median over samples that alternate."""
    with Runner(small) as one, Runner(whole) as other:
        one.seconds(1)
        runs = max(1, round(SAMPLE_SECONDS / max(other.seconds(2) / 2, 1e-6)))
        ratios: list[float] = []
        end = time.monotonic() + SECONDS
        while len(ratios) < PAIRS or time.monotonic() < end:
            ratios.append(one.seconds(runs) / max(other.seconds(runs), 1e-9))
        return statistics.median(ratios)


def runs_in(model: bytes, arena: int) -> bool:
    """Whether the interpreter has room for its structures, the tensors and one inference."""
    try:
        runtime.Interpreter.from_bytes(model, arena_size=arena).invoke()
    except RuntimeError:
        return False
    return True


def interpreter_arena(model: bytes) -> int | None:
    """The smallest arena in bytes; None where the interpreter does not run the model."""
    if not runs_in(model, MOST_STEPS * STEP):
        return None
    below, enough = 0, MOST_STEPS
    while enough - below > 1:
        middle = (below + enough) // 2
        below, enough = (below, middle) if runs_in(model, middle * STEP) else (middle, enough)
    return enough * STEP


def row_bound(tool: Path, model: Path) -> int | None:
    """The row bound that ram_bound.py prints for a model; None where it does not read the model or takes too long."""
    command = [sys.executable, str(tool), str(model)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=BOUND_SECONDS)
    except subprocess.TimeoutExpired:
        print(f"{model.stem}: no bound within {BOUND_SECONDS} s", file=sys.stderr, flush=True)
        return None
    cells = done.stdout.splitlines()[-1].split() if done.returncode == 0 else []
    return int(cells[2]) if len(cells) > 2 and cells[2].isdigit() else None


def measure(path: Path, entry: dict[str, Any] | None, bound_tool: Path | None, timed: bool) -> Row:
    """ModelError where the model does not convert."""
    data = path.read_bytes()
    begin = time.monotonic()
    model = Model(data, path.name)
    small, whole = model.smallest(), model.roomy()
    seconds = time.monotonic() - begin
    report, whole_report = report_plan(small, model), report_plan(whole, model)
    return Row(
        model=path.stem,
        smallest=report.ram.total_bytes,
        whole=whole_report.ram.total_bytes,
        activation=report.ram.total_bytes - report.ram.workspace_bytes,
        calls=report.calls,
        whole_calls=whole_report.calls,
        records=report.records,
        shifted=report.shifted_bytes,
        weights=report.flash.weight_bytes,
        read_again=sum(weights_read_again(small, model)),
        run_time_ratio=round(run_time_ratio(small, whole), 3) if timed else None,
        seconds_to_plan=round(seconds, 1),
        tflm=entry["tflm"]["arena_bytes"] if entry else interpreter_arena(data),
        peer=entry["peer"]["least_fast_plus_slow_bytes"] if entry else None,
        bound=row_bound(bound_tool, path) if bound_tool else None,
    )


def exceptions(rows: Sequence[Row]) -> list[str]:
    """Where a figure is worse than that of another tool, or the run time at the smallest pool than it should be."""
    found = []
    for row in rows:
        for tool, figure in (("the interpreter's arena", row.tflm), ("the peer", row.peer)):
            if figure is not None and row.activation > figure:
                found.append(f"{row.model}: {row.activation} bytes of activations, {tool} has {figure}")
        if row.model.startswith("mlperf") and (row.run_time_ratio or 0) > MOST_RUN_RATIO:
            found.append(f"{row.model}: {row.run_time_ratio} times the run time, wanted at most {MOST_RUN_RATIO}")
    return found


def table(rows: Sequence[Row], bound: bool) -> str:
    """The Markdown table."""
    head = ["model", "smallest", "whole", "TFLM", "peer", *(["bound"] if bound else [])]
    head += ["calls", "whole calls", "records", "shifted", "re-read", "run time"]
    lines = [head, ["---", *["---:"] * (len(head) - 1)]]
    for row in rows:
        cells: list[object] = [row.model, row.smallest, row.whole, row.tflm, row.peer, *([row.bound] if bound else [])]
        cells += [row.calls, row.whole_calls, row.records, row.shifted, row.read_again]
        ratio = None if row.run_time_ratio is None else f"{row.run_time_ratio:.2f}"
        lines.append(["-" if cell is None else str(cell) for cell in [*cells, ratio]])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def entries(folder: Path) -> dict[str, dict[str, Any]]:
    """The manifest of a collection, by model; empty where there is none."""
    manifest = folder / "manifest.json"
    return {entry["name"]: entry for entry in json.loads(manifest.read_text())} if manifest.is_file() else {}


def measured(
    paths: Iterable[Path], known: dict[str, dict[str, Any]], bound_tool: Path | None, timed: bool
) -> list[Row]:
    rows = []
    for path in paths:
        try:
            rows.append(measure(path, known.get(path.stem), bound_tool, timed))
        except ModelError:
            print(f"{path.stem} does not convert", file=sys.stderr, flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", type=Path, help="instead of those of the collection")
    parser.add_argument(
        "--collection", type=Path, default=SHARED / "models", help="a folder with manifest.json and files/"
    )
    parser.add_argument(
        "--bound", type=Path, nargs="?", const=SHARED / "tools" / "ram_bound.py", help="run ram_bound.py"
    )
    parser.add_argument("--no-time", action="store_true", help="do not run the plans")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    if options.bound and not options.bound.is_file():
        parser.error(f"{options.bound}: no such file")
    known = entries(options.collection)
    paths = options.models or [options.collection / "files" / f"{name}.tflite" for name in known]
    if not paths:
        parser.error(f"{options.collection} has no manifest.json, and no model is named")
    rows = measured(paths, known, options.bound, not options.no_time)
    worse = exceptions(rows)
    if options.json:
        print(json.dumps({"models": [asdict(row) for row in rows], "exceptions": worse}, indent=2))
        return
    print(table(rows, options.bound is not None))
    print("\n" + ("\n".join(f"- {line}" for line in worse) if worse else "No exceptions."))


if __name__ == "__main__":
    main()
