{% include cookiecutter.details.parts ~ "/device.h" %}
