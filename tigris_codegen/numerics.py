"""Quantized arithmetic: what TensorFlow Lite Micro computes, as numbers and tables that the plan carries.

Everything here is integer arithmetic, or double and float32 arithmetic in the order that the reference kernels use, so
that results agree to the bit. Scales arrive as Python floats that hold float32 values exactly, as the model file does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

INT32_MIN, INT32_MAX = -(1 << 31), (1 << 31) - 1
INT8_MIN, INT8_MAX = -128, 127
UINT8_MAX = 255
FLOAT_MAX = float(np.finfo(np.float32).max)

#: Fixed-point formats of the exponential: integer bits of the argument.
SOFTMAX_INTEGER_BITS = 5
LOGISTIC_INTEGER_BITS = 4
ADD_LEFT_SHIFT = 20


class Activation(Enum):
    """Functions fused behind an operator. OTHER stands for those that no rule lets pass."""

    NONE = "none"
    RELU = "relu"
    RELU6 = "relu6"
    OTHER = "other"


@dataclass(frozen=True)
class Multiplier:
    """A real factor as value * 2^(shift - 31)."""

    value: int
    shift: int


def round_half_away(value: float) -> int:
    """The nearest integer, halves away from zero, as C's round()."""
    whole = math.floor(abs(value))
    whole += abs(value) - whole >= 0.5
    return whole if value >= 0 else -whole


def wrap_int32(value: int) -> int:
    """The value modulo 2^32, as a signed 32-bit number."""
    return ((value + (1 << 31)) & 0xFFFFFFFF) - (1 << 31)


def quantize_multiplier(real: float) -> Multiplier:
    """A real factor as 31-bit mantissa and shift, as TFLite Micro prepares every requantization.

    The mantissa is rounded half away from zero; one that rounds up to 2^31 is halved. Factors below about 2^-32 are 0.
    """
    if real == 0.0:
        return Multiplier(0, 0)
    fraction, shift = math.frexp(real)
    value = round_half_away(fraction * (1 << 31))
    if value == 1 << 31:
        value //= 2
        shift += 1
    if shift < -31:
        return Multiplier(0, 0)
    return Multiplier(value, shift)


def rounding_doubling_high_multiply(a: int, b: int) -> int:
    """(a * b * 2) / 2^32 rounded to nearest, halves away from zero; saturates where both are -2^31 (gemmlowp)."""
    if a == b == INT32_MIN:
        return INT32_MAX
    product = a * b
    nudged = product + ((1 << 30) if product >= 0 else 1 - (1 << 30))
    return nudged >> 31 if nudged >= 0 else -(-nudged >> 31)


def rounding_divide_by_power_of_two(value: int, exponent: int) -> int:
    """value / 2^exponent rounded to nearest, halves away from zero (gemmlowp)."""
    mask = (1 << exponent) - 1
    return (value >> exponent) + ((value & mask) > (mask >> 1) + (value < 0))


def multiply_by_quantized_multiplier(value: int, factor: Multiplier) -> int:
    """value * factor for a 32-bit value, rounded twice: as TFLite Micro built without single rounding."""
    shifted = wrap_int32(value << max(factor.shift, 0))
    return rounding_divide_by_power_of_two(
        rounding_doubling_high_multiply(shifted, factor.value), max(-factor.shift, 0)
    )


def multiply_smaller_than_one(value: int, factor: Multiplier) -> int:
    """value * factor with a factor whose shift is 0 or less, as TFLite Micro's int8 addition scales its operands."""
    return rounding_divide_by_power_of_two(rounding_doubling_high_multiply(value, factor.value), -factor.shift)


def multiply_greater_than_one(value: int, factor: Multiplier) -> int:
    """value * factor with a factor whose shift is 0 or more, as TFLite Micro's int8 softmax scales differences."""
    return rounding_doubling_high_multiply(wrap_int32(value << factor.shift), factor.value)


