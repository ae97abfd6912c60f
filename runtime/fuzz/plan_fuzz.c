/*
 * Hostile plans: whatever the bytes, the loader answers with a status, and a plan that it accepts runs inside memory of
 * exactly the size that it states and leaves its own bytes alone.
 *
 * Two programs are built from this file. With -DTIGRIS_LIBFUZZER it is a libFuzzer target. Without, a plain program:
 *
 *     plan_fuzz MUTATIONS plan.tgrs...
 *
 * runs each plan, every truncation of it, every byte of it changed in a dozen ways, then MUTATIONS random changes, the
 * same in every run. Build it with AddressSanitizer: the arenas have no guards of their own. The checksum is mended, so
 * that what it protects is reached. A plan that a sanitizer objects to is left in crash.tgrs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "all_kernels.h"

/* What keeps one input fast: more memory is not mapped, more records are not run. */
#define MOST_BYTES (64u << 10)
#define MOST_STEPS 2000u

#define STATUSES 32u

static unsigned long outcomes[STATUSES], runs;
static const uint8_t *current;
static size_t current_size;

static void require(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "plan_fuzz: %s\n", what);
        abort();
    }
}

static uint32_t crc32_of(const uint8_t *data, size_t size)
{
    uint32_t crc = 0xFFFFFFFFu;
    for (size_t i = 0; i < size; i++) {
        const int in_field = i - offsetof(tigris_header_t, crc32) < sizeof(uint32_t);
        crc ^= in_field ? 0u : data[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = (crc >> 1) ^ (0xEDB88320u & (0u - (crc & 1u)));
        }
    }
    return ~crc;
}

static void mend(uint8_t *plan, size_t size)
{
    tigris_header_t header;
    if (size >= sizeof header) {
        memcpy(&header, plan, sizeof header);
        if (header.file_bytes <= size) {
            header.crc32 = crc32_of(plan, header.file_bytes);
            memcpy(plan, &header, sizeof header);
        }
    }
}

/* As many bytes as asked for, so that one more is an error; NULL for none. */
static uint8_t *exactly(size_t size, int fill)
{
    uint8_t *memory = size == 0u ? NULL : malloc(size);
    require(size == 0u || memory != NULL, "out of memory");
    if (memory != NULL) {
        memset(memory, fill, size);
    }
    return memory;
}

static void run(const tigris_plan_t *plan)
{
    const uint32_t fast_bytes = tigris_fast_arena_required(plan), slow_bytes = tigris_slow_arena_required(plan);
    const uint32_t state_bytes = tigris_state_required(plan);
    if (fast_bytes > MOST_BYTES || slow_bytes > MOST_BYTES || state_bytes > MOST_BYTES) {
        return;
    }
    uint8_t *fast = exactly(fast_bytes, 0xA5), *slow = exactly(slow_bytes, 0xA5), *state = exactly(state_bytes, 0xA5);
    tigris_mem_t mem;
    tigris_executor_t executor;
    unsigned sum = 0;
    int done = 0;

    require(tigris_mem_init(&mem, plan, fast, fast_bytes, slow, slow_bytes) == TIGRIS_OK, "the memory was refused");
    require(tigris_state_init(plan, state, state_bytes) == TIGRIS_OK, "the state was refused");
    mem.base[TIGRIS_SPACE_STATE] = state;
    for (uint32_t i = 0; tigris_input_info(plan, i) != NULL; i++) {
        uint8_t *input = tigris_input(plan, &mem, i);
        for (uint32_t k = 0; k < tigris_input_bytes(plan, i); k++) {
            input[k] = (uint8_t)(k * 37u);
        }
    }
    tigris_start(&executor);
    for (uint32_t step = 0; step < MOST_STEPS && !done; step++) {
        const tigris_status_t status = tigris_step(plan, &mem, &executor, &done);
        require(status == TIGRIS_OK || status == TIGRIS_EXEC_ERR_DATA, "a checked plan stopped");
        done |= status != TIGRIS_OK;
    }
    for (uint32_t i = 0; tigris_output_info(plan, i) != NULL; i++) {
        const uint8_t *output = tigris_output(plan, &mem, i);
        sum += (unsigned)strlen(plan->names + tigris_output_info(plan, i)->name);
        for (uint32_t k = 0; k < tigris_output_bytes(plan, i); k++) {
            sum += output[k];
        }
    }
    runs += done != 0 && sum != ~0u;
    free(fast);
    free(slow);
    free(state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *bytes = exactly(size, 0), *before = exactly(size, 0);
    tigris_plan_t plan;

    if (size != 0u) {
        memcpy(bytes, data, size);
        mend(bytes, size);
        memcpy(before, bytes, size);
    }
    current = bytes;
    current_size = size;
    const tigris_status_t status = tigris_plan_load(&plan, bytes, size, tigris_all_kernels, tigris_all_kernel_count);
    require((unsigned)status < STATUSES, "an unknown status");
    outcomes[status]++;
    if (status == TIGRIS_OK) {
        run(&plan);
    }
    require(size == 0u || memcmp(before, bytes, size) == 0, "the plan was written to");
    current_size = 0;
    free(bytes);
    free(before);
    return 0;
}

#ifndef TIGRIS_LIBFUZZER

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#endif

#ifdef SANITIZED
void __sanitizer_set_death_callback(void (*callback)(void));

static void keep_plan(void)
{
    FILE *file = current_size == 0u ? NULL : fopen("crash.tgrs", "wb");
    if (file != NULL) {
        fwrite(current, 1, current_size, file);
        fclose(file);
        fprintf(stderr, "plan_fuzz: the plan is in crash.tgrs\n");
    }
}
#endif

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data;

    require(file != NULL && fseek(file, 0, SEEK_END) == 0, path);
    const long length = ftell(file);
    require(length > 0 && fseek(file, 0, SEEK_SET) == 0, path);
    *size = (size_t)length;
    data = exactly(*size, 0);
    require(fread(data, 1, *size, file) == *size, path);
    fclose(file);
    return data;
}

