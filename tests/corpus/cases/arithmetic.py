"""ADD and MUL."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from tests.corpus.layers import activation_input, binary, constant
from tests.corpus.writer import ModelWriter, Tensor

Shape = tuple[int, ...]
Ends = tuple[list[Tensor], list[Tensor]]


def two_inputs(
    m: ModelWriter,
    kind: str,
    a: Shape,
    b: Shape,
    dtype: str,
    a_zero_point: int = 3,
    b_zero_point: int = -20,
    a_scale: float = 0.05,
    b_scale: float = 0.03,
    **options: Any,
) -> Ends:
    x = activation_input(m, a, dtype, name="a", scale=a_scale, zero_point=a_zero_point)
    y = activation_input(m, b, dtype, name="b", scale=b_scale, zero_point=b_zero_point)
    return [x, y], [binary(m, x, y, kind, **options)]


def with_itself(m: ModelWriter, kind: str, shape: Shape, dtype: str) -> Ends:
    x = activation_input(m, shape, dtype)
    return [x], [binary(m, x, x, kind)]


def with_constant(
    m: ModelWriter, kind: str, shape: Shape, other: Shape, dtype: str, first: bool = False, **options: Any
) -> Ends:
    x = activation_input(m, shape, dtype)
    c = constant(m, other, dtype, scale=0.03, zero_point=11)
    return [x], [binary(m, c, x, kind, **options) if first else binary(m, x, c, kind, **options)]


INPUTS: dict[str, dict[str, Any]] = {
    "equal": {"a": (1, 5, 4, 3), "b": (1, 5, 4, 3)},
    "equal_batch2": {"a": (2, 3, 4, 3), "b": (2, 3, 4, 3)},
    "rank1": {"a": (17,), "b": (17,)},
    "rank2": {"a": (1, 24), "b": (1, 24)},
    "rank3": {"a": (2, 5, 3), "b": (2, 5, 3)},
    "rank5": {"a": (1, 2, 3, 2, 3), "b": (1, 2, 3, 2, 3)},
    "one_element": {"a": (1, 1, 1, 1), "b": (1, 1, 1, 1)},
    "channel_vector": {"a": (1, 5, 4, 3), "b": (1, 1, 1, 3)},
    "channel_vector_first": {"a": (1, 1, 1, 3), "b": (1, 5, 4, 3)},
    "channel_vector_rank1": {"a": (1, 5, 4, 3), "b": (3,)},
    "column_row": {"a": (1, 5, 1, 3), "b": (1, 1, 4, 3)},
    "spatial": {"a": (1, 5, 4, 3), "b": (1, 5, 4, 1)},
    "over_batch": {"a": (3, 4, 2, 2), "b": (1, 4, 2, 2)},
    "one_value": {"a": (1, 6, 3, 2), "b": (1,)},
    "relu": {"a": (1, 5, 4, 3), "b": (1, 5, 4, 3), "activation": "RELU"},
    "relu6_broadcast": {"a": (1, 5, 4, 3), "b": (1, 1, 1, 3), "activation": "RELU6"},
}
INPUTS_S8: dict[str, dict[str, Any]] = {
    "scales_apart": {"a": (1, 6, 3, 3), "b": (1, 6, 3, 3), "a_scale": 0.1, "b_scale": 0.0007},
    "scale_small": {"a": (1, 6, 3, 3), "b": (1, 6, 3, 3), "scale": 0.02},
}
LOW: dict[str, Any] = {"a": (1, 6, 3, 3), "b": (1, 6, 3, 3), "a_zero_point": -128, "b_zero_point": -128}
HIGH: dict[str, Any] = {"a": (1, 6, 3, 3), "b": (1, 6, 3, 3), "a_zero_point": 127, "b_zero_point": 127}
MIXED: dict[str, Any] = {"a": (1, 6, 3, 3), "b": (1, 6, 3, 3), "a_zero_point": -128, "b_zero_point": 127}
#: Output zero points so that the sign of the results has room.
EXTREMES: dict[str, dict[str, dict[str, Any]]] = {
    "ADD": {
        "zero_points_low": {**LOW, "zero_point": -128},
        "zero_points_high": {**HIGH, "zero_point": 127},
        "zero_points_mixed": MIXED,
    },
    "MUL": {
        "zero_points_low": {**LOW, "zero_point": -128, "scale": 0.2},
        "zero_points_high": {**HIGH, "zero_point": -128, "scale": 0.2},
        "zero_points_mixed": {**MIXED, "zero_point": 127, "scale": 0.2},
    },
}
CONSTANTS: dict[str, dict[str, Any]] = {
    "constant": {"shape": (1, 5, 4, 3), "other": (1, 5, 4, 3)},
    "constant_scalar": {"shape": (1, 5, 4, 3), "other": ()},
    "constant_channels": {"shape": (1, 5, 4, 3), "other": (3,)},
    "constant_channels_first": {"shape": (1, 5, 4, 3), "other": (3,), "first": True},
    "constant_rows": {"shape": (1, 5, 1, 3), "other": (1, 1, 4, 3), "activation": "RELU"},
    "constant_wider": {"shape": (1, 1, 1, 3), "other": (1, 6, 2, 3)},
}
#: Those that exist in float too.
FLOAT = (
    "equal",
    "rank2",
    "channel_vector",
    "channel_vector_first",
    "column_row",
    "over_batch",
    "one_value",
    "relu",
    "relu6_broadcast",
    "constant_scalar",
    "constant_channels",
    "constant_rows",
)
KINDS = ("ADD", "MUL")


def _builders(kind: str) -> dict[str, Callable[..., Ends]]:
    both = {name: partial(two_inputs, kind=kind, **o) for name, o in {**INPUTS, **INPUTS_S8, **EXTREMES[kind]}.items()}
    constants = {name: partial(with_constant, kind=kind, **o) for name, o in CONSTANTS.items()}
    return {**both, **constants, "itself": partial(with_itself, kind=kind, shape=(1, 5, 3, 2))}


CASES = {
    **{f"{kind.lower()}_{name}_s8": partial(b, dtype="int8") for kind in KINDS for name, b in _builders(kind).items()},
    **{
        f"{kind.lower()}_{name}_f32": partial(_builders(kind)[name], dtype="float32")
        for kind in KINDS
        for name in FLOAT
    },
}
