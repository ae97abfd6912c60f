/*
 * What the means share. The input is [k0, r0, k1, r1, k2]; r0 and r1 are reduced. Each output element sums over r0,
 * then r1, the order in which TFLite meets them. A part takes in input elements in memory order; it needs k0 = 1.
 */
#ifndef TIGRIS_KERNELS_MEAN_H
#define TIGRIS_KERNELS_MEAN_H

#include "reduction.h"

/* Input rows that output elements [first, stop) need: those of whole indices of k0. */
static inline tigris_extent_t mean_rows(const uint32_t dims[5], uint32_t first, uint32_t stop, uint32_t in_row)
{
    const uint32_t kept = dims[2] * dims[4];
    const uint32_t group = dims[1] * dims[2] * dims[3] * dims[4];
    tigris_extent_t extent;

    extent.first = first / kept * group / in_row;
    extent.count = divide_up(divide_up(stop, kept) * group, in_row) - extent.first;
    return extent;
}

static inline void mean_of_rows(const tigris_call_t *call, const uint32_t dims[5], const reduction_t *reduction)
{
    const uint32_t size = reduction->size;
    const uint32_t in_row = call->input[0].row_bytes / size, out_row = call->output.row_bytes / size;
    const uint32_t terms = dims[1] * dims[3];
    const size_t step1 = (size_t)dims[4] * size, step0 = step1 * dims[3] * dims[2];
    uint32_t element = call->row * out_row;
    const uint32_t stop = element + call->rows * out_row;
    const uint32_t first_row = mean_rows(dims, element, stop, in_row).first;
    const uint8_t *input = tigris_input_rows(call, 0, first_row);
    uint8_t *output = call->output.data;

    while (element < stop) {
        const uint32_t inner = element % dims[4], middle = element / dims[4] % dims[2];
        const uint32_t outer = element / dims[4] / dims[2];
        const uint32_t count = smaller(smaller(dims[4] - inner, stop - element), REDUCTION_BLOCK);
        const uint32_t start = (outer * dims[1] * dims[2] + middle) * dims[3] * dims[4] + inner;
        const uint8_t *data = input + (size_t)(start - first_row * in_row) * size;
        accumulators_t accumulators;

        reduction->clear(&accumulators, count);
        for (uint32_t i = 0; i < dims[1]; i++) {
            for (uint32_t j = 0; j < dims[3]; j++) {
                reduction->fold(&accumulators, data + i * step0 + j * step1, count);
            }
        }
        reduction->finish(call->params, &accumulators, terms, output, count);
        output += count * size;
        element += count;
    }
}

static inline void mean_of_part(const tigris_call_t *call, const uint32_t dims[5], const reduction_t *reduction)
{
    const uint32_t size = reduction->size;
    const uint32_t in_row = call->input[0].row_bytes / size, outputs = dims[2] * dims[4];
    const uint8_t *input = tigris_input_rows(call, 0, call->row);
    uint8_t *accumulators = call->accumulator;
    const uint32_t element = call->row * in_row;
    uint32_t left = call->rows * in_row;
    uint32_t inner = element % dims[4], reduced = element / dims[4] % dims[3];
    uint32_t middle = element / dims[4] / dims[3] % dims[2];

    if ((call->flags & TIGRIS_FLAG_FIRST) != 0u) {
        reduction->clear(accumulators, outputs);
    }
    while (left != 0u) {
        const uint32_t count = smaller(dims[4] - inner, left);
        reduction->fold(accumulators + (size_t)(middle * dims[4] + inner) * ACCUMULATOR_BYTES, input, count);
        input += (size_t)count * size;
        left -= count;
        inner = 0u;
        if (++reduced == dims[3]) {
            reduced = 0u;
            middle = middle + 1u == dims[2] ? 0u : middle + 1u;
        }
    }
    if ((call->flags & TIGRIS_FLAG_LAST) != 0u) {
        reduction->finish(call->params, accumulators, dims[1] * dims[3], call->output.data, outputs);
    }
}

static inline tigris_status_t mean_run(const tigris_call_t *call, const uint32_t dims[5], const reduction_t *reduction)
{
    if ((call->flags & TIGRIS_FLAG_PART) != 0u) {
        mean_of_part(call, dims, reduction);
    } else {
        mean_of_rows(call, dims, reduction);
    }
    return TIGRIS_OK;
}

static inline tigris_status_t mean_check(const tigris_check_t *check, const uint32_t dims[5], uint32_t size,
                                         tigris_extents_t *extents)
{
    const uint32_t outputs = product(product(dims[0], dims[2]), dims[4]);
    const uint32_t inputs = product(product(outputs, dims[1]), dims[3]);
    const tigris_status_t status = check_record(check, 1, ACCEPTS_PARTS, extents);

    if (status != TIGRIS_OK) {
        return status;
    }
    if (!rows_hold(check->input_rows[0], check->input_row_bytes[0], inputs, size) ||
        !rows_hold(check->output_rows, check->output_row_bytes, outputs, size)) {
        return TIGRIS_ERR_PARAMS;
    }
    if (is_part(check)) {
        extents->accumulator_bytes = product(outputs, ACCUMULATOR_BYTES);
        return dims[0] == 1u && extents->accumulator_bytes != 0u ? TIGRIS_OK : TIGRIS_ERR_PARAMS;
    }
    extents->input[0] = mean_rows(dims, check->row * (check->output_row_bytes / size),
                                  (check->row + check->rows) * (check->output_row_bytes / size),
                                  check->input_row_bytes[0] / size);
    return TIGRIS_OK;
}

#endif
