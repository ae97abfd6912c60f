/*
 * Every misuse of the runtime's interface has its own status. Given is a good plan with at least two operands whose
 * first record is a RUN of operator 0; damaged copies of it get their checksum mended.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "all_kernels.h"
#include "tigris_kernel.h"

#define GUARD 64u

static uint8_t *good, *copy; /* 16-aligned */
static size_t size;
static int failures;

#define EXPECT(status, expression) expect((status), (expression), #expression, __LINE__)

static void expect(tigris_status_t wanted, tigris_status_t got, const char *what, int line)
{
    if (wanted != got) {
        printf("line %d: %s is \"%s\", expected \"%s\"\n", line, what, tigris_status_text(got),
               tigris_status_text(wanted));
        failures++;
    }
}

#define HOLDS(condition) holds((condition), #condition, __LINE__)

static void holds(int condition, const char *what, int line)
{
    if (!condition) {
        printf("line %d: not so: %s\n", line, what);
        failures++;
    }
}

static uint8_t *aligned(size_t bytes)
{
    uint8_t *block = malloc(bytes + 2u * TIGRIS_TENSOR_ALIGN);
    if (block == NULL) {
        exit(2);
    }
    return block + (TIGRIS_TENSOR_ALIGN - (uintptr_t)block % TIGRIS_TENSOR_ALIGN) % TIGRIS_TENSOR_ALIGN;
}

static tigris_header_t *header(void)
{
    return (tigris_header_t *)(void *)copy;
}

static void *section(uint32_t number)
{
    return copy + header()->sections[2u * number];
}

static tigris_record_t *record(void)
{
    return section(TIGRIS_SECTION_SCHEDULE);
}

static tigris_operator_t *operators(void)
{
    return section(TIGRIS_SECTION_OPERATORS);
}

static tigris_operand_t *operands(void)
{
    return section(TIGRIS_SECTION_OPERANDS);
}

static void restore(void)
{
    memcpy(copy, good, size);
}

static void mend(void)
{
    uint32_t crc = 0xFFFFFFFFu;
    header()->crc32 = 0;
    for (size_t i = 0; i < header()->file_bytes; i++) {
        crc ^= copy[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = (crc >> 1) ^ (0xEDB88320u & (0u - (crc & 1u)));
        }
    }
    header()->crc32 = ~crc;
}

static tigris_status_t load(tigris_plan_t *plan)
{
    return tigris_plan_load(plan, copy, size, tigris_all_kernels, tigris_all_kernel_count);
}

/* What the loader says to the copy as it was changed; a refused plan leaves the caller's value alone. */
static tigris_status_t load_changed(void)
{
    tigris_plan_t plan, before;
    memset(&plan, 0xEE, sizeof plan);
    memcpy(&before, &plan, sizeof plan);
    mend();
    const tigris_status_t status = load(&plan);
    HOLDS(status == TIGRIS_OK || memcmp(&plan, &before, sizeof plan) == 0);
    restore();
    return status;
}

static void test_load(void)
{
    tigris_plan_t plan;
    restore();
    EXPECT(TIGRIS_OK, load(&plan));
    EXPECT(TIGRIS_ERR_NULL, load(NULL));
    EXPECT(TIGRIS_ERR_NULL, tigris_plan_load(&plan, NULL, size, tigris_all_kernels, tigris_all_kernel_count));
    EXPECT(TIGRIS_ERR_NULL, tigris_plan_load(&plan, copy, size, NULL, 1));
    EXPECT(TIGRIS_ERR_KERNEL_MISSING, tigris_plan_load(&plan, copy, size, NULL, 0));
    EXPECT(TIGRIS_ERR_TRUNCATED, tigris_plan_load(&plan, copy, 0, tigris_all_kernels, tigris_all_kernel_count));
    EXPECT(TIGRIS_ERR_TRUNCATED, tigris_plan_load(&plan, copy, sizeof(tigris_header_t) - 1u, tigris_all_kernels,
                                                  tigris_all_kernel_count));
    EXPECT(TIGRIS_ERR_TRUNCATED, tigris_plan_load(&plan, copy, size - 1u, tigris_all_kernels,
                                                  tigris_all_kernel_count));
    EXPECT(TIGRIS_OK, tigris_plan_load(&plan, copy, size + 1u, tigris_all_kernels, tigris_all_kernel_count));

    uint8_t *shifted = aligned(size + TIGRIS_TENSOR_ALIGN) + 4;
    memcpy(shifted, good, size);
    EXPECT(TIGRIS_ERR_ALIGN, tigris_plan_load(&plan, shifted, size, tigris_all_kernels, tigris_all_kernel_count));

    tigris_kernel_t fewer[256];
    uint32_t count = 0;
    for (uint32_t i = 0; i < tigris_all_kernel_count && count < 256u; i++) {
        if (tigris_all_kernels[i].id != operators()->kernel) {
            fewer[count++] = tigris_all_kernels[i];
        }
    }
    EXPECT(TIGRIS_ERR_KERNEL_MISSING, tigris_plan_load(&plan, copy, size, fewer, count));

    copy[size - 1u] ^= 1u;
    EXPECT(TIGRIS_ERR_CRC, load(&plan));
    restore();
    header()->magic++;
    EXPECT(TIGRIS_ERR_MAGIC, load_changed());
    header()->version++;
    EXPECT(TIGRIS_ERR_VERSION, load_changed());
    header()->file_bytes = sizeof(tigris_header_t) - 1u;
    EXPECT(TIGRIS_ERR_TRUNCATED, load(&plan));
    restore();
}

