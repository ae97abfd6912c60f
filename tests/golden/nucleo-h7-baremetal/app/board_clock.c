/* Clock setup. This file is yours: it is written once and never again. */
#include "board.h"

/*
 * Called before main. Set up the clock here and return the core's frequency in Hz. Where the console's UART then runs at
 * another frequency, define `uint32_t board_console_clock_hz(void)` here, too.
 */
uint32_t board_clock_init(void)
{
    return BOARD_RESET_CLOCK_HZ;
}
