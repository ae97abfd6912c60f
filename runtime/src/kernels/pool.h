/* What the pools share. A part takes in rows of the input; it needs one output row and one image. */
#ifndef TIGRIS_KERNELS_POOL_H
#define TIGRIS_KERNELS_POOL_H

#include "reduction.h"
#include "window.h"

typedef struct {
    axis_t vertical, horizontal;
    uint32_t channels;
} pool_t;

#define POOL_OF(p) {VERTICAL_AXIS(p, 1u), HORIZONTAL_AXIS(p, 1u), (p)->channels}

/* Takes `rows` input rows under one window's columns into the accumulators of `count` channels. */
static inline void pool_fold(const reduction_t *reduction, void *accumulators, const uint8_t *data, uint32_t rows,
                             uint32_t row_bytes, uint32_t columns, uint32_t column_bytes, uint32_t count)
{
    for (uint32_t i = 0; i < rows; i++, data += row_bytes) {
        for (uint32_t j = 0; j < columns; j++) {
            reduction->fold(accumulators, data + j * column_bytes, count);
        }
    }
}

static inline void pool_rows(const tigris_call_t *call, const pool_t *pool, const reduction_t *reduction)
{
    const uint32_t column_bytes = pool->channels * reduction->size;
    row_walk_t walk = walk_rows(call, &pool->vertical);

    for (uint32_t r = 0; r < call->rows; r++) {
        uint8_t *output = call->output.data + (size_t)r * call->output.row_bytes;
        walk_next(&walk);
        for (uint32_t x = 0; x < pool->horizontal.out; x++) {
            const taps_t columns = window_taps(&pool->horizontal, x);
            const uint8_t *data = walk.data + columns.index * column_bytes;
            uint32_t count;

            for (uint32_t first = 0; first < pool->channels; first += count) {
                accumulators_t accumulators;
                count = smaller(pool->channels - first, REDUCTION_BLOCK);
                reduction->clear(&accumulators, count);
                pool_fold(reduction, &accumulators, data + first * reduction->size, walk.taps.count,
                          call->input[0].row_bytes, columns.count, column_bytes, count);
                reduction->finish(call->params, &accumulators, walk.taps.count * columns.count, output, count);
                output += count * reduction->size;
            }
        }
    }
}

static inline void pool_part(const tigris_call_t *call, const pool_t *pool, const reduction_t *reduction)
{
    const uint32_t column_bytes = pool->channels * reduction->size, row_bytes = call->input[0].row_bytes;
    const uint8_t *input = tigris_input_rows(call, 0, call->row);
    const taps_t window = window_taps(&pool->vertical, 0);
    const uint32_t window_end = window.index + window.count;
    const uint32_t stop = smaller(call->row + call->rows, window_end);
    const uint32_t start = call->row > window.index ? call->row : smaller(window.index, stop);
    const uint32_t rows = start < stop ? stop - start : 0u;
    uint8_t *accumulators = call->accumulator;
    uint8_t *output = call->output.data;

    for (uint32_t x = 0; x < pool->horizontal.out; x++) {
        const taps_t columns = window_taps(&pool->horizontal, x);
        if ((call->flags & TIGRIS_FLAG_FIRST) != 0u) {
            reduction->clear(accumulators, pool->channels);
        }
        if (rows != 0u) {
            pool_fold(reduction, accumulators,
                      input + (size_t)(start - call->row) * row_bytes + columns.index * column_bytes, rows, row_bytes,
                      columns.count, column_bytes, pool->channels);
        }
        if ((call->flags & TIGRIS_FLAG_LAST) != 0u) {
            reduction->finish(call->params, accumulators, window.count * columns.count, output, pool->channels);
        }
        accumulators += (size_t)pool->channels * ACCUMULATOR_BYTES;
        output += column_bytes;
    }
}

static inline tigris_status_t pool_run(const tigris_call_t *call, const pool_t *pool, const reduction_t *reduction)
{
    if ((call->flags & TIGRIS_FLAG_PART) != 0u) {
        pool_part(call, pool, reduction);
    } else {
        pool_rows(call, pool, reduction);
    }
    return TIGRIS_OK;
}

static inline tigris_status_t pool_check(const tigris_check_t *check, const pool_t *pool, uint32_t size,
                                         tigris_extents_t *extents)
{
    const tigris_status_t status = check_record(check, 1, ACCEPTS_PARTS, extents);

    if (status != TIGRIS_OK) {
        return status;
    }
    if (!check_window(check, &pool->vertical, &pool->horizontal, pool->channels, pool->channels, size, extents)) {
        return TIGRIS_ERR_PARAMS;
    }
    if (is_part(check)) {
        extents->accumulator_bytes = product(product(pool->horizontal.out, pool->channels), ACCUMULATOR_BYTES);
        if (check->output_rows != 1u || extents->accumulator_bytes == 0u) {
            return TIGRIS_ERR_PARAMS;
        }
    }
    return TIGRIS_OK;
}

#endif