static void test_tables(void)
{
    for (uint32_t i = 0; i < TIGRIS_SECTIONS; i++) {
        header()->sections[2u * i] += 4u;
        EXPECT(TIGRIS_ERR_FORMAT, load_changed());
        header()->sections[2u * i] = header()->file_bytes + TIGRIS_TENSOR_ALIGN;
        EXPECT(TIGRIS_ERR_FORMAT, load_changed());
        header()->sections[2u * i + 1u] = 0xFFFFFFF0u;
        EXPECT(TIGRIS_ERR_FORMAT, load_changed());
    }
    header()->inputs++;
    EXPECT(TIGRIS_ERR_FORMAT, load_changed());
    header()->fast_bytes -= TIGRIS_TENSOR_ALIGN;
    EXPECT(TIGRIS_ERR_BOUNDS, load_changed());
    operands()->rows = 0;
    EXPECT(TIGRIS_ERR_FORMAT, load_changed());
    operands()->location += 4u;
    EXPECT(TIGRIS_ERR_FORMAT, load_changed());
    operands()->location |= (uint32_t)TIGRIS_SPACE_EXTERNAL << TIGRIS_CONST_OFFSET_BITS;
    EXPECT(TIGRIS_ERR_BOUNDS, load_changed());
    operators()->kernel = 0xFFFE;
    EXPECT(TIGRIS_ERR_KERNEL_MISSING, load_changed());
    operators()->params += 2u;
    EXPECT(TIGRIS_ERR_FORMAT, load_changed());
    operators()->input[0] = 0xFFFE;
    EXPECT(TIGRIS_ERR_FORMAT, load_changed());
    operators()->output = TIGRIS_ABSENT;
    EXPECT(TIGRIS_ERR_FORMAT, load_changed());
    memset((uint8_t *)section(TIGRIS_SECTION_PARAMS) + operators()->params, 0, 8);
    EXPECT(TIGRIS_ERR_PARAMS, load_changed());
    for (uint32_t i = 0; i < 6u; i++) {
        ((tigris_interface_t *)section(TIGRIS_SECTION_INTERFACE))->shape[i] = 0xFFFFFFFFu;
        EXPECT(TIGRIS_ERR_FORMAT, load_changed());
    }
}

static void test_records(void)
{
    record()->kind = 0;
    EXPECT(TIGRIS_ERR_RECORD, load_changed());
    record()->kind = TIGRIS_KIND_BRANCH;
    EXPECT(TIGRIS_ERR_RECORD, load_changed());
    record()->target = 0xFFFF;
    EXPECT(TIGRIS_ERR_RECORD, load_changed());
    record()->rows = 0;
    EXPECT(TIGRIS_ERR_RECORD, load_changed());
    record()->flags = 0x80;
    EXPECT(TIGRIS_ERR_PARAMS, load_changed());
    record()->rows = 0xFFFF;
    EXPECT(TIGRIS_ERR_BOUNDS, load_changed());
    record()->row = 0xFFFF;
    EXPECT(TIGRIS_ERR_BOUNDS, load_changed());
    operands()[operators()->output].location = 0;
    operands()[operators()->input[0]].location = 0;
    EXPECT(TIGRIS_ERR_OVERLAP, load_changed());
}

