/* Console on a 16550-compatible UART with byte-wide registers: polled, transmit only. */
#include "board.h"
#include "console.h"

/* With the divisor latch open, the first two registers are the divisor. */
typedef struct {
    volatile uint8_t data_or_divisor_low;
    volatile uint8_t interrupt_or_divisor_high;
    volatile uint8_t fifo_control;
    volatile uint8_t line_control;
    volatile uint8_t modem_control;
    volatile uint8_t line_status;
} uart_t;

#define UART ((uart_t *)BOARD_CONSOLE_BASE)
#define FIFO_ENABLE 1u
#define LINE_8_BITS 3u
#define LINE_DIVISOR_LATCH 0x80u
#define STATUS_TX_EMPTY 0x20u

void console_init(uint32_t clock_hz)
{
    const uint32_t divisor = (clock_hz + 8u * BOARD_CONSOLE_BAUD) / (16u * BOARD_CONSOLE_BAUD);

    UART->line_control = LINE_DIVISOR_LATCH | LINE_8_BITS;
    UART->data_or_divisor_low = (uint8_t)divisor;
    UART->interrupt_or_divisor_high = (uint8_t)(divisor >> 8);
    UART->line_control = LINE_8_BITS;
    UART->interrupt_or_divisor_high = 0u;
    UART->fifo_control = FIFO_ENABLE;
}

void console_put(char character)
{
    while ((UART->line_status & STATUS_TX_EMPTY) == 0u) {
    }
    UART->data_or_divisor_low = (uint8_t)character;
}
