"""RESHAPE, PAD and CONCATENATION: operators that move values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from tests.corpus import layers
from tests.corpus.layers import Pair, activation_input, constant
from tests.corpus.writer import ModelWriter, Tensor

Shape = tuple[int, ...]
Ends = tuple[list[Tensor], list[Tensor]]


def reshape(m: ModelWriter, shape: Shape, target: Shape, dtype: str, written: Shape | None = None) -> Ends:
    x = activation_input(m, shape, dtype)
    return [x], [layers.reshape(m, x, target, written=written)]


def pad(m: ModelWriter, shape: Shape, amounts: Sequence[Pair], dtype: str, zero_point: int = 3) -> Ends:
    x = activation_input(m, shape, dtype, zero_point=zero_point)
    return [x], [layers.pad(m, x, amounts)]


def concatenation(m: ModelWriter, shapes: Sequence[Shape], axis: int, dtype: str) -> Ends:
    inputs = [activation_input(m, shape, dtype) for shape in shapes]
    return inputs, [layers.concatenation(m, inputs, axis)]


def twice(m: ModelWriter, shape: Shape, axis: int, dtype: str) -> Ends:
    x = activation_input(m, shape, dtype)
    return [x], [layers.concatenation(m, [x, x], axis)]


def with_constant(m: ModelWriter, shape: Shape, other: Shape, axis: int, dtype: str) -> Ends:
    x = activation_input(m, shape, dtype)
    return [x], [layers.concatenation(m, [constant(m, other, dtype), x], axis)]


RESHAPES: dict[str, dict[str, Any]] = {
    "flatten": {"shape": (1, 4, 3, 2), "target": (1, 24)},
    "inferred": {"shape": (2, 3, 4), "target": (2, 12), "written": (2, -1)},
    "to_image": {"shape": (1, 30), "target": (1, 5, 3, 2)},
    "same": {"shape": (1, 7), "target": (1, 7)},
}
PADS: dict[str, dict[str, Any]] = {
    "height": {"shape": (1, 4, 3, 2), "amounts": ((0, 0), (1, 2), (0, 0), (0, 0))},
    "width": {"shape": (1, 4, 3, 2), "amounts": ((0, 0), (0, 0), (2, 1), (0, 0))},
    "channels": {"shape": (1, 4, 3, 2), "amounts": ((0, 0), (0, 0), (0, 0), (1, 3))},
    "batch": {"shape": (1, 4, 3, 2), "amounts": ((1, 1), (0, 0), (0, 0), (0, 0))},
    "all_axes": {"shape": (2, 3, 2, 3), "amounts": ((0, 1), (2, 0), (1, 1), (0, 2))},
    "image": {"shape": (1, 6, 5, 3), "amounts": ((0, 0), (1, 1), (1, 1), (0, 0))},
    "batch2_image": {"shape": (2, 4, 3, 2), "amounts": ((0, 0), (1, 1), (0, 2), (0, 0))},
    "nothing": {"shape": (1, 4, 3, 2), "amounts": ((0, 0), (0, 0), (0, 0), (0, 0))},
    "signal": {"shape": (1, 1, 9, 2), "amounts": ((0, 0), (0, 0), (2, 2), (0, 0))},
    "signal_to_image": {"shape": (1, 1, 6, 2), "amounts": ((0, 0), (1, 1), (1, 0), (0, 0))},
    "rank1": {"shape": (6,), "amounts": ((2, 3),)},
    "rank2": {"shape": (1, 8), "amounts": ((0, 0), (3, 1))},
    "rank3": {"shape": (1, 5, 4), "amounts": ((0, 0), (1, 0), (0, 2))},
    "one_element": {"shape": (1, 1, 1, 1), "amounts": ((0, 0), (1, 1), (1, 1), (1, 1))},
}
PADS_S8: dict[str, dict[str, Any]] = {
    "zero_point_low": {"shape": (1, 4, 3, 2), "amounts": ((0, 0), (1, 1), (1, 1), (0, 0)), "zero_point": -128},
    "zero_point_high": {"shape": (1, 4, 3, 2), "amounts": ((0, 0), (2, 1), (0, 1), (0, 0)), "zero_point": 127},
}
CONCATENATIONS: dict[str, dict[str, Any]] = {
    "channels": {"shapes": ((1, 4, 3, 2), (1, 4, 3, 3)), "axis": 3},
    "channels_of3": {"shapes": ((1, 4, 3, 1), (1, 4, 3, 4), (1, 4, 3, 2)), "axis": -1},
    "width": {"shapes": ((1, 4, 2, 2), (1, 4, 5, 2)), "axis": 2},
    "height": {"shapes": ((1, 2, 3, 2), (1, 5, 3, 2)), "axis": 1},
    "height_of4": {"shapes": ((1, 2, 3, 2), (1, 1, 3, 2), (1, 4, 3, 2), (1, 3, 3, 2)), "axis": 1},
    "batch": {"shapes": ((1, 4, 3, 2), (2, 4, 3, 2)), "axis": 0},
    "batch2_height": {"shapes": ((2, 2, 3, 2), (2, 3, 3, 2)), "axis": 1},
    "batch2_channels": {"shapes": ((2, 3, 2, 2), (2, 3, 2, 1)), "axis": -1},
    "vector": {"shapes": ((1, 6), (1, 3), (1, 1)), "axis": 1},
    "rank1": {"shapes": ((5,), (4,)), "axis": 0},
    "rank3_middle": {"shapes": ((1, 3, 4), (1, 2, 4)), "axis": -2},
    "images_from_rows": {"shapes": ((1, 1, 4, 2), (1, 1, 4, 2), (1, 1, 4, 2)), "axis": 1},
    "one_element": {"shapes": ((1, 1), (1, 1)), "axis": 0},
}
CASES_OF_ONE_TYPE: dict[str, Callable[..., Ends]] = {
    **{f"reshape_{name}": partial(reshape, **options) for name, options in RESHAPES.items()},
    **{f"pad_{name}": partial(pad, **options) for name, options in PADS.items()},
    **{f"concatenation_{name}": partial(concatenation, **options) for name, options in CONCATENATIONS.items()},
    "concatenation_twice_height": partial(twice, shape=(1, 4, 3, 2), axis=1),
    "concatenation_twice_channels": partial(twice, shape=(1, 4, 3, 2), axis=3),
    "concatenation_constant": partial(with_constant, shape=(1, 4, 3, 2), other=(1, 4, 3, 1), axis=3),
}
#: Those that exist in float too.
FLOAT = (
    "reshape_flatten",
    "reshape_inferred",
    "pad_height",
    "pad_channels",
    "pad_batch",
    "pad_all_axes",
    "pad_signal",
    "pad_rank3",
    "concatenation_channels_of3",
    "concatenation_width",
    "concatenation_height_of4",
    "concatenation_batch",
    "concatenation_batch2_height",
    "concatenation_vector",
    "concatenation_twice_height",
    "concatenation_constant",
)
CASES = {
    **{f"{name}_s8": partial(b, dtype="int8") for name, b in CASES_OF_ONE_TYPE.items()},
    **{f"pad_{name}_s8": partial(pad, dtype="int8", **options) for name, options in PADS_S8.items()},
    **{f"{name}_f32": partial(CASES_OF_ONE_TYPE[name], dtype="float32") for name in FLOAT},
}
