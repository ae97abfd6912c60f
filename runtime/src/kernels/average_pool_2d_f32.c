/* AVERAGE_POOL_2D, float: the sum of a window's valid taps, row by row, divided by their number. */
#include "float_range.h"
#include "pool.h"

typedef tigris_pool_2d_f32_params_t params_t;

static void finish(const void *params, const void *accumulators, uint32_t terms, uint8_t *output, uint32_t count)
{
    const params_t *p = params;
    const float *sums = accumulators;
    float *y = (float *)(void *)output;

    for (uint32_t i = 0; i < count; i++) {
        y[i] = clamp_f32(sums[i] / (float)terms, p->act_min, p->act_max);
    }
}

static const reduction_t average = {4u, clear_f32, add_f32, finish};

tigris_status_t tigris_k_average_pool_2d_f32(const tigris_call_t *call)
{
    const params_t *p = call->params;
    const pool_t pool = POOL_OF(p);

    return pool_run(call, &pool, &average);
}

tigris_status_t tigris_k_average_pool_2d_f32_check(const tigris_check_t *check, tigris_extents_t *extents)
{
    const params_t *p = check->params;
    const pool_t pool = POOL_OF(p);
    const tigris_status_t status = pool_check(check, &pool, average.size, extents);

    if (status != TIGRIS_OK) {
        return status;
    }
    return meets_input(&pool.vertical) && meets_input(&pool.horizontal) && p->act_min <= p->act_max
               ? TIGRIS_OK
               : TIGRIS_ERR_PARAMS;
}
