/* Reads a handwritten digit and prints how long that took. */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "digits.h"

#define SIDE 32u
#define LEVELS 15

/* A three: 32 x 32 pixels of 16 levels, "." is 0 and "f" is 15. */
static const char image[SIDE][SIDE + 1u] = {
    "......13467889999986421.........",
    "......1469abcddddcb85211........",
    ".....1258acddeeeeed963211.......",
    "...112369bddddddeeda75321.......",
    "...12347acddccccdedb864321......",
    "..123458bdedcbbcdedb986431......",
    "..123458addcb99bcddba86531......",
    "...123469bba9889bddb986431......",
    "...1123579987668acdb976421......",
    "...1112457765457acca975421......",
    "....111345655457accb975421......",
    ".....11234455679bddb975421......",
    "......112235679acedb975421......",
    "........112479bcdeeca76421......",
    "..........1469bcdeeca875321.....",
    "..........13579acddcba9753211...",
    "..........124579bcddccb975321...",
    "...........123579bdddedb864321..",
    "..........1122368abcdeec975421..",
    ".......111122224578aceeca86531..",
    ".......1122221123468bdecb97531..",
    ".......1233211.111369dedba9641..",
    "......123554321111369dedba9641..",
    ".....123577654444458adecba8631..",
    "....11257aa98666667aceeca97531..",
    "...111369cdca98999abdeeca86431..",
    "...11136adedcbaabbbcdedb975421..",
    "....11368bdcccccccccddca864321..",
    ".....1257acccdddddddcca864321...",
    "......1469bcdeeeeeedcb9753111...",
    "......13579abddddddba9754211....",
    "......124567899999987654311.....",
};

static int level(char pixel)
{
    if (pixel == '.') {
        return 0;
    }
    return pixel <= '9' ? pixel - '0' : pixel - 'a' + 10;
}

static void write_image(int8_t *input)
{
    size_t row;
    size_t column;

    for (row = 0u; row < SIDE; row++) {
        for (column = 0u; column < SIDE; column++) {
            *input++ = digits_quantize_input_0((float)level(image[row][column]) / (float)LEVELS);
        }
    }
}

static int most_likely(const int8_t *scores)
{
    int best = 0;
    int digit;

    for (digit = 1; digit < (int)DIGITS_OUTPUT_0_ELEMENTS; digit++) {
        if (scores[digit] > scores[best]) {
            best = digit;
        }
    }
    return best;
}

static int64_t microseconds(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void app_main(void);

void app_main(void)
{
    tigris_status_t status = digits_init();
    int64_t started;
    int64_t took;
    int digit;

    if (status != TIGRIS_OK) {
        printf("digits_init: %s\n", tigris_status_text(status));
        return;
    }
    write_image(digits_input_0());
    started = microseconds();
    status = digits_run();
    took = microseconds() - started;
    if (status != TIGRIS_OK) {
        printf("digits_run: %s\n", tigris_status_text(status));
        return;
    }
    digit = most_likely(digits_output_0());
    printf("This is a %d (%.0f %%), read in %" PRId64 " us with %u bytes of RAM.\n", digit,
           100.0 * (double)digits_dequantize_output_0(digits_output_0()[digit]), took, DIGITS_RAM_BYTES);
    fflush(stdout);
}
