#!/usr/bin/env python3
"""The stack of an inference per core type, measured: the figures of tigris_codegen/report/stack.py.

Models of the corpus that between them use every kernel, and examples/digits, each as firmware at its smallest pool, for
one board per core type, in the board's first emulator. Every run is verified, too: the interpreter's bytes (within the
plan's tolerance), the stated RAM. Without arguments: every core type that has a board for it here.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from tests.corpus import expectations
from tests.corpus.cases import CASES, FAMILIES, build
from tests.firmware.support import DIGITS, digit_vectors
from tigris_codegen.boards import Board, list_boards
from tigris_codegen.codegen import TestVector, generate_project
from tigris_codegen.emulate import emulators_of, verify_project
from tigris_codegen.pipeline import Compiled, Model


def boards() -> dict[str, Board]:
    """Core type -> the first board that an emulator can be, whole machines before others."""
    able = [board for board in list_boards() if "baremetal" in board.frameworks and emulators_of(board)]
    able.sort(key=lambda board: emulators_of(board)[0] != "qemu")
    found: dict[str, Board] = {}
    for board in able:
        found.setdefault(board.soc.core, board)
    return found


def covering() -> list[tuple[str, Compiled]]:
    """Cases that between them use every kernel, those with the most new ones first."""
    plans = {case: Model((expectations.DATA / f"{case}.tflite").read_bytes(), case).smallest() for case in CASES}
    left = {kernel for compiled in plans.values() for kernel in compiled.plan.kernels}
    chosen = []
    while left:
        case = max(plans, key=lambda name: len(left & set(plans[name].plan.kernels)))
        left -= set(plans[case].plan.kernels)
        chosen.append((case, plans[case]))
    return chosen


def recorded(case: str) -> list[TestVector]:
    """The corpus's own inputs with what the interpreter answered."""
    family = next(name for name, cases in FAMILIES.items() if case in cases)
    model = build(case)
    with np.load(expectations.DATA / f"{family}.npz") as arrays:
        return [
            TestVector(
                tuple(arrays[expectations.key(case, "in", i, n)].tobytes() for i in range(len(model.inputs))),
                tuple(arrays[expectations.key(case, "out", i, n)].tobytes() for i in range(len(model.outputs))),
            )
            for n in range(expectations.SETS)
        ]


def models() -> Iterator[tuple[str, Compiled, list[TestVector]]]:
    for case, compiled in covering():
        yield case, compiled, recorded(case)
    yield "digits", Model((DIGITS / "digits.tflite").read_bytes(), "digits").smallest(), digit_vectors(1)


def stack_of(compiled: Compiled, board: Board, vectors: Sequence[TestVector]) -> int:
    with tempfile.TemporaryDirectory(prefix="tigris-") as folder:
        project = Path(folder) / "project"
        generate_project(compiled.plan_bytes, board, project, core_name="model", vectors=vectors, framework="baremetal")
        result = verify_project(project)
        result.check()
        return result.report.stack_bytes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cores", nargs="*", help="core types, such as cortex-m0")
    wanted = parser.parse_args().cores
    every = list(models())
    for core, board in boards().items():
        if wanted and core not in wanted:
            continue
        found = {name: stack_of(compiled, board, vectors) for name, compiled, vectors in every}
        deepest = max(found, key=lambda name: found[name])
        print(f"{core:14} {found[deepest]:5} B  {deepest}, of {len(found)} models on {board.name}", flush=True)


if __name__ == "__main__":
    main()
