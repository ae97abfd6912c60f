/* Console on a USART of the STM32 families with a status and a data register (F1, F2, F4, L1): polled, transmit only. */
#include "board.h"
#include "console.h"

typedef struct {
    volatile uint32_t status;
    volatile uint32_t data;
    volatile uint32_t baud;
    volatile uint32_t control1;
} uart_t;

typedef struct {
    volatile uint32_t mode;
    volatile uint32_t type;
    volatile uint32_t speed;
    volatile uint32_t pull;
    volatile uint32_t input;
    volatile uint32_t output;
    volatile uint32_t set_reset;
    volatile uint32_t lock;
    volatile uint32_t function[2];
} port_t;

#define UART ((uart_t *)BOARD_CONSOLE_BASE)
#define PORT ((port_t *)BOARD_CONSOLE_TX_PORT_BASE)
#define STATUS_TX_EMPTY (1u << 7)
#define CONTROL1_TX_ENABLE (1u << 3)
#define CONTROL1_ENABLE (1u << 13)
#define MODE_FUNCTION 2u

static void connect_pin(void)
{
    const uint32_t half = BOARD_CONSOLE_TX_PIN / 8u;
    const uint32_t nibble = 4u * (BOARD_CONSOLE_TX_PIN % 8u);
    const uint32_t pair = 2u * BOARD_CONSOLE_TX_PIN;

    PORT->function[half] = (PORT->function[half] & ~(15u << nibble)) | (BOARD_CONSOLE_TX_FUNCTION << nibble);
    PORT->mode = (PORT->mode & ~(3u << pair)) | (MODE_FUNCTION << pair);
}

void console_init(uint32_t clock_hz)
{
    connect_pin();
    UART->baud = (clock_hz + BOARD_CONSOLE_BAUD / 2u) / BOARD_CONSOLE_BAUD;
    UART->control1 = CONTROL1_ENABLE | CONTROL1_TX_ENABLE;
}

void console_put(char character)
{
    while ((UART->status & STATUS_TX_EMPTY) == 0u) {
    }
    UART->data = (uint8_t)character;
}
