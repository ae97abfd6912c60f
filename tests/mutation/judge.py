"""Judges a host library by the plans of a folder: exit code 0 where all is as it should be.

In a process of its own, because a mutant may do anything: python -m tests.mutation.judge FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.format.plans import assert_gives_the_bytes
from tigris_codegen.plan.codec import decode
from tigris_codegen.session import load_status


def main(folder: Path) -> None:
    for path in sorted(folder.glob("*.tgrs")):
        data, case = path.read_bytes(), path.name.split(".")[0]
        if case == "hostile":
            assert load_status(data) is not None, path.name
        else:
            assert_gives_the_bytes(case, data, decode(data).tolerance)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
