/* The self-test's clock: SysTick at the core's clock. It counts 24 bits down, its interrupt the rest up. */
#include "device.h"
#include "platform.h"

static volatile uint32_t wraps;

void SysTick_Handler(void);

/* Weak: an application may want SysTick for itself. */
__attribute__((weak)) void SysTick_Handler(void)
{
    wraps++;
}

void platform_ticks_start(void)
{
    wraps = 0u;
    SysTick->LOAD = SysTick_LOAD_RELOAD_Msk;
    SysTick->VAL = 0u;
    SysTick->CTRL = SysTick_CTRL_CLKSOURCE_Msk | SysTick_CTRL_TICKINT_Msk | SysTick_CTRL_ENABLE_Msk;
}

uint64_t platform_ticks_stop(void)
{
    uint32_t high;
    uint32_t value;

    do {
        high = wraps;
        value = SysTick->VAL;
    } while (high != wraps);
    SysTick->CTRL = 0u;
    /* The counter loads its first value at the first tick and reads 0 until then. */
    return value == 0u ? (uint64_t)high << 24 : ((uint64_t)high << 24) + (SysTick_LOAD_RELOAD_Msk - value) + 1u;
}
