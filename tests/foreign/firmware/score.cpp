// The part of the firmware that is C++.
#include "score.h"

#include "adder.h"
#include "digits.h"

int best_digit()
{
    int best = 0;
    for (int i = 1; i < static_cast<int>(DIGITS_OUTPUT_0_ELEMENTS); i++) {
        if (digits_dequantize_output_0(digits_output_0()[i]) > digits_dequantize_output_0(digits_output_0()[best])) {
            best = i;
        }
    }
    return best;
}
