"""Runs a cookiecutter template over a context."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path

from cookiecutter.exceptions import CookiecutterException
from cookiecutter.generate import generate_files
from jinja2 import TemplateError

from tigris_codegen.errors import TigrisError


def render(template: Path, context: Mapping[str, object]) -> dict[str, bytes]:
    """Relative path -> contents of every file that the template makes.

    Values of `context` replace those of the template's cookiecutter.json, which lists every variable; an undefined one
    is an error. Hooks are not run.
    """
    defaults = json.loads((template / "cookiecutter.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="tigris-") as folder:
        try:
            project = generate_files(
                str(template), {"cookiecutter": {**defaults, **context}}, output_dir=folder, accept_hooks=False
            )
        except (CookiecutterException, TemplateError) as error:
            raise TigrisError(f"the template {template.name} cannot be rendered: {error}") from error
        root = Path(project)
        return {p.relative_to(root).as_posix(): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}
