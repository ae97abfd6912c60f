{% include "app_comment.txt" %}
#include <Arduino.h>

#include "{{ cookiecutter.core.name }}.h"
#include "platform.h"
#include "selftest.h"

void setup()
{
    platform_init();
    (void){{ cookiecutter.core.name }}_selftest();
}

void loop()
{
}
