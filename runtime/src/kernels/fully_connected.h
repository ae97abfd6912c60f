/*
 * What the matrix products share. The output is read as positions of out_features elements, and a band may start and
 * end inside one. A part takes in elements of a single position's input vector.
 */
#ifndef TIGRIS_KERNELS_FULLY_CONNECTED_H
#define TIGRIS_KERNELS_FULLY_CONNECTED_H

#include "check.h"

/* Input rows that output elements [first, stop) need: those of whole positions. */
static inline tigris_extent_t position_rows(uint32_t in_features, uint32_t out_features, uint32_t first, uint32_t stop,
                                            uint32_t in_row)
{
    tigris_extent_t extent;

    extent.first = first / out_features * in_features / in_row;
    extent.count = divide_up(divide_up(stop, out_features) * in_features, in_row) - extent.first;
    return extent;
}

/* Walks the positions of a call: `count` features of each from `feature` on, and its input vector. */
typedef struct {
    uint32_t in_features, out_features, size;
    uint32_t element, stop;
    uint32_t first_element; /* input element at `input` */
    const uint8_t *input;
    uint32_t feature, count;
    const void *vector;
} position_walk_t;

static inline position_walk_t walk_positions(const tigris_call_t *call, uint32_t in_features, uint32_t out_features,
                                             uint32_t size)
{
    const uint32_t in_row = call->input[0].row_bytes / size, out_row = call->output.row_bytes / size;
    position_walk_t walk;
    uint32_t first_row;

    walk.in_features = in_features;
    walk.out_features = out_features;
    walk.size = size;
    walk.element = call->row * out_row;
    walk.stop = walk.element + call->rows * out_row;
    first_row = position_rows(in_features, out_features, walk.element, walk.stop, in_row).first;
    walk.first_element = first_row * in_row;
    walk.input = tigris_input_rows(call, 0, first_row);
    walk.feature = walk.count = 0u;
    walk.vector = walk.input;
    return walk;
}

static inline bool walk_position(position_walk_t *walk)
{
    if (walk->element < walk->stop) {
        const uint32_t position = walk->element / walk->out_features, left = walk->stop - walk->element;
        walk->feature = walk->element % walk->out_features;
        walk->count = walk->out_features - walk->feature;
        walk->count = walk->count < left ? walk->count : left;
        walk->vector = walk->input + (size_t)(position * walk->in_features - walk->first_element) * walk->size;
        walk->element += walk->count;
        return true;
    }
    return false;
}

static inline tigris_status_t fully_connected_check(const tigris_check_t *check, uint32_t positions,
                                                    uint32_t in_features, uint32_t out_features, uint32_t size,
                                                    tigris_extents_t *extents)
{
    const tigris_status_t status = check_record(check, 1, ACCEPTS_PARTS, extents);

    if (status != TIGRIS_OK) {
        return status;
    }
    if (!rows_hold(check->input_rows[0], check->input_row_bytes[0], product(positions, in_features), size) ||
        !rows_hold(check->output_rows, check->output_row_bytes, product(positions, out_features), size)) {
        return TIGRIS_ERR_PARAMS;
    }
    if (is_part(check)) {
        extents->accumulator_bytes = product(out_features, 4u);
        return positions == 1u && extents->accumulator_bytes != 0u ? TIGRIS_OK : TIGRIS_ERR_PARAMS;
    }
    extents->input[0] = position_rows(in_features, out_features, check->row * (check->output_row_bytes / size),
                                      (check->row + check->rows) * (check->output_row_bytes / size),
                                      check->input_row_bytes[0] / size);
    return TIGRIS_OK;
}

#endif
