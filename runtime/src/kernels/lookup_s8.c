/* Any function of one byte. */
#include "elementwise.h"

typedef tigris_lookup_s8_params_t params_t;

tigris_status_t tigris_k_lookup_s8(const tigris_call_t *call)
{
    const params_t *p = call->params;
    const uint8_t *table = tigris_constant(call->constants, p->table);
    const uint8_t *x = tigris_input_rows(call, 0, call->row);
    uint8_t *y = call->output.data;
    const uint32_t count = call_elements(call, 1u);

    for (uint32_t i = 0; i < count; i++) {
        y[i] = table[x[i]];
    }
    return TIGRIS_OK;
}

tigris_status_t tigris_k_lookup_s8_check(const tigris_check_t *check, tigris_extents_t *extents)
{
    const params_t *p = check->params;
    const tigris_status_t status = elementwise_check(check, p->elements, 1u, 1u, extents);

    if (status != TIGRIS_OK) {
        return status;
    }
    return holds_constant(check, p->table, 256u, 1u) ? TIGRIS_OK : TIGRIS_ERR_PARAMS;
}
