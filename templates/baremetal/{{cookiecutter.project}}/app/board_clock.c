/* Clock setup. This file is yours: it is written once and never again. */
#include "board.h"

/* Called before main. Set up the clock here and return the core's frequency in Hz. */
uint32_t board_clock_init(void)
{
    return BOARD_RESET_CLOCK_HZ;
}
