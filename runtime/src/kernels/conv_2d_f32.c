/* CONV_2D, float: taps are summed row by row, the bias last, as TFLite does. */
#include "dot.h"
#include "float_range.h"
#include "window.h"

typedef tigris_conv_2d_f32_params_t params_t;

/* Constants of the operator, and one output pixel's window. */
typedef struct {
    const params_t *p;
    const float *weights, *bias;
    taps_t rows, columns;
    const float *data; /* input under the first valid tap */
    uint32_t tap_row;  /* elements from one row of taps to the next */
} window_t;

static float finish(const window_t *window, float sum, uint32_t channel)
{
    const float bias = window->bias == NULL ? 0.0f : window->bias[channel];
    return clamp_f32(sum + bias, window->p->act_min, window->p->act_max);
}

/* Output channels [first, stop) of one pixel. Without horizontal dilation a row of taps is one run of elements. */
static void compute_pixel(const window_t *window, float *output, uint32_t first, uint32_t stop)
{
    const params_t *p = window->p;
    const uint32_t filter_row = (uint32_t)p->kernel_w * p->in_c;
    const uint32_t filter = filter_row * p->kernel_h;
    const bool dense = p->dilation_w == 1u;
    const uint32_t runs = dense ? 1u : window->columns.count;
    const uint32_t run = dense ? window->columns.count * p->in_c : p->in_c;
    const uint32_t run_step = (uint32_t)p->dilation_w * p->in_c;
    const float *weights = window->weights + first * filter + window->rows.tap * filter_row +
                           window->columns.tap * p->in_c;
    uint32_t channel = first;

    for (; stop - channel >= 4u; channel += 4u, weights += 4u * filter) {
        float sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        for (uint32_t y = 0; y < window->rows.count; y++) {
            for (uint32_t x = 0; x < runs; x++) {
                dot4_f32(sums, window->data + y * window->tap_row + x * run_step, weights + y * filter_row + x * run,
                         filter, run);
            }
        }
        for (uint32_t i = 0; i < 4u; i++) {
            output[channel + i] = finish(window, sums[i], channel + i);
        }
    }
    for (; channel < stop; channel++, weights += filter) {
        float sum = 0.0f;
        for (uint32_t y = 0; y < window->rows.count; y++) {
            for (uint32_t x = 0; x < runs; x++) {
                sum = dot_f32(sum, window->data + y * window->tap_row + x * run_step,
                              weights + y * filter_row + x * run, run);
            }
        }
        output[channel] = finish(window, sum, channel);
    }
}

tigris_status_t tigris_k_conv_2d_f32(const tigris_call_t *call)
{
    const params_t *p = call->params;
    const axis_t vertical = VERTICAL_AXIS(p, p->dilation_h), horizontal = HORIZONTAL_AXIS(p, p->dilation_w);
    const uint32_t stop = call->channels == 0u ? p->out_c : call->channel + call->channels;
    row_walk_t walk = walk_rows(call, &vertical);
    window_t window;

    window.p = p;
    window.weights = tigris_constant(call->constants, p->weights);
    window.bias = tigris_constant(call->constants, p->bias);
    window.tap_row = p->dilation_h * (call->input[0].row_bytes / (uint32_t)sizeof(float));
    for (uint32_t r = 0; r < call->rows; r++) {
        float *output = (float *)(void *)(call->output.data + (size_t)r * call->output.row_bytes);
        walk_next(&walk);
        window.rows = walk.taps;
        for (uint32_t x = 0; x < p->out_w; x++, output += p->out_c) {
            window.columns = window_taps(&horizontal, x);
            window.data = (const float *)(const void *)walk.data + window.columns.index * p->in_c;
            compute_pixel(&window, output, call->channel, stop);
        }
    }
    return TIGRIS_OK;
}

tigris_status_t tigris_k_conv_2d_f32_check(const tigris_check_t *check, tigris_extents_t *extents)
{
    const params_t *p = check->params;
    const axis_t vertical = VERTICAL_AXIS(p, p->dilation_h), horizontal = HORIZONTAL_AXIS(p, p->dilation_w);
    const uint32_t filter = product(product(p->kernel_h, p->kernel_w), p->in_c);
    const tigris_status_t status = check_record(check, 1, ACCEPTS_CHANNELS, extents);

    if (status != TIGRIS_OK) {
        return status;
    }
    if (!check_window(check, &vertical, &horizontal, p->in_c, p->out_c, 4u, extents) ||
        !holds_constant(check, p->weights, product(filter, p->out_c), 4u) ||
        !holds_optional_constant(check, p->bias, p->out_c, 4u) || !(p->act_min <= p->act_max)) {
        return TIGRIS_ERR_PARAMS;
    }
    return check_channels(check, p->out_c) ? TIGRIS_OK : TIGRIS_ERR_BOUNDS;
}
