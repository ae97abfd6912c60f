{% include cookiecutter.details.parts ~ "/toolchain.cmake" %}
