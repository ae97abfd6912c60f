{% include cookiecutter.details.parts ~ "/entry.c" %}
