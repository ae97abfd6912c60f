/* MAX_POOL_2D, float: a NaN is never the larger one, as in TFLite. */
#include <float.h>

#include "float_range.h"
#include "pool.h"

typedef tigris_pool_2d_f32_params_t params_t;

static void clear(void *accumulators, uint32_t count)
{
    float *largest = accumulators;
    for (uint32_t i = 0; i < count; i++) {
        largest[i] = -FLT_MAX;
    }
}

static void fold(void *accumulators, const uint8_t *input, uint32_t count)
{
    float *largest = accumulators;
    const float *x = (const float *)(const void *)input;
    for (uint32_t i = 0; i < count; i++) {
        largest[i] = largest[i] < x[i] ? x[i] : largest[i];
    }
}

static void finish(const void *params, const void *accumulators, uint32_t terms, uint8_t *output, uint32_t count)
{
    const params_t *p = params;
    const float *largest = accumulators;
    float *y = (float *)(void *)output;

    (void)terms;
    for (uint32_t i = 0; i < count; i++) {
        y[i] = clamp_f32(largest[i], p->act_min, p->act_max);
    }
}

static const reduction_t maximum = {4u, clear, fold, finish};

tigris_status_t tigris_k_max_pool_2d_f32(const tigris_call_t *call)
{
    const params_t *p = call->params;
    const pool_t pool = POOL_OF(p);

    return pool_run(call, &pool, &maximum);
}

tigris_status_t tigris_k_max_pool_2d_f32_check(const tigris_check_t *check, tigris_extents_t *extents)
{
    const params_t *p = check->params;
    const pool_t pool = POOL_OF(p);
    const tigris_status_t status = pool_check(check, &pool, maximum.size, extents);

    if (status != TIGRIS_OK) {
        return status;
    }
    return p->act_min <= p->act_max ? TIGRIS_OK : TIGRIS_ERR_PARAMS;
}
