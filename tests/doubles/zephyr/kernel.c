/*
 * A kernel of one thread. As native_sim, main runs on the host's stack. As a board, it runs on a stack of its own of
 * CONFIG_MAIN_STACK_SIZE bytes, whose ends stack_info tells, and sleeping for ever ends the program.
 */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zephyr/kernel.h>
#include <zephyr/sys/printk.h>
#ifdef CONFIG_ARCH_POSIX
#include <posix_board_if.h>
#endif

/* The application's main, which the build renames as native_sim does. */
int zephyr_main(void);

static struct k_thread main_thread;
static uint32_t cycles = 0xFFFFFFF0u; /* so that 32 bits overflow during a measurement */

void printk(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vprintf(format, arguments);
    va_end(arguments);
}

k_tid_t k_current_get(void)
{
    return &main_thread;
}

uint32_t k_cycle_get_32(void)
{
    cycles += 1000u;
    return cycles;
}

#ifdef CONFIG_TIMER_HAS_64BIT_CYCLE_COUNTER
uint64_t k_cycle_get_64(void)
{
    return k_cycle_get_32() + ((uint64_t)1 << 40);
}
#endif

int sys_clock_hw_cycles_per_sec(void)
{
    return 1000000;
}

int32_t k_sleep(k_timeout_t timeout)
{
    if (timeout.ticks == K_FOREVER.ticks) {
        exit(0);
    }
    return 0;
}

#ifdef CONFIG_ARCH_POSIX

void posix_exit(int exit_code)
{
    exit(exit_code);
}

int main(void)
{
    return zephyr_main();
}

#else

#define SENTINEL 0xF0F0F0F0u

static uint8_t stack[CONFIG_MAIN_STACK_SIZE] __attribute__((aligned(4096)));

static void *run(void *unused)
{
    (void)unused;
    (void)zephyr_main();
    return NULL;
}

int main(void)
{
    const uint32_t sentinel = SENTINEL;
    uint32_t found;
    pthread_attr_t attributes;
    pthread_t thread;

    main_thread.stack_info.start = (uintptr_t)stack;
    main_thread.stack_info.size = sizeof stack;
    memcpy(stack, &sentinel, sizeof sentinel);
    if (pthread_attr_init(&attributes) != 0 || pthread_attr_setstack(&attributes, stack, sizeof stack) != 0 ||
        pthread_create(&thread, &attributes, run, NULL) != 0 || pthread_join(thread, NULL) != 0) {
        return 2;
    }
    memcpy(&found, stack, sizeof found);
    return found == sentinel ? 0 : 3;
}

#endif
