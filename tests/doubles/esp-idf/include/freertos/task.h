#ifndef FREERTOS_TASK_H
#define FREERTOS_TASK_H

#include "esp_idf_version.h"
#include "freertos/FreeRTOS.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef void *TaskHandle_t;

TickType_t xTaskGetTickCount(void);
void vTaskDelay(TickType_t ticks);
#if ESP_IDF_VERSION >= ESP_IDF_VERSION_VAL(6, 0, 0)
uint8_t *xTaskGetStackStart(TaskHandle_t task);
#else
uint8_t *pxTaskGetStackStart(TaskHandle_t task);
#endif

#ifdef __cplusplus
}
#endif

#endif
