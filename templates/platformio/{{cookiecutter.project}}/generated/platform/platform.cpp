{% include cookiecutter.framework.sdk ~ "/platform.cpp" %}
