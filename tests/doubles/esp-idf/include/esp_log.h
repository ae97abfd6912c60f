#ifndef ESP_LOG_H
#define ESP_LOG_H

#include <stdio.h>

#define ESP_LOGE(tag, text) ((void)printf("E (0) %s: %s\n", (tag), (text)))

#endif
