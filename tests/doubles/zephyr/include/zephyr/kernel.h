/* The kernel functions that the platform calls, see README.md beside `include`. */
#ifndef DOUBLE_ZEPHYR_KERNEL_H
#define DOUBLE_ZEPHYR_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef CONFIG_THREAD_STACK_INFO
struct _thread_stack_info {
    uintptr_t start;
    size_t size;
    size_t delta;
};
#endif

struct k_thread {
#ifdef CONFIG_THREAD_STACK_INFO
    struct _thread_stack_info stack_info;
#endif
    int priority;
};

typedef struct k_thread *k_tid_t;

typedef struct {
    int64_t ticks;
} k_timeout_t;

#define K_FOREVER ((k_timeout_t){-1})

k_tid_t k_current_get(void);
uint32_t k_cycle_get_32(void);
#ifdef CONFIG_TIMER_HAS_64BIT_CYCLE_COUNTER
uint64_t k_cycle_get_64(void);
#endif
int sys_clock_hw_cycles_per_sec(void);
int32_t k_sleep(k_timeout_t timeout);

#endif
