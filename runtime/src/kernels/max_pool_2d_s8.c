/* MAX_POOL_2D, int8. */
#include "fixed_point.h"
#include "pool.h"

typedef tigris_pool_2d_s8_params_t params_t;

static void clear(void *accumulators, uint32_t count)
{
    int32_t *largest = accumulators;
    for (uint32_t i = 0; i < count; i++) {
        largest[i] = INT8_MIN;
    }
}

static void fold(void *accumulators, const uint8_t *input, uint32_t count)
{
    int32_t *largest = accumulators;
    const int8_t *x = (const int8_t *)input;
    for (uint32_t i = 0; i < count; i++) {
        largest[i] = largest[i] < x[i] ? x[i] : largest[i];
    }
}

static void finish(const void *params, const void *accumulators, uint32_t terms, uint8_t *output, uint32_t count)
{
    const params_t *p = params;
    const int32_t *largest = accumulators;

    (void)terms;
    for (uint32_t i = 0; i < count; i++) {
        output[i] = (uint8_t)clamp_s8(largest[i], p->act_min, p->act_max);
    }
}

static const reduction_t maximum = {1u, clear, fold, finish};

tigris_status_t tigris_k_max_pool_2d_s8(const tigris_call_t *call)
{
    const params_t *p = call->params;
    const pool_t pool = POOL_OF(p);

    return pool_run(call, &pool, &maximum);
}

tigris_status_t tigris_k_max_pool_2d_s8_check(const tigris_check_t *check, tigris_extents_t *extents)
{
    const params_t *p = check->params;
    const pool_t pool = POOL_OF(p);
    const tigris_status_t status = pool_check(check, &pool, maximum.size, extents);

    if (status != TIGRIS_OK) {
        return status;
    }
    return p->act_min <= p->act_max ? TIGRIS_OK : TIGRIS_ERR_PARAMS;
}
