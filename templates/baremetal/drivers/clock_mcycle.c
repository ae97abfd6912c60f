/* The self-test's clock: the cycle counter of a RISC-V core. */
#include "platform.h"

/* The low half is 0 while the high half is written, so that it carries nothing. */
void platform_ticks_start(void)
{
    __asm volatile("csrw mcycle, zero\n\tcsrw mcycleh, zero\n\tcsrw mcycle, zero" : : : "memory");
}

uint64_t platform_ticks_stop(void)
{
    uint32_t high;
    uint32_t low;
    uint32_t again;

    do {
        __asm volatile("csrr %0, mcycleh" : "=r"(high) : : "memory");
        __asm volatile("csrr %0, mcycle" : "=r"(low) : : "memory");
        __asm volatile("csrr %0, mcycleh" : "=r"(again) : : "memory");
    } while (high != again);
    return ((uint64_t)high << 32) | low;
}
