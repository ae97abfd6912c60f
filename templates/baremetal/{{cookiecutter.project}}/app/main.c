{% set name = cookiecutter.project %}
/*
 * The application. This file is yours: it is written once and never again.
 *
 * As it is, it proves on this board that the model computes what it should. An application does this instead:
 *
{% for core in cookiecutter.cores %}
 *     {{ core.name }}_init();
{% if core.state_bytes %}
 *     {{ core.name }}_state_init({{ core.name }}_state(), {{ core.upper }}_STATE_BYTES);
{% endif %}
{% endfor %}
 *     for (;;) {
{% for core in cookiecutter.cores %}
{% for port in core.inputs %}
 *         write {{ core.upper }}_INPUT_{{ port.index }}_ELEMENTS values of {{ port.c_type }} to {{ core.name }}_input_{{ port.index }}()
{% endfor %}
 *         {{ core.run }};
{% for port in core.outputs %}
 *         read {{ core.upper }}_OUTPUT_{{ port.index }}_ELEMENTS values of {{ port.c_type }} from {{ core.name }}_output_{{ port.index }}()
{% endfor %}
{% endfor %}
 *     }
 */
{% for core in cookiecutter.cores %}
#include "{{ core.name }}.h"
{% endfor %}
#include "selftest.h"

int main(void)
{
    return {{ name }}_selftest();
}