static void test_memory(void)
{
    tigris_plan_t plan;
    tigris_mem_t mem;
    header()->slow_bytes = 64;
    mend();
    EXPECT(TIGRIS_OK, load(&plan));
    const uint32_t fast_bytes = tigris_fast_arena_required(&plan);
    uint8_t *arenas = aligned(fast_bytes + 256u), *fast = arenas, *slow = arenas + (fast_bytes + 15u) / 16u * 16u;
    HOLDS(tigris_slow_arena_required(&plan) == 64u);
    EXPECT(TIGRIS_ERR_NULL, tigris_mem_init(NULL, &plan, fast, fast_bytes, slow, 64));
    EXPECT(TIGRIS_ERR_NULL, tigris_mem_init(&mem, NULL, fast, fast_bytes, slow, 64));
    EXPECT(TIGRIS_ERR_NULL, tigris_mem_init(&mem, &plan, NULL, fast_bytes, slow, 64));
    EXPECT(TIGRIS_ERR_NULL, tigris_mem_init(&mem, &plan, fast, fast_bytes, NULL, 64));
    EXPECT(TIGRIS_ERR_ALIGN, tigris_mem_init(&mem, &plan, fast + 8, fast_bytes, slow, 64));
    EXPECT(TIGRIS_ERR_ALIGN, tigris_mem_init(&mem, &plan, fast, fast_bytes, slow + 1, 64));
    EXPECT(TIGRIS_EXEC_ERR_MEM, tigris_mem_init(&mem, &plan, fast, fast_bytes - 1u, slow, 64));
    EXPECT(TIGRIS_EXEC_ERR_MEM, tigris_mem_init(&mem, &plan, fast, fast_bytes, slow, 63));
    EXPECT(TIGRIS_ERR_OVERLAP, tigris_mem_init(&mem, &plan, fast, fast_bytes, fast, 64));
    EXPECT(TIGRIS_ERR_OVERLAP, tigris_mem_init(&mem, &plan, fast + 48, fast_bytes, fast, 64));
    EXPECT(TIGRIS_ERR_OVERLAP, tigris_mem_init(&mem, &plan, fast, fast_bytes, slow - 16, 64));
    EXPECT(TIGRIS_OK, tigris_mem_init(&mem, &plan, fast, fast_bytes, slow, 64));
    EXPECT(TIGRIS_OK, tigris_mem_init(&mem, &plan, fast + 64, fast_bytes, fast, 64));
    restore();
    EXPECT(TIGRIS_OK, load(&plan));
    EXPECT(TIGRIS_OK, tigris_mem_init(&mem, &plan, fast, fast_bytes, NULL, 0));
}

static void test_state(void)
{
    tigris_plan_t plan;
    tigris_mem_t mem;
    header()->state_bytes = 32;
    mend();
    EXPECT(TIGRIS_OK, load(&plan));
    const uint32_t fast_bytes = tigris_fast_arena_required(&plan);
    uint8_t *fast = aligned(fast_bytes), *state = aligned(64);
    HOLDS(tigris_state_required(&plan) == 32u);
    EXPECT(TIGRIS_OK, tigris_mem_init(&mem, &plan, fast, fast_bytes, NULL, 0));
    EXPECT(TIGRIS_ERR_NULL, tigris_state_init(NULL, state, 32));
    EXPECT(TIGRIS_ERR_STATE, tigris_state_init(&plan, NULL, 32));
    EXPECT(TIGRIS_ERR_STATE, tigris_state_init(&plan, state, 31));
    EXPECT(TIGRIS_ERR_ALIGN, tigris_state_init(&plan, state + 4, 32));
    memset(state, 0xFF, 33);
    EXPECT(TIGRIS_OK, tigris_state_init(&plan, state, 33));
    HOLDS(state[0] == 0 && state[31] == 0 && state[32] == 0xFF);
    EXPECT(TIGRIS_ERR_STATE, tigris_run(&plan, &mem));
    EXPECT(TIGRIS_ERR_NULL, tigris_run_with_state(NULL, &mem, state, 32));
    EXPECT(TIGRIS_ERR_NULL, tigris_run_with_state(&plan, NULL, state, 32));
    EXPECT(TIGRIS_ERR_STATE, tigris_run_with_state(&plan, &mem, NULL, 32));
    EXPECT(TIGRIS_ERR_STATE, tigris_run_with_state(&plan, &mem, state, 31));
    EXPECT(TIGRIS_ERR_ALIGN, tigris_run_with_state(&plan, &mem, state + 4, 32));
    EXPECT(TIGRIS_OK, tigris_run_with_state(&plan, &mem, state, 32));
    restore();
}

static void fill_inputs(const tigris_plan_t *plan, const tigris_mem_t *mem)
{
    for (uint32_t i = 0; tigris_input_info(plan, i) != NULL; i++) {
        uint8_t *input = tigris_input(plan, mem, i);
        for (uint32_t k = 0; k < tigris_input_bytes(plan, i); k++) {
            input[k] = (uint8_t)(k * 29u);
        }
    }
}

