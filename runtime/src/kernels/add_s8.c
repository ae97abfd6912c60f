/* ADD, int8: both inputs are raised by left_shift and scaled to a common scale, then the sum to the output's. */
#include "broadcast.h"
#include "fixed_point.h"

typedef tigris_binary_s8_params_t params_t;

static int8_t add(const params_t *p, int32_t a, int32_t b)
{
    const int32_t raised_a = wrapping_shift_left(a + p->offset_a, p->left_shift);
    const int32_t raised_b = wrapping_shift_left(b + p->offset_b, p->left_shift);
    const int32_t sum = wrapping_add(scale_s32(raised_a, p->multiplier_a, p->shift_a),
                                     scale_s32(raised_b, p->multiplier_b, p->shift_b));
    const int32_t scaled = scale_s32(sum, p->multiplier_out, p->shift_out);

    return clamp_s8(wrapping_add(scaled, p->output_offset), p->act_min, p->act_max);
}

tigris_status_t tigris_k_add_s8(const tigris_call_t *call)
{
    const params_t *p = call->params;
    const int8_t *a = (const int8_t *)broadcast_input(call, 0, p->repeat_a);
    const int8_t *b = (const int8_t *)broadcast_input(call, 1, p->repeat_b);
    int8_t *output = (int8_t *)call->output.data;
    broadcast_t walk = broadcast_rows(p->dims, call->rows, p->repeat_a, p->repeat_b);

    do {
        const int8_t *x = a + walk.a, *y = b + walk.b;
        for (uint32_t i = 0; i < walk.extent[0]; i++, x += walk.step_a[0], y += walk.step_b[0]) {
            *output++ = add(p, *x, *y);
        }
    } while (broadcast_next(&walk));
    return TIGRIS_OK;
}

tigris_status_t tigris_k_add_s8_check(const tigris_check_t *check, tigris_extents_t *extents)
{
    const params_t *p = check->params;
    const tigris_status_t status = broadcast_check(check, p->dims, p->repeat_a, p->repeat_b, 1u, extents);

    if (status != TIGRIS_OK) {
        return status;
    }
    return is_scaling(p->multiplier_a, p->shift_a) && is_scaling(p->multiplier_b, p->shift_b) &&
                   is_scaling(p->multiplier_out, p->shift_out) && p->left_shift >= 0 && p->left_shift <= 30 &&
                   p->act_min <= p->act_max
               ? TIGRIS_OK
               : TIGRIS_ERR_PARAMS;
}
