/* CONCATENATION for any element size: one input's blocks are copied to their place in the output's rows. */
#ifndef TIGRIS_KERNELS_CONCATENATION_H
#define TIGRIS_KERNELS_CONCATENATION_H

#include <string.h>

#include "check.h"

/* The input row that goes to output row `row`, which receives one. */
static inline uint32_t concatenation_input_row(const tigris_concatenation_params_t *p, uint32_t row)
{
    return row / p->out_rows * p->in_rows + row % p->out_rows - p->first_row;
}

static inline tigris_status_t concatenation_run(const tigris_call_t *call)
{
    const tigris_concatenation_params_t *p = call->params;
    const uint8_t *input = tigris_input_rows(call, 0, concatenation_input_row(p, call->row));

    /* The check lets several images pass only where all rows receive data: then input rows follow one another, too. */
    for (uint32_t r = 0; r < call->rows; r++) {
        uint8_t *output = call->output.data + (size_t)r * call->output.row_bytes + p->offset;
        for (uint32_t i = 0; i < p->blocks; i++, input += p->in_block, output += p->out_block) {
            memcpy(output, input, p->in_block);
        }
    }
    return TIGRIS_OK;
}

static inline tigris_status_t concatenation_check(const tigris_check_t *check, uint32_t size,
                                                  tigris_extents_t *extents)
{
    const tigris_concatenation_params_t *p = check->params;
    const tigris_status_t status = check_record(check, 1, ACCEPTS_ROWS, extents);
    const uint32_t in_row = product(p->blocks, p->in_block), out_row = product(p->blocks, p->out_block);
    uint32_t last;

    if (status != TIGRIS_OK) {
        return status;
    }
    if (p->in_rows == 0u || p->in_rows > p->out_rows || p->first_row > p->out_rows - p->in_rows ||
        p->in_block == 0u || p->in_block > p->out_block || p->offset > p->out_block - p->in_block ||
        p->in_block % size != 0u || p->out_block % size != 0u || p->offset % size != 0u || in_row == 0u ||
        out_row == 0u || check->input_row_bytes[0] != in_row || check->output_row_bytes != out_row ||
        check->output_rows % p->out_rows != 0u ||
        check->input_rows[0] != product(check->output_rows / p->out_rows, p->in_rows)) {
        return TIGRIS_ERR_PARAMS;
    }
    last = check->row + check->rows - 1u;
    if (check->row % p->out_rows < p->first_row || last % p->out_rows - p->first_row >= p->in_rows ||
        (check->row / p->out_rows != last / p->out_rows && p->in_rows != p->out_rows)) {
        return TIGRIS_ERR_BOUNDS;
    }
    extents->input[0].first = concatenation_input_row(p, check->row);
    extents->input[0].count = check->rows;
    return TIGRIS_OK;
}

#endif
