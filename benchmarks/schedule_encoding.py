#!/usr/bin/env python3
"""Bytes of the schedule at the smallest pool in three encodings (docs/DESIGN.md, "Why records look as they do").

  short     8-byte records; the executor keeps the first row of every window, so runs and shifts need no places
  long      16-byte records that say all places, one after the other
  repeat    16-byte records that say all places, runs of alike records under a REPEAT (what Tigris does)

Usage: schedule_encoding.py [--json] MODEL.tflite...
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from tigris_codegen.pipeline import Model
from tigris_codegen.plan.layout import RECORD
from tigris_codegen.plan.verify import expand


def measure(path: Path) -> dict[str, int | str]:
    """The three sizes, and what the issue allows: a tenth of the weights or 2 KiB, whichever is more."""
    plan = Model(path.read_bytes(), path.name).smallest().plan
    unrolled = sum(1 for _ in expand(plan.records))
    return {
        "model": path.stem,
        "records": unrolled,
        "short": 8 * unrolled,
        "long": RECORD.size * unrolled,
        "repeat": RECORD.size * len(plan.records),
        "allowed": max(2048, len(plan.constants) // 10),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    rows = [measure(path) for path in arguments.models]
    if arguments.json:
        print(json.dumps(rows, indent=2))
        return
    print("| model | records | short | long | repeat | allowed |\n|---|---|---|---|---|---|")
    for row in rows:
        print("| " + " | ".join(str(value) for value in row.values()) + " |")


if __name__ == "__main__":
    main()
