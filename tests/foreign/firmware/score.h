#ifndef SCORE_H
#define SCORE_H

#ifdef __cplusplus
extern "C" {
#endif

/* The digit with the highest score of the last run. */
int best_digit(void);

#ifdef __cplusplus
}
#endif

#endif
