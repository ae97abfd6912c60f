"""Runs a cookiecutter template over a context."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cookiecutter.exceptions import CookiecutterException, UndefinedVariableInTemplate
from cookiecutter.generate import generate_files
from jinja2 import TemplateError, TemplateSyntaxError

from tigris_codegen.errors import TigrisError, UsageError

DEFAULTS = "cookiecutter.json"


def render(template: Path, context: Mapping[str, object], *, hooks: bool = False) -> dict[str, bytes]:
    """Relative path -> contents of every file that the template makes.

    Values of `context` replace those of the template's cookiecutter.json; an undefined variable is an error that names
    the template's file. Hooks are run only with `hooks`.
    """
    with tempfile.TemporaryDirectory(prefix="tigris-") as folder:
        try:
            project = generate_files(
                str(template.resolve()),
                {"cookiecutter": {**read_defaults(template), **context}},
                output_dir=folder,
                accept_hooks=hooks,
            )
        except (CookiecutterException, TemplateError) as error:
            raise TigrisError(f"the template {template.name} cannot be rendered: {_reason(error)}.") from error
        root = Path(project)
        return {p.relative_to(root).as_posix(): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


def read_defaults(template: Path) -> dict[str, Any]:
    """The template's own variables and their values; UsageError for a folder that is no template."""
    path = template / DEFAULTS
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"{template} is no cookiecutter template: it has no {DEFAULTS}.") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}.") from error
    if not isinstance(values, dict):
        raise UsageError(f"{path} is no JSON object.")
    return values


def _reason(error: CookiecutterException | TemplateError) -> str:
    if isinstance(error, UndefinedVariableInTemplate):  # in full it would print all values of all variables
        return f"{error.message}: {error.error.message}"
    if isinstance(error, TemplateSyntaxError):
        return f"{error.filename or error.name or 'a file'}, line {error.lineno}: {error.message}"
    return (str(error) or type(error).__name__).rstrip(".")
