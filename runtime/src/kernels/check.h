/*
 * What the kernels' checks share. A check trusts nothing: it proves a plan's parameters with arithmetic that cannot
 * overflow before it hands out the rows that a record touches.
 */
#ifndef TIGRIS_KERNELS_CHECK_H
#define TIGRIS_KERNELS_CHECK_H

#include <stdbool.h>

#include "tigris_kernel.h"

/* Forms of a record that a kernel accepts besides plain rows. */
#define ACCEPTS_ROWS 0u
#define ACCEPTS_PARTS 1u
#define ACCEPTS_CHANNELS 2u

/* a * b; 0 where it does not fit. A length of 0 is never valid, so that a chain of products is compared only once. */
static inline uint32_t product(uint32_t a, uint32_t b)
{
    const uint64_t exact = (uint64_t)a * b;
    return exact > UINT32_MAX ? 0u : (uint32_t)exact;
}

static inline uint32_t divide_up(uint32_t a, uint32_t b)
{
    return a / b + (a % b != 0u);
}

static inline bool is_part(const tigris_check_t *check)
{
    return (check->flags & TIGRIS_FLAG_PART) != 0u;
}

/* Proves the form of the record and its rows, and fills the extents but for the inputs of whole rows. */
static inline tigris_status_t check_record(const tigris_check_t *check, uint32_t inputs, uint32_t accepts,
                                           tigris_extents_t *extents)
{
    const bool part = is_part(check);
    const uint32_t known = part ? TIGRIS_FLAG_PART | TIGRIS_FLAG_FIRST | TIGRIS_FLAG_LAST : 0u;
    const uint32_t limit = part ? check->input_rows[0] : check->output_rows;

    if (check->inputs != inputs || (check->flags & ~known) != 0u || (part && accepts != ACCEPTS_PARTS)) {
        return TIGRIS_ERR_PARAMS;
    }
    if (accepts != ACCEPTS_CHANNELS && (check->channel != 0u || check->channels != 0u)) {
        return TIGRIS_ERR_PARAMS;
    }
    if (check->rows == 0u || check->row >= limit || check->rows > limit - check->row) {
        return TIGRIS_ERR_BOUNDS;
    }
    for (uint32_t i = 0; i < TIGRIS_MAX_INPUTS; i++) {
        extents->input[i].first = 0u;
        extents->input[i].count = 0u;
    }
    extents->output.first = part ? 0u : check->row;
    extents->output.count = part ? check->output_rows : check->rows;
    extents->accumulator_bytes = 0u;
    extents->scratch_bytes = 0u;
    if (part) {
        extents->input[0].first = check->row;
        extents->input[0].count = check->rows;
    }
    return TIGRIS_OK;
}

/* The rows of an operand hold exactly `elements` elements of `size` bytes, none of them across two rows. */
static inline bool rows_hold(uint32_t rows, uint32_t row_bytes, uint32_t elements, uint32_t size)
{
    const uint32_t bytes = product(elements, size);
    return bytes != 0u && product(rows, row_bytes) == bytes && row_bytes % size == 0u;
}

/* A constant in TFLite's own order: `elements` elements of `size` bytes, aligned to their size. */
static inline bool holds_constant(const tigris_check_t *check, tigris_const_t reference, uint32_t elements,
                                  uint32_t size)
{
    const uint32_t bytes = product(elements, size);
    const uint32_t offset = reference & TIGRIS_CONST_OFFSET_MASK;

    return reference >> TIGRIS_CONST_OFFSET_BITS == 0u && bytes != 0u && offset % size == 0u &&
           offset <= check->constants_bytes && bytes <= check->constants_bytes - offset;
}

static inline bool holds_optional_constant(const tigris_check_t *check, tigris_const_t reference, uint32_t elements,
                                           uint32_t size)
{
    return reference == TIGRIS_ABSENT_CONST || holds_constant(check, reference, elements, size);
}

/* A multiplier and shift that `scale_s32` takes. */
static inline bool is_scaling(int32_t multiplier, int32_t shift)
{
    return multiplier >= 0 && shift >= -31 && shift <= 30;
}

/* A table of `count` multipliers, then as many shifts. */
static inline bool holds_scalings(const tigris_check_t *check, tigris_const_t reference, uint32_t count)
{
    const int32_t *table;

    if (!holds_constant(check, reference, product(count, 2u), 4u)) {
        return false;
    }
    table = tigris_constant(check->constants, reference);
    for (uint32_t i = 0; i < count; i++) {
        if (!is_scaling(table[i], table[count + i])) {
            return false;
        }
    }
    return true;
}

#endif
