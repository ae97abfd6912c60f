/* SOFTMAX, float. */
#include <float.h>
#include <math.h>

#include "softmax.h"

typedef tigris_softmax_f32_params_t params_t;

static void softmax(const float *x, float *y, uint32_t depth, float beta)
{
    float largest = -FLT_MAX, sum = 0.0f;

    for (uint32_t i = 0; i < depth; i++) {
        largest = largest < x[i] ? x[i] : largest;
    }
    for (uint32_t i = 0; i < depth; i++) {
        y[i] = expf((x[i] - largest) * beta);
        sum += y[i];
    }
    for (uint32_t i = 0; i < depth; i++) {
        y[i] /= sum;
    }
}

tigris_status_t tigris_k_softmax_f32(const tigris_call_t *call)
{
    const params_t *p = call->params;
    const float *x = (const float *)(const void *)tigris_input_rows(call, 0, call->row);
    float *y = (float *)(void *)call->output.data;
    const uint32_t vectors = call_elements(call, 4u) / p->depth;

    for (uint32_t i = 0; i < vectors; i++, x += p->depth, y += p->depth) {
        softmax(x, y, p->depth, p->beta);
    }
    return TIGRIS_OK;
}

tigris_status_t tigris_k_softmax_f32_check(const tigris_check_t *check, tigris_extents_t *extents)
{
    const params_t *p = check->params;

    return softmax_check(check, p->vectors, p->depth, 4u, extents);
}