def multiply_array(values: NDArray[Any], multipliers: NDArray[Any], shifts: NDArray[Any]) -> NDArray[np.int32]:
    """`multiply_by_quantized_multiplier` element by element, operands broadcast."""
    left, right = np.maximum(shifts, 0).astype(np.int64), np.maximum(-shifts, 0).astype(np.int64)
    shifted = (values.astype(np.int64) << left).astype(np.int32).astype(np.int64)
    product = shifted * multipliers.astype(np.int64)
    nudged = product + np.where(product >= 0, 1 << 30, 1 - (1 << 30))
    high = np.where(nudged >= 0, nudged >> 31, -(-nudged >> 31))
    high = np.where((shifted == INT32_MIN) & (multipliers == INT32_MIN), INT32_MAX, high)
    mask = (np.int64(1) << right) - 1
    result = (high >> right) + ((high & mask) > (mask >> 1) + (high < 0))
    return np.asarray(result, dtype=np.int32)


def float_activation_range(activation: Activation) -> tuple[float, float]:
    """Smallest and largest float output: as TFLite Micro's float kernels, which clamp to finite values."""
    low = -FLOAT_MAX if activation is Activation.NONE else 0.0
    return low, 6.0 if activation is Activation.RELU6 else FLOAT_MAX


def quantize_value(value: float, scale: float, zero_point: int) -> int:
    """One real value as a quantized number: a float32 division, rounded half away from zero."""
    quotient = value / scale
    if abs(quotient) >= INT32_MAX:  # beyond every quantized type
        return INT32_MAX if quotient > 0 else INT32_MIN
    return zero_point + round_half_away(float(np.float32(value) / np.float32(scale)))


def int8_activation_range(activation: Activation, scale: float, zero_point: int) -> tuple[int, int]:
    """Smallest and largest int8 output, as TFLite Micro prepares fused activations."""
    low, high = INT8_MIN, INT8_MAX
    if activation is not Activation.NONE:
        low = max(low, quantize_value(0.0, scale, zero_point))
    if activation is Activation.RELU6:
        high = min(high, quantize_value(6.0, scale, zero_point))
    return low, high


def convolution_multipliers(
    input_scale: float, weight_scales: Iterable[float], output_scale: float
) -> list[Multiplier]:
    """One factor per channel, in double: as TFLite Micro's convolutions and per-channel FULLY_CONNECTED."""
    return [quantize_multiplier(input_scale * scale / output_scale) for scale in weight_scales]


def matrix_multiplier(input_scale: float, weight_scale: float, output_scale: float) -> Multiplier:
    """The factor of a per-tensor FULLY_CONNECTED: the product of scales in float32, the quotient in double."""
    product = np.float32(input_scale) * np.float32(weight_scale)
    return quantize_multiplier(float(product) / output_scale)


def bias_scale_fits(input_scale: float, weight_scale: float, bias_scale: float, output_scale: float) -> bool:
    """Whether TFLite Micro accepts the bias scale of a per-tensor FULLY_CONNECTED."""
    return abs(input_scale * weight_scale - bias_scale) / output_scale <= 0.02


@dataclass(frozen=True)
class AddMultipliers:
    """Factors of int8 ADD: both inputs are shifted left, scaled to a common scale, added, and scaled to the output."""

    a: Multiplier
    b: Multiplier
    output: Multiplier


def add_real_output_factor(scale_a: float, scale_b: float, output_scale: float) -> float:
    """The real factor of an int8 sum; TFLite Micro's reference addition takes only factors below 1."""
    return 2.0 * max(scale_a, scale_b) / ((1 << ADD_LEFT_SHIFT) * output_scale)


def add_multipliers(scale_a: float, scale_b: float, output_scale: float) -> AddMultipliers:
    """As TFLite Micro's reference int8 addition: the common scale is twice the larger input scale."""
    common = 2.0 * max(scale_a, scale_b)
    return AddMultipliers(
        quantize_multiplier(scale_a / common),
        quantize_multiplier(scale_b / common),
        quantize_multiplier(add_real_output_factor(scale_a, scale_b, output_scale)),
    )


