/* MUL, int8. */
#include "broadcast.h"
#include "fixed_point.h"

typedef tigris_binary_s8_params_t params_t;

static int8_t multiply(const params_t *p, int32_t a, int32_t b)
{
    const int32_t raw = (a + p->offset_a) * (b + p->offset_b);
    const int32_t scaled = scale_s32(raw, p->multiplier_out, p->shift_out);

    return clamp_s8(wrapping_add(scaled, p->output_offset), p->act_min, p->act_max);
}

tigris_status_t tigris_k_mul_s8(const tigris_call_t *call)
{
    const params_t *p = call->params;
    const int8_t *a = (const int8_t *)broadcast_input(call, 0, p->repeat_a);
    const int8_t *b = (const int8_t *)broadcast_input(call, 1, p->repeat_b);
    int8_t *output = (int8_t *)call->output.data;
    broadcast_t walk = broadcast_rows(p->dims, call->rows, p->repeat_a, p->repeat_b);

    do {
        const int8_t *x = a + walk.a, *y = b + walk.b;
        for (uint32_t i = 0; i < walk.extent[0]; i++, x += walk.step_a[0], y += walk.step_b[0]) {
            *output++ = multiply(p, *x, *y);
        }
    } while (broadcast_next(&walk));
    return TIGRIS_OK;
}

tigris_status_t tigris_k_mul_s8_check(const tigris_check_t *check, tigris_extents_t *extents)
{
    const params_t *p = check->params;
    const tigris_status_t status = broadcast_check(check, p->dims, p->repeat_a, p->repeat_b, 1u, extents);

    if (status != TIGRIS_OK) {
        return status;
    }
    if (!is_scaling(p->multiplier_out, p->shift_out) || p->act_min > p->act_max) {
        return TIGRIS_ERR_PARAMS;
    }
    return TIGRIS_OK;
}
