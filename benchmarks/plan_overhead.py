#!/usr/bin/env python3
"""What a plan costs besides weights, tables, names and the schedule, per operator of the plan (docs/DESIGN.md).

  fixed      header and interface: there once, however many operators
  operators  operators, operands and parameters: grows with the operators
  per op     (file - constants - names - schedule) / operators, padding included: fixed and operators shared out
  marginal   (operators, operands and parameters) / operators

Usage: plan_overhead.py MODEL.tflite...
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tigris_codegen.pipeline import Model
from tigris_codegen.plan import layout
from tigris_codegen.plan.layout import Section

APART = (Section.CONSTANTS, Section.NAMES, Section.SCHEDULE)
GROWING = (Section.OPERATORS, Section.OPERANDS, Section.PARAMS)


def section_bytes(plan: bytes) -> dict[Section, int]:
    """Length of each section, without the padding behind it."""
    directory = layout.HEADER.unpack(plan)["sections"]
    assert isinstance(directory, tuple)
    return {section: int(directory[2 * section + 1]) for section in Section}


def measure(path: Path) -> dict[str, int | str]:
    """The overhead of a model's plan at its smallest pool, where the operand table is longest."""
    compiled = Model(path.read_bytes(), path.name).smallest()
    sizes = section_bytes(compiled.plan_bytes)
    operators = len(compiled.plan.operators)
    overhead = len(compiled.plan_bytes) - sum(sizes[s] for s in APART)
    growing = sum(sizes[s] for s in GROWING)
    return {
        "model": path.stem,
        "operators": operators,
        "file": len(compiled.plan_bytes),
        "overhead": overhead,
        "per op": f"{overhead / operators:.1f}",
        "marginal": f"{growing / operators:.1f}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=Path)
    rows = [measure(path) for path in parser.parse_args().models]
    print("| " + " | ".join(rows[0]) + " |\n" + "|---" * len(rows[0]) + "|")
    for row in rows:
        print("| " + " | ".join(str(value) for value in row.values()) + " |")


if __name__ == "__main__":
    main()
