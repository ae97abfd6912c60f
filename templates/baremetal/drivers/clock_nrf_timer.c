/* The self-test's clock: a timer of the nRF families, which counts 32 bits at 16 MHz. */
#include "board.h"
#include "platform.h"

#define TIMER(offset) (*(volatile uint32_t *)(BOARD_TIMER_BASE + (offset)))
#define TASK_START TIMER(0x000u)
#define TASK_STOP TIMER(0x004u)
#define TASK_CLEAR TIMER(0x00Cu)
#define TASK_CAPTURE TIMER(0x040u)
#define MODE TIMER(0x504u)
#define BITS TIMER(0x508u)
#define PRESCALER TIMER(0x510u)
#define CAPTURED TIMER(0x540u)
#define MODE_TIMER 0u
#define BITS_32 3u

void platform_ticks_start(void)
{
    TASK_STOP = 1u;
    MODE = MODE_TIMER;
    BITS = BITS_32;
    PRESCALER = 0u;
    TASK_CLEAR = 1u;
    TASK_START = 1u;
}

uint64_t platform_ticks_stop(void)
{
    TASK_CAPTURE = 1u;
    TASK_STOP = 1u;
    return CAPTURED;
}
