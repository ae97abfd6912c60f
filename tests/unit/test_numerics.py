"""Quantized arithmetic against independent formulations and against TensorFlow Lite Micro itself."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.corpus import oracle
from tests.corpus.writer import ModelWriter, OptionValue, Quantization
from tigris_codegen import numerics
from tigris_codegen.numerics import Activation, Multiplier

INT32 = st.integers(-(1 << 31), (1 << 31) - 1)
MULTIPLIERS = st.builds(Multiplier, st.integers(1 << 30, (1 << 31) - 1), st.integers(-31, 8))
#: float32 numbers in the range of quantization scales.
SCALES = st.floats(2.0**-20, 2.0**10, width=32)
EVERY_INT8 = np.arange(-128, 128, dtype=np.int8)


def nearest(value: Fraction) -> int:
    """Rounded to nearest, halves away from zero."""
    return math.floor(value + Fraction(1, 2)) if value >= 0 else math.ceil(value - Fraction(1, 2))


def one_operator(
    kind: str,
    values: NDArray[Any],
    source: Quantization | None,
    result: Quantization | None,
    dtypes: tuple[str, str] = ("int8", "int8"),
    shape: tuple[int, ...] | None = None,
    table: str | None = None,
    options: dict[str, OptionValue] | None = None,
) -> NDArray[Any]:
    """What the interpreter computes for one operator with one input."""
    m = ModelWriter(kind)
    x = m.tensor("x", values.shape, dtypes[0], source)
    y = m.tensor("y", shape or values.shape, dtypes[1], result)
    m.operator(kind, [x], [y], table, options)
    return oracle.run(m.finish([x], [y]), [values], 1)[0]


def by_byte(table: NDArray[np.uint8], values: NDArray[Any]) -> NDArray[np.uint8]:
    return table[values.view(np.uint8)]


@given(st.floats(2.0**-40, 2.0**30))
def test_multiplier_is_the_nearest_31_bit_mantissa(real: float) -> None:
    factor = numerics.quantize_multiplier(real)
    exact = Fraction(real)
    if factor.value == 0:
        assert exact < Fraction(1, 1 << 31)
        return
    assert 1 << 30 <= factor.value < 1 << 31
    assert abs(Fraction(factor.value) * Fraction(2) ** (factor.shift - 31) - exact) <= exact / (1 << 31)


@pytest.mark.parametrize(
    ("real", "factor"),
    [
        (0.0, Multiplier(0, 0)),
        (1.0, Multiplier(1 << 30, 1)),
        (0.5, Multiplier(1 << 30, 0)),
        (1.0 - 2.0**-40, Multiplier(1 << 30, 1)),  # rounds up to 2^31, which is halved
        (2.0**-32, Multiplier(1 << 30, -31)),
        (2.0**-33, Multiplier(0, 0)),
    ],
)
def test_multiplier_at_the_edges(real: float, factor: Multiplier) -> None:
    assert numerics.quantize_multiplier(real) == factor


@given(INT32, INT32)
def test_high_multiply_rounds_to_nearest(a: int, b: int) -> None:
    exact = nearest(Fraction(a * b, 1 << 31))
    result = numerics.rounding_doubling_high_multiply(a, b)
    if a * b >= 0:
        assert result == min(exact, (1 << 31) - 1)
    else:  # halves of negative products go up: the truncating division of the nudged product
        assert result == -math.floor(Fraction(-a * b - 1 + (1 << 30), 1 << 31))


@given(INT32, st.integers(0, 31))
def test_divide_by_power_of_two_rounds_to_nearest(value: int, exponent: int) -> None:
    assert numerics.rounding_divide_by_power_of_two(value, exponent) == nearest(Fraction(value, 1 << exponent))


@given(st.lists(st.tuples(INT32, MULTIPLIERS), min_size=1, max_size=20))
def test_array_form_is_the_scalar_form(items: list[tuple[int, Multiplier]]) -> None:
    values, factors = zip(*items, strict=True)
    result = numerics.multiply_array(
        np.array(values), np.array([f.value for f in factors]), np.array([f.shift for f in factors])
    )
    assert result.tolist() == [numerics.multiply_by_quantized_multiplier(v, f) for v, f in items]


@given(st.integers(-(1 << 20), 1 << 20), MULTIPLIERS)
def test_multiplication_is_within_one_of_the_real_product(value: int, factor: Multiplier) -> None:
    real = Fraction(value * factor.value) * Fraction(2) ** (factor.shift - 31)
    assert abs(numerics.multiply_by_quantized_multiplier(value, factor) - real) <= 1


@given(st.integers(-(1 << 20), 1 << 20), MULTIPLIERS)
def test_one_sided_forms_are_the_general_form(value: int, factor: Multiplier) -> None:
    one_sided = numerics.multiply_smaller_than_one if factor.shift <= 0 else numerics.multiply_greater_than_one
    assert one_sided(value, factor) == numerics.multiply_by_quantized_multiplier(value, factor)


@given(st.integers(-(1 << 31), 0), st.sampled_from([numerics.SOFTMAX_INTEGER_BITS, numerics.LOGISTIC_INTEGER_BITS]))
def test_exponential_is_close_to_the_real_one(value: int, integer_bits: int) -> None:
    real = math.exp(value / (1 << (31 - integer_bits)))
    assert abs(numerics.exp_on_negative_values(value, integer_bits) / (1 << 31) - real) < 1e-6


@given(INT32)
def test_logistic_is_close_to_the_real_one(value: int) -> None:
    real = 1 / (1 + math.exp(-value / (1 << 27)))
    assert abs(numerics.logistic_fixed_point(value) / (1 << 31) - real) < 1e-6


@given(SCALES, st.integers(-128, 127), st.sampled_from([Activation.RELU, Activation.RELU6]))
def test_activation_range_holds_what_the_activation_lets_pass(scale: float, zero: int, activation: Activation) -> None:
    low, high = numerics.int8_activation_range(activation, scale, zero)
    assert -128 <= low <= high <= 127
    assert low == zero
    if activation is Activation.RELU:
        assert high == 127
    elif high < 127:
        assert abs((high - zero) * scale - 6) <= scale * (0.5 + 1e-6)


def test_activation_range_without_activation_is_the_type() -> None:
    assert numerics.int8_activation_range(Activation.NONE, 0.1, 5) == (-128, 127)
    assert numerics.float_activation_range(Activation.NONE) == (-numerics.FLOAT_MAX, numerics.FLOAT_MAX)
    assert numerics.float_activation_range(Activation.RELU6) == (0.0, 6.0)


PAIRS = [
    (Quantization((0.05,), (3,)), Quantization((0.031,), (-128,))),
    (Quantization((0.5,), (-100,)), Quantization((0.1,), (17,))),
    (Quantization((0.00392,), (-128,)), Quantization((0.00392,), (-128,))),
    (Quantization((0.0078,), (127,)), Quantization((2.0,), (0,))),
]


@pytest.mark.parametrize(("source", "result"), PAIRS)
def test_relu_table_is_the_interpreter(source: Quantization, result: Quantization) -> None:
    table = numerics.relu_table(source.scale, source.zero_point, result.scale, result.zero_point)
    wanted = one_operator("RELU", EVERY_INT8, source, result)
    assert by_byte(table, EVERY_INT8).tobytes() == wanted.tobytes()


@pytest.mark.parametrize(("source", "result"), PAIRS)
def test_relu6_table_is_the_interpreter(source: Quantization, result: Quantization) -> None:
    table = numerics.relu6_table(source.scale, source.zero_point)
    assert by_byte(table, EVERY_INT8).tobytes() == one_operator("RELU6", EVERY_INT8, source, result).tobytes()


@pytest.mark.parametrize("scale", [0.001, 0.0117, 0.05, 0.13, 0.9, 7.5])
@pytest.mark.parametrize("zero_point", [-128, -3, 40, 127])
def test_logistic_table_is_the_interpreter(scale: float, zero_point: int) -> None:
    source = Quantization((scale,), (zero_point,))
    table = numerics.logistic_table(source.scale, zero_point)
    wanted = one_operator("LOGISTIC", EVERY_INT8, source, Quantization((1 / 256,), (-128,)))
    assert by_byte(table, EVERY_INT8).tobytes() == wanted.tobytes()


@pytest.mark.parametrize(("source", "result"), PAIRS)
@pytest.mark.parametrize("dtypes", [("int8", "int8"), ("uint8", "int8"), ("int8", "uint8")])
def test_requantize_table_is_the_interpreter(
    source: Quantization, result: Quantization, dtypes: tuple[str, str]
) -> None:
    signed = [d == "int8" for d in dtypes]
    a, b = (
        Quantization(q.scales, (q.zero_point + (0 if of_int8 else 128),))
        for q, of_int8 in zip((source, result), signed, strict=True)
    )
    values = np.arange(256).astype(np.uint8).view(dtypes[0])
    table = numerics.requantize_table(a.scale, a.zero_point, signed[0], b.scale, b.zero_point, signed[1])
    wanted = one_operator("QUANTIZE", values, a, b, dtypes, table="QuantizeOptions")
    assert by_byte(table, values).tobytes() == wanted.tobytes()


def softmax(values: NDArray[np.int8], table: NDArray[np.int32]) -> NDArray[np.int8]:
    """int8 softmax of one vector from the table: the sum in Q12.19, its reciprocal by Newton's method."""
    terms = [int(table[int(values.max()) - int(v)]) for v in values]
    total = sum(numerics.rounding_divide_by_power_of_two(t, 12) for t in terms)
    headroom = 32 - total.bit_length()
    unit = (total << headroom) - (1 << 31)
    reciprocal = numerics._one_over_one_plus(unit)
    exponent = 12 - headroom + 31 - 8
    outputs = [
        numerics.rounding_divide_by_power_of_two(numerics.rounding_doubling_high_multiply(reciprocal, t), exponent)
        for t in terms
    ]
    return np.array([min(o - 128, 127) for o in outputs], np.int8)


