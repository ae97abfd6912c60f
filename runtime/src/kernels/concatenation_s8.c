/* One input of CONCATENATION, int8. */
#include "concatenation.h"

tigris_status_t tigris_k_concatenation_s8(const tigris_call_t *call)
{
    return concatenation_run(call);
}

tigris_status_t tigris_k_concatenation_s8_check(const tigris_check_t *check, tigris_extents_t *extents)
{
    return concatenation_check(check, 1u, extents);
}
