/*
 * Tigris on a workstation: a session that owns a copy of the plan and arenas of exactly the size the plan states, with
 * guard bytes around them. Sessions are independent; calls on one session come one after the other.
 */
#ifndef TIGRIS_HOST_H
#define TIGRIS_HOST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define TIGRIS_HOST_API __declspec(dllexport)
#else
#define TIGRIS_HOST_API __attribute__((visibility("default")))
#endif

/* Grows when a function below changes. */
#define TIGRIS_HOST_ABI 1u

typedef struct tigris_host tigris_host_t;

TIGRIS_HOST_API uint32_t tigris_host_abi(void);

/* What the loader says of a plan, without a session; 0 is TIGRIS_OK. */
TIGRIS_HOST_API int tigris_host_check(const void *plan, size_t size);

/* A sentence for a status. */
TIGRIS_HOST_API const char *tigris_host_status_text(int status);

/* A session in *host, or a status; -1 where the workstation has no memory for it. */
TIGRIS_HOST_API int tigris_host_open(const void *plan, size_t size, tigris_host_t **host);
TIGRIS_HOST_API void tigris_host_close(tigris_host_t *host);

/* Input and output buffers, in model order; NULL for an index there is not. */
TIGRIS_HOST_API void *tigris_host_input(tigris_host_t *host, uint32_t index);
TIGRIS_HOST_API const void *tigris_host_output(tigris_host_t *host, uint32_t index);

/* Fills the arenas with a byte: nothing of an earlier run or of fresh memory can help the next one. */
TIGRIS_HOST_API void tigris_host_poison(tigris_host_t *host, uint8_t byte);

/* One inference; a status. */
TIGRIS_HOST_API int tigris_host_run(tigris_host_t *host);

/* Starts the variables over. */
TIGRIS_HOST_API int tigris_host_reset_state(tigris_host_t *host);

/* 1 while no byte around the arenas has changed since the session was opened. */
TIGRIS_HOST_API int tigris_host_guards_intact(const tigris_host_t *host);

#ifdef __cplusplus
}
#endif

#endif
