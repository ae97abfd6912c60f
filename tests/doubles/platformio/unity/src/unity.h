/* The few macros of Unity that generated projects use, and what `pio test` reads. */
#ifndef DOUBLE_UNITY_H
#define DOUBLE_UNITY_H

#include "unity_config.h"

#ifdef __cplusplus
extern "C" {
#endif

void double_unity_begin(const char *file);
int double_unity_end(void);
void double_unity_run(void (*test)(void), const char *name, int line);
void double_unity_equal(int expected, int actual, int line);

#ifdef __cplusplus
}
#endif

#define UNITY_BEGIN() double_unity_begin(__FILE__)
#define UNITY_END() double_unity_end()
#define RUN_TEST(test) double_unity_run(test, #test, __LINE__)
#define TEST_ASSERT_EQUAL_INT(expected, actual) double_unity_equal((expected), (actual), __LINE__)

#endif
