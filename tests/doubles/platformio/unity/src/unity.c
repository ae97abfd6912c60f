/* Lines as Unity prints them: FILE:LINE:TEST:PASS, at the end how many there were. */
#include "unity.h"

static const char *file_name;
static int tests;
static int failures;
static int failed_line;

static void put(const char *text)
{
    while (*text != '\0') {
        UNITY_OUTPUT_CHAR((unsigned char)*text++);
    }
}

static void put_number(int number)
{
    if (number > 9) {
        put_number(number / 10);
    }
    UNITY_OUTPUT_CHAR((unsigned int)('0' + number % 10));
}

void double_unity_begin(const char *file)
{
    file_name = file;
    tests = 0;
    failures = 0;
    UNITY_OUTPUT_START();
}

void double_unity_equal(int expected, int actual, int line)
{
    if (expected != actual) {
        failed_line = line;
    }
}

void double_unity_run(void (*test)(void), const char *name, int line)
{
    failed_line = 0;
    test();
    tests++;
    failures += failed_line != 0;
    put(file_name);
    put(":");
    put_number(failed_line != 0 ? failed_line : line);
    put(":");
    put(name);
    put(failed_line != 0 ? ":FAIL\n" : ":PASS\n");
}

int double_unity_end(void)
{
    put("-----------------------\n");
    put_number(tests);
    put(" Tests ");
    put_number(failures);
    put(" Failures 0 Ignored\n");
    put(failures != 0 ? "FAIL\n" : "OK\n");
    UNITY_OUTPUT_FLUSH();
    UNITY_OUTPUT_COMPLETE();
    return failures;
}
