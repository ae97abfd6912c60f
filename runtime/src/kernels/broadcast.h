/* Traversal of two operands that broadcast to one output: as few and as long runs of output elements as there are. */
#ifndef TIGRIS_KERNELS_BROADCAST_H
#define TIGRIS_KERNELS_BROADCAST_H

#include "check.h"

#define BROADCAST_RANK 6u

/* Level 0 is the run. Neighbouring axes through which both operands go on evenly are one level. */
typedef struct {
    uint32_t levels;
    uint32_t extent[BROADCAST_RANK], index[BROADCAST_RANK];
    uint32_t step_a[BROADCAST_RANK], step_b[BROADCAST_RANK]; /* elements; 0 = the operand stays */
    uint32_t a, b;                                           /* elements in front of the run */
} broadcast_t;

static inline bool repeats(uint32_t mask, uint32_t axis)
{
    return (mask >> axis & 1u) != 0u;
}

/* The rows of a call: dims[0] is replaced by `rows`. */
static inline broadcast_t broadcast_rows(const uint32_t dims[BROADCAST_RANK], uint32_t rows, uint32_t repeat_a,
                                         uint32_t repeat_b)
{
    broadcast_t walk = {1u, {1u}, {0u}, {1u}, {1u}, 0u, 0u};
    uint32_t elements_a = 1u, elements_b = 1u;

    for (uint32_t i = BROADCAST_RANK; i-- > 0u;) {
        const uint32_t extent = i == 0u ? rows : dims[i];
        const uint32_t step_a = repeats(repeat_a, i) ? 0u : elements_a;
        const uint32_t step_b = repeats(repeat_b, i) ? 0u : elements_b;
        const uint32_t top = walk.levels - 1u;

        if (extent == 1u) {
            continue;
        }
        if (walk.extent[top] == 1u) {
            walk.extent[top] = extent;
            walk.step_a[top] = step_a;
            walk.step_b[top] = step_b;
        } else if (step_a == walk.step_a[top] * walk.extent[top] && step_b == walk.step_b[top] * walk.extent[top]) {
            walk.extent[top] *= extent;
        } else {
            walk.extent[walk.levels] = extent;
            walk.step_a[walk.levels] = step_a;
            walk.step_b[walk.levels] = step_b;
            walk.levels++;
        }
        elements_a *= step_a == 0u ? 1u : extent;
        elements_b *= step_b == 0u ? 1u : extent;
    }
    return walk;
}

/* Goes to the next run; false behind the last. */
static inline bool broadcast_next(broadcast_t *walk)
{
    for (uint32_t i = 1; i < walk->levels; i++) {
        walk->a += walk->step_a[i];
        walk->b += walk->step_b[i];
        if (++walk->index[i] < walk->extent[i]) {
            return true;
        }
        walk->index[i] = 0u;
        walk->a -= walk->step_a[i] * walk->extent[i];
        walk->b -= walk->step_b[i] * walk->extent[i];
    }
    return false;
}

/* First row that a call needs of input i. */
static inline const uint8_t *broadcast_input(const tigris_call_t *call, uint32_t i, uint32_t repeat)
{
    return tigris_input_rows(call, i, repeats(repeat, 0u) ? 0u : call->row);
}

/* Proves one input's size; an input that does not go on with the rows may have rows of its own. */
static inline bool broadcast_operand(const tigris_check_t *check, uint32_t i, const uint32_t dims[BROADCAST_RANK],
                                     uint32_t repeat, uint32_t size, tigris_extents_t *extents)
{
    uint32_t bytes = size;

    for (uint32_t axis = 1; axis < BROADCAST_RANK; axis++) {
        bytes = product(bytes, repeats(repeat, axis) ? 1u : dims[axis]);
    }
    if (repeats(repeat, 0u)) {
        extents->input[i].count = check->input_rows[i];
        return bytes != 0u && product(check->input_rows[i], check->input_row_bytes[i]) == bytes;
    }
    extents->input[i] = extents->output;
    if (repeat == 0u) {
        extents->in_place |= 1u << i;
        extents->elements = check->rows * (check->output_row_bytes / size);
    }
    return bytes != 0u && check->input_rows[i] == dims[0] && check->input_row_bytes[i] == bytes;
}

static inline tigris_status_t broadcast_check(const tigris_check_t *check, const uint32_t dims[BROADCAST_RANK],
                                              uint32_t repeat_a, uint32_t repeat_b, uint32_t size,
                                              tigris_extents_t *extents)
{
    const tigris_status_t status = check_record(check, 2, ACCEPTS_ROWS, extents);
    uint32_t bytes = size;

    if (status != TIGRIS_OK) {
        return status;
    }
    for (uint32_t axis = 1; axis < BROADCAST_RANK; axis++) {
        bytes = product(bytes, dims[axis]);
    }
    return product(bytes, dims[0]) != 0u && check->output_rows == dims[0] && check->output_row_bytes == bytes &&
                   repeat_a >> BROADCAST_RANK == 0u && repeat_b >> BROADCAST_RANK == 0u &&
                   broadcast_operand(check, 0, dims, repeat_a, size, extents) &&
                   broadcast_operand(check, 1, dims, repeat_b, size, extents)
               ? TIGRIS_OK
               : TIGRIS_ERR_PARAMS;
}

#endif
