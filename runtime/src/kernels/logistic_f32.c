/* LOGISTIC, float. Beyond the bounds TFLite takes 1, or exp(x), which is all that a float has left of the function. */
#include <math.h>

#include "elementwise.h"

typedef tigris_logistic_f32_params_t params_t;

static float logistic(float x)
{
    if (x > 16.619047164916992188f) {
        return 1.0f;
    }
    return x < -9.0f ? expf(x) : 1.0f / (1.0f + expf(-x));
}

tigris_status_t tigris_k_logistic_f32(const tigris_call_t *call)
{
    const float *x = (const float *)(const void *)tigris_input_rows(call, 0, call->row);
    float *y = (float *)(void *)call->output.data;
    const uint32_t count = call_elements(call, 4u);

    for (uint32_t i = 0; i < count; i++) {
        y[i] = logistic(x[i]);
    }
    return TIGRIS_OK;
}

tigris_status_t tigris_k_logistic_f32_check(const tigris_check_t *check, tigris_extents_t *extents)
{
    const params_t *p = check->params;

    return elementwise_check(check, p->elements, 4u, 4u, extents);
}
