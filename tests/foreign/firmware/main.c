/* Somebody else's firmware with two models in it: prints the output bytes of each. */
#include <stdio.h>
#include <string.h>

#include "adder.h"
#include "digits.h"
#include "score.h"
#include "vectors.h"

static void print_bytes(const char *name, const void *bytes, size_t count)
{
    const unsigned char *byte = (const unsigned char *)bytes;
    size_t i;

    printf("%s ", name);
    for (i = 0u; i < count; i++) {
        printf("%02x", byte[i]);
    }
    printf("\n");
}

int main(void)
{
    if (digits_init() != TIGRIS_OK || adder_init() != TIGRIS_OK) {
        return 1;
    }
    /* Both inputs first: the arenas must be apart. */
    memcpy(digits_input_0(), digits_pixels, DIGITS_INPUT_0_BYTES);
    memcpy(adder_input_0(), adder_a, ADDER_INPUT_0_BYTES);
    memcpy(adder_input_1(), adder_b, ADDER_INPUT_1_BYTES);
    if (digits_run() != TIGRIS_OK || adder_run_with_state(NULL, 0u) != TIGRIS_OK) {
        return 2;
    }
    print_bytes("digits", digits_output_0(), DIGITS_OUTPUT_0_BYTES);
    print_bytes("adder", adder_output_0(), ADDER_OUTPUT_0_BYTES);
    printf("best %d\n", best_digit());
    return 0;
}
