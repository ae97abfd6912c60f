/* MEAN, int8. */
#include "fixed_point.h"
#include "mean.h"

typedef tigris_mean_s8_params_t params_t;

static void finish(const void *params, const void *accumulators, uint32_t terms, uint8_t *output, uint32_t count)
{
    const params_t *p = params;
    const int32_t *sums = accumulators;
    const int32_t zero = (int32_t)(terms * (uint32_t)-p->input_zero_point);

    for (uint32_t i = 0; i < count; i++) {
        const int32_t scaled = scale_s32(wrapping_add(sums[i], zero), p->multiplier, p->shift);
        output[i] = (uint8_t)clamp_s8(wrapping_add(scaled, p->output_offset), INT8_MIN, INT8_MAX);
    }
}

static const reduction_t mean = {1u, clear_s32, add_s8, finish};

tigris_status_t tigris_k_mean_s8(const tigris_call_t *call)
{
    const params_t *p = call->params;

    return mean_run(call, p->dims, &mean);
}

tigris_status_t tigris_k_mean_s8_check(const tigris_check_t *check, tigris_extents_t *extents)
{
    const params_t *p = check->params;
    const tigris_status_t status = mean_check(check, p->dims, mean.size, extents);

    if (status != TIGRIS_OK) {
        return status;
    }
    return is_scaling(p->multiplier, p->shift) ? TIGRIS_OK : TIGRIS_ERR_PARAMS;
}
