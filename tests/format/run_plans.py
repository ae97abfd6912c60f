"""Runs every plan of a folder and compares: corpus cases with the interpreter's outputs, digits with its own plans.

Used in a process of its own, with a host library of the caller's choice: python -m tests.format.run_plans FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from tests.format.plans import assert_gives_the_bytes
from tigris_codegen.plan.codec import decode
from tigris_codegen.session import Session


def digits(paths: list[Path]) -> None:
    """Plans of one model for different budgets give the same bytes, whatever the memory held."""
    results = []
    for path in paths:
        with Session(path.read_bytes()) as session:
            random = np.random.RandomState(1)
            for poison in (0x00, 0xAA):
                inputs = {n: random.randint(-128, 128, p.shape).astype(p.dtype) for n, p in session.inputs.items()}
                results.append([o.tobytes() for o in session.run(inputs, poison=poison).values()])
    assert results[:2] == results[2:]


def main(folder: Path) -> None:
    paths = sorted(folder.glob("*.tgrs"))
    digits([p for p in paths if p.name.startswith("digits.")])
    for path in paths:
        case = path.name.split(".")[0]
        if case != "digits":
            data = path.read_bytes()
            assert_gives_the_bytes(case, data, decode(data).tolerance)
    print(f"{len(paths)} plans")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
