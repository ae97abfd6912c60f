/* PAD, float. */
#include "pad.h"

typedef tigris_pad_f32_params_t params_t;

static pad_t pad_of(const params_t *p)
{
    pad_t pad = {p->in_dims, p->out_dims, p->before, 4u, {0u}};

    memcpy(pad.value, &p->value, sizeof(pad.value));
    return pad;
}

tigris_status_t tigris_k_pad_f32(const tigris_call_t *call)
{
    const pad_t pad = pad_of(call->params);

    return pad_run(call, &pad);
}

tigris_status_t tigris_k_pad_f32_check(const tigris_check_t *check, tigris_extents_t *extents)
{
    const pad_t pad = pad_of(check->params);

    return pad_check(check, &pad, extents);
}
