/* See README.md beside `include`. */
#ifndef DOUBLE_ZEPHYR_PRINTK_H
#define DOUBLE_ZEPHYR_PRINTK_H

__attribute__((format(printf, 1, 2))) void printk(const char *format, ...);

#endif
