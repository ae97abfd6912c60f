/* CONV_2D, int8. */
#include "dot.h"
#include "fixed_point.h"
#include "window.h"

typedef tigris_conv_2d_s8_params_t params_t;

/* Constants of the operator, and one output pixel's window. */
typedef struct {
    const params_t *p;
    const int8_t *weights;
    const int32_t *bias, *multipliers, *shifts;
    taps_t rows, columns;
    const int8_t *data; /* input under the first valid tap */
    uint32_t tap_row_bytes;
} window_t;

static int32_t bias_of(const window_t *window, uint32_t channel)
{
    return window->bias == NULL ? 0 : window->bias[channel];
}

static int8_t requantize(const window_t *window, int32_t sum, uint32_t channel)
{
    const int32_t scaled = scale_s32(sum, window->multipliers[channel], window->shifts[channel]);
    return clamp_s8(wrapping_add(scaled, window->p->output_offset), window->p->act_min, window->p->act_max);
}

/* Output channels [first, stop) of one pixel. Without horizontal dilation a row of taps is one run of bytes. */
static void compute_pixel(const window_t *window, int8_t *output, uint32_t first, uint32_t stop)
{
    const params_t *p = window->p;
    const uint32_t filter_row = (uint32_t)p->kernel_w * p->in_c;
    const uint32_t filter = filter_row * p->kernel_h;
    const bool dense = p->dilation_w == 1u;
    const uint32_t runs = dense ? 1u : window->columns.count;
    const uint32_t run = dense ? window->columns.count * p->in_c : p->in_c;
    const uint32_t run_step = (uint32_t)p->dilation_w * p->in_c;
    const int8_t *weights = window->weights + first * filter + window->rows.tap * filter_row +
                            window->columns.tap * p->in_c;
    uint32_t channel = first;

    for (; stop - channel >= 4u; channel += 4u, weights += 4u * filter) {
        int32_t sums[4];
        for (uint32_t i = 0; i < 4u; i++) {
            sums[i] = bias_of(window, channel + i);
        }
        for (uint32_t y = 0; y < window->rows.count; y++) {
            for (uint32_t x = 0; x < runs; x++) {
                dot4_s8(sums, window->data + y * window->tap_row_bytes + x * run_step,
                        weights + y * filter_row + x * run, filter, run, p->input_offset);
            }
        }
        for (uint32_t i = 0; i < 4u; i++) {
            output[channel + i] = requantize(window, sums[i], channel + i);
        }
    }
    for (; channel < stop; channel++, weights += filter) {
        int32_t sum = bias_of(window, channel);
        for (uint32_t y = 0; y < window->rows.count; y++) {
            for (uint32_t x = 0; x < runs; x++) {
                sum = dot_s8(sum, window->data + y * window->tap_row_bytes + x * run_step,
                             weights + y * filter_row + x * run, run, p->input_offset);
            }
        }
        output[channel] = requantize(window, sum, channel);
    }
}

tigris_status_t tigris_k_conv_2d_s8(const tigris_call_t *call)
{
    const params_t *p = call->params;
    const axis_t vertical = VERTICAL_AXIS(p, p->dilation_h), horizontal = HORIZONTAL_AXIS(p, p->dilation_w);
    const uint32_t stop = call->channels == 0u ? p->out_c : call->channel + call->channels;
    row_walk_t walk = walk_rows(call, &vertical);
    window_t window;

    window.p = p;
    window.weights = tigris_constant(call->constants, p->weights);
    window.bias = tigris_constant(call->constants, p->bias);
    window.multipliers = tigris_constant(call->constants, p->quantization);
    window.shifts = window.multipliers + p->out_c;
    window.tap_row_bytes = p->dilation_h * call->input[0].row_bytes;
    for (uint32_t r = 0; r < call->rows; r++) {
        int8_t *output = (int8_t *)call->output.data + (size_t)r * call->output.row_bytes;
        walk_next(&walk);
        window.rows = walk.taps;
        for (uint32_t x = 0; x < p->out_w; x++, output += p->out_c) {
            window.columns = window_taps(&horizontal, x);
            window.data = (const int8_t *)walk.data + window.columns.index * p->in_c;
            compute_pixel(&window, output, call->channel, stop);
        }
    }
    return TIGRIS_OK;
}

tigris_status_t tigris_k_conv_2d_s8_check(const tigris_check_t *check, tigris_extents_t *extents)
{
    const params_t *p = check->params;
    const axis_t vertical = VERTICAL_AXIS(p, p->dilation_h), horizontal = HORIZONTAL_AXIS(p, p->dilation_w);
    const uint32_t filter = product(product(p->kernel_h, p->kernel_w), p->in_c);
    const tigris_status_t status = check_record(check, 1, ACCEPTS_CHANNELS, extents);

    if (status != TIGRIS_OK) {
        return status;
    }
    if (!check_window(check, &vertical, &horizontal, p->in_c, p->out_c, 1u, extents) ||
        !holds_constant(check, p->weights, product(filter, p->out_c), 1u) ||
        !holds_optional_constant(check, p->bias, p->out_c, 4u) ||
        !holds_scalings(check, p->quantization, p->out_c) || p->act_min > p->act_max) {
        return TIGRIS_ERR_PARAMS;
    }
    return check_channels(check, p->out_c) ? TIGRIS_OK : TIGRIS_ERR_BOUNDS;
}