/* The plan cut off after `size` bytes: as it is, and as one that says it is so long. */
static void truncate_at(const uint8_t *plan, size_t size)
{
    uint8_t *cut = exactly(size, 0);

    if (size != 0u) {
        memcpy(cut, plan, size);
    }
    LLVMFuzzerTestOneInput(cut, size);
    if (size >= sizeof(tigris_header_t)) {
        const uint32_t file_bytes = (uint32_t)size;
        memcpy(cut + offsetof(tigris_header_t, file_bytes), &file_bytes, sizeof file_bytes);
        LLVMFuzzerTestOneInput(cut, size);
    }
    free(cut);
}

static void change_byte(uint8_t *plan, size_t size, size_t at)
{
    static const uint8_t others[] = {0x00, 0x01, 0x7F, 0x80, 0xFF};
    const uint8_t was = plan[at];

    for (unsigned bit = 0; bit < 8u; bit++) {
        plan[at] = (uint8_t)(was ^ (1u << bit));
        LLVMFuzzerTestOneInput(plan, size);
    }
    for (size_t i = 0; i < sizeof others; i++) {
        plan[at] = others[i];
        LLVMFuzzerTestOneInput(plan, size);
    }
    plan[at] = (uint8_t)(was + 1u);
    LLVMFuzzerTestOneInput(plan, size);
    plan[at] = (uint8_t)(was - 1u);
    LLVMFuzzerTestOneInput(plan, size);
    plan[at] = was;
}

static uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/* One to four numbers of 8, 16 or 32 bits become edges, neighbours or other numbers of the plan; constants seldom. */
static void change_numbers(uint8_t *plan, size_t size, uint32_t *state)
{
    static const uint32_t edges[] = {0u, 1u, 2u, 0x7Fu, 0xFFu, 0x7FFFu, 0xFFFFu, 0x10000u, 0x7FFFFFFFu, 0xFFFFFFFFu};
    const uint32_t count = 1u + next_random(state) % 4u;

    for (uint32_t i = 0; i < count; i++) {
        const uint32_t width = 1u << next_random(state) % 3u;
        const size_t words = (next_random(state) % 8u == 0u || size < 1024u ? size : 1024u) / width;
        uint8_t *target = plan + next_random(state) % words * width;
        uint32_t value = 0;
        memcpy(&value, target, width);
        switch (next_random(state) % 4u) {
        case 0:
            value = edges[next_random(state) % (sizeof edges / sizeof edges[0])];
            break;
        case 1:
            value += next_random(state) % 33u - 16u;
            break;
        case 2:
            memcpy(&value, plan + next_random(state) % words * width, width);
            break;
        default:
            value ^= 1u << next_random(state) % (8u * width);
            break;
        }
        memcpy(target, &value, width);
    }
}

int main(int count, char **arguments)
{
    uint32_t state = 0x5EED1234u;

#ifdef SANITIZED
    __sanitizer_set_death_callback(keep_plan);
#endif
    require(count > 2, "usage: plan_fuzz MUTATIONS plan.tgrs...");
    const unsigned long mutations = strtoul(arguments[1], NULL, 10);
    for (int i = 2; i < count; i++) {
        size_t size;
        uint8_t *plan = read_file(arguments[i], &size), *mutant = exactly(size, 0);
        const unsigned long whole = runs;

        LLVMFuzzerTestOneInput(plan, size);
        require(runs == whole + 1u, "a plan does not run before it is changed");
        for (size_t at = 0; at < size; at++) {
            truncate_at(plan, at);
            change_byte(plan, size, at);
        }
        for (unsigned long n = 0; n < mutations; n++) {
            memcpy(mutant, plan, size);
            change_numbers(mutant, size, &state);
            LLVMFuzzerTestOneInput(mutant, size);
        }
        free(plan);
        free(mutant);
    }
    for (unsigned i = 0; i < STATUSES; i++) {
        if (outcomes[i] != 0u) {
            printf("%lu %s\n", outcomes[i], tigris_status_text((tigris_status_t)i));
        }
    }
    printf("%lu runs\n", runs);
    return 0;
}

#endif
