void platform_stack_paint(void)
{
    const uintptr_t top = reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) - STACK_SLACK;
    uintptr_t at;

    stack_limit = lowest_to_paint(top);
    for (at = stack_limit; at < top; at++) {
        *reinterpret_cast<volatile uint8_t *>(at) = STACK_PAINT;
    }
}

uint32_t platform_stack_used(uintptr_t top)
{
    uintptr_t at = stack_limit;

    while (at < top && *reinterpret_cast<volatile uint8_t *>(at) == STACK_PAINT) {
        at++;
    }
    return static_cast<uint32_t>(top - at);
}
