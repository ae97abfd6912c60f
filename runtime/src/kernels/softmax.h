/* What the softmaxes share: a record covers whole vectors. */
#ifndef TIGRIS_KERNELS_SOFTMAX_H
#define TIGRIS_KERNELS_SOFTMAX_H

#include "elementwise.h"

static inline tigris_status_t softmax_check(const tigris_check_t *check, uint32_t vectors, uint32_t depth,
                                            uint32_t size, tigris_extents_t *extents)
{
    const tigris_status_t status = elementwise_check(check, product(vectors, depth), size, size, extents);
    uint32_t row;

    if (status != TIGRIS_OK) {
        return status;
    }
    extents->in_place = 0u; /* each element of a vector is read several times */
    row = check->output_row_bytes / size;
    return check->row * row % depth == 0u && check->rows * row % depth == 0u ? TIGRIS_OK : TIGRIS_ERR_BOUNDS;
}

#endif
