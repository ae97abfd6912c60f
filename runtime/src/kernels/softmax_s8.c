/*
 * SOFTMAX, int8: exponentials in Q0.31 come from the table, their sum is Q12.19, and its reciprocal scales each to 8
 * bits. A table entry of 0, where TFLite cuts off, adds nothing and gives the smallest output without a special case.
 */
#include "fixed_point.h"
#include "softmax.h"

typedef tigris_softmax_s8_params_t params_t;

#define SUM_FRACTION_BITS 19
#define SUM_INTEGER_BITS 12
#define TABLE_ENTRIES 256u

static int32_t largest_of(const int8_t *x, uint32_t depth)
{
    int32_t largest = INT8_MIN;

    for (uint32_t i = 0; i < depth; i++) {
        largest = largest < x[i] ? x[i] : largest;
    }
    return largest;
}

static uint32_t sum_of(const int8_t *x, uint32_t depth, int32_t largest, const int32_t *table)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < depth; i++) {
        sum += (uint32_t)rounding_shift_right(table[largest - x[i]], 31 - SUM_FRACTION_BITS);
    }
    return sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
}

static void softmax(const int8_t *x, int8_t *y, uint32_t depth, const int32_t *table)
{
    const int32_t largest = largest_of(x, depth);
    uint32_t sum = sum_of(x, depth, largest, table);
    int32_t scale, shift = SUM_INTEGER_BITS + 31 - 8;

    while ((sum & 0x80000000u) == 0u) {
        sum <<= 1;
        shift--;
    }
    scale = reciprocal_of_one_plus((int32_t)(sum & 0x7FFFFFFFu));
    for (uint32_t i = 0; i < depth; i++) {
        const int32_t quotient = multiply_q31(scale, table[largest - x[i]]);
        /* A shift beyond 31 leaves less than half a step. */
        const int32_t steps = shift > 31 ? 0 : rounding_shift_right(quotient, shift);
        y[i] = clamp_s8(steps + INT8_MIN, INT8_MIN, INT8_MAX);
    }
}

tigris_status_t tigris_k_softmax_s8(const tigris_call_t *call)
{
    const params_t *p = call->params;
    const int32_t *table = tigris_constant(call->constants, p->table);
    const int8_t *x = (const int8_t *)tigris_input_rows(call, 0, call->row);
    int8_t *y = (int8_t *)call->output.data;
    const uint32_t vectors = call_elements(call, 1u) / p->depth;

    for (uint32_t i = 0; i < vectors; i++, x += p->depth, y += p->depth) {
        softmax(x, y, p->depth, table);
    }
    return TIGRIS_OK;
}

/* The largest element's exponential is 1, so that no sum is 0; none is negative. */
static bool is_table(const int32_t *table)
{
    for (uint32_t i = 1; i < TABLE_ENTRIES; i++) {
        if (table[i] < 0) {
            return false;
        }
    }
    return table[0] == INT32_MAX;
}

tigris_status_t tigris_k_softmax_s8_check(const tigris_check_t *check, tigris_extents_t *extents)
{
    const params_t *p = check->params;
    const tigris_status_t status = softmax_check(check, p->vectors, p->depth, 1u, extents);

    if (status != TIGRIS_OK) {
        return status;
    }
    return holds_constant(check, p->table, TABLE_ENTRIES, 4u) && is_table(tigris_constant(check->constants, p->table))
               ? TIGRIS_OK
               : TIGRIS_ERR_PARAMS;
}
