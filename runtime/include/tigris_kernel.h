/*
 * What the executor and a kernel agree on.
 *
 * A kernel `<op>_<dtype>` is two functions in one file, src/kernels/<op>_<dtype>.c:
 *
 *     tigris_k_<name>_check  is called by the loader for every RUN record. It proves the parameters (dimensions, strides,
 *                            lengths of constants, zero divisors) and says which rows of which operand the record
 *                            reads and writes; the loader compares them with the operand's memory.
 *     tigris_k_<name>        is called by the executor, only with what the check has passed; it checks nothing again but
 *                            what data decides.
 *
 * Rows are counted over all images of a batch: row n*H + h.
 */
#ifndef TIGRIS_KERNEL_H
#define TIGRIS_KERNEL_H

#include "tigris.h"
#include "tigris_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TIGRIS_MAX_INPUTS 3u

/* An operand's memory during one call. */
typedef struct {
    uint8_t *data;      /* output: the first row to write. Input: row 0, or in a window the first row needed */
    uint32_t row_bytes; /* bytes from one row to the next */
    uint32_t step;      /* row_bytes, or 0 in a window: the address of the first row needed is data + first * step */
} tigris_rows_t;

/* One RUN record, addresses resolved. */
typedef struct tigris_call {
    const void *params;
    const uint8_t *constants;
    tigris_rows_t input[TIGRIS_MAX_INPUTS];
    tigris_rows_t output;
    void *accumulator;
    void *scratch;
    uint32_t row;      /* first output row; with TIGRIS_FLAG_PART first row of input 0 */
    uint32_t rows;     /* number of them, at least 1 */
    uint32_t channel;  /* first output channel */
    uint32_t channels; /* number of them; 0 = all */
    uint32_t flags;    /* TIGRIS_FLAG_PART, _FIRST, _LAST */
} tigris_call_t;

/* One RUN record as the loader sees it. */
typedef struct tigris_check {
    const void *params;
    const uint8_t *constants;
    uint32_t constants_bytes;
    uint32_t inputs;                             /* operands the operator names */
    uint32_t input_row_bytes[TIGRIS_MAX_INPUTS]; /* 0 where there is no operand */
    uint32_t input_rows[TIGRIS_MAX_INPUTS];
    uint32_t output_row_bytes;
    uint32_t output_rows;
    uint32_t row, rows, channel, channels, flags; /* as in the call */
} tigris_check_t;

/* Rows [first, first + count) of an operand; count 0 = none. */
typedef struct {
    uint32_t first;
    uint32_t count;
} tigris_extent_t;

/*
 * What a record reads and writes. Bit i of `in_place`: the kernel makes the call's `elements` in ascending order, one
 * from one of input i, which it reads before it writes; so the output may lie over elements that are read already.
 */
typedef struct tigris_extents {
    tigris_extent_t input[TIGRIS_MAX_INPUTS];
    tigris_extent_t output;
    uint32_t accumulator_bytes;
    uint32_t scratch_bytes;
    uint32_t in_place;
    uint32_t elements;
} tigris_extents_t;

/* Address of a constant; NULL for an absent one. */
static inline const void *tigris_constant(const uint8_t *constants, tigris_const_t reference)
{
    return reference == TIGRIS_ABSENT_CONST ? NULL : (const void *)(constants + (reference & TIGRIS_CONST_OFFSET_MASK));
}

/* Address of row `first` of input i, which is the first row that the call needs of it. */
static inline const uint8_t *tigris_input_rows(const tigris_call_t *call, uint32_t i, uint32_t first)
{
    return call->input[i].data + (size_t)first * call->input[i].step;
}

#ifdef __cplusplus
}
#endif

#endif
