/* Console on a UART of the Cortex-M System Design Kit: polled, transmit only. */
#include "board.h"
#include "console.h"

typedef struct {
    volatile uint32_t data;
    volatile uint32_t state;
    volatile uint32_t control;
    volatile uint32_t interrupt;
    volatile uint32_t baud_divider;
} uart_t;

#define UART ((uart_t *)BOARD_CONSOLE_BASE)
#define STATE_TX_FULL 1u
#define CONTROL_TX_ENABLE 1u
#define SMALLEST_DIVIDER 16u

void console_init(uint32_t clock_hz)
{
    const uint32_t divider = clock_hz / BOARD_CONSOLE_BAUD;

    UART->baud_divider = divider < SMALLEST_DIVIDER ? SMALLEST_DIVIDER : divider;
    UART->control = CONTROL_TX_ENABLE;
}

void console_put(char character)
{
    while ((UART->state & STATE_TX_FULL) != 0u) {
    }
    UART->data = (uint8_t)character;
}
