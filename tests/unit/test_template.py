"""A user's own project template: rendered with the project's values, its programs only when they are allowed."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from tests.firmware import handmade
from tests.support import REPOSITORY
from tests.unit.cli_support import SMALL, Tigris
from tigris_codegen import resources
from tigris_codegen.boards import load_board
from tigris_codegen.codegen import generate_project, read_lock
from tigris_codegen.codegen.context import ArenaContext, ProjectContext
from tigris_codegen.errors import MissingError, TigrisError, UsageError

BOARD = load_board("mps2-an386")


@pytest.fixture
def tigris(capsys: pytest.CaptureFixture[str]) -> Tigris:
    return Tigris(capsys)


@pytest.fixture
def template(tmp_path: Path) -> Path:
    """A template of one generated file and one of the user's, with a variable of its own."""
    root = tmp_path / "mine"
    files = {
        "cookiecutter.json": json.dumps({"project": "p", "company": "ACME"}),
        "{{cookiecutter.project}}/build.txt": "{{ cookiecutter.company }} {{ cookiecutter.project }} "
        "{{ cookiecutter.memory.ram_bytes }} {{ cookiecutter.core_sources|join(' ') }}\n",
        "{{cookiecutter.project}}/app/main.c": "int main(void) { return {{ cookiecutter.core.name }}_selftest(); }\n",
    }
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def generate(out: Path, template: str | Path, **options: Any) -> Path:
    generate_project(
        handmade.lookup_bytes(),
        BOARD,
        out,
        core_name="digits",
        vectors=handmade.lookup_vectors(1),
        template=str(template),
        **options,
    )
    return out


def test_it_replaces_the_frameworks_template_and_nothing_else(tmp_path: Path, template: Path) -> None:
    project = generate(tmp_path / "p", template)
    ram = handmade.lookup_plan().ram_bytes
    text = f"ACME digits {ram} generated/core/digits.c generated/core/digits_plan.c\n"
    assert (project / "build.txt").read_text() == text
    assert (project / "app/main.c").read_text() == "int main(void) { return digits_selftest(); }\n"
    assert not (project / "CMakeLists.txt").exists()
    for path in ("core/digits.c", "selftest/selftest.c", "runtime/src/kernels/lookup_s8.c", "platform/uart_cmsdk.c"):
        assert (project / "generated" / path).is_file()
    assert "build.txt" in read_lock(project).files and "app/main.c" not in read_lock(project).files


def test_a_copy_of_a_template_of_ours_gives_the_same_project(tmp_path: Path) -> None:
    shutil.copytree(resources.templates_dir() / "baremetal", tmp_path / "baremetal")
    ours = tmp_path / "ours"
    generate_project(handmade.lookup_bytes(), BOARD, ours, core_name="digits", vectors=handmade.lookup_vectors(1))
    theirs = generate(tmp_path / "theirs", tmp_path / "baremetal")
    assert read_lock(ours) == read_lock(theirs)


def test_an_undefined_variable_is_an_error_that_names_the_file(tmp_path: Path, template: Path) -> None:
    (template / "{{cookiecutter.project}}/build.txt").write_text("{{ cookiecutter.absent }}\n")
    with pytest.raises(TigrisError, match=r"the template mine cannot be rendered: .*build\.txt.*no attribute 'absent'"):
        generate(tmp_path / "p", template)
    (template / "{{cookiecutter.project}}/build.txt").write_text("{% if %}\n")
    with pytest.raises(TigrisError, match=r"build\.txt, line 1: "):
        generate(tmp_path / "p", template)
    assert not (tmp_path / "p").exists()


def test_two_writers_of_one_file_are_an_error(tmp_path: Path, template: Path) -> None:
    (template / "{{cookiecutter.project}}/generated/selftest").mkdir(parents=True)
    (template / "{{cookiecutter.project}}/generated/selftest/main.c").write_text("")
    with pytest.raises(TigrisError, match=r"the template mine writes generated/selftest/main\.c, which is already"):
        generate(tmp_path / "p", template)


@pytest.mark.parametrize("hook", ["pre_gen_project.py", "post_gen_project.py"])
def test_hooks_run_only_when_they_are_allowed(tmp_path: Path, template: Path, hook: str) -> None:
    (template / "hooks").mkdir()
    (template / "hooks" / hook).write_text("from pathlib import Path\nPath('made_by_hook.txt').write_text('here')\n")
    with pytest.raises(UsageError, match=rf"runs programs of its own: hooks/{hook}") as error:
        generate(tmp_path / "p", template)
    assert "--allow-hooks" in str(error.value.hint)
    assert not (tmp_path / "p").exists() and not list(tmp_path.rglob("made_by_hook.txt"))
    project = generate(tmp_path / "p", template, allow_hooks=True)
    assert (project / "made_by_hook.txt").read_text() == "here"


