"""How much stack inference takes, per core type.

Measured, not computed: `tigris verify` paints the stack, runs the self-test and reports the deepest byte written, from
the frame that calls the core's `run` function on. The figures are the largest over models of the corpus that between
them use every kernel, and over `examples/digits`, built as generated projects are built (GCC 12.2, -O2).
`tests/unit/test_cli_verify.py` holds a run against them.
"""

from __future__ import annotations

#: Core type -> deepest stack measured, in bytes.
MEASURED = {
    "cortex-m4": 604,
    "cortex-m7": 604,
}

#: On top of what was measured: one interrupt's frame with the FPU's registers (108 bytes), and other compiler versions.
MARGIN = 256


def stack_bytes(core: str) -> int | None:
    """Bytes of stack to keep for one inference on that core, margin included; None where it was never measured."""
    measured = MEASURED.get(core)
    return None if measured is None else measured + MARGIN
