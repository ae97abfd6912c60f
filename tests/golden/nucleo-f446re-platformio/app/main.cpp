/*
 * The application. This file is yours: it is written once and never again.
 *
 * As it is, it proves on this board that the model computes what it should. An application does this instead:
 *
 *     digits_init();
 *     for (;;) {
 *         write DIGITS_INPUT_0_ELEMENTS values of int8_t to digits_input_0()
 *         digits_run();
 *         read DIGITS_OUTPUT_0_ELEMENTS values of int8_t from digits_output_0()
 *     }
 */
#include <Arduino.h>

#include "digits.h"
#include "platform.h"
#include "selftest.h"

void setup()
{
    platform_init();
    (void)digits_selftest();
}

void loop()
{
}
