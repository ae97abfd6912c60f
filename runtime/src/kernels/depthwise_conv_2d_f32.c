/*
 * DEPTHWISE_CONV_2D, float: a block of channels is accumulated tap by tap, which reads inputs and weights in order.
 * Each channel's taps are summed row by row, the bias last, as TFLite does.
 */
#include "float_range.h"
#include "window.h"

typedef tigris_depthwise_conv_2d_f32_params_t params_t;

/* Adds one tap to `count` output channels, the first of which is copy `copy` of the input channel at x. */
static void add_tap(float *sums, const float *x, const float *w, uint32_t count, uint32_t copies, uint32_t copy)
{
    if (copies == 1u) {
        for (uint32_t c = 0; c < count; c++) {
            sums[c] += x[c] * w[c];
        }
        return;
    }
    for (uint32_t c = 0; c < count; c++) {
        sums[c] += *x * w[c];
        if (++copy == copies) {
            copy = 0u;
            x++;
        }
    }
}

tigris_status_t tigris_k_depthwise_conv_2d_f32(const tigris_call_t *call)
{
    const params_t *p = call->params;
    const axis_t vertical = VERTICAL_AXIS(p, p->dilation_h), horizontal = HORIZONTAL_AXIS(p, p->dilation_w);
    const uint32_t stop = call->channels == 0u ? p->out_c : call->channel + call->channels;
    const uint32_t copies = (uint32_t)p->out_c / p->in_c;
    const size_t tap_row = p->dilation_h * (call->input[0].row_bytes / sizeof(float));
    const uint32_t tap_step = (uint32_t)p->dilation_w * p->in_c;
    const float *weights = tigris_constant(call->constants, p->weights);
    const float *bias = tigris_constant(call->constants, p->bias);
    row_walk_t walk = walk_rows(call, &vertical);

    for (uint32_t r = 0; r < call->rows; r++) {
        float *output = (float *)(void *)(call->output.data + (size_t)r * call->output.row_bytes);
        walk_next(&walk);
        for (uint32_t x = 0; x < p->out_w; x++, output += p->out_c) {
            const taps_t columns = window_taps(&horizontal, x);
            const float *data = (const float *)(const void *)walk.data + columns.index * p->in_c;
            const float *filter = weights + (walk.taps.tap * p->kernel_w + columns.tap) * p->out_c;
            uint32_t count;

            for (uint32_t first = call->channel; first < stop; first += count) {
                float sums[CHANNEL_BLOCK];
                const uint32_t in_channel = first / copies, copy = first % copies;
                count = stop - first < CHANNEL_BLOCK ? stop - first : CHANNEL_BLOCK;
                for (uint32_t c = 0; c < count; c++) {
                    sums[c] = 0.0f;
                }
                for (uint32_t i = 0; i < walk.taps.count; i++) {
                    const float *row = data + i * tap_row + in_channel;
                    const float *w = filter + i * p->kernel_w * p->out_c + first;
                    for (uint32_t j = 0; j < columns.count; j++, row += tap_step, w += p->out_c) {
                        add_tap(sums, row, w, count, copies, copy);
                    }
                }
                for (uint32_t c = 0; c < count; c++) {
                    const float sum = sums[c] + (bias == NULL ? 0.0f : bias[first + c]);
                    output[first + c] = clamp_f32(sum, p->act_min, p->act_max);
                }
            }
        }
    }
    return TIGRIS_OK;
}

tigris_status_t tigris_k_depthwise_conv_2d_f32_check(const tigris_check_t *check, tigris_extents_t *extents)
{
    const params_t *p = check->params;
    const axis_t vertical = VERTICAL_AXIS(p, p->dilation_h), horizontal = HORIZONTAL_AXIS(p, p->dilation_w);
    const uint32_t taps = product(p->kernel_h, p->kernel_w);
    const tigris_status_t status = check_record(check, 1, ACCEPTS_CHANNELS, extents);

    if (status != TIGRIS_OK) {
        return status;
    }
    if (!check_window(check, &vertical, &horizontal, p->in_c, p->out_c, 4u, extents) || p->out_c % p->in_c != 0u ||
        !holds_constant(check, p->weights, product(taps, p->out_c), 4u) ||
        !holds_optional_constant(check, p->bias, p->out_c, 4u) || !(p->act_min <= p->act_max)) {
        return TIGRIS_ERR_PARAMS;
    }
    return check_channels(check, p->out_c) ? TIGRIS_OK : TIGRIS_ERR_BOUNDS;
}