@pytest.mark.parametrize("scale", [0.0005, 0.01, 0.0731, 0.5, 3.0])
@pytest.mark.parametrize("beta", [1.0, 0.25, 3.0])
def test_softmax_table_is_the_interpreter(scale: float, beta: float) -> None:
    source = Quantization((scale,), (9,))
    options: dict[str, OptionValue] = {"Beta": beta}
    table = numerics.softmax_table(source.scale, beta)
    random = np.random.default_rng(5)
    for depth in (1, 2, 10, 256):
        values = random.permutation(EVERY_INT8)[:depth].reshape(1, depth)
        wanted = one_operator(
            "SOFTMAX", values, source, Quantization((1 / 256,), (-128,)), table="SoftmaxOptions", options=options
        )
        assert softmax(values[0], table).tobytes() == wanted.tobytes()


@pytest.mark.parametrize("count", [1, 2, 3, 7, 49, 64, 1000])
@pytest.mark.parametrize(("source", "result"), PAIRS)
def test_mean_multiplier_is_the_interpreter(count: int, source: Quantization, result: Quantization) -> None:
    values = np.random.default_rng(count).integers(-128, 128, (1, count, 6)).astype(np.int8)
    m = ModelWriter("mean")
    x, y = m.tensor("x", values.shape, "int8", source), m.tensor("y", (1, 6), "int8", result)
    axes = m.tensor("axes", (1,), "int32", None, np.array([1], np.int32))
    m.operator("MEAN", [x, axes], [y], "ReducerOptions", {"KeepDims": False})
    factor = numerics.mean_multiplier(source.scale, result.scale, count)
    sums = values.astype(np.int64).sum(axis=1) - source.zero_point * count
    scaled = [numerics.multiply_by_quantized_multiplier(int(s), factor) + result.zero_point for s in sums[0]]
    mine = np.clip(scaled, -128, 127).astype(np.int8)
    assert mine.tobytes() == oracle.run(m.finish([x], [y]), [values], 1)[0].tobytes()