def test_extensions_are_programs_too(tmp_path: Path, template: Path) -> None:
    values = {"project": "p", "company": "ACME", "_extensions": ["local_extension.Shout"]}
    (template / "cookiecutter.json").write_text(json.dumps(values))
    with pytest.raises(UsageError, match=r"runs programs of its own: local_extension\.Shout"):
        generate(tmp_path / "p", template)


def test_a_hook_that_fails_is_told(tmp_path: Path, template: Path) -> None:
    (template / "hooks").mkdir()
    (template / "hooks/post_gen_project.py").write_text("raise SystemExit(3)\n")
    with pytest.raises(TigrisError, match=r"cannot be rendered: .*exit status: 3"):
        generate(tmp_path / "p", template, allow_hooks=True)
    assert not (tmp_path / "p").exists()


def test_what_is_no_template(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        generate(tmp_path / "p", tmp_path / "gone")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=r"no cookiecutter template: it has no cookiecutter\.json"):
        generate(tmp_path / "p", tmp_path / "empty")
    (tmp_path / "empty/cookiecutter.json").write_text("{")
    with pytest.raises(UsageError, match="cannot be read"):
        generate(tmp_path / "p", tmp_path / "empty")


needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="missing: git")


@needs_git
def test_a_template_in_a_git_repository(tmp_path: Path, template: Path) -> None:
    who = ("-c", "user.name=n", "-c", "user.email=e@example.org")
    for command in (("init", "-q"), ("add", "."), (*who, "commit", "-q", "-m", "template")):
        subprocess.run(["git", *command], cwd=template, check=True)
    project = generate(tmp_path / "p", f"git+{template.as_uri()}")
    assert (project / "build.txt").read_text().startswith("ACME digits")


@needs_git
def test_a_repository_that_cannot_be_cloned(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match=r"cannot be cloned: .") as error:
        generate(tmp_path / "p", f"git+{(tmp_path / 'gone').as_uri()}")
    assert "--template FOLDER" in str(error.value.hint)
    assert not (tmp_path / "p").exists()


@needs_git
def test_the_command_says_in_our_words_that_it_cannot_be_cloned(tmp_path: Path) -> None:
    url = f"git+{(tmp_path / 'gone').as_uri()}"
    command = ["codegen", SMALL, "--board", "posix", "-o", tmp_path / "p", "--template", url]
    words = [sys.executable, "-m", "tigris_codegen", *map(str, command)]
    done = subprocess.run(words, cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 4
    assert len(done.stderr.splitlines()) == 2 and done.stderr.startswith(
        f"tigris: the template {url} cannot be cloned: "
    )


def test_the_command_and_the_lock(tigris: Tigris, tmp_path: Path, template: Path) -> None:
    out = ("--board", "mps2-an386", "-o", tmp_path / "p")
    assert tigris("codegen", SMALL, "--template", template, *out).code == 0
    assert read_lock(tmp_path / "p").options["template"] == "mine"
    for options, said in (
        (("--allow-hooks",), "--allow-hooks is for a template of your own"),
        (("--template", template, "--format", "core"), "--template is for projects"),
    ):
        result = tigris("codegen", SMALL, *options, *out)
        assert result.code == 2 and said in result.err


def test_the_page_has_every_variable() -> None:
    text = (REPOSITORY / "docs/TEMPLATES.md").read_text()
    known = [field.name for form in (ProjectContext, ArenaContext) for field in fields(form)]
    internal = {"upper", "surroundings"}  # of the arena: for its own files
    assert [name for name in known if f"`{name}`" not in text and name not in internal] == []


def test_one_template_takes_several_models_of_any_framework(tigris: Tigris, tmp_path: Path, template: Path) -> None:
    """Whether a template of the user's own loops over the cores is the user's business."""
    names = ("--name", "a", "--name", "b")
    options = ("--template", template, "--board", "nucleo-h7", "--framework", "zephyr", "-o", tmp_path / "p")
    assert tigris("codegen", SMALL, SMALL, *names, *options).code == 0
    assert "generated/core/b.c" in (tmp_path / "p/build.txt").read_text()
