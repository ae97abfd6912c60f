"""A user's own project template: a folder or the URL of a repository, fetched and looked at before it is rendered."""

from __future__ import annotations

import logging
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cookiecutter.exceptions import CookiecutterException
from cookiecutter.hooks import find_hook
from cookiecutter.repository import determine_repo_dir, is_repo_url

from tigris_codegen.codegen.render import read_defaults
from tigris_codegen.errors import MissingError, UsageError

# What goes wrong when it clones is raised, and said by us.
logging.getLogger("cookiecutter").addHandler(logging.NullHandler())

#: Cookiecutter's hooks that rendering runs.
_HOOKS = ("pre_gen_project", "post_gen_project")
#: The variable of cookiecutter.json that names Python modules to import.
_EXTENSIONS = "_extensions"


@dataclass(frozen=True)
class Template:
    """A template that may be rendered: its folder, and whether its hooks run."""

    folder: Path
    hooks: bool


@contextmanager
def open_template(source: str, allow_hooks: bool) -> Iterator[Template]:
    """The template in a folder or at a URL, which is cloned for as long as this context lasts.

    UsageError for what is no template, and for one with hooks or extensions, which are programs, unless they are
    allowed; MissingError for a URL that cannot be cloned.
    """
    with tempfile.TemporaryDirectory(prefix="tigris-") as clones:
        folder = _fetched(source, clones) if is_repo_url(source) else Path(source)
        if not folder.is_dir():
            raise UsageError(f"{source}: no such folder.", "--template takes a folder or the URL of a git repository")
        programs = _programs(folder)
        if programs and not allow_hooks:
            raise UsageError(
                f"the template {source} runs programs of its own: {', '.join(programs)}.",
                "read them, then --allow-hooks",
            )
        yield Template(folder, allow_hooks)


def _fetched(url: str, clones: str) -> Path:
    try:
        folder, _ = determine_repo_dir(url, abbreviations={}, clone_to_dir=clones, checkout=None, no_input=True)
    except (CookiecutterException, subprocess.CalledProcessError) as error:
        raise MissingError(
            f"the template {url} cannot be cloned: {_reason(error)}.",
            "check the URL and the network, or clone it yourself and name its folder: --template FOLDER",
        ) from error
    return Path(folder)


def _reason(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        lines = error.output.decode(errors="replace").strip().splitlines()
        return str(lines[-1]).rstrip(".") if lines else "git failed"
    return (str(error) or f"{type(error).__name__}").splitlines()[0].rstrip(".:")


def _programs(folder: Path) -> list[str]:
    """What of the template runs as a program, by name."""
    hooks = [path for name in _HOOKS for path in find_hook(name, str(folder / "hooks")) or ()]
    extensions = read_defaults(folder).get(_EXTENSIONS, [])
    return [f"hooks/{Path(path).name}" for path in sorted(hooks)] + [str(name) for name in extensions]
