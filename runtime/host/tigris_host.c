#include "tigris_host.h"

#include <stdlib.h>
#include <string.h>

#include "all_kernels.h"

#define GUARD_BYTES 256u
#define GUARD_VALUE 0xA5

/* Memory between two guards. */
typedef struct {
    uint8_t *block;  /* as allocated */
    uint8_t *guarded; /* first guard */
    size_t size;
} arena_t;

struct tigris_host {
    arena_t plan_bytes, fast, slow, state;
    tigris_plan_t plan;
    tigris_mem_t mem;
};

uint32_t tigris_host_abi(void)
{
    return TIGRIS_HOST_ABI;
}

const char *tigris_host_status_text(int status)
{
    return status < 0 ? "out of memory on this machine" : tigris_status_text((tigris_status_t)status);
}

static int arena_open(arena_t *arena, size_t size)
{
    arena->size = size;
    arena->block = malloc(size + 2u * GUARD_BYTES + TIGRIS_TENSOR_ALIGN);
    if (arena->block == NULL) {
        return 0;
    }
    arena->guarded = arena->block + (0u - (uintptr_t)arena->block) % TIGRIS_TENSOR_ALIGN;
    memset(arena->guarded, GUARD_VALUE, size + 2u * GUARD_BYTES);
    return 1;
}

static uint8_t *arena_base(const arena_t *arena)
{
    return arena->guarded + GUARD_BYTES;
}

static int arena_intact(const arena_t *arena)
{
    for (size_t i = 0; i < GUARD_BYTES; i++) {
        if (arena->guarded[i] != GUARD_VALUE || arena_base(arena)[arena->size + i] != GUARD_VALUE) {
            return 0;
        }
    }
    return 1;
}

void tigris_host_close(tigris_host_t *host)
{
    if (host != NULL) {
        free(host->plan_bytes.block);
        free(host->fast.block);
        free(host->slow.block);
        free(host->state.block);
        free(host);
    }
}

/* An aligned copy of the plan, loaded. */
static int load_copy(tigris_host_t *host, const void *plan, size_t size)
{
    if (plan == NULL) {
        return TIGRIS_ERR_NULL;
    }
    if (!arena_open(&host->plan_bytes, size)) {
        return -1;
    }
    uint8_t *copy = arena_base(&host->plan_bytes);
    memcpy(copy, plan, size);
    return tigris_plan_load(&host->plan, copy, size, tigris_all_kernels, tigris_all_kernel_count);
}

static int take_memory(tigris_host_t *host)
{
    if (!arena_open(&host->fast, tigris_fast_arena_required(&host->plan)) ||
        !arena_open(&host->slow, tigris_slow_arena_required(&host->plan)) ||
        !arena_open(&host->state, tigris_state_required(&host->plan))) {
        return -1;
    }
    int status = tigris_mem_init(&host->mem, &host->plan, arena_base(&host->fast), host->fast.size,
                                 arena_base(&host->slow), host->slow.size);
    return status == TIGRIS_OK ? tigris_host_reset_state(host) : status;
}

int tigris_host_open(const void *plan, size_t size, tigris_host_t **host)
{
    tigris_host_t *opened = calloc(1, sizeof *opened);
    if (opened == NULL) {
        return -1;
    }
    int status = load_copy(opened, plan, size);
    if (status == TIGRIS_OK) {
        status = take_memory(opened);
    }
    if (status == TIGRIS_OK) {
        *host = opened;
    } else {
        tigris_host_close(opened);
    }
    return status;
}

int tigris_host_check(const void *plan, size_t size)
{
    tigris_host_t *host = calloc(1, sizeof *host);
    if (host == NULL) {
        return -1;
    }
    int status = load_copy(host, plan, size);
    tigris_host_close(host);
    return status;
}

void *tigris_host_input(tigris_host_t *host, uint32_t index)
{
    return tigris_input(&host->plan, &host->mem, index);
}

const void *tigris_host_output(tigris_host_t *host, uint32_t index)
{
    return tigris_output(&host->plan, &host->mem, index);
}

void tigris_host_poison(tigris_host_t *host, uint8_t byte)
{
    memset(arena_base(&host->fast), byte, host->fast.size);
    memset(arena_base(&host->slow), byte, host->slow.size);
}

int tigris_host_run(tigris_host_t *host)
{
    return tigris_run_with_state(&host->plan, &host->mem, arena_base(&host->state), host->state.size);
}

int tigris_host_reset_state(tigris_host_t *host)
{
    return tigris_state_init(&host->plan, arena_base(&host->state), host->state.size);
}

int tigris_host_guards_intact(const tigris_host_t *host)
{
    return arena_intact(&host->plan_bytes) && arena_intact(&host->fast) && arena_intact(&host->slow) &&
           arena_intact(&host->state);
}
