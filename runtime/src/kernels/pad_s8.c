/* PAD, int8. */
#include "pad.h"

typedef tigris_pad_s8_params_t params_t;

static pad_t pad_of(const params_t *p)
{
    pad_t pad = {p->in_dims, p->out_dims, p->before, 1u, {0u}};

    pad.value[0] = (uint8_t)p->value;
    return pad;
}

tigris_status_t tigris_k_pad_s8(const tigris_call_t *call)
{
    const pad_t pad = pad_of(call->params);

    return pad_run(call, &pad);
}

tigris_status_t tigris_k_pad_s8_check(const tigris_check_t *check, tigris_extents_t *extents)
{
    const params_t *p = check->params;
    const pad_t pad = pad_of(p);
    const tigris_status_t status = pad_check(check, &pad, extents);

    if (status != TIGRIS_OK) {
        return status;
    }
    return p->value >= INT8_MIN && p->value <= INT8_MAX ? TIGRIS_OK : TIGRIS_ERR_PARAMS;
}
