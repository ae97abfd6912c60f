/* Geometry of sliding windows: convolutions and pools. */
#ifndef TIGRIS_KERNELS_WINDOW_H
#define TIGRIS_KERNELS_WINDOW_H

#include "check.h"

/* Channels that are accumulated together, on the stack. */
#define CHANNEL_BLOCK 32u

/* One axis of one image. */
typedef struct {
    uint32_t in, out, kernel, stride, dilation, pad;
} axis_t;

/* The axes that a parameter struct describes. */
#define VERTICAL_AXIS(p, dilation) {(p)->in_h, (p)->out_h, (p)->kernel_h, (p)->stride_h, (dilation), (p)->pad_top}
#define HORIZONTAL_AXIS(p, dilation) {(p)->in_w, (p)->out_w, (p)->kernel_w, (p)->stride_w, (dilation), (p)->pad_left}

/* The taps of one window that meet the input: `count` from `tap` on; `index` is where the first of them lies. */
typedef struct {
    uint32_t tap, count, index;
} taps_t;

/* Nothing is zero, and every position fits in 31 bits. */
static inline bool is_axis(const axis_t *axis)
{
    const uint32_t limit = 0x3FFFFFFFu;

    return axis->in != 0u && axis->out != 0u && axis->kernel != 0u && axis->stride != 0u && axis->dilation != 0u &&
           (axis->kernel - 1u) * axis->dilation <= limit && (axis->out - 1u) * axis->stride <= limit;
}

/* No window misses the input: windows ascend, so that the first and the last tell. Dilation is 1. */
static inline bool meets_input(const axis_t *axis)
{
    return axis->kernel > axis->pad && (axis->out - 1u) * axis->stride < axis->in + axis->pad;
}

static inline int32_t window_origin(const axis_t *axis, uint32_t index)
{
    return (int32_t)(index * axis->stride) - (int32_t)axis->pad;
}

/* Taps needed to cover `distance`. */
static inline uint32_t taps_to(const axis_t *axis, int32_t distance)
{
    if (distance <= 0) {
        return 0u;
    }
    return axis->dilation == 1u ? (uint32_t)distance : divide_up((uint32_t)distance, axis->dilation);
}

static inline taps_t window_taps(const axis_t *axis, uint32_t index)
{
    const int32_t origin = window_origin(axis, index);
    const uint32_t begin = taps_to(axis, -origin);
    const uint32_t to_end = taps_to(axis, (int32_t)axis->in - origin);
    const uint32_t end = to_end < axis->kernel ? to_end : axis->kernel;
    taps_t taps = {0u, 0u, 0u};

    if (begin < end) {
        taps.tap = begin;
        taps.count = end - begin;
        taps.index = (uint32_t)(origin + (int32_t)(begin * axis->dilation));
    }
    return taps;
}

static inline uint32_t clip_to_axis(const axis_t *axis, int32_t position)
{
    return position <= 0 ? 0u : (uint32_t)position < axis->in ? (uint32_t)position : axis->in;
}

/* Input rows, over all images, from the first to the last that the given output rows need. */
static inline tigris_extent_t window_rows(const axis_t *axis, uint32_t row, uint32_t rows)
{
    const uint32_t last = row + rows - 1u;
    const int32_t reach = (int32_t)((axis->kernel - 1u) * axis->dilation + 1u);
    const uint32_t begin = row / axis->out * axis->in + clip_to_axis(axis, window_origin(axis, row % axis->out));
    const uint32_t end =
        last / axis->out * axis->in + clip_to_axis(axis, window_origin(axis, last % axis->out) + reach);
    const tigris_extent_t extent = {begin, begin < end ? end - begin : 0u};

    return extent;
}

/* Proves the geometry against the operands, and gives the input rows unless the record is a part. */
static inline bool check_window(const tigris_check_t *check, const axis_t *vertical, const axis_t *horizontal,
                                uint32_t in_c, uint32_t out_c, uint32_t size, tigris_extents_t *extents)
{
    const uint32_t in_row = product(product(horizontal->in, in_c), size);
    const uint32_t out_row = product(product(horizontal->out, out_c), size);

    if (!is_axis(vertical) || !is_axis(horizontal) || in_row == 0u || out_row == 0u ||
        check->input_row_bytes[0] != in_row || check->output_row_bytes != out_row ||
        check->output_rows % vertical->out != 0u ||
        check->input_rows[0] != product(check->output_rows / vertical->out, vertical->in)) {
        return false;
    }
    if (!is_part(check)) {
        extents->input[0] = window_rows(vertical, check->row, check->rows);
    }
    return true;
}

/* Proves the channel range of a record. */
static inline bool check_channels(const tigris_check_t *check, uint32_t out_c)
{
    return check->channels == 0u ? check->channel == 0u
                                 : check->channel < out_c && check->channels <= out_c - check->channel;
}

/* Walks the output rows of a call: the taps of each that meet the input, and the input row under the first of them. */
typedef struct {
    const axis_t *axis;
    const uint8_t *base; /* input row `first` */
    uint32_t first, row_bytes;
    uint32_t image, index; /* next output row */
    taps_t taps;
    const uint8_t *data;
} row_walk_t;

static inline row_walk_t walk_rows(const tigris_call_t *call, const axis_t *vertical)
{
    row_walk_t walk;

    walk.axis = vertical;
    walk.first = window_rows(vertical, call->row, call->rows).first;
    walk.base = tigris_input_rows(call, 0, walk.first);
    walk.row_bytes = call->input[0].row_bytes;
    walk.image = call->row / vertical->out;
    walk.index = call->row % vertical->out;
    walk.taps.tap = walk.taps.count = walk.taps.index = 0u;
    walk.data = walk.base;
    return walk;
}

static inline void walk_next(row_walk_t *walk)
{
    walk->taps = window_taps(walk->axis, walk->index);
    walk->data = walk->base;
    if (walk->taps.count != 0u) {
        const uint32_t row = walk->image * walk->axis->in + walk->taps.index;
        walk->data += (size_t)(row - walk->first) * walk->row_bytes;
    }
    if (++walk->index == walk->axis->out) {
        walk->index = 0u;
        walk->image++;
    }
}

#endif
