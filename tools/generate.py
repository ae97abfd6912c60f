#!/usr/bin/env python3
"""Writes every generated file from its one definition; `--check` only says which are stale (exit code 1)."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tigris_codegen.generated import generated_files  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing, exit 1 if a file is stale")
    check = parser.parse_args().check
    stale = 0
    for path, text in generated_files(ROOT).items():
        target = ROOT / path
        if target.exists() and target.read_text() == text:
            continue
        stale += 1
        print(f"{'stale' if check else 'wrote'}: {path}")
        if not check:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
