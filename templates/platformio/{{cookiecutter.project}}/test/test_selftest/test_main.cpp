{% include cookiecutter.framework.sdk ~ "/test_main.cpp" %}
