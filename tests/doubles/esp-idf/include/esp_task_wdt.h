#ifndef ESP_TASK_WDT_H
#define ESP_TASK_WDT_H

#include "esp_err.h"
#include "freertos/task.h"

#ifdef __cplusplus
extern "C" {
#endif

esp_err_t esp_task_wdt_status(TaskHandle_t task);
esp_err_t esp_task_wdt_reset(void);

#ifdef __cplusplus
}
#endif

#endif
