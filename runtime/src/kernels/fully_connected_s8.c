/* FULLY_CONNECTED, int8. */
#include "dot.h"
#include "fixed_point.h"
#include "fully_connected.h"

typedef tigris_fully_connected_s8_params_t params_t;

/* Adds the products of `count` input elements to the sums of some features; `weights` is where these meet. */
static void add_products(const params_t *p, int32_t *sums, uint32_t features, const int8_t *x, const int8_t *weights,
                         uint32_t count)
{
    uint32_t f = 0;

    for (; features - f >= 4u; f += 4u) {
        dot4_s8(sums + f, x, weights + (size_t)f * p->in_features, p->in_features, count, 0);
    }
    for (; f < features; f++) {
        sums[f] = dot_s8(sums[f], x, weights + (size_t)f * p->in_features, count, 0);
    }
}

static void set_to_bias(int32_t *sums, const int32_t *bias, uint32_t feature, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        sums[i] = bias == NULL ? 0 : bias[feature + i];
    }
}

static void requantize(const params_t *p, const int32_t *sums, const int32_t *scalings, uint32_t feature,
                       uint32_t count, int8_t *output)
{
    const int32_t *shifts = scalings + (p->per_channel ? p->out_features : 1u);

    for (uint32_t i = 0; i < count; i++) {
        const uint32_t channel = p->per_channel ? feature + i : 0u;
        const int32_t scaled = scale_s32(sums[i], scalings[channel], shifts[channel]);
        output[i] = clamp_s8(wrapping_add(scaled, p->output_offset), p->act_min, p->act_max);
    }
}

tigris_status_t tigris_k_fully_connected_s8(const tigris_call_t *call)
{
    const params_t *p = call->params;
    const int8_t *weights = tigris_constant(call->constants, p->weights);
    const int32_t *bias = tigris_constant(call->constants, p->bias);
    const int32_t *scalings = tigris_constant(call->constants, p->quantization);
    int8_t *output = (int8_t *)call->output.data;
    position_walk_t walk;

    if ((call->flags & TIGRIS_FLAG_PART) != 0u) {
        const uint32_t in_row = call->input[0].row_bytes;
        if ((call->flags & TIGRIS_FLAG_FIRST) != 0u) {
            set_to_bias(call->accumulator, bias, 0u, p->out_features);
        }
        add_products(p, call->accumulator, p->out_features, (const int8_t *)tigris_input_rows(call, 0, call->row),
                     weights + (size_t)call->row * in_row, call->rows * in_row);
        if ((call->flags & TIGRIS_FLAG_LAST) != 0u) {
            requantize(p, call->accumulator, scalings, 0u, p->out_features, output);
        }
        return TIGRIS_OK;
    }
    walk = walk_positions(call, p->in_features, p->out_features, 1u);
    while (walk_position(&walk)) {
        uint32_t count;
        for (uint32_t i = 0; i < walk.count; i += count, output += count) {
            const uint32_t feature = walk.feature + i;
            int32_t sums[4];
            count = walk.count - i < 4u ? walk.count - i : 4u;
            set_to_bias(sums, bias, feature, count);
            add_products(p, sums, count, walk.vector, weights + (size_t)feature * p->in_features, p->in_features);
            requantize(p, sums, scalings, feature, count, output);
        }
    }
    return TIGRIS_OK;
}

tigris_status_t tigris_k_fully_connected_s8_check(const tigris_check_t *check, tigris_extents_t *extents)
{
    const params_t *p = check->params;
    const tigris_status_t status =
        fully_connected_check(check, p->positions, p->in_features, p->out_features, 1u, extents);

    if (status != TIGRIS_OK) {
        return status;
    }
    return holds_constant(check, p->weights, product(p->in_features, p->out_features), 1u) &&
                   holds_optional_constant(check, p->bias, p->out_features, 4u) && p->per_channel <= 1u &&
                   holds_scalings(check, p->quantization, p->per_channel == 1u ? p->out_features : 1u) &&
                   p->act_min <= p->act_max
               ? TIGRIS_OK
               : TIGRIS_ERR_PARAMS;
}
