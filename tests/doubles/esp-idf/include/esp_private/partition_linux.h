#ifndef PARTITION_LINUX_H
#define PARTITION_LINUX_H

typedef struct {
    char flash_file_name[4096];
} esp_partition_file_mmap_ctrl_t;

esp_partition_file_mmap_ctrl_t *esp_partition_get_file_mmap_ctrl_input(void);

#endif
