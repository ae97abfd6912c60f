/* Console on a UARTE of the nRF52 and nRF53, whose DMA reads RAM only: one character at a time, polled, transmit only. */
#include "board.h"
#include "console.h"

#define UART(offset) (*(volatile uint32_t *)(BOARD_CONSOLE_BASE + (offset)))
#define TASK_START_TX UART(0x008u)
#define EVENT_END_TX UART(0x120u)
#define ENABLE UART(0x500u)
#define PIN_TX UART(0x50Cu)
#define BAUD_RATE UART(0x524u)
#define TX_POINTER UART(0x544u)
#define TX_COUNT UART(0x548u)
#define ENABLE_UARTE 8u

#define PORT(offset) (*(volatile uint32_t *)(BOARD_CONSOLE_TX_PORT_BASE + (offset)))
#define PORT_OUTPUT_SET PORT(0x508u)
#define PORT_DIRECTION_SET PORT(0x518u)

/* The register's values are not a plain quotient. */
#if BOARD_CONSOLE_BAUD == 9600
#define BAUD_RATE_VALUE 0x00275000u
#elif BOARD_CONSOLE_BAUD == 115200
#define BAUD_RATE_VALUE 0x01D60000u
#elif BOARD_CONSOLE_BAUD == 230400
#define BAUD_RATE_VALUE 0x03B00000u
#elif BOARD_CONSOLE_BAUD == 460800
#define BAUD_RATE_VALUE 0x07400000u
#elif BOARD_CONSOLE_BAUD == 921600
#define BAUD_RATE_VALUE 0x0F000000u
#elif BOARD_CONSOLE_BAUD == 1000000
#define BAUD_RATE_VALUE 0x10000000u
#else
#error "the console's baud rate must be 9600, 115200, 230400, 460800, 921600 or 1000000"
#endif

/* The UARTE has a clock of its own. */
void console_init(uint32_t clock_hz)
{
    (void)clock_hz;
    PORT_OUTPUT_SET = 1u << BOARD_CONSOLE_TX_PIN;
    PORT_DIRECTION_SET = 1u << BOARD_CONSOLE_TX_PIN;
    PIN_TX = 32u * BOARD_CONSOLE_TX_PORT + BOARD_CONSOLE_TX_PIN;
    BAUD_RATE = BAUD_RATE_VALUE;
    ENABLE = ENABLE_UARTE;
}

void console_put(char character)
{
    static volatile uint8_t sent;

    sent = (uint8_t)character;
    EVENT_END_TX = 0u;
    TX_POINTER = (uint32_t)(uintptr_t)&sent;
    TX_COUNT = 1u;
    TASK_START_TX = 1u;
    while (EVENT_END_TX == 0u) {
    }
}
