/*
 * The few functions of ESP-IDF that generated projects call, for programs of this machine. The test says what there is:
 *
 *   DOUBLE_FLASH                   file that is the flash, where the project does not name one
 *   DOUBLE_PLAN_OFFSET, _SIZE      place of the partition "plan", data, 0x40
 *   DOUBLE_SUBSCRIBED              the task has subscribed to the task watchdog
 *
 * A tick passes with each look at the clock. When the program ends, stderr has how often the watchdog was fed and how
 * often others got a tick.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "esp_partition.h"
#include "esp_private/partition_linux.h"
#include "esp_task_wdt.h"
#include "freertos/FreeRTOS.h"
#include "freertos/task.h"

#define STACK_BYTES 8192u
#define MAPPED_AT_MOST 65536u

void app_main(void);

static esp_partition_file_mmap_ctrl_t control;
static uint8_t mapped[MAPPED_AT_MOST] __attribute__((aligned(64)));
static uint8_t *stack_start;
static TickType_t ticks;
static unsigned resets;
static unsigned delays;
static unsigned mappings;

esp_partition_file_mmap_ctrl_t *esp_partition_get_file_mmap_ctrl_input(void)
{
    return &control;
}

static uint32_t number(const char *name)
{
    const char *text = getenv(name);

    return text != NULL ? (uint32_t)strtoul(text, NULL, 0) : 0u;
}

const esp_partition_t *esp_partition_find_first(esp_partition_type_t type, esp_partition_subtype_t subtype,
                                                const char *label)
{
    static esp_partition_t partition;

    partition.address = number("DOUBLE_PLAN_OFFSET");
    partition.size = number("DOUBLE_PLAN_SIZE");
    if (type != ESP_PARTITION_TYPE_DATA || (unsigned)subtype != 0x40u || strcmp(label, "plan") != 0) {
        return NULL;
    }
    return partition.size != 0u ? &partition : NULL;
}

esp_err_t esp_partition_mmap(const esp_partition_t *partition, size_t offset, size_t size,
                             esp_partition_mmap_memory_t memory, const void **out_ptr,
                             esp_partition_mmap_handle_t *out_handle)
{
    const char *name = control.flash_file_name[0] != '\0' ? control.flash_file_name : getenv("DOUBLE_FLASH");
    FILE *flash = name != NULL ? fopen(name, "rb") : NULL;
    size_t got = 0u;

    if (flash == NULL) {
        return ESP_ERR_NOT_FOUND;
    }
    if (memory == ESP_PARTITION_MMAP_DATA && offset + size <= partition->size && size <= sizeof mapped &&
        fseek(flash, (long)(partition->address + offset), SEEK_SET) == 0) {
        got = fread(mapped, 1u, size, flash);
    }
    (void)fclose(flash);
    *out_ptr = mapped;
    *out_handle = ++mappings;
    return got == size ? ESP_OK : ESP_FAIL;
}

void esp_partition_munmap(esp_partition_mmap_handle_t handle)
{
    if (handle != mappings) {
        abort();
    }
    memset(mapped, 0, sizeof mapped);
}

esp_err_t esp_task_wdt_status(TaskHandle_t task)
{
    return task == NULL && getenv("DOUBLE_SUBSCRIBED") != NULL ? ESP_OK : ESP_ERR_NOT_FOUND;
}

esp_err_t esp_task_wdt_reset(void)
{
    resets++;
    return ESP_OK;
}

TickType_t xTaskGetTickCount(void)
{
    return ticks++;
}

/* For ever is the end: on a chip the task sleeps. */
void vTaskDelay(TickType_t waited)
{
    if (waited == portMAX_DELAY) {
        exit(0);
    }
    delays++;
    ticks += waited;
}

#if ESP_IDF_VERSION >= ESP_IDF_VERSION_VAL(6, 0, 0)
uint8_t *xTaskGetStackStart(TaskHandle_t task)
#else
uint8_t *pxTaskGetStackStart(TaskHandle_t task)
#endif
{
    (void)task;
    return stack_start;
}

static void report(void)
{
    (void)fprintf(stderr, "resets=%u delays=%u mappings=%u\n", resets, delays, mappings);
}

/* The main task: it returns where app_main does. */
int main(void)
{
    stack_start = (uint8_t *)__builtin_frame_address(0) - STACK_BYTES;
    (void)atexit(report);
    app_main();
    return 0;
}
