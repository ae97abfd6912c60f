"""RELU, RELU6 and LOGISTIC."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.corpus.layers import activation_input, logistic, relu
from tests.corpus.writer import ModelWriter, Tensor

#: Every byte twice, in some order: the shape holds all 256 values.
ALL_BYTES = (1, 16, 16, 2)


def clamp(
    m: ModelWriter,
    kind: str,
    shape: tuple[int, ...],
    dtype: str,
    input_scale: float = 0.05,
    input_zero_point: int = 3,
    **options: Any,
) -> tuple[list[Tensor], list[Tensor]]:
    x = activation_input(m, shape, dtype, scale=input_scale, zero_point=input_zero_point)
    return [x], [relu(m, x, kind, **options)]


def sigmoid(
    m: ModelWriter, shape: tuple[int, ...], dtype: str, scale: float = 0.05, zero_point: int = 3
) -> tuple[list[Tensor], list[Tensor]]:
    x = activation_input(m, shape, dtype, scale=scale, zero_point=zero_point)
    return [x], [logistic(m, x)]


CLAMPS: dict[str, dict[str, Any]] = {
    "image": {"shape": (1, 5, 4, 3)},
    "vector": {"shape": (1, 19)},
    "batch2": {"shape": (2, 4, 3, 2)},
    "one_element": {"shape": (1,)},
}
CLAMPS_S8: dict[str, dict[str, Any]] = {
    "all_bytes": {"shape": ALL_BYTES},
    "rescaled": {"shape": ALL_BYTES, "scale": 0.0311, "zero_point": -128},
    "widened": {"shape": ALL_BYTES, "scale": 0.11, "zero_point": 17},
    "zero_point_low": {"shape": ALL_BYTES, "input_zero_point": -128},
    "zero_points_apart": {"shape": ALL_BYTES, "input_zero_point": 20, "zero_point": -128},
}
SIGMOIDS: dict[str, dict[str, Any]] = {
    "image": {"shape": (1, 5, 4, 3)},
    "vector": {"shape": (1, 19)},
    "batch2": {"shape": (2, 7)},
    "one_element": {"shape": (1, 1)},
}
SIGMOIDS_S8: dict[str, dict[str, Any]] = {
    "all_bytes": {"shape": ALL_BYTES},
    "all_bytes_steep": {"shape": ALL_BYTES, "scale": 0.4, "zero_point": -7},
    "all_bytes_flat": {"shape": ALL_BYTES, "scale": 0.002, "zero_point": 100},
    "zero_point_low": {"shape": ALL_BYTES, "zero_point": -128},
    "zero_point_high": {"shape": ALL_BYTES, "zero_point": 127},
}
CASES = {
    **{
        f"{kind.lower()}_{name}_s8": partial(clamp, kind=kind, dtype="int8", **options)
        for kind in ("RELU", "RELU6")
        for name, options in {**CLAMPS, **CLAMPS_S8}.items()
    },
    **{
        f"{kind.lower()}_{name}_f32": partial(clamp, kind=kind, dtype="float32", **CLAMPS[name])
        for kind in ("RELU", "RELU6")
        for name in ("image", "batch2")
    },
    **{
        f"logistic_{name}_s8": partial(sigmoid, dtype="int8", **options)
        for name, options in {**SIGMOIDS, **SIGMOIDS_S8}.items()
    },
    **{f"logistic_{name}_f32": partial(sigmoid, dtype="float32", **options) for name, options in SIGMOIDS.items()},
}
