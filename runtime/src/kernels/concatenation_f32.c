/* One input of CONCATENATION, float. */
#include "concatenation.h"

tigris_status_t tigris_k_concatenation_f32(const tigris_call_t *call)
{
    return concatenation_run(call);
}

tigris_status_t tigris_k_concatenation_f32_check(const tigris_check_t *check, tigris_extents_t *extents)
{
    return concatenation_check(check, 4u, extents);
}
