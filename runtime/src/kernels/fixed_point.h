/*
 * TFLite's integer scaling, bit for bit: x * multiplier * 2^(shift - 31), rounded twice. Sums wrap where a model
 * overflows them, as they do on every target.
 */
#ifndef TIGRIS_KERNELS_FIXED_POINT_H
#define TIGRIS_KERNELS_FIXED_POINT_H

#include <stdint.h>

static inline int32_t wrapping_add(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

static inline int32_t wrapping_shift_left(int32_t x, int32_t bits)
{
    return (int32_t)((uint32_t)x << bits);
}

/* a * b / 2^31, half rounded up. Not both factors are INT32_MIN: the checks let only multipliers >= 0 pass. */
static inline int32_t multiply_q31(int32_t a, int32_t b)
{
    return (int32_t)(((int64_t)a * b + (1 << 30)) >> 31);
}

/* x / 2^bits for 0 <= bits <= 31, half rounded away from zero. */
static inline int32_t rounding_shift_right(int32_t x, int32_t bits)
{
    const int32_t mask = (int32_t)((1u << bits) - 1u);
    const int32_t half = (mask >> 1) + (x < 0);
    return (x >> bits) + ((x & mask) > half);
}

/* x * multiplier * 2^(shift - 31) for multiplier >= 0 and -31 <= shift <= 30. */
static inline int32_t scale_s32(int32_t x, int32_t multiplier, int32_t shift)
{
    const int32_t left = shift > 0 ? shift : 0;
    const int32_t right = shift > 0 ? 0 : -shift;
    return rounding_shift_right(multiply_q31(wrapping_shift_left(x, left), multiplier), right);
}

static inline int8_t clamp_s8(int32_t x, int32_t low, int32_t high)
{
    return (int8_t)(x < low ? low : x > high ? high : x);
}

/* 1 / (1 + x) in Q0.31, for x in [0, 1) in Q0.31: three Newton-Raphson steps in Q2.29 on the halved denominator. */
static inline int32_t reciprocal_of_one_plus(int32_t x)
{
    const int32_t half_denominator = (int32_t)(((int64_t)x + INT32_MAX + 1) / 2);
    const int32_t one = 1 << 29;
    const int32_t start = 1515870810;  /* 48 / 17 */
    const int32_t slope = -1010580540; /* -32 / 17 */
    int32_t estimate = start + multiply_q31(half_denominator, slope);

    for (int step = 0; step < 3; step++) {
        const int32_t error = one - multiply_q31(half_denominator, estimate);
        estimate += wrapping_shift_left(multiply_q31(estimate, error), 2);
    }
    return estimate > (INT32_MAX >> 1) ? INT32_MAX : wrapping_shift_left(estimate, 1);
}

#endif
