/* Small readers of a checked plan that loader and executor share. */
#ifndef TIGRIS_PLAN_ACCESS_H
#define TIGRIS_PLAN_ACCESS_H

#include "tigris.h"

#define TIGRIS_MEM_SPACES 5u

static inline uint32_t tigris_space(const tigris_operand_t *operand)
{
    return operand->location >> TIGRIS_CONST_OFFSET_BITS;
}

static inline uint32_t tigris_offset(const tigris_operand_t *operand)
{
    return operand->location & TIGRIS_CONST_OFFSET_MASK;
}

/* Rows that the operand's memory holds. */
static inline uint32_t tigris_held_rows(const tigris_operand_t *operand)
{
    return operand->window != 0u ? operand->window : operand->rows;
}

static inline const tigris_kernel_t *tigris_find_kernel(const tigris_plan_t *plan, uint32_t id)
{
    for (uint32_t i = 0; i < plan->kernel_count; i++) {
        if (plan->kernels[i].id == id) {
            return &plan->kernels[i];
        }
    }
    return NULL;
}

#endif
