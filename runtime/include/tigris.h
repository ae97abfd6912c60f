/*
 * Tigris runtime: loads a plan (.tgrs), proves it once, then obeys it.
 *
 * No allocator, no recursion, no global state: all that inference writes is the caller's (arenas, state, executor).
 *
 *     tigris_plan_t plan;
 *     tigris_mem_t mem;
 *     if (tigris_plan_load(&plan, bytes, size, kernels, kernel_count) == TIGRIS_OK &&
 *         tigris_mem_init(&mem, &plan, fast, fast_size, slow, slow_size) == TIGRIS_OK) {
 *         memcpy(tigris_input(&plan, &mem, 0), image, tigris_input_bytes(&plan, 0));
 *         tigris_run(&plan, &mem);
 *         memcpy(result, tigris_output(&plan, &mem, 0), tigris_output_bytes(&plan, 0));
 *     }
 *
 * Inference consumes its inputs: write every input before each run. Outputs are valid until an input is written.
 */
#ifndef TIGRIS_H
#define TIGRIS_H

#include <stddef.h>
#include <stdint.h>

#include "tigris_format.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TIGRIS_VERSION "0.1.0"

/* Alignment in bytes of the plan, the arenas and the state. */
#define TIGRIS_TENSOR_ALIGN 16u

typedef enum {
    TIGRIS_OK = 0,
    TIGRIS_ERR_NULL,            /* a pointer is NULL */
    TIGRIS_ERR_ALIGN,           /* the plan, an arena or the state is not aligned to TIGRIS_TENSOR_ALIGN */
    TIGRIS_ERR_TRUNCATED,       /* the plan is shorter than it says */
    TIGRIS_ERR_MAGIC,           /* not a plan */
    TIGRIS_ERR_VERSION,         /* a plan of another format version */
    TIGRIS_ERR_CRC,             /* the plan is damaged */
    TIGRIS_ERR_FORMAT,          /* a table of the plan is inconsistent */
    TIGRIS_ERR_KERNEL_MISSING,  /* the plan needs a kernel that this build lacks */
    TIGRIS_ERR_PARAMS,          /* a kernel's parameters are inconsistent */
    TIGRIS_ERR_BOUNDS,          /* a record would leave its memory */
    TIGRIS_ERR_RECORD,          /* a record of unknown kind or form */
    TIGRIS_ERR_OVERLAP,         /* memory overlaps that must be apart */
    TIGRIS_ERR_WORKSPACE,       /* the executor workspace is too small */
    TIGRIS_ERR_STATE,           /* the state is missing or too small */
    TIGRIS_ERR_BUSY,            /* a run is under way on the same memory */
    TIGRIS_EXEC_ERR_MEM,        /* an arena is too small for the plan */
    TIGRIS_EXEC_ERR_DATA,       /* a kernel met data it cannot compute with */
    TIGRIS_ERR_ARENA            /* another core has the shared arena: the inputs are to be written again */
} tigris_status_t;

/* A sentence for a status; never NULL. */
const char *tigris_status_text(tigris_status_t status);

struct tigris_call;
struct tigris_check;
struct tigris_extents;

/* One linked kernel. Generated code lists those that a plan needs; a missing one is a link error by name. */
typedef struct {
    uint32_t id;
    tigris_status_t (*run)(const struct tigris_call *call);
    tigris_status_t (*check)(const struct tigris_check *check, struct tigris_extents *extents);
} tigris_kernel_t;

/* A checked plan. It points into the caller's bytes, which stay readable and unchanged while it is used. */
typedef struct {
    const uint8_t *bytes;
    const tigris_header_t *header;
    const tigris_operator_t *operators;
    const tigris_operand_t *operands;
    const tigris_record_t *records;
    const tigris_interface_t *interfaces;
    const uint8_t *params;
    const uint8_t *constants;
    const char *names;
    uint32_t record_count;
    const tigris_kernel_t *kernels;
    uint32_t kernel_count;
} tigris_plan_t;

/* Where the caller's memory is, one base per space. */
typedef struct {
    uint8_t *base[5];
} tigris_mem_t;

/*
 * Checks every table, every kernel's parameters and every access of every record of the plan. After TIGRIS_OK nothing
 * that the plan makes the executor do leaves the memory the plan states. `bytes` is aligned to TIGRIS_TENSOR_ALIGN.
 */
tigris_status_t tigris_plan_load(tigris_plan_t *plan, const void *bytes, size_t size, const tigris_kernel_t *kernels,
                                 uint32_t kernel_count);

/* Bytes the caller owes the plan. */
uint32_t tigris_fast_arena_required(const tigris_plan_t *plan);
uint32_t tigris_slow_arena_required(const tigris_plan_t *plan);
uint32_t tigris_state_required(const tigris_plan_t *plan);
uint32_t tigris_executor_workspace_required(const tigris_plan_t *plan);

/* Takes the caller's arenas; `slow` may be NULL where the plan needs none. */
tigris_status_t tigris_mem_init(tigris_mem_t *mem, const tigris_plan_t *plan, void *fast, size_t fast_size, void *slow,
                                size_t slow_size);

/* Model inputs and outputs, in model order; NULL or 0 for an index there is not. */
void *tigris_input(const tigris_plan_t *plan, const tigris_mem_t *mem, uint32_t index);
const void *tigris_output(const tigris_plan_t *plan, const tigris_mem_t *mem, uint32_t index);
uint32_t tigris_input_bytes(const tigris_plan_t *plan, uint32_t index);
uint32_t tigris_output_bytes(const tigris_plan_t *plan, uint32_t index);
const tigris_interface_t *tigris_input_info(const tigris_plan_t *plan, uint32_t index);
const tigris_interface_t *tigris_output_info(const tigris_plan_t *plan, uint32_t index);

/* Writes the initial values of the variables; needed once before the first run of a plan with state. */
tigris_status_t tigris_state_init(const tigris_plan_t *plan, void *state, size_t state_size);

/* One inference. tigris_run keeps the workspace on the stack and serves plans without state. */
tigris_status_t tigris_run(const tigris_plan_t *plan, const tigris_mem_t *mem);
tigris_status_t tigris_run_with_workspace_buffer(const tigris_plan_t *plan, const tigris_mem_t *mem, void *workspace,
                                                 size_t workspace_size);
tigris_status_t tigris_run_with_state(const tigris_plan_t *plan, const tigris_mem_t *mem, void *state,
                                      size_t state_size);

/* Step by step: start, then step until *done. Each step is one record: a bounded amount of work. The executor
 * workspace (tigris_executor_t, 4-aligned) is the caller's. */
void tigris_start(tigris_executor_t *executor);
tigris_status_t tigris_step(const tigris_plan_t *plan, const tigris_mem_t *mem, tigris_executor_t *executor, int *done);

#ifdef __cplusplus
}
#endif

#endif
