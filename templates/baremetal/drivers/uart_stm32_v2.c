/* Console on a USART of the STM32 families with separate data registers (F0, F3, F7, G4, H7, L4, U5): polled, transmit. */
#include "board.h"
#include "console.h"

typedef struct {
    volatile uint32_t control1;
    volatile uint32_t control2;
    volatile uint32_t control3;
    volatile uint32_t baud;
    volatile uint32_t guard_time;
    volatile uint32_t receiver_timeout;
    volatile uint32_t request;
    volatile uint32_t status;
    volatile uint32_t status_clear;
    volatile uint32_t receive_data;
    volatile uint32_t transmit_data;
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
#define CONTROL1_ENABLE (1u << 0)
#define CONTROL1_TX_ENABLE (1u << 3)
#define MODE_FUNCTION 2u

static void connect_pin(void)
{
    const uint32_t half = BOARD_CONSOLE_TX_PIN / 8u;
    const uint32_t nibble = 4u * (BOARD_CONSOLE_TX_PIN % 8u);
    const uint32_t pair = 2u * BOARD_CONSOLE_TX_PIN;

    PORT->function[half] = (PORT->function[half] & ~(15u << nibble)) | (BOARD_CONSOLE_TX_FUNCTION << nibble);
    PORT->mode = (PORT->mode & ~(3u << pair)) | (MODE_FUNCTION << pair);
}

/* The baud rate register takes values only while the UART is off. */
void console_init(uint32_t clock_hz)
{
    connect_pin();
    UART->control1 = 0u;
    UART->baud = (clock_hz + BOARD_CONSOLE_BAUD / 2u) / BOARD_CONSOLE_BAUD;
    UART->control1 = CONTROL1_ENABLE | CONTROL1_TX_ENABLE;
}

void console_put(char character)
{
    while ((UART->status & STATUS_TX_EMPTY) == 0u) {
    }
    UART->transmit_data = (uint8_t)character;
}
