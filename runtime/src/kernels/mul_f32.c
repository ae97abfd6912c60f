/* MUL, float. */
#include "broadcast.h"
#include "float_range.h"

typedef tigris_binary_f32_params_t params_t;

tigris_status_t tigris_k_mul_f32(const tigris_call_t *call)
{
    const params_t *p = call->params;
    const float *a = (const float *)(const void *)broadcast_input(call, 0, p->repeat_a);
    const float *b = (const float *)(const void *)broadcast_input(call, 1, p->repeat_b);
    float *output = (float *)(void *)call->output.data;
    broadcast_t walk = broadcast_rows(p->dims, call->rows, p->repeat_a, p->repeat_b);

    do {
        const float *x = a + walk.a, *y = b + walk.b;
        for (uint32_t i = 0; i < walk.extent[0]; i++, x += walk.step_a[0], y += walk.step_b[0]) {
            *output++ = clamp_f32(*x * *y, p->act_min, p->act_max);
        }
    } while (broadcast_next(&walk));
    return TIGRIS_OK;
}

tigris_status_t tigris_k_mul_f32_check(const tigris_check_t *check, tigris_extents_t *extents)
{
    const params_t *p = check->params;
    const tigris_status_t status = broadcast_check(check, p->dims, p->repeat_a, p->repeat_b, 4u, extents);

    if (status != TIGRIS_OK) {
        return status;
    }
    return p->act_min <= p->act_max ? TIGRIS_OK : TIGRIS_ERR_PARAMS;
}
