"""QUANTIZE and DEQUANTIZE."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.corpus import layers
from tests.corpus.layers import activation_input
from tests.corpus.writer import ModelWriter, Tensor

ALL_BYTES = (1, 16, 16, 2)


def quantize(
    m: ModelWriter,
    shape: tuple[int, ...],
    source: str,
    target: str,
    input_scale: float = 0.05,
    input_zero_point: int = 3,
    **options: Any,
) -> tuple[list[Tensor], list[Tensor]]:
    x = activation_input(m, shape, source, scale=input_scale, zero_point=input_zero_point)
    return [x], [layers.quantize(m, x, target, **options)]


def dequantize(
    m: ModelWriter, shape: tuple[int, ...], scale: float = 0.05, zero_point: int = 3
) -> tuple[list[Tensor], list[Tensor]]:
    x = activation_input(m, shape, "int8", scale=scale, zero_point=zero_point)
    return [x], [layers.dequantize(m, x)]


#: A scale of 0.5 puts the inputs, multiples of 0.25, on the ties of rounding.
FROM_FLOAT: dict[str, dict[str, Any]] = {
    "image": {"shape": (1, 5, 4, 3)},
    "vector": {"shape": (1, 23), "scale": 0.0117, "zero_point": 40},
    "ties": {"shape": (1, 8, 8, 2), "scale": 0.5, "zero_point": 0},
    "ties_zero_point_low": {"shape": (1, 8, 8, 2), "scale": 0.5, "zero_point": -128},
    "zero_point_high": {"shape": (2, 40), "zero_point": 127},
    "one_element": {"shape": (1,)},
}
REQUANTIZE: dict[str, dict[str, Any]] = {
    "same": {"shape": ALL_BYTES, "scale": 0.05, "zero_point": 3},
    "shifted": {"shape": ALL_BYTES, "scale": 0.05, "zero_point": -90},
    "narrower": {"shape": ALL_BYTES, "scale": 0.0211, "zero_point": 12},
    "wider": {"shape": ALL_BYTES, "scale": 0.13, "zero_point": -100},
    "zero_points_apart": {"shape": ALL_BYTES, "input_zero_point": -60, "zero_point": 127},
    "image": {"shape": (1, 5, 4, 3)},
}
FROM_U8: dict[str, dict[str, Any]] = {
    "boundary": {"shape": ALL_BYTES, "input_zero_point": 128, "scale": 0.05, "zero_point": 0},
    "image_0_to_255": {
        "shape": ALL_BYTES,
        "input_scale": 1 / 255,
        "input_zero_point": 0,
        "scale": 1 / 255,
        "zero_point": -128,
    },
    "rescaled": {"shape": ALL_BYTES, "input_zero_point": 255, "scale": 0.07, "zero_point": 11},
    "batch2": {"shape": (2, 5), "input_zero_point": 120},
}
TO_U8: dict[str, dict[str, Any]] = {
    "boundary": {"shape": ALL_BYTES, "input_zero_point": 0, "scale": 0.05, "zero_point": 128},
    "probabilities": {
        "shape": (1, 10),
        "input_scale": 1 / 256,
        "input_zero_point": -128,
        "scale": 1 / 256,
        "zero_point": 0,
    },
    "rescaled": {"shape": ALL_BYTES, "input_zero_point": -20, "scale": 0.031, "zero_point": 200},
}
DEQUANTIZE: dict[str, dict[str, Any]] = {
    "all_bytes": {"shape": ALL_BYTES},
    "image": {"shape": (1, 5, 4, 3), "scale": 0.0031},
    "zero_point_low": {"shape": (1, 40), "zero_point": -128, "scale": 1 / 256},
    "zero_point_high": {"shape": (3, 7), "zero_point": 127, "scale": 12.5},
    "one_element": {"shape": (1, 1)},
}
CASES = {
    **{
        f"quantize_f32_s8_{name}": partial(quantize, source="float32", target="int8", **options)
        for name, options in FROM_FLOAT.items()
    },
    **{
        f"quantize_s8_s8_{name}": partial(quantize, source="int8", target="int8", **options)
        for name, options in REQUANTIZE.items()
    },
    **{
        f"quantize_u8_s8_{name}": partial(quantize, source="uint8", target="int8", **options)
        for name, options in FROM_U8.items()
    },
    **{
        f"quantize_s8_u8_{name}": partial(quantize, source="int8", target="uint8", **options)
        for name, options in TO_U8.items()
    },
    **{f"dequantize_s8_f32_{name}": partial(dequantize, **options) for name, options in DEQUANTIZE.items()},
}
