/* Scalar products. Four at a time share the loads of the common vector; int8 sums wrap, float sums keep their order. */
#ifndef TIGRIS_KERNELS_DOT_H
#define TIGRIS_KERNELS_DOT_H

#include <stdint.h>

/* sum + sum of (x[i] + offset) * w[i]. */
static inline int32_t dot_s8(int32_t sum, const int8_t *x, const int8_t *w, uint32_t count, int32_t offset)
{
    uint32_t total = (uint32_t)sum;

    for (uint32_t i = 0; i < count; i++) {
        total += (uint32_t)((x[i] + offset) * w[i]);
    }
    return (int32_t)total;
}

/* The same for the four vectors at w, w + stride, w + 2 * stride, w + 3 * stride. */
static inline void dot4_s8(int32_t sums[4], const int8_t *x, const int8_t *w, uint32_t stride, uint32_t count,
                           int32_t offset)
{
    const int8_t *w1 = w + stride, *w2 = w1 + stride, *w3 = w2 + stride;
    uint32_t s0 = (uint32_t)sums[0], s1 = (uint32_t)sums[1], s2 = (uint32_t)sums[2], s3 = (uint32_t)sums[3];

    for (uint32_t i = 0; i < count; i++) {
        const int32_t value = x[i] + offset;
        s0 += (uint32_t)(value * w[i]);
        s1 += (uint32_t)(value * w1[i]);
        s2 += (uint32_t)(value * w2[i]);
        s3 += (uint32_t)(value * w3[i]);
    }
    sums[0] = (int32_t)s0;
    sums[1] = (int32_t)s1;
    sums[2] = (int32_t)s2;
    sums[3] = (int32_t)s3;
}

static inline float dot_f32(float sum, const float *x, const float *w, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        sum += x[i] * w[i];
    }
    return sum;
}

static inline void dot4_f32(float sums[4], const float *x, const float *w, uint32_t stride, uint32_t count)
{
    const float *w1 = w + stride, *w2 = w1 + stride, *w3 = w2 + stride;
    float s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3];

    for (uint32_t i = 0; i < count; i++) {
        const float value = x[i];
        s0 += value * w[i];
        s1 += value * w1[i];
        s2 += value * w2[i];
        s3 += value * w3[i];
    }
    sums[0] = s0;
    sums[1] = s1;
    sums[2] = s2;
    sums[3] = s3;
}

#endif
