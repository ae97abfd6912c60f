#!/usr/bin/env python3
"""RAM of models in Tigris and in TensorFlow Lite Micro, as the table in README.md has it.

  smallest  the smallest single pool found: all that inference writes but the stack
  whole     with every operator in one step
  TFLM      the smallest arena, in steps of 1 KiB, in which its interpreter runs one inference on this machine: with its
            structures, which take more room here than on a 32-bit device

Models that do not convert are left out, and named on stderr. Usage: ram.py MODEL.tflite...
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tflite_micro.python.tflite_micro import runtime

from tigris_codegen.errors import ModelError
from tigris_codegen.pipeline import Model

STEP = 1024
MOST_STEPS = 1 << 16


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=Path)
    print("| model | smallest | whole | TFLM |\n|---|---|---|---|")
    for path in parser.parse_args().models:
        data = path.read_bytes()
        try:
            model = Model(data, path.name)
        except ModelError:
            print(f"{path.stem} does not convert", file=sys.stderr)
            continue
        smallest, whole = (made.plan.ram_bytes for made in (model.smallest(), model.roomy()))
        print(f"| {path.stem} | {smallest} | {whole} | {interpreter_arena(data) or 'does not run'} |", flush=True)


if __name__ == "__main__":
    main()
