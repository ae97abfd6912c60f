/* Console on the UART of the nRF51 family: polled, transmit only. */
#include "board.h"
#include "console.h"

#define UART(offset) (*(volatile uint32_t *)(BOARD_CONSOLE_BASE + (offset)))
#define TASK_START_TX UART(0x008u)
#define EVENT_TX_READY UART(0x11Cu)
#define ENABLE UART(0x500u)
#define PIN_TX UART(0x50Cu)
#define TX_DATA UART(0x51Cu)
#define BAUD_RATE UART(0x524u)
#define ENABLE_UART 4u

#define PORT(offset) (*(volatile uint32_t *)(BOARD_CONSOLE_TX_PORT_BASE + (offset)))
#define PORT_OUTPUT_SET PORT(0x508u)
#define PORT_DIRECTION_SET PORT(0x518u)

/* The register's values are not a plain quotient. */
#if BOARD_CONSOLE_BAUD == 9600
#define BAUD_RATE_VALUE 0x00275000u
#elif BOARD_CONSOLE_BAUD == 38400
#define BAUD_RATE_VALUE 0x009D5000u
#elif BOARD_CONSOLE_BAUD == 115200
#define BAUD_RATE_VALUE 0x01D7E000u
#elif BOARD_CONSOLE_BAUD == 230400
#define BAUD_RATE_VALUE 0x03AFB000u
#elif BOARD_CONSOLE_BAUD == 460800
#define BAUD_RATE_VALUE 0x075F7000u
#elif BOARD_CONSOLE_BAUD == 921600
#define BAUD_RATE_VALUE 0x0EBED000u
#elif BOARD_CONSOLE_BAUD == 1000000
#define BAUD_RATE_VALUE 0x10000000u
#else
#error "the console's baud rate must be 9600, 38400, 115200, 230400, 460800, 921600 or 1000000"
#endif

/* The UART has a clock of its own. */
void console_init(uint32_t clock_hz)
{
    (void)clock_hz;
    PORT_OUTPUT_SET = 1u << BOARD_CONSOLE_TX_PIN;
    PORT_DIRECTION_SET = 1u << BOARD_CONSOLE_TX_PIN;
    PIN_TX = 32u * BOARD_CONSOLE_TX_PORT + BOARD_CONSOLE_TX_PIN;
    BAUD_RATE = BAUD_RATE_VALUE;
    ENABLE = ENABLE_UART;
    TASK_START_TX = 1u;
}

void console_put(char character)
{
    EVENT_TX_READY = 0u;
    TX_DATA = (uint8_t)character;
    while (EVENT_TX_READY == 0u) {
    }
}
