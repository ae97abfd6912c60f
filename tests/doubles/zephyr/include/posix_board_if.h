/* What native_sim has beside that, see README.md beside `include`. */
#ifndef DOUBLE_POSIX_BOARD_IF_H
#define DOUBLE_POSIX_BOARD_IF_H

__attribute__((noreturn)) void posix_exit(int exit_code);

#endif