BINARY = [
    ((0.05, 3), (0.02, -7), (0.06, 10)),
    ((0.5, -128), (0.001, 127), (0.7, -128)),
    ((0.1, 0), (0.1, 0), (0.2, 0)),
]


def binary(kind: str, quantization: tuple[tuple[float, int], ...]) -> tuple[list[Quantization], NDArray[Any]]:
    """All pairs of a coarse grid through the interpreter."""
    qs = [Quantization((s,), (z,)) for s, z in quantization]
    m = ModelWriter(kind)
    tensors = [m.tensor(n, (256, 16), "int8", q) for n, q in zip("aby", qs, strict=True)]
    m.operator(kind, tensors[:2], tensors[2:], f"{kind.capitalize()}Options", {"FusedActivationFunction": 0})
    inputs = [np.repeat(EVERY_INT8[:, None], 16, 1), np.repeat(EVERY_INT8[None, ::16], 256, 0)]
    return qs, oracle.run(m.finish(tensors[:2], tensors[2:]), inputs, 1)[0]


@pytest.mark.parametrize("quantization", BINARY)
def test_add_multipliers_are_the_interpreter(quantization: tuple[tuple[float, int], ...]) -> None:
    (a, b, y), wanted = binary("ADD", quantization)
    factors = numerics.add_multipliers(a.scale, b.scale, y.scale)

    def scaled(value: int, q: Quantization, factor: Multiplier) -> int:
        return numerics.multiply_smaller_than_one((value - q.zero_point) << numerics.ADD_LEFT_SHIFT, factor)

    for i, row in zip(EVERY_INT8, wanted, strict=True):
        for j, result in zip(EVERY_INT8[::16], row, strict=True):
            total = scaled(int(i), a, factors.a) + scaled(int(j), b, factors.b)
            value = numerics.multiply_smaller_than_one(total, factors.output) + y.zero_point
            assert min(max(value, -128), 127) == result


@pytest.mark.parametrize("quantization", BINARY)
def test_mul_multiplier_is_the_interpreter(quantization: tuple[tuple[float, int], ...]) -> None:
    (a, b, y), wanted = binary("MUL", quantization)
    factor = numerics.mul_multiplier(a.scale, b.scale, y.scale)
    products = np.outer(EVERY_INT8.astype(int) - a.zero_point, EVERY_INT8[::16].astype(int) - b.zero_point)
    result = numerics.multiply_array(products, np.array(factor.value), np.array(factor.shift)) + y.zero_point
    assert np.clip(result, -128, 127).astype(np.int8).tobytes() == wanted.tobytes()


def test_matrix_multiplier_multiplies_scales_in_float32() -> None:
    a, b, y = (float(np.float32(v)) for v in (0.1234567, 0.0056789, 0.0987654))
    assert numerics.matrix_multiplier(a, b, y) == numerics.quantize_multiplier(float(np.float32(a) * np.float32(b)) / y)
    assert numerics.matrix_multiplier(a, b, y) != numerics.convolution_multipliers(a, [b], y)[0]


def test_bias_scale_limit() -> None:
    assert numerics.bias_scale_fits(0.5, 0.1, 0.05 + 0.019, 1.0)
    assert not numerics.bias_scale_fits(0.5, 0.1, 0.05 + 0.021, 1.0)
