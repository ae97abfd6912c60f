{% include "app_comment.txt" %}
#include "{{ cookiecutter.core.name }}.h"
#include "platform.h"
#include "selftest.h"

extern "C" void app_main(void)
{
    platform_init();
    (void){{ cookiecutter.core.name }}_selftest();
}
