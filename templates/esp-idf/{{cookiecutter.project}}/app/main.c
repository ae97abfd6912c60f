{% set core = cookiecutter.core %}
/*
 * The application. This file is yours: it is written once and never again.
 *
 * As it is, it proves on this board that the model computes what it should. An application does this instead:
 *
 *     {{ core.name }}_init();
 *     for (;;) {
{% for port in core.inputs %}
 *         write {{ core.upper }}_INPUT_{{ port.index }}_ELEMENTS values of {{ port.c_type }} to {{ core.name }}_input_{{ port.index }}()
{% endfor %}
 *         {{ core.name }}_run();
{% for port in core.outputs %}
 *         read {{ core.upper }}_OUTPUT_{{ port.index }}_ELEMENTS values of {{ port.c_type }} from {{ core.name }}_output_{{ port.index }}()
{% endfor %}
 *     }
 */
#include "{{ core.name }}.h"
#include "selftest.h"

void app_main(void);

void app_main(void)
{
    (void){{ core.name }}_selftest();
}
