/* Every reference kernel, for programs that run any plan. */
#ifndef TIGRIS_ALL_KERNELS_H
#define TIGRIS_ALL_KERNELS_H

#include "tigris.h"
#include "tigris_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const tigris_kernel_t tigris_all_kernels[];
extern const uint32_t tigris_all_kernel_count;

#ifdef __cplusplus
}
#endif

#endif
