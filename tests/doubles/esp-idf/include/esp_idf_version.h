#ifndef ESP_IDF_VERSION_H
#define ESP_IDF_VERSION_H

#define ESP_IDF_VERSION_VAL(major, minor, patch) (((major) << 16) | ((minor) << 8) | (patch))
#ifndef DOUBLE_IDF_MAJOR
#define DOUBLE_IDF_MAJOR 5
#endif
#define ESP_IDF_VERSION ESP_IDF_VERSION_VAL(DOUBLE_IDF_MAJOR, 0, 0)

#endif
