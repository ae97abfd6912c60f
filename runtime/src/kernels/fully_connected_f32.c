/* FULLY_CONNECTED, float: products are summed in order from 0, the bias last, as TFLite does. */
#include "dot.h"
#include "float_range.h"
#include "fully_connected.h"

typedef tigris_fully_connected_f32_params_t params_t;

/* Adds the products of `count` input elements to the sums of some features; `weights` is where these meet. */
static void add_products(const params_t *p, float *sums, uint32_t features, const float *x, const float *weights,
                         uint32_t count)
{
    uint32_t f = 0;

    for (; features - f >= 4u; f += 4u) {
        dot4_f32(sums + f, x, weights + (size_t)f * p->in_features, p->in_features, count);
    }
    for (; f < features; f++) {
        sums[f] = dot_f32(sums[f], x, weights + (size_t)f * p->in_features, count);
    }
}

static void clear(float *sums, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        sums[i] = 0.0f;
    }
}

static void finish(const params_t *p, const float *sums, const float *bias, uint32_t feature, uint32_t count,
                   float *output)
{
    for (uint32_t i = 0; i < count; i++) {
        const float sum = sums[i] + (bias == NULL ? 0.0f : bias[feature + i]);
        output[i] = clamp_f32(sum, p->act_min, p->act_max);
    }
}

tigris_status_t tigris_k_fully_connected_f32(const tigris_call_t *call)
{
    const params_t *p = call->params;
    const float *weights = tigris_constant(call->constants, p->weights);
    const float *bias = tigris_constant(call->constants, p->bias);
    float *output = (float *)(void *)call->output.data;
    position_walk_t walk;

    if ((call->flags & TIGRIS_FLAG_PART) != 0u) {
        const uint32_t in_row = call->input[0].row_bytes / (uint32_t)sizeof(float);
        if ((call->flags & TIGRIS_FLAG_FIRST) != 0u) {
            clear(call->accumulator, p->out_features);
        }
        add_products(p, call->accumulator, p->out_features,
                     (const float *)(const void *)tigris_input_rows(call, 0, call->row),
                     weights + (size_t)call->row * in_row, call->rows * in_row);
        if ((call->flags & TIGRIS_FLAG_LAST) != 0u) {
            finish(p, call->accumulator, bias, 0u, p->out_features, output);
        }
        return TIGRIS_OK;
    }
    walk = walk_positions(call, p->in_features, p->out_features, (uint32_t)sizeof(float));
    while (walk_position(&walk)) {
        uint32_t count;
        for (uint32_t i = 0; i < walk.count; i += count, output += count) {
            const uint32_t feature = walk.feature + i;
            float sums[4];
            count = walk.count - i < 4u ? walk.count - i : 4u;
            clear(sums, count);
            add_products(p, sums, count, walk.vector, weights + (size_t)feature * p->in_features, p->in_features);
            finish(p, sums, bias, feature, count, output);
        }
    }
    return TIGRIS_OK;
}

tigris_status_t tigris_k_fully_connected_f32_check(const tigris_check_t *check, tigris_extents_t *extents)
{
    const params_t *p = check->params;
    const tigris_status_t status =
        fully_connected_check(check, p->positions, p->in_features, p->out_features, 4u, extents);

    if (status != TIGRIS_OK) {
        return status;
    }
    return holds_constant(check, p->weights, product(p->in_features, p->out_features), 4u) &&
                   holds_optional_constant(check, p->bias, p->out_features, 4u) && p->act_min <= p->act_max
               ? TIGRIS_OK
               : TIGRIS_ERR_PARAMS;
}
