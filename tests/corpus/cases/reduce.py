"""MEAN."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from tests.corpus import layers
from tests.corpus.layers import activation_input
from tests.corpus.writer import ModelWriter, Tensor


def mean(
    m: ModelWriter, shape: tuple[int, ...], axes: Sequence[int], dtype: str, input_zero_point: int = 3, **options: Any
) -> tuple[list[Tensor], list[Tensor]]:
    x = activation_input(m, shape, dtype, zero_point=input_zero_point)
    return [x], [layers.mean(m, x, axes, **options)]


SHAPES: dict[str, dict[str, Any]] = {
    "image": {"shape": (1, 5, 4, 3), "axes": (1, 2)},
    "image_keep": {"shape": (1, 5, 4, 3), "axes": (1, 2), "keep_dims": True},
    "image_keep_swapped": {"shape": (1, 5, 4, 3), "axes": (2, 1), "keep_dims": True},
    "image_batch2": {"shape": (2, 5, 4, 3), "axes": (1, 2)},
    "image_batch2_keep": {"shape": (2, 5, 4, 3), "axes": (1, 2), "keep_dims": True},
    "height": {"shape": (1, 6, 4, 3), "axes": (1,)},
    "width_keep": {"shape": (1, 6, 4, 3), "axes": (2,), "keep_dims": True},
    "channels": {"shape": (1, 6, 4, 3), "axes": (3,)},
    "channels_negative_keep": {"shape": (2, 3, 4, 5), "axes": (-1,), "keep_dims": True},
    "height_and_channels": {"shape": (1, 6, 4, 3), "axes": (1, 3)},
    "batch": {"shape": (3, 4, 2, 2), "axes": (0,)},
    "batch_and_width": {"shape": (2, 4, 3, 2), "axes": (0, 2)},
    "everything": {"shape": (1, 5, 4, 3), "axes": (0, 1, 2, 3), "keep_dims": True},
    "signal": {"shape": (1, 1, 14, 3), "axes": (1, 2)},
    "rank3": {"shape": (1, 7, 4), "axes": (1,)},
    "rank2": {"shape": (4, 9), "axes": (1,), "keep_dims": True},
    "rank1": {"shape": (11,), "axes": (0,), "keep_dims": True},
    "repeated_axis": {"shape": (1, 5, 4, 3), "axes": (1, 1)},
    "one_element": {"shape": (1, 1, 1, 1), "axes": (1, 2)},
}
S8: dict[str, dict[str, Any]] = {
    "rescaled": {"shape": (1, 5, 4, 3), "axes": (1, 2), "scale": 0.0131, "zero_point": -40},
    "rescaled_keep": {"shape": (1, 5, 4, 3), "axes": (1, 2), "scale": 0.2, "zero_point": 9, "keep_dims": True},
    "zero_points_low": {
        "shape": (1, 6, 3, 4),
        "axes": (1, 2),
        "input_zero_point": -128,
        "zero_point": -128,
        "scale": 0.06,
    },
    "zero_points_high": {
        "shape": (1, 6, 3, 4),
        "axes": (1, 2),
        "input_zero_point": 127,
        "zero_point": 127,
        "scale": 0.04,
    },
    "zero_points_apart": {"shape": (1, 9, 4), "axes": (1,), "input_zero_point": -30, "zero_point": 40, "scale": 0.05},
    "many": {"shape": (1, 24, 24, 2), "axes": (1, 2)},
}
#: Those that exist in float too.
FLOAT = (
    "image",
    "image_keep",
    "image_keep_swapped",
    "image_batch2_keep",
    "height",
    "channels",
    "height_and_channels",
    "batch",
    "batch_and_width",
    "everything",
    "rank3",
    "repeated_axis",
)
CASES = {
    **{f"mean_{name}_s8": partial(mean, dtype="int8", **options) for name, options in {**SHAPES, **S8}.items()},
    **{f"mean_{name}_f32": partial(mean, dtype="float32", **SHAPES[name]) for name in FLOAT},
}
