/*
 * DEQUANTIZE, int8 to float. TFLite multiplies in double and rounds to float; a difference of two bytes has so few bits
 * that the float product is the same.
 */
#include "elementwise.h"

typedef tigris_dequantize_s8_f32_params_t params_t;

tigris_status_t tigris_k_dequantize_s8_f32(const tigris_call_t *call)
{
    const params_t *p = call->params;
    const int8_t *x = (const int8_t *)tigris_input_rows(call, 0, call->row);
    float *y = (float *)(void *)call->output.data;
    const uint32_t count = call_elements(call, 4u);

    for (uint32_t i = 0; i < count; i++) {
        y[i] = p->scale * (float)(x[i] - p->zero_point);
    }
    return TIGRIS_OK;
}

tigris_status_t tigris_k_dequantize_s8_f32_check(const tigris_check_t *check, tigris_extents_t *extents)
{
    const params_t *p = check->params;
    const tigris_status_t status = elementwise_check(check, p->elements, 1u, 4u, extents);

    if (status != TIGRIS_OK) {
        return status;
    }
    return p->zero_point >= INT8_MIN && p->zero_point <= INT8_MAX ? TIGRIS_OK : TIGRIS_ERR_PARAMS;
}
