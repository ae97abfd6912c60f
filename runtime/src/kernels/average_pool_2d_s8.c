/* AVERAGE_POOL_2D, int8: the mean of a window's valid taps, half rounded away from zero. */
#include "fixed_point.h"
#include "pool.h"

typedef tigris_pool_2d_s8_params_t params_t;

static void finish(const void *params, const void *accumulators, uint32_t terms, uint8_t *output, uint32_t count)
{
    const params_t *p = params;
    const int32_t *sums = accumulators;
    const int32_t divisor = (int32_t)terms, half = divisor / 2;

    for (uint32_t i = 0; i < count; i++) {
        const int32_t sum = wrapping_add(sums[i], sums[i] > 0 ? half : -half);
        output[i] = (uint8_t)clamp_s8(sum / divisor, p->act_min, p->act_max);
    }
}

static const reduction_t average = {1u, clear_s32, add_s8, finish};

tigris_status_t tigris_k_average_pool_2d_s8(const tigris_call_t *call)
{
    const params_t *p = call->params;
    const pool_t pool = POOL_OF(p);

    return pool_run(call, &pool, &average);
}

tigris_status_t tigris_k_average_pool_2d_s8_check(const tigris_check_t *check, tigris_extents_t *extents)
{
    const params_t *p = check->params;
    const pool_t pool = POOL_OF(p);
    const uint32_t terms = product(p->kernel_h, p->kernel_w);
    const tigris_status_t status = pool_check(check, &pool, average.size, extents);

    if (status != TIGRIS_OK) {
        return status;
    }
    return meets_input(&pool.vertical) && meets_input(&pool.horizontal) && terms <= INT32_MAX &&
                   p->act_min <= p->act_max
               ? TIGRIS_OK
               : TIGRIS_ERR_PARAMS;
}
