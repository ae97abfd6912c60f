{% set core = cookiecutter.core %}
/* The arena alone: what lies behind it is the linker's choice. */
platform_range_t platform_fast_range(void)
{
    uint8_t *const arena = {{ core.name }}_fast_arena();
    const platform_range_t range = {arena, arena + {{ core.upper }}_FAST_ARENA_BYTES};

    return range;
}

platform_range_t platform_slow_range(void)
{
{% if core.slow_bytes %}
    uint8_t *const arena = {{ core.name }}_slow_arena();
    const platform_range_t range = {arena, arena + {{ core.upper }}_SLOW_ARENA_BYTES};
{% else %}
    const platform_range_t range = {nullptr, nullptr};
{% endif %}

    return range;
}

const void *{{ core.name }}_find_plan(void)
{
    return {{ core.name }}_plan;
}