def mul_multiplier(scale_a: float, scale_b: float, output_scale: float) -> Multiplier:
    """As TFLite Micro's int8 multiplication: scale products and quotients in double."""
    return quantize_multiplier(scale_a * scale_b / output_scale)


def mean_multiplier(input_scale: float, output_scale: float, count: int) -> Multiplier:
    """The factor of a sum of `count` values, the division folded in: as TFLite Micro's quantized MEAN.

    The mantissa is scaled up by the largest power of two not above `count` before the truncating division.
    """
    factor = quantize_multiplier(input_scale / output_scale)
    shift = min(count.bit_length() - 1, 32, 31 + factor.shift)
    return Multiplier((factor.value << shift) // count, factor.shift - shift)


def _input_radius(integer_bits: int, left_shift: int) -> int:
    """The largest magnitude that stays representable after the left shift, in a Q`integer_bits`.x number."""
    return math.floor(((1 << integer_bits) - 1) * (1 << (31 - integer_bits)) / (1 << left_shift))


# Constants of gemmlowp's fixed-point exponential: exp(-1/8), 1/3, and exp(-2^k) for k from -2 to 4, in Q0.31.
_EXP_MINUS_EIGHTH = 1895147668
_ONE_THIRD = 715827883
_EXP_POWERS = ((-2, 1672461947), (-1, 1302514674), (0, 790015084), (1, 290630308), (2, 39332535), (3, 720401), (4, 242))


def exp_on_negative_values(value: int, integer_bits: int) -> int:
    """exp of a fixed-point number of 0 or less with `integer_bits` integer bits, in Q0.31 (gemmlowp).

    The argument is split into a part in [-1/4, 0), whose exponential is a Taylor polynomial around -1/8, and multiples
    of 1/4, whose exponentials are multiplied bit by bit.
    """
    if value == 0:
        return INT32_MAX
    multiply = rounding_doubling_high_multiply
    fraction_bits = 31 - integer_bits
    quarter = 1 << (fraction_bits - 2)
    part = (value & (quarter - 1)) - quarter
    x = (part << integer_bits) + (1 << 28)
    x2 = multiply(x, x)
    x3 = multiply(x2, x)
    x4 = multiply(x2, x2)
    cubic = multiply(rounding_divide_by_power_of_two(x4, 2) + x3, _ONE_THIRD) + x2
    result = _EXP_MINUS_EIGHTH + multiply(_EXP_MINUS_EIGHTH, x + rounding_divide_by_power_of_two(cubic, 1))
    remainder = part - value
    for exponent, factor in _EXP_POWERS:
        if integer_bits > exponent and remainder & (1 << (fraction_bits + exponent)):
            result = multiply(result, factor)
    return result


def softmax_real_factor(input_scale: float, beta: float) -> float:
    """The real factor of an input difference in Q5.26, limited as TFLite Micro's; it must be above 1."""
    return min(beta * input_scale * (1 << (31 - SOFTMAX_INTEGER_BITS)), (1 << 31) - 1.0)


def softmax_table(input_scale: float, beta: float) -> NDArray[np.int32]:
    """exp(-d * input_scale * beta) in Q0.31 for d from 0 to 255, 0 where TFLite Micro's int8 softmax cuts off."""
    factor = quantize_multiplier(softmax_real_factor(input_scale, beta))
    radius = _input_radius(SOFTMAX_INTEGER_BITS, factor.shift)
    table = [
        exp_on_negative_values(multiply_greater_than_one(-d, factor), SOFTMAX_INTEGER_BITS) if d <= radius else 0
        for d in range(256)
    ]
    return np.array(table, np.int32)


def _one_over_one_plus(value: int) -> int:
    """1 / (1 + x) for x in [0, 1] in Q0.31, by three Newton steps from 48/17 - 32/17 * d (gemmlowp)."""
    multiply = rounding_doubling_high_multiply
    half_denominator = (value + INT32_MAX + 1) >> 1
    x = 1515870810 + multiply(half_denominator, -1010580540)
    for _ in range(3):
        error = (1 << 29) - multiply(half_denominator, x)
        x += _saturating_shift_left(multiply(x, error), 2)
    return _saturating_shift_left(x, 1)


def _saturating_shift_left(value: int, bits: int) -> int:
    return min(max(value << bits, INT32_MIN), INT32_MAX)


def logistic_fixed_point(value: int) -> int:
    """1 / (1 + exp(-x)) of a Q4.27 number in Q0.31 (gemmlowp)."""
    if value == 0:
        return 1 << 30
    positive = _one_over_one_plus(exp_on_negative_values(-abs(value), LOGISTIC_INTEGER_BITS))
    return positive if value > 0 else INT32_MAX - positive


def logistic_real_factor(input_scale: float) -> float:
    """The real factor of an input of int8 LOGISTIC in Q4.27; it must be at least 1/2."""
    return input_scale * (1 << (31 - LOGISTIC_INTEGER_BITS))


def _table_int8(outputs: Iterable[int]) -> NDArray[np.uint8]:
    """A table indexed by the input byte read as unsigned, from the outputs for -128 to 127."""
    return np.roll(np.array(list(outputs), np.int8).view(np.uint8), 128)


def logistic_table(input_scale: float, input_zero_point: int) -> NDArray[np.uint8]:
    """int8 LOGISTIC with output scale 1/256 and zero point -128, as TFLite Micro's reference integer kernel."""
    fraction, shift = math.frexp(logistic_real_factor(input_scale))
    factor = Multiplier(round_half_away(fraction * (1 << 31)), shift)
    radius = _input_radius(LOGISTIC_INTEGER_BITS, shift)

    def output(value: int) -> int:
        centered = value - input_zero_point
        if abs(centered) >= radius:
            return INT8_MAX if centered > 0 else INT8_MIN
        result = logistic_fixed_point(multiply_by_quantized_multiplier(centered, factor))
        return min(max(rounding_divide_by_power_of_two(result, 23) - 128, INT8_MIN), INT8_MAX)

    return _table_int8(output(value) for value in range(INT8_MIN, INT8_MAX + 1))


def relu_table(
    input_scale: float, input_zero_point: int, output_scale: float, output_zero_point: int
) -> NDArray[np.uint8]:
    """int8 RELU with requantization, as TFLite Micro: the quotient of the scales is a float32."""
    factor = quantize_multiplier(float(np.float32(input_scale) / np.float32(output_scale)))
    low = max(INT8_MIN, output_zero_point)
    return _table_int8(
        min(max(multiply_by_quantized_multiplier(v - input_zero_point, factor) + output_zero_point, low), INT8_MAX)
        for v in range(INT8_MIN, INT8_MAX + 1)
    )


def relu6_table(input_scale: float, input_zero_point: int) -> NDArray[np.uint8]:
    """int8 RELU6, as TFLite Micro: a clamp in the quantization of the input, which the output shares."""
    six = min(max(quantize_value(6.0, input_scale, input_zero_point), INT8_MIN), INT8_MAX)
    return _table_int8(six if v > six else max(v, input_zero_point) for v in range(INT8_MIN, INT8_MAX + 1))


def requantize_table(
    input_scale: float,
    input_zero_point: int,
    input_signed: bool,
    output_scale: float,
    output_zero_point: int,
    output_signed: bool,
) -> NDArray[np.uint8]:
    """QUANTIZE between 8-bit types, as TFLite Micro: indexed by the input byte read as unsigned."""
    factor = quantize_multiplier(input_scale / output_scale)
    low, high = (INT8_MIN, INT8_MAX) if output_signed else (0, UINT8_MAX)
    outputs = []
    for byte in range(256):
        value = byte - 256 if input_signed and byte > INT8_MAX else byte
        result = multiply_by_quantized_multiplier(value - input_zero_point, factor) + output_zero_point
        outputs.append(min(max(result, low), high) & 0xFF)
    return np.array(outputs, np.uint8)
