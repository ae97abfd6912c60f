#!/usr/bin/env python3
"""Bytes of the schedule at the smallest pool in four encodings (docs/DESIGN.md, "Why records look as they do").

  short         8-byte records; the executor keeps the first row of every window, so runs need no places, and a run
                says itself how its windows slide: no records but runs. The most favourable count for this form.
  short repeat  the same, runs of alike records under a REPEAT of 8 bytes
  long          16-byte records that say all places, one after the other
  repeat        16-byte records that say all places, runs of alike records under a REPEAT (what Tigris does)

`records` are those that are executed, `runs` those of them that call a kernel, `allowed` is 2 KiB or a tenth of the
constants, whichever is more.

Usage: schedule_encoding.py [--json] MODEL.tflite...
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

from tigris_codegen.pipeline import Model
from tigris_codegen.plan.layout import RECORD, Kind
from tigris_codegen.plan.plan import Plan, Record
from tigris_codegen.plan.verify import expand
from tigris_codegen.planner.emit import fold_repeats

SHORT_BYTES = 8


def short_records(plan: Plan) -> list[Record]:
    """The runs without their places; `channel` numbers what slides behind a run: runs differ where slides do."""
    runs: list[Record] = []
    slides: list[tuple[tuple[int, int, int], ...]] = []
    for record, row in expand(plan.records):
        if record.kind is Kind.RUN:
            runs.append(replace(record, row=row, advance=0, slot=(0, 0, 0)))
            slides.append(())
        else:
            assert record.kind is Kind.SHIFT and slides, "plans in one pool run and shift"
            slides[-1] += ((record.target, row, record.rows),)
    numbers = {slide: number for number, slide in enumerate(sorted(set(slides)))}
    return [replace(run, channel=numbers[slide]) for run, slide in zip(runs, slides, strict=True)]


def measure(path: Path) -> dict[str, int | str]:
    """The sizes of one model's schedule, and what is allowed."""
    plan = Model(path.read_bytes(), path.name).smallest().plan
    executed = sum(1 for _ in expand(plan.records))
    runs = short_records(plan)
    return {
        "model": path.stem,
        "records": executed,
        "runs": len(runs),
        "short": SHORT_BYTES * len(runs),
        "short repeat": SHORT_BYTES * len(fold_repeats(runs)),
        "long": RECORD.size * executed,
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
    print("| " + " | ".join(rows[0]) + " |\n" + "|---" * len(rows[0]) + "|")
    for row in rows:
        print("| " + " | ".join(str(value) for value in row.values()) + " |")


if __name__ == "__main__":
    main()
