/* The executor: obeys a plan that the loader has proved. */
#include <string.h>

#include "plan_access.h"
#include "tigris_kernel.h"

void tigris_start(tigris_executor_t *executor)
{
    memset(executor, 0, sizeof *executor);
}

/* Memory of the rows that a record names: `row` of an operand stored whole, place `slot` of a window. */
static uint8_t *place(const tigris_mem_t *mem, const tigris_operand_t *operand, uint32_t row, uint32_t slot)
{
    size_t first = operand->window != 0u ? slot : row;
    return mem->base[tigris_space(operand)] + tigris_offset(operand) + first * operand->row_bytes;
}

static void *work_memory(const tigris_plan_t *plan, const tigris_mem_t *mem, uint16_t operand)
{
    return operand == TIGRIS_ABSENT ? NULL : place(mem, &plan->operands[operand], 0, 0);
}

static tigris_status_t run_kernel(const tigris_plan_t *plan, const tigris_mem_t *mem, const tigris_record_t *record,
                                  uint32_t row)
{
    const tigris_operator_t *op = &plan->operators[record->target];
    const tigris_operand_t *output = &plan->operands[op->output];
    tigris_call_t call;
    memset(&call, 0, sizeof call);
    call.params = plan->params + op->params;
    call.constants = plan->constants;
    for (uint32_t i = 0; i < TIGRIS_MAX_INPUTS; i++) {
        if (op->input[i] != TIGRIS_ABSENT) {
            const tigris_operand_t *input = &plan->operands[op->input[i]];
            call.input[i].data = place(mem, input, 0, i < 2u ? record->slot[i + 1u] : 0u);
            call.input[i].row_bytes = input->row_bytes;
            call.input[i].step = input->window != 0u ? 0u : input->row_bytes;
        }
    }
    call.output.data = place(mem, output, (record->flags & TIGRIS_FLAG_PART) != 0u ? 0u : row, record->slot[0]);
    call.output.row_bytes = output->row_bytes;
    call.output.step = output->window != 0u ? 0u : output->row_bytes;
    call.accumulator = work_memory(plan, mem, op->accumulator);
    call.scratch = work_memory(plan, mem, op->scratch);
    call.row = row;
    call.rows = record->rows;
    call.channel = record->channel;
    call.channels = record->channels;
    call.flags = record->flags;
    return tigris_find_kernel(plan, op->kernel)->run(&call);
}

static void move_rows(const tigris_plan_t *plan, const tigris_mem_t *mem, const tigris_record_t *record, uint32_t row)
{
    const tigris_operand_t *to = &plan->operands[record->target];
    if (record->kind == TIGRIS_KIND_SHIFT) {
        uint8_t *front = place(mem, to, 0, 0);
        memmove(front, front + (size_t)row * to->row_bytes, (size_t)record->rows * to->row_bytes);
    } else {
        const tigris_operand_t *from = &plan->operands[record->channel];
        memmove(place(mem, to, row, record->slot[0]), place(mem, from, row, record->slot[1]),
                (size_t)record->rows * to->row_bytes);
    }
}

tigris_status_t tigris_step(const tigris_plan_t *plan, const tigris_mem_t *mem, tigris_executor_t *executor, int *done)
{
    if (executor->body_end != 0u && executor->record == executor->body_end) {
        executor->passes_done++;
        if (executor->passes_done < executor->passes) {
            executor->record = executor->body;
        } else {
            executor->body_end = 0;
            executor->passes_done = 0;
        }
    }
    *done = executor->record >= plan->record_count;
    if (*done) {
        return TIGRIS_OK;
    }
    const tigris_record_t *record = &plan->records[executor->record];
    uint32_t row = record->row + executor->passes_done * record->advance;
    executor->record++;
    switch (record->kind) {
    case TIGRIS_KIND_RUN:
        return run_kernel(plan, mem, record, row);
    case TIGRIS_KIND_SHIFT:
    case TIGRIS_KIND_COPY:
        move_rows(plan, mem, record, row);
        return TIGRIS_OK;
    case TIGRIS_KIND_REPEAT:
        executor->body = executor->record;
        executor->body_end = executor->record + record->target;
        executor->passes = record->row;
        return TIGRIS_OK;
    default:
        return TIGRIS_ERR_RECORD;
    }
}

static tigris_status_t run_to_end(const tigris_plan_t *plan, const tigris_mem_t *mem, tigris_executor_t *executor)
{
    tigris_status_t status = TIGRIS_OK;
    int done = 0;
    tigris_start(executor);
    while (status == TIGRIS_OK && !done) {
        status = tigris_step(plan, mem, executor, &done);
    }
    return status;
}

tigris_status_t tigris_run_with_workspace_buffer(const tigris_plan_t *plan, const tigris_mem_t *mem, void *workspace,
                                                 size_t workspace_size)
{
    if (plan == NULL || mem == NULL || workspace == NULL) {
        return TIGRIS_ERR_NULL;
    }
    if ((uintptr_t)workspace % sizeof(uint32_t) != 0u) {
        return TIGRIS_ERR_ALIGN;
    }
    if (workspace_size < tigris_executor_workspace_required(plan)) {
        return TIGRIS_ERR_WORKSPACE;
    }
    if (plan->header->state_bytes != 0u && mem->base[TIGRIS_SPACE_STATE] == NULL) {
        return TIGRIS_ERR_STATE;
    }
    return run_to_end(plan, mem, workspace);
}

tigris_status_t tigris_run(const tigris_plan_t *plan, const tigris_mem_t *mem)
{
    tigris_executor_t executor;
    return tigris_run_with_workspace_buffer(plan, mem, &executor, sizeof executor);
}

tigris_status_t tigris_run_with_state(const tigris_plan_t *plan, const tigris_mem_t *mem, void *state,
                                      size_t state_size)
{
    tigris_executor_t executor;
    if (plan == NULL || mem == NULL) {
        return TIGRIS_ERR_NULL;
    }
    if (state_size < plan->header->state_bytes || (state == NULL && plan->header->state_bytes != 0u)) {
        return TIGRIS_ERR_STATE;
    }
    if ((uintptr_t)state % TIGRIS_TENSOR_ALIGN != 0u) {
        return TIGRIS_ERR_ALIGN;
    }
    tigris_mem_t with_state = *mem;
    with_state.base[TIGRIS_SPACE_STATE] = state;
    return tigris_run_with_workspace_buffer(plan, &with_state, &executor, sizeof executor);
}
