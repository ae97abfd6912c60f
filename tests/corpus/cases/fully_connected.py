"""FULLY_CONNECTED."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.corpus import layers
from tests.corpus.writer import ModelWriter, Tensor


def fully_connected(
    m: ModelWriter, shape: tuple[int, ...], features: int, dtype: str, input_zero_point: int = 3, **options: Any
) -> tuple[list[Tensor], list[Tensor]]:
    x = layers.activation_input(m, shape, dtype, zero_point=input_zero_point)
    return [x], [layers.fully_connected(m, x, features, **options)]


SHAPES: dict[str, dict[str, Any]] = {
    "vector": {"shape": (1, 12), "features": 7},
    "one_element": {"shape": (1, 1), "features": 1},
    "one_feature": {"shape": (1, 33), "features": 1},
    "many_features": {"shape": (1, 3), "features": 40},
    "batch2": {"shape": (2, 9), "features": 5},
    "batch7": {"shape": (7, 4), "features": 3},
    "rank3": {"shape": (1, 4, 6), "features": 5},
    "rank3_keep": {"shape": (1, 4, 6), "features": 5, "keep_num_dims": True},
    "rank3_batch2_keep": {"shape": (2, 3, 5), "features": 4, "keep_num_dims": True},
    "rank4": {"shape": (1, 2, 3, 8), "features": 4},
    "rank4_keep": {"shape": (1, 5, 3, 4), "features": 6, "keep_num_dims": True},
    "rank4_flattened": {"shape": (1, 4, 3, 2), "features": 5, "in_features": 24},
    "rank4_batch2_flattened": {"shape": (2, 3, 3, 2), "features": 4, "in_features": 18},
    "no_bias": {"shape": (1, 12), "features": 7, "bias": False},
    "relu": {"shape": (2, 10), "features": 6, "activation": "RELU"},
    "relu6": {"shape": (1, 11), "features": 8, "activation": "RELU6"},
}
S8: dict[str, dict[str, Any]] = {
    "per_channel": {"shape": (1, 12), "features": 7, "per_channel": True},
    "per_channel_batch3": {"shape": (3, 8), "features": 5, "per_channel": True, "activation": "RELU"},
    "per_channel_rank4_flattened_no_bias": {
        "shape": (1, 5, 2, 3),
        "features": 4,
        "in_features": 30,
        "per_channel": True,
        "bias": False,
    },
    "zero_points_low": {"shape": (1, 16), "features": 6, "input_zero_point": -128, "zero_point": -128},
    "zero_points_high": {"shape": (2, 16), "features": 6, "input_zero_point": 127, "zero_point": 127},
    "zero_points_opposite_no_bias": {
        "shape": (1, 16),
        "features": 6,
        "input_zero_point": 127,
        "zero_point": -128,
        "bias": False,
    },
    "multiplier_above_1": {"shape": (4, 2), "features": 3, "scale": 2e-4, "weight_limit": 1, "bias": False},
    "scale_large": {"shape": (2, 20), "features": 12, "scale": 0.5},
}
#: Those that exist in float too.
FLOAT = (
    "vector",
    "one_element",
    "batch2",
    "rank3",
    "rank3_batch2_keep",
    "rank4_keep",
    "rank4_flattened",
    "no_bias",
    "relu",
    "relu6",
)
CASES = {
    **{
        f"fully_connected_{name}_s8": partial(fully_connected, dtype="int8", **options)
        for name, options in {**SHAPES, **S8}.items()
    },
    **{f"fully_connected_{name}_f32": partial(fully_connected, dtype="float32", **SHAPES[name]) for name in FLOAT},
}
