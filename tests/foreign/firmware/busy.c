/* A second thread that comes in the middle of a run. Linked with --wrap for KERNEL, so the moment is certain. */
#include <pthread.h>
#include <stdio.h>

#include "digits.h"
#include "tigris_kernel.h"

#define JOIN(a, b) a##b
#define NAMED(prefix, kernel) JOIN(prefix, kernel)
#define REAL NAMED(__real_, KERNEL)
#define WRAPPED NAMED(__wrap_, KERNEL)

static tigris_status_t run_inside, init_inside;

tigris_status_t REAL(const tigris_call_t *call);
tigris_status_t WRAPPED(const tigris_call_t *call);

static void *intrude(void *argument)
{
    (void)argument;
    run_inside = digits_run();
    init_inside = digits_init();
    return NULL;
}

tigris_status_t WRAPPED(const tigris_call_t *call)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, intrude, NULL) != 0 || pthread_join(thread, NULL) != 0) {
        return TIGRIS_EXEC_ERR_DATA;
    }
    return REAL(call);
}

static void check(const char *what, tigris_status_t status)
{
    printf("%s %s\n", what, tigris_status_text(status));
}

int main(void)
{
    check("early run:", digits_run());
    check("init:", digits_init());
    check("run:", digits_run());
    check("run inside:", run_inside);
    check("init inside:", init_inside);
    check("next run:", digits_run());
    return 0;
}
