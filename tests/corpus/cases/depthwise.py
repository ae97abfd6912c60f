"""DEPTHWISE_CONV_2D."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.corpus.layers import Pair, activation_input, depthwise_conv_2d
from tests.corpus.writer import ModelWriter, Tensor


def depthwise(
    m: ModelWriter,
    shape: tuple[int, ...],
    multiplier: int,
    kernel: Pair,
    dtype: str,
    input_zero_point: int = 3,
    **options: Any,
) -> tuple[list[Tensor], list[Tensor]]:
    x = activation_input(m, shape, dtype, zero_point=input_zero_point)
    return [x], [depthwise_conv_2d(m, x, multiplier, kernel, **options)]


SHAPES: dict[str, dict[str, Any]] = {
    "3x3_same": {"shape": (1, 7, 5, 4), "multiplier": 1, "kernel": (3, 3)},
    "3x3_valid": {"shape": (1, 7, 5, 4), "multiplier": 1, "kernel": (3, 3), "padding": "VALID"},
    "3x3_same_stride2": {"shape": (1, 9, 8, 3), "multiplier": 1, "kernel": (3, 3), "stride": (2, 2)},
    "3x3_valid_stride3": {
        "shape": (1, 11, 10, 2),
        "multiplier": 1,
        "kernel": (3, 3),
        "stride": (3, 3),
        "padding": "VALID",
    },
    "stride1x3": {"shape": (1, 5, 10, 2), "multiplier": 1, "kernel": (3, 3), "stride": (1, 3)},
    "stride2x1": {"shape": (1, 8, 5, 3), "multiplier": 1, "kernel": (3, 3), "stride": (2, 1)},
    "multiplier2": {"shape": (1, 5, 4, 3), "multiplier": 2, "kernel": (3, 3)},
    "multiplier3": {"shape": (1, 6, 4, 2), "multiplier": 3, "kernel": (3, 2), "stride": (2, 2)},
    "multiplier4_single_channel": {"shape": (1, 6, 5, 1), "multiplier": 4, "kernel": (3, 3), "padding": "VALID"},
    "multiplier8_single_channel": {"shape": (1, 9, 5, 1), "multiplier": 8, "kernel": (5, 4), "stride": (2, 2)},
    "1x1": {"shape": (1, 4, 5, 3), "multiplier": 1, "kernel": (1, 1)},
    "one_element": {"shape": (1, 1, 1, 1), "multiplier": 1, "kernel": (1, 1)},
    "2x4_same": {"shape": (1, 6, 7, 2), "multiplier": 1, "kernel": (2, 4)},
    "dilation2": {"shape": (1, 9, 8, 2), "multiplier": 1, "kernel": (3, 3), "dilation": (2, 2)},
    "dilation1x3_valid": {
        "shape": (1, 5, 11, 2),
        "multiplier": 2,
        "kernel": (3, 3),
        "dilation": (1, 3),
        "padding": "VALID",
    },
    "kernel_exceeds_input": {"shape": (1, 2, 3, 3), "multiplier": 1, "kernel": (7, 5)},
    "kernel_covers_input": {"shape": (1, 5, 4, 6), "multiplier": 1, "kernel": (5, 4), "padding": "VALID"},
    "signal": {"shape": (1, 1, 16, 3), "multiplier": 1, "kernel": (1, 3)},
    "signal_stride3": {"shape": (1, 1, 19, 2), "multiplier": 2, "kernel": (1, 4), "stride": (3, 3)},
    "column": {"shape": (1, 15, 1, 4), "multiplier": 1, "kernel": (9, 1), "padding": "VALID"},
    "batch2": {"shape": (2, 6, 5, 3), "multiplier": 1, "kernel": (3, 3)},
    "batch3_multiplier2": {"shape": (3, 5, 4, 2), "multiplier": 2, "kernel": (3, 3), "stride": (2, 2)},
    "no_bias": {"shape": (1, 6, 5, 3), "multiplier": 1, "kernel": (3, 3), "bias": False},
    "relu": {"shape": (1, 5, 5, 3), "multiplier": 1, "kernel": (3, 3), "activation": "RELU"},
    "relu6": {"shape": (1, 6, 4, 3), "multiplier": 2, "kernel": (2, 3), "activation": "RELU6"},
    "tall": {"shape": (1, 31, 3, 2), "multiplier": 1, "kernel": (3, 3)},
}
S8: dict[str, dict[str, Any]] = {
    "per_tensor": {"shape": (1, 6, 5, 3), "multiplier": 1, "kernel": (3, 3), "per_channel": False},
    "per_tensor_multiplier2_no_bias": {
        "shape": (1, 6, 5, 2),
        "multiplier": 2,
        "kernel": (3, 3),
        "per_channel": False,
        "bias": False,
    },
    "zero_points_low": {
        "shape": (1, 6, 5, 3),
        "multiplier": 1,
        "kernel": (3, 3),
        "input_zero_point": -128,
        "zero_point": -128,
    },
    "zero_points_high": {
        "shape": (1, 6, 5, 3),
        "multiplier": 1,
        "kernel": (3, 3),
        "input_zero_point": 127,
        "zero_point": 127,
    },
    "zero_points_opposite": {
        "shape": (1, 6, 5, 2),
        "multiplier": 2,
        "kernel": (3, 3),
        "input_zero_point": -128,
        "zero_point": 127,
        "stride": (2, 2),
    },
    "relu6_zero_point_low": {
        "shape": (1, 6, 5, 3),
        "multiplier": 1,
        "kernel": (3, 3),
        "zero_point": -128,
        "activation": "RELU6",
        "scale": 0.0235,
    },
    "multiplier_above_1": {
        "shape": (1, 6, 4, 2),
        "multiplier": 1,
        "kernel": (1, 1),
        "scale": 3e-4,
        "weight_limit": 1,
        "bias": False,
    },
}
#: Those that exist in float too.
FLOAT = (
    "3x3_same",
    "3x3_valid",
    "3x3_same_stride2",
    "stride1x3",
    "multiplier2",
    "multiplier3",
    "multiplier4_single_channel",
    "one_element",
    "dilation2",
    "dilation1x3_valid",
    "kernel_exceeds_input",
    "signal",
    "batch2",
    "no_bias",
    "relu",
    "relu6",
)
CASES = {
    **{
        f"depthwise_conv_2d_{name}_s8": partial(depthwise, dtype="int8", **options)
        for name, options in {**SHAPES, **S8}.items()
    },
    **{f"depthwise_conv_2d_{name}_f32": partial(depthwise, dtype="float32", **SHAPES[name]) for name in FLOAT},
}
