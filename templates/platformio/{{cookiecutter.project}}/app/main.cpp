{% include cookiecutter.framework.sdk ~ "/main.cpp" %}
