/* What the caller owes a plan, and where a plan's inputs and outputs are. */
#include <string.h>

#include "plan_access.h"

uint32_t tigris_fast_arena_required(const tigris_plan_t *plan)
{
    return plan->header->fast_bytes;
}

uint32_t tigris_slow_arena_required(const tigris_plan_t *plan)
{
    return plan->header->slow_bytes;
}

uint32_t tigris_state_required(const tigris_plan_t *plan)
{
    return plan->header->state_bytes;
}

uint32_t tigris_executor_workspace_required(const tigris_plan_t *plan)
{
    (void)plan; /* grows with the depth of control flow, which plans of version 1 do not have */
    return (uint32_t)sizeof(tigris_executor_t);
}

static tigris_status_t check_arena(const void *arena, size_t size, uint32_t required)
{
    if (required == 0u) {
        return TIGRIS_OK;
    }
    if (arena == NULL) {
        return TIGRIS_ERR_NULL;
    }
    if ((uintptr_t)arena % TIGRIS_TENSOR_ALIGN != 0u) {
        return TIGRIS_ERR_ALIGN;
    }
    return size < required ? TIGRIS_EXEC_ERR_MEM : TIGRIS_OK;
}

tigris_status_t tigris_mem_init(tigris_mem_t *mem, const tigris_plan_t *plan, void *fast, size_t fast_size, void *slow,
                                size_t slow_size)
{
    if (mem == NULL || plan == NULL) {
        return TIGRIS_ERR_NULL;
    }
    uint32_t fast_bytes = plan->header->fast_bytes;
    uint32_t slow_bytes = plan->header->slow_bytes;
    tigris_status_t status = check_arena(fast, fast_size, fast_bytes);
    if (status == TIGRIS_OK) {
        status = check_arena(slow, slow_size, slow_bytes);
    }
    if (status != TIGRIS_OK) {
        return status;
    }
    uintptr_t fast_at = (uintptr_t)fast;
    uintptr_t slow_at = (uintptr_t)slow;
    if (fast_bytes != 0u && slow_bytes != 0u && fast_at < slow_at + slow_bytes && slow_at < fast_at + fast_bytes) {
        return TIGRIS_ERR_OVERLAP;
    }
    memset(mem, 0, sizeof *mem);
    mem->base[TIGRIS_SPACE_FAST] = fast;
    mem->base[TIGRIS_SPACE_SLOW] = slow;
    /* One table of bases serves reads and writes; the loader has proved that no record writes to the constants. */
    mem->base[TIGRIS_SPACE_CONSTANTS] = (uint8_t *)(uintptr_t)plan->constants;
    return TIGRIS_OK;
}

static const tigris_interface_t *port_at(const tigris_plan_t *plan, uint32_t first, uint32_t count, uint32_t index)
{
    return index < count ? &plan->interfaces[first + index] : NULL;
}

const tigris_interface_t *tigris_input_info(const tigris_plan_t *plan, uint32_t index)
{
    return port_at(plan, 0, plan->header->inputs, index);
}

const tigris_interface_t *tigris_output_info(const tigris_plan_t *plan, uint32_t index)
{
    return port_at(plan, plan->header->inputs, plan->header->outputs, index);
}

static uint8_t *port_data(const tigris_plan_t *plan, const tigris_mem_t *mem, const tigris_interface_t *port)
{
    if (port == NULL) {
        return NULL;
    }
    const tigris_operand_t *operand = &plan->operands[port->operand];
    return mem->base[tigris_space(operand)] + tigris_offset(operand);
}

static uint32_t port_bytes(const tigris_plan_t *plan, const tigris_interface_t *port)
{
    return port == NULL ? 0u : (uint32_t)plan->operands[port->operand].rows * plan->operands[port->operand].row_bytes;
}

void *tigris_input(const tigris_plan_t *plan, const tigris_mem_t *mem, uint32_t index)
{
    return port_data(plan, mem, tigris_input_info(plan, index));
}

const void *tigris_output(const tigris_plan_t *plan, const tigris_mem_t *mem, uint32_t index)
{
    return port_data(plan, mem, tigris_output_info(plan, index));
}

uint32_t tigris_input_bytes(const tigris_plan_t *plan, uint32_t index)
{
    return port_bytes(plan, tigris_input_info(plan, index));
}

uint32_t tigris_output_bytes(const tigris_plan_t *plan, uint32_t index)
{
    return port_bytes(plan, tigris_output_info(plan, index));
}

tigris_status_t tigris_state_init(const tigris_plan_t *plan, void *state, size_t state_size)
{
    if (plan == NULL) {
        return TIGRIS_ERR_NULL;
    }
    tigris_status_t status = check_arena(state, state_size, plan->header->state_bytes);
    if (status == TIGRIS_EXEC_ERR_MEM || status == TIGRIS_ERR_NULL) {
        return TIGRIS_ERR_STATE;
    }
    if (status == TIGRIS_OK && plan->header->state_bytes != 0u) {
        memset(state, 0, plan->header->state_bytes);
    }
    return status;
}

const char *tigris_status_text(tigris_status_t status)
{
    switch (status) {
    case TIGRIS_OK:
        return "done";
    case TIGRIS_ERR_NULL:
        return "a pointer is NULL";
    case TIGRIS_ERR_ALIGN:
        return "the plan, an arena, the state or the workspace is not aligned";
    case TIGRIS_ERR_TRUNCATED:
        return "the plan is shorter than it says";
    case TIGRIS_ERR_MAGIC:
        return "these bytes are not a plan";
    case TIGRIS_ERR_VERSION:
        return "the plan has another format version";
    case TIGRIS_ERR_CRC:
        return "the plan is damaged";
    case TIGRIS_ERR_FORMAT:
        return "a table of the plan is inconsistent";
    case TIGRIS_ERR_KERNEL_MISSING:
        return "the plan needs a kernel that this build lacks";
    case TIGRIS_ERR_PARAMS:
        return "a kernel's parameters are inconsistent";
    case TIGRIS_ERR_BOUNDS:
        return "a record would leave its memory";
    case TIGRIS_ERR_RECORD:
        return "the schedule has a record of unknown form";
    case TIGRIS_ERR_OVERLAP:
        return "memory overlaps that must be apart";
    case TIGRIS_ERR_WORKSPACE:
        return "the executor workspace is too small";
    case TIGRIS_ERR_STATE:
        return "the state is missing or too small";
    case TIGRIS_ERR_BUSY:
        return "a run is under way on the same memory";
    case TIGRIS_EXEC_ERR_MEM:
        return "an arena is smaller than the plan needs";
    case TIGRIS_EXEC_ERR_DATA:
        return "a kernel met data it cannot compute with";
    case TIGRIS_ERR_ARENA:
        return "another core has the shared arena: write the inputs again";
    }
    return "unknown status";
}
