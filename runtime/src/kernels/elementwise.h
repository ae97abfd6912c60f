/* What the functions of single elements share: row to row, whatever the element sizes. */
#ifndef TIGRIS_KERNELS_ELEMENTWISE_H
#define TIGRIS_KERNELS_ELEMENTWISE_H

#include "check.h"

/* Elements of a call whose output elements have `size` bytes. */
static inline uint32_t call_elements(const tigris_call_t *call, uint32_t size)
{
    return call->rows * (call->output.row_bytes / size);
}

static inline tigris_status_t elementwise_check(const tigris_check_t *check, uint32_t elements, uint32_t in_size,
                                                uint32_t out_size, tigris_extents_t *extents)
{
    const tigris_status_t status = check_record(check, 1, ACCEPTS_ROWS, extents);

    if (status != TIGRIS_OK) {
        return status;
    }
    if (check->input_rows[0] != check->output_rows ||
        !rows_hold(check->input_rows[0], check->input_row_bytes[0], elements, in_size) ||
        !rows_hold(check->output_rows, check->output_row_bytes, elements, out_size)) {
        return TIGRIS_ERR_PARAMS;
    }
    extents->input[0] = extents->output;
    extents->in_place = 1u;
    extents->elements = check->rows * (check->output_row_bytes / out_size);
    return TIGRIS_OK;
}

#endif
