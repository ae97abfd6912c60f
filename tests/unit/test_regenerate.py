"""`tigris regenerate`: the same again from what tigris.lock records, and what it asks for or refuses."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.unit.cli_support import CHAIN, DIGITS, SMALL, Tigris
from tigris_codegen import resources
from tigris_codegen.codegen import read_lock


@pytest.fixture
def tigris(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tigris:
    monkeypatch.chdir(tmp_path)
    return Tigris(capsys)


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """Models in the working folder, which is also where the projects go."""
    for source in (DIGITS, SMALL, CHAIN):
        shutil.copy(source, tmp_path)
    return tmp_path


def tree(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


MODEL = SMALL.name
PROJECT = ("codegen", MODEL, "--board", "mps2-an386", "-o", "fw")


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("-m", "64K", "--name", "adder", "--fast-region", "psram", "--keep-inputs"),
        ("--effort", "7", "--recompute", "20%", "--reserve", "4M"),
        ("--board", "nucleo-h7", "--framework", "zephyr", "--runtime", "module"),
    ],
    ids=["plain", "regions", "planning", "zephyr"],
)
def test_a_project_is_made_again_as_it_was(tigris: Tigris, models: Path, options: tuple[str, ...]) -> None:
    assert tigris(*PROJECT, *options).code == 0
    before = tree(models / "fw")
    (models / "fw/generated/core").rename(models / "lost")
    (models / "fw/app/main.c").write_text("mine")
    again = tigris("regenerate", "fw")
    assert again.code == 0, again.err
    assert "fw: updated" in again.out
    assert tree(models / "fw") == {**before, "app/main.c": b"mine"}


def test_the_models_are_found_beside_the_project_too(
    tigris: Tigris, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tigris(*PROJECT).code == 0
    (models / "elsewhere").mkdir()
    monkeypatch.chdir(models / "elsewhere")
    assert tigris("regenerate", models / "fw").code == 0


def test_a_model_that_is_not_found_is_asked_for(tigris: Tigris, models: Path) -> None:
    assert tigris(*PROJECT).code == 0
    before = tree(models / "fw")
    (models / "store").mkdir()
    shutil.move(models / MODEL, models / "store/renamed.tflite")
    lost = tigris("regenerate", "fw")
    assert lost.code == 2
    assert f"the model {MODEL} is neither in {models}" in lost.err
    assert "name it: tigris regenerate fw" in lost.err
    assert tigris("regenerate", "fw", "gone.tflite").code == 2
    assert tree(models / "fw") == before
    found = tigris("regenerate", "fw", "store/renamed.tflite")
    assert found.code == 0, found.err
    lock = read_lock(models / "fw")
    assert lock.options["models"] == ("renamed.tflite",)
    assert lock.core == SMALL.stem


def test_another_model_is_named_and_refused(tigris: Tigris, models: Path) -> None:
    assert tigris(*PROJECT).code == 0
    before = tree(models / "fw")
    shutil.copy(CHAIN, models / MODEL)
    other = tigris("regenerate", "fw", "--json")
    assert other.code == 2
    assert f"{models / MODEL} is not the model that add_equal_s8 was made from" in other.json["error"]["message"]
    assert "--new-model" in other.json["error"]["hint"]
    # --force is for edited files; which model it is remains the same question.
    assert tigris("regenerate", "fw", "--force").code == 2
    assert tree(models / "fw") == before
    assert tigris("regenerate", "fw", "--new-model").code == 0
    assert read_lock(models / "fw").core == "add_equal_s8"
    assert tree(models / "fw") != before
    assert tigris("regenerate", "fw").code == 0


def test_a_plan_is_compared_byte_for_byte(tigris: Tigris, models: Path) -> None:
    assert tigris("compile", DIGITS.name, "-o", "d.tgrs").code == 0
    assert tigris("codegen", "d.tgrs", "--board", "mps2-an386", "-o", "fw").code == 0
    assert tigris("regenerate", "fw").code == 0
    # The same model, planned for less memory: another plan.
    assert tigris("compile", DIGITS.name, "-m", "8K", "-o", "d.tgrs").code == 0
    assert "is not the model that d was made from" in tigris("regenerate", "fw").err


def test_an_edited_file_is_named_and_needs_force(tigris: Tigris, models: Path) -> None:
    assert tigris(*PROJECT).code == 0
    fresh = tree(models / "fw")
    (models / "fw/CMakeLists.txt").write_text("edited")
    edited = tigris("regenerate", "fw")
    assert edited.code == 2
    assert "CMakeLists.txt" in edited.err and "--force" in edited.err
    assert tigris("regenerate", "fw", "--force").code == 0
    assert tree(models / "fw") == fresh


def test_the_board_is_the_copy_in_the_project(tigris: Tigris, models: Path) -> None:
    (models / "boards").mkdir()
    ours = (resources.boards_dir() / "nucleo-f446re.toml").read_text()
    (models / "boards/mine.toml").write_text(ours.replace('name = "nucleo-f446re"', 'name = "mine"'))
    assert tigris("codegen", MODEL, "--board", "mine", "--boards-path", "boards", "-o", "fw").code == 0
    before = tree(models / "fw")
    shutil.rmtree(models / "boards")
    assert tigris("regenerate", "fw").code == 0
    assert tree(models / "fw") == before


def test_test_inputs_are_repeated_asked_for_and_replaced(tigris: Tigris, models: Path) -> None:
    np.save(models / "x.npy", np.zeros((2, 32, 32, 1), np.int8))
    (models / "more").mkdir()
    np.save(models / "more/y.npy", np.ones((3, 32, 32, 1), np.int8))
    project = ("codegen", DIGITS.name, "-m", "64K", "--board", "mps2-an386", "-o", "fw")
    assert tigris(*project, "--test-input", "x.npy").code == 0
    before = tree(models / "fw")
    assert tigris("regenerate", "fw").code == 0
    assert tree(models / "fw") == before
    (models / "x.npy").unlink()
    lost = tigris("regenerate", "fw")
    assert lost.code == 2 and "the test input x.npy is neither in" in lost.err and "--test-input" in lost.err
    assert tigris("regenerate", "fw", "--test-input", "more/y.npy").code == 0
    assert read_lock(models / "fw").options["test_input"] == ("y.npy",)
    expected = json.loads((models / "fw/generated/selftest/expected.json").read_text())
    assert len(expected["runs"]) == 3


def test_a_core_and_cores_that_share(tigris: Tigris, models: Path) -> None:
    assert tigris("codegen", DIGITS.name, "--format", "core", "--runtime", "none", "-o", "src").code == 0
    names = ("--name", "one", "--name", "two")
    shared = ("codegen", MODEL, CHAIN.name, *names, "--share-arena", "--format", "core", "-o", "src")
    assert tigris(*shared).code == 0
    before = tree(models / "src")
    for what in ("src", "src/digits", "src/two"):
        result = tigris("regenerate", what, "--json")
        assert result.code == 0, result.err
        assert len(result.json["regenerated"]) == (2 if what == "src" else 1)
        assert tree(models / "src") == before
    # One of them made alone since: what the other records would undo that.
    assert tigris("codegen", MODEL, "--name", "one", "--format", "core", "-o", "src").code == 0
    undone = tigris("regenerate", "src/two")
    assert undone.code == 2
    assert "two was made together with one, which is gone or was made again" in undone.err
    assert tigris("regenerate", "src/one").code == 0


def test_several_models_are_named_by_their_file_names(tigris: Tigris, models: Path) -> None:
    shared = ("codegen", MODEL, CHAIN.name, "--share-arena", "--board", "mps2-an386", "-o", "fw")
    assert tigris(*shared).code == 0
    before = tree(models / "fw")
    (models / "store").mkdir()
    shutil.move(models / CHAIN.name, models / "store")
    assert f"the model {CHAIN.name} is neither" in tigris("regenerate", "fw").err
    assert "no model of that name is recorded" in tigris("regenerate", "fw", "other.tflite").err
    assert tigris("regenerate", "fw", f"store/{CHAIN.name}").code == 0
    assert tree(models / "fw") == before


def test_a_template_is_found_again_but_its_hooks_are_allowed_anew(tigris: Tigris, models: Path) -> None:
    root = models / "mine"
    (root / "{{cookiecutter.project}}").mkdir(parents=True)
    (root / "cookiecutter.json").write_text('{"project": "p"}')
    (root / "{{cookiecutter.project}}/a.txt").write_text("{{ cookiecutter.core.name }}")
    (root / "hooks").mkdir()
    (root / "hooks/post_gen_project.py").write_text("")
    assert tigris(*PROJECT, "--template", "mine", "--allow-hooks").code == 0
    before = tree(models / "fw")
    refused = tigris("regenerate", "fw")
    assert refused.code == 2 and "hooks/post_gen_project.py" in refused.err
    assert tigris("regenerate", "fw", "--allow-hooks").code == 0
    assert tree(models / "fw") == before
    shutil.move(root, models / "moved")
    assert "the template mine is neither in" in tigris("regenerate", "fw", "--allow-hooks").err
    assert tigris("regenerate", "fw", "--allow-hooks", "--template", "moved").code == 0


def test_what_is_no_project(tigris: Tigris, models: Path) -> None:
    assert tigris("regenerate", "gone").code == 2
    (models / "empty").mkdir()
    empty = tigris("regenerate", "empty", "--json")
    assert empty.code == 2
    assert "is not a project made by tigris codegen" in empty.json["error"]["message"]
    assert tigris("codegen", MODEL, "--format", "core", "-o", "src").code == 0
    assert "its tigris.lock says that it is a runtime folder" in tigris("regenerate", "src/tigris_runtime").err


def test_help_has_an_example(tigris: Tigris) -> None:
    text = tigris("regenerate", "--help")
    assert text.code == 0
    assert "Example:\n    tigris regenerate firmware/" in text.out
