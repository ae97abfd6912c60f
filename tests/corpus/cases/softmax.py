"""SOFTMAX."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.corpus.layers import activation_input
from tests.corpus.layers import softmax as add_softmax
from tests.corpus.writer import ModelWriter, Tensor


def softmax(
    m: ModelWriter, shape: tuple[int, ...], dtype: str, scale: float = 0.05, zero_point: int = 3, beta: float = 1.0
) -> tuple[list[Tensor], list[Tensor]]:
    x = activation_input(m, shape, dtype, scale=scale, zero_point=zero_point)
    return [x], [add_softmax(m, x, beta=beta)]


SHAPES: dict[str, dict[str, Any]] = {
    "depth1": {"shape": (1, 1)},
    "depth2": {"shape": (1, 2)},
    "depth10": {"shape": (1, 10)},
    "depth300": {"shape": (1, 300)},
    "rank1": {"shape": (7,)},
    "batch5": {"shape": (5, 4)},
    "rank3": {"shape": (1, 6, 5)},
    "rank4": {"shape": (1, 4, 3, 5)},
    "rank4_batch2": {"shape": (2, 3, 2, 4)},
    "beta_half": {"shape": (1, 12), "beta": 0.5},
    "beta2": {"shape": (2, 12), "beta": 2.0},
}
S8: dict[str, dict[str, Any]] = {
    "scale_large": {"shape": (3, 20), "scale": 0.6},
    "scale_huge": {"shape": (3, 20), "scale": 40.0},
    "scale_small": {"shape": (3, 20), "scale": 0.001},
    "zero_point_low": {"shape": (2, 15), "zero_point": -128},
    "zero_point_high": {"shape": (2, 15), "zero_point": 127},
}
#: Those that exist in float too.
FLOAT = ("depth1", "depth10", "depth300", "rank1", "batch5", "rank4", "beta_half")
CASES = {
    **{f"softmax_{name}_s8": partial(softmax, dtype="int8", **options) for name, options in {**SHAPES, **S8}.items()},
    **{f"softmax_{name}_f32": partial(softmax, dtype="float32", **SHAPES[name]) for name in FLOAT},
}
