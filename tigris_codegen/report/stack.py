"""How much stack inference takes, per core type.

Measured, not computed: `tigris verify` paints the stack, runs the self-test and reports the deepest byte written, from
the frame that calls the core's `run` function on. The figures are the largest over models of the corpus that between
them use every kernel, and over `examples/digits`, built as generated projects are built (GCC 12.2, -O2), in QEMU.
`benchmarks/stack.py` measures them; `tests/firmware/test_cores.py` holds other runs against them.
"""

from __future__ import annotations

#: Core type -> deepest stack measured, in bytes. Boards with other cores have none of their own to measure it on.
MEASURED = {
    "cortex-m0": 624,
    "cortex-m3": 648,
    "cortex-m4": 604,
    "cortex-m7": 604,
    "cortex-m33": 608,
    "cortex-m55": 624,
    "riscv32": 668,
}

#: On top of what was measured: one interrupt's frame with the FPU's registers (108 bytes), and other compiler versions.
MARGIN = 256


def stack_bytes(core: str) -> int | None:
    """Bytes of stack to keep for one inference on that core, margin included; None where it was never measured."""
    measured = MEASURED.get(core)
    return None if measured is None else measured + MARGIN
