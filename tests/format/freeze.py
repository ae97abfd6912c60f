"""Freezes a few tiny plans of the present format version under tests/data/plans/v<version>/.

Run once per format version, from the top of the repository: python -m tests.format.freeze

Written are the plans and, in expected.npz, the interpreter's inputs and outputs of the corpus cases that they were
compiled from. Files that are there stay as they are: a frozen plan is what a released version once wrote, and must load
and give its bytes for as long as its format version is read.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from tests.corpus import expectations
from tests.format.plans import SMALL, compiled, expected
from tests.support import REPOSITORY
from tigris_codegen.plan.layout import FORMAT_VERSION

FROZEN = REPOSITORY / "tests" / "data" / "plans"


def write(folder: Path) -> None:
    """The files of one format version."""
    folder.mkdir(parents=True)
    arrays: dict[str, NDArray[Any]] = {}
    for case, budget in SMALL:
        made = compiled(case, budget)
        (folder / f"{case}.{budget}.tgrs").write_bytes(made.plan_bytes)
        for number in range(expectations.SETS):
            for side, ports in (("in", made.plan.inputs), ("out", made.plan.outputs)):
                for index in range(len(ports)):
                    arrays[expectations.key(case, side, index, number)] = expected(case, side, index, number)
    (folder / "expected.npz").write_bytes(expectations.pack(arrays))


if __name__ == "__main__":
    target = FROZEN / f"v{FORMAT_VERSION}"
    if target.exists():
        sys.exit(f"{target.name} is frozen already")
    write(target)
