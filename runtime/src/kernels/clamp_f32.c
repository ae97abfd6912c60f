/* Values limited to a range, float. */
#include "elementwise.h"
#include "float_range.h"

typedef tigris_clamp_f32_params_t params_t;

tigris_status_t tigris_k_clamp_f32(const tigris_call_t *call)
{
    const params_t *p = call->params;
    const float *x = (const float *)(const void *)tigris_input_rows(call, 0, call->row);
    float *y = (float *)(void *)call->output.data;
    const uint32_t count = call_elements(call, 4u);

    for (uint32_t i = 0; i < count; i++) {
        y[i] = clamp_f32(x[i], p->act_min, p->act_max);
    }
    return TIGRIS_OK;
}

tigris_status_t tigris_k_clamp_f32_check(const tigris_check_t *check, tigris_extents_t *extents)
{
    const params_t *p = check->params;
    const tigris_status_t status = elementwise_check(check, p->elements, 4u, 4u, extents);

    if (status != TIGRIS_OK) {
        return status;
    }
    return p->act_min <= p->act_max ? TIGRIS_OK : TIGRIS_ERR_PARAMS;
}
