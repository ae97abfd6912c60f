/* QUANTIZE, float to int8. */
#include <math.h>

#include "elementwise.h"
#include "fixed_point.h"

typedef tigris_quantize_f32_s8_params_t params_t;

/* Half a step rounds away from zero. What int8 cannot reach saturates; NaN is taken as 0. */
static int8_t quantize(float x, float scale, int32_t zero_point)
{
    const float reach = 256.0f;
    const float steps = roundf(x / scale);
    int32_t value = 0;

    if (steps >= reach) {
        value = 256;
    } else if (steps <= -reach) {
        value = -256;
    } else if (steps == steps) {
        value = (int32_t)steps;
    }
    return clamp_s8(value + zero_point, INT8_MIN, INT8_MAX);
}

tigris_status_t tigris_k_quantize_f32_s8(const tigris_call_t *call)
{
    const params_t *p = call->params;
    const float *x = (const float *)(const void *)tigris_input_rows(call, 0, call->row);
    int8_t *y = (int8_t *)call->output.data;
    const uint32_t count = call_elements(call, 1u);

    for (uint32_t i = 0; i < count; i++) {
        y[i] = quantize(x[i], p->scale, p->zero_point);
    }
    return TIGRIS_OK;
}

tigris_status_t tigris_k_quantize_f32_s8_check(const tigris_check_t *check, tigris_extents_t *extents)
{
    const params_t *p = check->params;
    const tigris_status_t status = elementwise_check(check, p->elements, 4u, 1u, extents);

    if (status != TIGRIS_OK) {
        return status;
    }
    return p->scale > 0.0f && p->zero_point >= INT8_MIN && p->zero_point <= INT8_MAX ? TIGRIS_OK : TIGRIS_ERR_PARAMS;
}
