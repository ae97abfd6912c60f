"""CONV_2D."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.corpus.layers import Pair, activation_input, conv_2d
from tests.corpus.writer import ModelWriter, Tensor


def conv(
    m: ModelWriter,
    shape: tuple[int, ...],
    channels: int,
    kernel: Pair,
    dtype: str,
    input_zero_point: int = 3,
    **options: Any,
) -> tuple[list[Tensor], list[Tensor]]:
    x = activation_input(m, shape, dtype, zero_point=input_zero_point)
    return [x], [conv_2d(m, x, channels, kernel, **options)]


SHAPES: dict[str, dict[str, Any]] = {
    "1x1": {"shape": (1, 5, 4, 6), "channels": 7, "kernel": (1, 1)},
    "1x1_stride2": {"shape": (1, 5, 7, 3), "channels": 4, "kernel": (1, 1), "stride": (2, 2)},
    "1x1_one_pixel": {"shape": (1, 1, 1, 9), "channels": 5, "kernel": (1, 1)},
    "one_element": {"shape": (1, 1, 1, 1), "channels": 1, "kernel": (1, 1)},
    "3x3_same": {"shape": (1, 7, 5, 3), "channels": 4, "kernel": (3, 3)},
    "3x3_valid": {"shape": (1, 7, 5, 3), "channels": 4, "kernel": (3, 3), "padding": "VALID"},
    "3x3_same_stride2": {"shape": (1, 9, 8, 3), "channels": 5, "kernel": (3, 3), "stride": (2, 2)},
    "3x3_valid_stride3": {
        "shape": (1, 11, 10, 2),
        "channels": 3,
        "kernel": (3, 3),
        "stride": (3, 3),
        "padding": "VALID",
    },
    "3x3_stride1x2": {"shape": (1, 6, 9, 2), "channels": 3, "kernel": (3, 3), "stride": (1, 2)},
    "3x3_stride3x1": {"shape": (1, 10, 5, 2), "channels": 3, "kernel": (3, 3), "stride": (3, 1)},
    "2x2_same": {"shape": (1, 5, 6, 3), "channels": 2, "kernel": (2, 2)},
    "2x2_stride3": {"shape": (1, 8, 8, 2), "channels": 3, "kernel": (2, 2), "stride": (3, 3)},
    "5x3_same": {"shape": (1, 8, 6, 2), "channels": 3, "kernel": (5, 3)},
    "1x5_valid": {"shape": (1, 4, 9, 2), "channels": 3, "kernel": (1, 5), "padding": "VALID"},
    "5x1_same": {"shape": (1, 9, 3, 2), "channels": 3, "kernel": (5, 1)},
    "dilation2": {"shape": (1, 9, 8, 2), "channels": 3, "kernel": (3, 3), "dilation": (2, 2)},
    "dilation3x1_valid": {
        "shape": (1, 10, 5, 2),
        "channels": 3,
        "kernel": (3, 3),
        "dilation": (3, 1),
        "padding": "VALID",
    },
    "dilation1x2": {"shape": (1, 4, 9, 2), "channels": 3, "kernel": (2, 3), "dilation": (1, 2)},
    "kernel_exceeds_input": {"shape": (1, 3, 2, 3), "channels": 4, "kernel": (5, 7)},
    "kernel_covers_input": {"shape": (1, 4, 3, 3), "channels": 6, "kernel": (4, 3), "padding": "VALID"},
    "signal": {"shape": (1, 1, 17, 3), "channels": 4, "kernel": (1, 3)},
    "signal_stride2": {"shape": (1, 1, 18, 2), "channels": 4, "kernel": (1, 5), "stride": (1, 2), "padding": "VALID"},
    "signal_high_kernel": {"shape": (1, 1, 12, 2), "channels": 3, "kernel": (3, 3)},
    "column": {"shape": (1, 13, 1, 3), "channels": 4, "kernel": (3, 1), "stride": (2, 1)},
    "batch2": {"shape": (2, 6, 5, 2), "channels": 3, "kernel": (3, 3), "stride": (2, 1)},
    "batch3_valid": {"shape": (3, 5, 4, 2), "channels": 3, "kernel": (2, 3), "padding": "VALID"},
    "batch2_signal": {"shape": (2, 1, 9, 2), "channels": 3, "kernel": (1, 3)},
    "no_bias": {"shape": (1, 6, 5, 3), "channels": 4, "kernel": (3, 3), "bias": False},
    "relu": {"shape": (1, 5, 5, 3), "channels": 4, "kernel": (3, 3), "activation": "RELU"},
    "relu6": {"shape": (1, 6, 4, 3), "channels": 4, "kernel": (3, 2), "activation": "RELU6"},
    "single_channel": {"shape": (1, 12, 6, 1), "channels": 1, "kernel": (3, 3)},
    "tall": {"shape": (1, 33, 3, 2), "channels": 2, "kernel": (3, 3)},
}
S8: dict[str, dict[str, Any]] = {
    "per_tensor": {"shape": (1, 6, 5, 3), "channels": 4, "kernel": (3, 3), "per_channel": False},
    "per_tensor_no_bias": {
        "shape": (1, 6, 5, 3),
        "channels": 4,
        "kernel": (3, 3),
        "per_channel": False,
        "bias": False,
        "padding": "VALID",
    },
    "zero_points_low": {
        "shape": (1, 6, 5, 3),
        "channels": 4,
        "kernel": (3, 3),
        "input_zero_point": -128,
        "zero_point": -128,
    },
    "zero_points_high": {
        "shape": (1, 6, 5, 3),
        "channels": 4,
        "kernel": (3, 3),
        "input_zero_point": 127,
        "zero_point": 127,
    },
    "zero_points_opposite": {
        "shape": (1, 6, 5, 3),
        "channels": 4,
        "kernel": (3, 3),
        "input_zero_point": 127,
        "zero_point": -128,
        "stride": (2, 2),
    },
    "relu_zero_point_low": {
        "shape": (1, 6, 5, 2),
        "channels": 4,
        "kernel": (3, 3),
        "zero_point": -128,
        "activation": "RELU",
        "scale": 0.03,
    },
    "relu6_zero_point_low": {
        "shape": (1, 6, 5, 2),
        "channels": 4,
        "kernel": (3, 3),
        "zero_point": -128,
        "activation": "RELU6",
        "scale": 0.0235,
    },
    "multiplier_above_1": {
        "shape": (1, 6, 4, 1),
        "channels": 3,
        "kernel": (1, 1),
        "scale": 3e-4,
        "weight_limit": 1,
        "bias": False,
    },
    "scale_large": {"shape": (1, 4, 5, 3), "channels": 4, "kernel": (3, 3), "scale": 2.5},
    "scale_vanishing": {"shape": (1, 4, 5, 3), "channels": 4, "kernel": (3, 3), "scale": 1e8},
}
#: Those that exist in float too.
FLOAT = (
    "1x1",
    "1x1_stride2",
    "one_element",
    "3x3_same",
    "3x3_valid",
    "3x3_same_stride2",
    "3x3_valid_stride3",
    "3x3_stride1x2",
    "2x2_same",
    "5x3_same",
    "dilation2",
    "dilation3x1_valid",
    "kernel_exceeds_input",
    "kernel_covers_input",
    "signal",
    "signal_high_kernel",
    "column",
    "batch2",
    "no_bias",
    "relu",
    "relu6",
)
CASES = {
    **{f"conv_2d_{name}_s8": partial(conv, dtype="int8", **options) for name, options in {**SHAPES, **S8}.items()},
    **{f"conv_2d_{name}_f32": partial(conv, dtype="float32", **SHAPES[name]) for name in FLOAT},
}
