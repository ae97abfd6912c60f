/*
 * Reductions of many elements to one: pools and means. A kernel says how a vector of accumulators is cleared, takes
 * another vector of input elements in, and becomes output elements; what is walked in which order is shared.
 * Accumulators are 32 bits, integer or float.
 */
#ifndef TIGRIS_KERNELS_REDUCTION_H
#define TIGRIS_KERNELS_REDUCTION_H

#include "check.h"

#define ACCUMULATOR_BYTES 4u

/* Accumulators of a block of neighbouring output elements. */
#define REDUCTION_BLOCK 32u
typedef union {
    int32_t s32[REDUCTION_BLOCK];
    float f32[REDUCTION_BLOCK];
} accumulators_t;

typedef struct {
    uint32_t size; /* bytes of an element */
    void (*clear)(void *accumulators, uint32_t count);
    void (*fold)(void *accumulators, const uint8_t *input, uint32_t count);
    /* `terms` is how many input elements each accumulator has taken in. */
    void (*finish)(const void *params, const void *accumulators, uint32_t terms, uint8_t *output, uint32_t count);
} reduction_t;

static inline uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static inline void clear_s32(void *accumulators, uint32_t count)
{
    int32_t *sums = accumulators;
    for (uint32_t i = 0; i < count; i++) {
        sums[i] = 0;
    }
}

static inline void add_s8(void *accumulators, const uint8_t *input, uint32_t count)
{
    int32_t *sums = accumulators;
    const int8_t *x = (const int8_t *)input;
    for (uint32_t i = 0; i < count; i++) {
        sums[i] = (int32_t)((uint32_t)sums[i] + (uint32_t)x[i]);
    }
}

static inline void clear_f32(void *accumulators, uint32_t count)
{
    float *sums = accumulators;
    for (uint32_t i = 0; i < count; i++) {
        sums[i] = 0.0f;
    }
}

static inline void add_f32(void *accumulators, const uint8_t *input, uint32_t count)
{
    float *sums = accumulators;
    const float *x = (const float *)(const void *)input;
    for (uint32_t i = 0; i < count; i++) {
        sums[i] += x[i];
    }
}

#endif
