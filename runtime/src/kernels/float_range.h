/* Limits of float values, with TFLite's order of comparisons: NaN passes through. */
#ifndef TIGRIS_KERNELS_FLOAT_RANGE_H
#define TIGRIS_KERNELS_FLOAT_RANGE_H

static inline float clamp_f32(float x, float low, float high)
{
    const float raised = x < low ? low : x;
    return high < raised ? high : raised;
}

#endif
