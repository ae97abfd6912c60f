/* MEAN, float. */
#include "mean.h"

typedef tigris_mean_f32_params_t params_t;

static void finish(const void *params, const void *accumulators, uint32_t terms, uint8_t *output, uint32_t count)
{
    const float *sums = accumulators;
    float *y = (float *)(void *)output;

    (void)params;
    for (uint32_t i = 0; i < count; i++) {
        y[i] = sums[i] / (float)terms;
    }
}

static const reduction_t mean = {4u, clear_f32, add_f32, finish};

tigris_status_t tigris_k_mean_f32(const tigris_call_t *call)
{
    const params_t *p = call->params;

    return mean_run(call, p->dims, &mean);
}

tigris_status_t tigris_k_mean_f32_check(const tigris_check_t *check, tigris_extents_t *extents)
{
    const params_t *p = check->params;

    return mean_check(check, p->dims, mean.size, extents);
}
