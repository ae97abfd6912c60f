/* PAD for any element size: an output row is all padding, or an input row with padding around and inside. */
#ifndef TIGRIS_KERNELS_PAD_H
#define TIGRIS_KERNELS_PAD_H

#include <string.h>

#include "check.h"

typedef struct {
    const uint16_t *in, *out, *before; /* [images, band axis, inner, innermost] */
    uint32_t size;                     /* bytes of an element */
    uint8_t value[4];                  /* its first `size` bytes are the padding element */
} pad_t;

static inline uint8_t *pad_fill(const pad_t *pad, uint8_t *output, uint32_t elements)
{
    if (pad->size == 1u) {
        memset(output, pad->value[0], elements);
        return output + elements;
    }
    for (uint32_t i = 0; i < elements; i++, output += pad->size) {
        memcpy(output, pad->value, pad->size);
    }
    return output;
}

/* How many of the input's rows lie in front of row `index` of the output's image `image`. */
static inline uint32_t pad_rows_before(const pad_t *pad, uint32_t image, uint32_t index)
{
    const uint32_t in_rows = pad->in[1];

    if (image < pad->before[0]) {
        return 0u;
    }
    if (image - pad->before[0] >= pad->in[0]) {
        return pad->in[0] * in_rows;
    }
    index = index < pad->before[1] ? 0u : index - pad->before[1];
    return (image - pad->before[0]) * in_rows + (index < in_rows ? index : in_rows);
}

/* Input rows that output rows need, from the first to the last. */
static inline tigris_extent_t pad_rows(const pad_t *pad, uint32_t row, uint32_t rows)
{
    const uint32_t last = row + rows - 1u, per_image = pad->out[1];
    const uint32_t first = pad_rows_before(pad, row / per_image, row % per_image);
    const tigris_extent_t extent = {first, pad_rows_before(pad, last / per_image, last % per_image + 1u) - first};

    return extent;
}

static inline void pad_row(const pad_t *pad, uint8_t *output, const uint8_t *input)
{
    const uint32_t run = pad->in[3], after = pad->out[3] - pad->before[3] - run;

    output = pad_fill(pad, output, (uint32_t)pad->before[2] * pad->out[3]);
    for (uint32_t i = 0; i < pad->in[2]; i++) {
        output = pad_fill(pad, output, pad->before[3]);
        memcpy(output, input, (size_t)run * pad->size);
        input += (size_t)run * pad->size;
        output = pad_fill(pad, output + (size_t)run * pad->size, after);
    }
    (void)pad_fill(pad, output, ((uint32_t)pad->out[2] - pad->before[2] - pad->in[2]) * pad->out[3]);
}

static inline tigris_status_t pad_run(const tigris_call_t *call, const pad_t *pad)
{
    const uint8_t *input = tigris_input_rows(call, 0, pad_rows(pad, call->row, call->rows).first);
    uint32_t image = call->row / pad->out[1], index = call->row % pad->out[1];
    uint8_t *output = call->output.data;

    for (uint32_t r = 0; r < call->rows; r++, output += call->output.row_bytes) {
        if (pad_rows_before(pad, image, index) == pad_rows_before(pad, image, index + 1u)) {
            (void)pad_fill(pad, output, (uint32_t)pad->out[2] * pad->out[3]);
        } else {
            pad_row(pad, output, input);
            input += call->input[0].row_bytes;
        }
        if (++index == pad->out[1]) {
            index = 0u;
            image++;
        }
    }
    return TIGRIS_OK;
}

static inline tigris_status_t pad_check(const tigris_check_t *check, const pad_t *pad, tigris_extents_t *extents)
{
    const tigris_status_t status = check_record(check, 1, ACCEPTS_ROWS, extents);
    const uint32_t in_row = product(product(pad->in[2], pad->in[3]), pad->size);
    const uint32_t out_row = product(product(pad->out[2], pad->out[3]), pad->size);

    if (status != TIGRIS_OK) {
        return status;
    }
    for (uint32_t axis = 0; axis < 4u; axis++) {
        if (pad->in[axis] == 0u || (uint32_t)pad->before[axis] + pad->in[axis] > pad->out[axis]) {
            return TIGRIS_ERR_PARAMS;
        }
    }
    if (in_row == 0u || out_row == 0u || check->input_row_bytes[0] != in_row || check->output_row_bytes != out_row ||
        check->input_rows[0] != product(pad->in[0], pad->in[1]) ||
        check->output_rows != product(pad->out[0], pad->out[1])) {
        return TIGRIS_ERR_PARAMS;
    }
    extents->input[0] = pad_rows(pad, check->row, check->rows);
    return TIGRIS_OK;
}

#endif
