/* A model with state, two streams of inputs: each output is the input before it of the same stream. */
#include <stdio.h>
#include <string.h>

#include "delay.h"

static uint8_t left[DELAY_STATE_BYTES + 1u] __attribute__((aligned(16)));
static uint8_t right[DELAY_STATE_BYTES] __attribute__((aligned(16)));

/* The last value of the output. */
static int step(void *state, int value)
{
    memset(delay_input_0(), value, DELAY_INPUT_0_BYTES);
    if (delay_run_with_state(state, DELAY_STATE_BYTES) != TIGRIS_OK) {
        return -1;
    }
    return delay_output_0()[DELAY_OUTPUT_0_ELEMENTS - 1u];
}

static void check(const char *what, tigris_status_t status)
{
    printf("%s %s\n", what, tigris_status_text(status));
}

int main(void)
{
    check("early init:", delay_state_init(left, DELAY_STATE_BYTES));
    check("early run:", delay_run_with_state(left, DELAY_STATE_BYTES));
    memset(left, 99, sizeof left);
    memset(right, 99, sizeof right);
    check("init:", delay_init());
    check("left:", delay_state_init(left, sizeof left));
    check("right:", delay_state_init(right, sizeof right));
    printf("left %d\n", step(left, 1));
    printf("left %d\n", step(left, 2));
    printf("right %d\n", step(right, 3));
    printf("left %d\n", step(left, 4));
    printf("right %d\n", step(right, 5));
    check("anew:", delay_state_init(left, DELAY_STATE_BYTES));
    printf("left %d\n", step(left, 6));
    printf("right %d\n", step(right, 7));
    printf("behind %d\n", left[DELAY_STATE_BYTES]);
    check("short init:", delay_state_init(left, DELAY_STATE_BYTES - 1u));
    check("no init:", delay_state_init(NULL, DELAY_STATE_BYTES));
    check("short run:", delay_run_with_state(left, DELAY_STATE_BYTES - 1u));
    check("no state:", delay_run_with_state(NULL, DELAY_STATE_BYTES));
    check("crooked:", delay_run_with_state(left + 1, DELAY_STATE_BYTES));
    return 0;
}