static void test_run(void)
{
    tigris_plan_t plan;
    tigris_mem_t mem;
    EXPECT(TIGRIS_OK, load(&plan));
    const uint32_t fast_bytes = tigris_fast_arena_required(&plan);
    const uint32_t workspace_bytes = tigris_executor_workspace_required(&plan);
    uint8_t *arena = aligned(fast_bytes + GUARD), *workspace = aligned(workspace_bytes + GUARD);
    memset(arena, 0x5A, fast_bytes + GUARD);
    memset(workspace, 0x5A, workspace_bytes + GUARD);
    EXPECT(TIGRIS_OK, tigris_mem_init(&mem, &plan, arena, fast_bytes, NULL, 0));

    EXPECT(TIGRIS_ERR_NULL, tigris_run(NULL, &mem));
    EXPECT(TIGRIS_ERR_NULL, tigris_run(&plan, NULL));
    EXPECT(TIGRIS_ERR_NULL, tigris_run_with_workspace_buffer(&plan, &mem, NULL, workspace_bytes));
    EXPECT(TIGRIS_ERR_ALIGN, tigris_run_with_workspace_buffer(&plan, &mem, workspace + 1, workspace_bytes));
    EXPECT(TIGRIS_ERR_WORKSPACE, tigris_run_with_workspace_buffer(&plan, &mem, workspace, workspace_bytes - 1u));
    HOLDS(tigris_input(&plan, &mem, 0xFFFF) == NULL && tigris_output(&plan, &mem, 0xFFFF) == NULL);
    HOLDS(tigris_input_info(&plan, 0xFFFF) == NULL && tigris_output_info(&plan, 0xFFFF) == NULL);
    HOLDS(tigris_input_bytes(&plan, 0xFFFF) == 0u && tigris_output_bytes(&plan, 0xFFFF) == 0u);

    const uint32_t bytes = tigris_output_bytes(&plan, 0);
    uint8_t *first = aligned(bytes);
    fill_inputs(&plan, &mem);
    EXPECT(TIGRIS_OK, tigris_run(&plan, &mem));
    memcpy(first, tigris_output(&plan, &mem, 0), bytes);

    fill_inputs(&plan, &mem);
    EXPECT(TIGRIS_OK, tigris_run_with_workspace_buffer(&plan, &mem, workspace, workspace_bytes));
    HOLDS(memcmp(first, tigris_output(&plan, &mem, 0), bytes) == 0);

    tigris_executor_t executor;
    int done = 0;
    fill_inputs(&plan, &mem);
    tigris_start(&executor);
    while (!done) {
        EXPECT(TIGRIS_OK, tigris_step(&plan, &mem, &executor, &done));
    }
    HOLDS(memcmp(first, tigris_output(&plan, &mem, 0), bytes) == 0);
    EXPECT(TIGRIS_OK, tigris_step(&plan, &mem, &executor, &done)); /* behind the end: still done */
    HOLDS(done);

    for (uint32_t i = 0; i < GUARD; i++) {
        HOLDS(arena[fast_bytes + i] == 0x5A && workspace[workspace_bytes + i] == 0x5A);
    }
    HOLDS(memcmp(copy, good, size) == 0);
}

static tigris_status_t stops(const tigris_call_t *call)
{
    (void)call;
    return TIGRIS_EXEC_ERR_DATA;
}

/* A kernel's own status ends the run. */
static void test_kernel_status(void)
{
    tigris_kernel_t kernels[256];
    tigris_plan_t plan;
    tigris_mem_t mem;
    uint32_t count = tigris_all_kernel_count < 256u ? tigris_all_kernel_count : 256u;
    for (uint32_t i = 0; i < count; i++) {
        kernels[i] = tigris_all_kernels[i];
        kernels[i].run = stops;
    }
    EXPECT(TIGRIS_OK, tigris_plan_load(&plan, copy, size, kernels, count));
    uint8_t *fast = aligned(tigris_fast_arena_required(&plan));
    EXPECT(TIGRIS_OK, tigris_mem_init(&mem, &plan, fast, tigris_fast_arena_required(&plan), NULL, 0));
    EXPECT(TIGRIS_EXEC_ERR_DATA, tigris_run(&plan, &mem));
}

static void test_texts(void)
{
    for (int i = TIGRIS_OK; i <= TIGRIS_ERR_ARENA; i++) {
        HOLDS(strcmp(tigris_status_text((tigris_status_t)i), "unknown status") != 0);
        for (int k = TIGRIS_OK; k < i; k++) {
            HOLDS(strcmp(tigris_status_text((tigris_status_t)i), tigris_status_text((tigris_status_t)k)) != 0);
        }
    }
    HOLDS(strcmp(tigris_status_text((tigris_status_t)(TIGRIS_ERR_ARENA + 1)), "unknown status") == 0);
}

int main(int count, char **arguments)
{
    FILE *file = count == 2 ? fopen(arguments[1], "rb") : NULL;
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        return 2;
    }
    size = (size_t)ftell(file);
    good = aligned(size + 1u);
    copy = aligned(size + 1u);
    if (fseek(file, 0, SEEK_SET) != 0 || fread(good, 1, size, file) != size) {
        return 2;
    }
    fclose(file);
    test_load();
    test_tables();
    test_records();
    test_memory();
    test_state();
    test_run();
    test_kernel_status();
    test_texts();
    return failures == 0 ? 0 : 1;
}
