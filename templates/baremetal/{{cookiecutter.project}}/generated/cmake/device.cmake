{% include cookiecutter.details.parts ~ "/device.cmake" %}
