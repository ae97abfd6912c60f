/* DEPTHWISE_CONV_2D, int8: a block of channels is accumulated tap by tap, which reads inputs and weights in order. */
#include "fixed_point.h"
#include "window.h"

typedef tigris_depthwise_conv_2d_s8_params_t params_t;

/* Adds one tap to `count` output channels, the first of which is copy `copy` of the input channel at x. */
static void add_tap(int32_t *sums, const int8_t *x, const int8_t *w, uint32_t count, int32_t offset, uint32_t copies,
                    uint32_t copy)
{
    if (copies == 1u) {
        for (uint32_t c = 0; c < count; c++) {
            sums[c] = wrapping_add(sums[c], (x[c] + offset) * w[c]);
        }
        return;
    }
    for (uint32_t c = 0; c < count; c++) {
        sums[c] = wrapping_add(sums[c], (*x + offset) * w[c]);
        if (++copy == copies) {
            copy = 0u;
            x++;
        }
    }
}

tigris_status_t tigris_k_depthwise_conv_2d_s8(const tigris_call_t *call)
{
    const params_t *p = call->params;
    const axis_t vertical = VERTICAL_AXIS(p, p->dilation_h), horizontal = HORIZONTAL_AXIS(p, p->dilation_w);
    const uint32_t stop = call->channels == 0u ? p->out_c : call->channel + call->channels;
    const uint32_t copies = (uint32_t)p->out_c / p->in_c;
    const size_t tap_row_bytes = (size_t)p->dilation_h * call->input[0].row_bytes;
    const uint32_t tap_step = (uint32_t)p->dilation_w * p->in_c;
    const int8_t *weights = tigris_constant(call->constants, p->weights);
    const int32_t *bias = tigris_constant(call->constants, p->bias);
    const int32_t *multipliers = tigris_constant(call->constants, p->quantization);
    const int32_t *shifts = multipliers + p->out_c;
    row_walk_t walk = walk_rows(call, &vertical);

    for (uint32_t r = 0; r < call->rows; r++) {
        int8_t *output = (int8_t *)call->output.data + (size_t)r * call->output.row_bytes;
        walk_next(&walk);
        for (uint32_t x = 0; x < p->out_w; x++, output += p->out_c) {
            const taps_t columns = window_taps(&horizontal, x);
            const int8_t *data = (const int8_t *)walk.data + columns.index * p->in_c;
            const int8_t *filter = weights + (walk.taps.tap * p->kernel_w + columns.tap) * p->out_c;
            uint32_t count;

            for (uint32_t first = call->channel; first < stop; first += count) {
                int32_t sums[CHANNEL_BLOCK];
                const uint32_t in_channel = first / copies, copy = first % copies;
                count = stop - first < CHANNEL_BLOCK ? stop - first : CHANNEL_BLOCK;
                for (uint32_t c = 0; c < count; c++) {
                    sums[c] = bias == NULL ? 0 : bias[first + c];
                }
                for (uint32_t i = 0; i < walk.taps.count; i++) {
                    const int8_t *row = data + i * tap_row_bytes + in_channel;
                    const int8_t *w = filter + i * p->kernel_w * p->out_c + first;
                    for (uint32_t j = 0; j < columns.count; j++, row += tap_step, w += p->out_c) {
                        add_tap(sums, row, w, count, p->input_offset, copies, copy);
                    }
                }
                for (uint32_t c = 0; c < count; c++) {
                    const int32_t scaled = scale_s32(sums[c], multipliers[first + c], shifts[first + c]);
                    output[first + c] = clamp_s8(wrapping_add(scaled, p->output_offset), p->act_min, p->act_max);
                }
            }
        }
    }
    return TIGRIS_OK;
}

tigris_status_t tigris_k_depthwise_conv_2d_s8_check(const tigris_check_t *check, tigris_extents_t *extents)
{
    const params_t *p = check->params;
    const axis_t vertical = VERTICAL_AXIS(p, p->dilation_h), horizontal = HORIZONTAL_AXIS(p, p->dilation_w);
    const uint32_t taps = product(p->kernel_h, p->kernel_w);
    const tigris_status_t status = check_record(check, 1, ACCEPTS_CHANNELS, extents);

    if (status != TIGRIS_OK) {
        return status;
    }
    if (!check_window(check, &vertical, &horizontal, p->in_c, p->out_c, 1u, extents) || p->out_c % p->in_c != 0u ||
        !holds_constant(check, p->weights, product(taps, p->out_c), 1u) ||
        !holds_optional_constant(check, p->bias, p->out_c, 4u) ||
        !holds_scalings(check, p->quantization, p->out_c) || p->act_min > p->act_max) {
        return TIGRIS_ERR_PARAMS;
    }
    return check_channels(check, p->out_c) ? TIGRIS_OK : TIGRIS_ERR_BOUNDS;
}
