"""AVERAGE_POOL_2D and MAX_POOL_2D."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.corpus.layers import Pair, activation_input, pool_2d
from tests.corpus.writer import ModelWriter, Tensor


def pool(
    m: ModelWriter,
    kind: str,
    shape: tuple[int, ...],
    kernel: Pair,
    dtype: str,
    scale: float = 0.05,
    zero_point: int = 3,
    **options: Any,
) -> tuple[list[Tensor], list[Tensor]]:
    x = activation_input(m, shape, dtype, scale=scale, zero_point=zero_point)
    return [x], [pool_2d(m, x, kind, kernel, **options)]


SHAPES: dict[str, dict[str, Any]] = {
    "2x2_stride2": {"shape": (1, 8, 6, 3), "kernel": (2, 2), "stride": (2, 2)},
    "2x2_stride2_odd_same": {"shape": (1, 7, 5, 3), "kernel": (2, 2), "stride": (2, 2), "padding": "SAME"},
    "3x3_same": {"shape": (1, 6, 5, 3), "kernel": (3, 3), "padding": "SAME"},
    "3x2_stride1x2": {"shape": (1, 7, 8, 2), "kernel": (3, 2), "stride": (1, 2)},
    "stride3_exceeds_kernel": {"shape": (1, 10, 8, 2), "kernel": (2, 2), "stride": (3, 3), "padding": "SAME"},
    "global": {"shape": (1, 6, 5, 4), "kernel": (6, 5)},
    "global_batch2": {"shape": (2, 5, 3, 4), "kernel": (5, 3)},
    "kernel_exceeds_input_same": {"shape": (1, 3, 2, 2), "kernel": (5, 6), "padding": "SAME"},
    "signal": {"shape": (1, 1, 15, 3), "kernel": (1, 4), "stride": (1, 2)},
    "signal_global": {"shape": (1, 1, 12, 3), "kernel": (1, 12)},
    "column": {"shape": (1, 14, 1, 3), "kernel": (3, 1), "stride": (2, 1), "padding": "SAME"},
    "batch2_same": {"shape": (2, 5, 4, 3), "kernel": (3, 3), "stride": (2, 2), "padding": "SAME"},
    "one_element": {"shape": (1, 1, 1, 1), "kernel": (1, 1)},
    "relu": {"shape": (1, 6, 5, 3), "kernel": (2, 2), "activation": "RELU"},
    "relu6": {"shape": (1, 5, 6, 2), "kernel": (2, 1), "activation": "RELU6"},
}
S8: dict[str, dict[str, Any]] = {
    "zero_point_low": {"shape": (1, 6, 4, 2), "kernel": (3, 3), "zero_point": -128, "padding": "SAME"},
    "zero_point_high": {"shape": (1, 6, 4, 2), "kernel": (2, 2), "zero_point": 127},
    "relu6_zero_point_low": {
        "shape": (1, 6, 4, 2),
        "kernel": (2, 2),
        "scale": 0.026,
        "zero_point": -128,
        "activation": "RELU6",
    },
}
#: Those that exist in float too.
FLOAT = ("2x2_stride2_odd_same", "3x3_same", "3x2_stride1x2", "global_batch2", "signal", "batch2_same", "relu", "relu6")
KINDS = ("AVERAGE_POOL_2D", "MAX_POOL_2D")
CASES = {
    **{
        f"{kind.lower()}_{name}_s8": partial(pool, kind=kind, dtype="int8", **options)
        for kind in KINDS
        for name, options in {**SHAPES, **S8}.items()
    },
    **{
        f"{kind.lower()}_{name}_f32": partial(pool, kind=kind, dtype="float32", **SHAPES[name])
        for kind in KINDS
        for name in FLOAT
    },
}
