"""Code generation: what is written, what is refused, and that the user's work survives."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.firmware import handmade
from tigris_codegen.boards import Board, load_board
from tigris_codegen.codegen import TestVector, core_name_for, generate_core, generate_project, place, read_lock
from tigris_codegen.codegen import tree as tree_module
from tigris_codegen.codegen.context import (
    CORE_STACK_BYTES,
    HANDLE_BYTES,
    HANDLE_BYTES_64,
    float_literal,
)
from tigris_codegen.codegen.names import check_core_name
from tigris_codegen.codegen.render import render
from tigris_codegen.codegen.sources import runtime_files
from tigris_codegen.codegen.tree import FileSet
from tigris_codegen.emulate.report import parse_report
from tigris_codegen.emulate.verify import differences, read_expectation
from tigris_codegen.errors import FitError, MissingError, PlanError, TigrisError, UsageError
from tigris_codegen.plan.codec import encode
from tigris_codegen.plan.layout import DTypeId
from tigris_codegen.plan.plan import Plan, Port

PLAN = handmade.lookup_bytes()
BOARD = load_board("mps2-an386")


def generate(out: Path, plan: Plan | None = None, **options: Any) -> Path:
    arguments: dict[str, Any] = {"core_name": "digits", "vectors": handmade.lookup_vectors(), **options}
    board = arguments.pop("board", BOARD)
    assert isinstance(board, Board)
    generate_project(PLAN if plan is None else encode(plan), board, out, **arguments)
    return out


def tree(project: Path) -> dict[str, bytes]:
    return {p.relative_to(project).as_posix(): p.read_bytes() for p in project.rglob("*") if p.is_file()}


# What is written.


def test_only_the_plans_kernels_and_their_headers_are_copied(tmp_path: Path) -> None:
    files = tree(generate(tmp_path / "p"))
    kernels = {p for p in files if p.startswith("generated/runtime/src/kernels/") and p.endswith(".c")}
    assert kernels == {"generated/runtime/src/kernels/lookup_s8.c"}
    included = set()
    for path, data in files.items():
        if path.startswith("generated/runtime/"):
            included |= {Path(name).name for name in re.findall(r'#include "([^"]+)"', data.decode())}
    assert included <= {Path(p).name for p in files}


def test_a_helper_source_beside_an_included_header_is_taken(tmp_path: Path) -> None:
    for path, text in {
        "include/tigris.h": "",
        "src/tigris_load.c": '#include "tigris.h"\n',
        "src/kernels/lookup_s8.c": '#include "shared.h"\n',
        "src/kernels/shared.h": '#include "deeper.h"\n',
        "src/kernels/shared.c": "",
        "src/kernels/deeper.h": "",
        "src/kernels/other.c": "",
        "src/kernels/unused.h": "",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    found = runtime_files(tmp_path, ["lookup_s8"])
    assert found.sources == ("src/kernels/lookup_s8.c", "src/kernels/shared.c", "src/tigris_load.c")
    assert set(found.contents) == {*found.sources, "include/tigris.h", "src/kernels/shared.h", "src/kernels/deeper.h"}
    with pytest.raises(MissingError, match="no kernel absent_s8"):
        runtime_files(tmp_path, ["absent_s8"])


def test_a_project_is_the_same_wherever_it_is_made(tmp_path: Path) -> None:
    here = generate(tmp_path / "a", options={"model": str(tmp_path / "kws.tflite"), "budget": 65536})
    there = generate(tmp_path / "deep" / "er" / "b", options={"model": "/elsewhere/kws.tflite", "budget": 65536})
    assert tree(here) == tree(there)
    assert not any(str(tmp_path).encode() in data for data in tree(here).values())
    assert read_lock(here).options == {"model": "kws.tflite", "budget": 65536}


def test_the_lock_covers_every_generated_file_and_no_user_file(tmp_path: Path) -> None:
    project = generate(tmp_path / "p")
    paths = {p for p in tree(project) if not p.startswith("app/") and p != "tigris.lock"}
    assert set(read_lock(project).files) == paths


def test_the_header_states_the_plans_memory(tmp_path: Path) -> None:
    plan = handmade.lookup_plan(slow=True)
    header = (generate(tmp_path / "p", plan) / "generated/core/digits.h").read_text()
    stated = {m[1]: int(m[2]) for m in re.finditer(r"#define DIGITS_(\w+)_BYTES (\d+)u", header)}
    assert stated["FAST_ARENA"] == plan.fast_bytes
    assert stated["SLOW_ARENA"] == plan.slow_bytes
    assert stated["RAM"] == stated["FAST_ARENA"] + stated["SLOW_ARENA"] + stated["STATE"] + stated["WORKSPACE"]
    assert stated["RAM"] == plan.ram_bytes
    assert stated["STACK"] == BOARD.frameworks["baremetal"].stack


def test_a_hostile_tensor_name_stays_a_name(tmp_path: Path) -> None:
    name = 'a*/ #error "x"\n\\`|{{cookiecutter}}\u00e9??/'
    plan = replace(handmade.lookup_plan(), inputs=(replace(handmade.lookup_plan().inputs[0], name=name),))
    project = generate(tmp_path / "p", plan)
    header = (project / "generated/core/digits.h").read_text()
    literal = re.search(r'DIGITS_INPUT_0_NAME "(.*)"', header)
    assert literal is not None
    assert re.sub(r"\\(\d{3})", lambda m: chr(int(m[1], 8)), literal[1]).encode("latin-1").decode() == name
    comment = next(line for line in header.splitlines() if line.startswith("/* Input 0"))
    assert comment.index("*/") == len(comment) - 2
    row = next(line for line in (project / "README.md").read_text().splitlines() if line.startswith("| input 0"))
    assert row.count("|") == 7
    assert row.count("`") == 2


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, 1 / 255, 1e-30, 3.4e38, 12345678.0, 2**-24])
def test_float_literals_are_c_and_read_back_exactly(value: float) -> None:
    text = float_literal(value)
    assert re.fullmatch(r"-?\d+(\.\d+)?(e[+-]\d+)?f", text)
    assert "." in text or "e" in text
    assert float_literal(float(text[:-1])) == text


# What is refused.


def test_bytes_that_are_no_plan(tmp_path: Path) -> None:
    with pytest.raises(PlanError):
        generate_project(PLAN[:-1], BOARD, tmp_path / "p", core_name="digits", vectors=handmade.lookup_vectors())
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["", "9lives", "two words", "kws-int8", "string", "Math", "tigris_x", "firmware", "m"])
def test_names_that_cannot_be_a_core(name: str) -> None:
    with pytest.raises(UsageError, match="cannot name the core"):
        check_core_name(name)
    check_core_name(core_name_for(name))


@pytest.mark.parametrize(
    ("text", "name"), [("KWS-int8.v2", "kws_int8_v2"), ("2nd", "model_2nd"), ("--", "model"), ("math", "model_math")]
)
def test_core_names_from_file_names(text: str, name: str) -> None:
    assert core_name_for(text) == name


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        ([], "at least one test vector"),
        ([TestVector((b"",), (bytes(192),))], r"vector 0: input 0 \(image\) has 0 bytes, not 192"),
        ([TestVector((bytes(192),), ())], "has 0 outputs, the model 1"),
        ([TestVector((bytes(192), b""), (bytes(192),))], "has 2 inputs, the model 1"),
    ],
)
def test_vectors_that_do_not_fit_the_model(tmp_path: Path, vectors: list[TestVector], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        generate(tmp_path / "p", vectors=vectors)


def test_a_plan_for_another_backend(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="backend reference, not cmsis-nn"):
        generate(tmp_path / "p", backend="cmsis-nn")
    assert not any(tmp_path.iterdir())


# Where the arenas go.


def test_arenas_go_to_the_first_region_with_room() -> None:
    ram = BOARD.arena_regions("baremetal")["ram"]
    plan = handmade.lookup_plan()
    room = ram - plan.workspace_bytes
    assert place(replace(plan, fast_bytes=room), 100, BOARD, "baremetal").fast == "ram"
    assert place(replace(plan, fast_bytes=room + 1), 100, BOARD, "baremetal").fast == "psram"
    both = place(replace(plan, fast_bytes=room, slow_bytes=16), 100, BOARD, "baremetal")
    assert (both.fast, both.slow) == ("ram", "psram")
    assert place(plan, 100, BOARD, "baremetal", fast_region="psram").fast == "psram"


def test_a_plan_that_does_not_fit_is_refused_with_region_need_and_have(tmp_path: Path) -> None:
    large = 0x1000000 + 1
    with pytest.raises(FitError, match=rf"needs {large} bytes, mps2-an386 leaves {large - 1} in psram") as error:
        generate(tmp_path / "p", replace(handmade.lookup_plan(), fast_bytes=large))
    assert (error.value.need, error.value.have, error.value.exit_code) == (large, large - 1, 3)
    with pytest.raises(FitError, match="in code"):
        place(handmade.lookup_plan(), BOARD.available("baremetal")["code"] + 1, BOARD, "baremetal")
    with pytest.raises(UsageError, match="code of mps2-an386 is not RAM"):
        place(handmade.lookup_plan(), 100, BOARD, "baremetal", fast_region="code")


# The user's work.


def test_a_strangers_folder_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="not a project"):
        generate(tmp_path, force=True)
    assert tree(tmp_path) == {"notes.txt": b"mine"}
    with pytest.raises(UsageError, match="not a folder"):
        generate(tmp_path / "notes.txt")


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    assert "tigris.lock" in tree(generate(tmp_path / "p"))
    assert [p.name for p in tmp_path.iterdir()] == ["p"]


def test_regeneration_rewrites_generated_and_leaves_everything_of_the_user(tmp_path: Path) -> None:
    project = generate(tmp_path / "p")
    (project / "app" / "main.c").write_text("int main(void) { return 0; }\n")
    (project / "app" / "board_clock.c").unlink()
    (project / "app" / "sensor.c").write_text("int sensor;\n")
    (project / "notes.txt").write_text("mine")
    (project / "build").mkdir()
    (project / "build" / "x.o").write_text("object")
    (project / "generated" / "core" / "digits.c").unlink()
    before = tree(project)
    generate(project, core_name="renamed", board=load_board("mps2-an500"))
    after = tree(project)
    kept = ("app/main.c", "app/sensor.c", "notes.txt", "build/x.o")
    assert {p: after[p] for p in kept} == {p: before[p] for p in kept}
    assert "app/board_clock.c" not in after
    assert "generated/core/renamed.c" in after
    assert not any("digits" in path for path in after)
    assert read_lock(project).board == "mps2-an500"
    assert [p.name for p in tmp_path.iterdir()] == ["p"]


@pytest.mark.parametrize("path", ["generated/core/digits.h", "CMakeLists.txt", "generated/extra.c"])
def test_an_edited_generated_file_is_named_and_needs_force(tmp_path: Path, path: str) -> None:
    project = generate(tmp_path / "p")
    fresh = tree(project)
    (project / path).write_text("edited")
    edited = tree(project)
    with pytest.raises(UsageError, match=re.escape(path)) as error:
        generate(project)
    assert "--force" in str(error.value.hint)
    assert tree(project) == edited
    generate(project, force=True)
    assert tree(project) == fresh


def test_a_failure_while_writing_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path.write_bytes

    def fail_late(self: Path, data: bytes) -> int:
        if self.name == "tigris.lock":
            raise OSError("no space left on device")
        return real(self, data)

    project = generate(tmp_path / "old")
    before = tree(project)
    monkeypatch.setattr(Path, "write_bytes", fail_late)
    for out in (tmp_path / "new", project):
        with pytest.raises(OSError, match="no space"):
            generate(out, core_name="other")
    assert [p.name for p in tmp_path.iterdir()] == ["old"]
    assert tree(project) == before


class Crash(BaseException):
    """The machine stops: nothing is cleaned up, nothing is caught."""


def crash_at(step: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The program ends before the given change of the file tree by rename or deletion; the list counts them."""
    steps: list[str] = []
    monkeypatch.setattr(tree_module, "shutil", SimpleNamespace(rmtree=lambda *_, **__: None))
    for owner, name in ((os, "replace"), (Path, "rename"), (Path, "unlink")):
        real = getattr(owner, name)

        def stop(*arguments: object, real: Callable[..., object] = real, name: str = name, **options: object) -> object:
            if len(steps) == step:
                raise Crash
            steps.append(name)
            return real(*arguments, **options)

        monkeypatch.setattr(owner, name, stop)
    return steps


def test_a_run_that_was_cut_short_anywhere_needs_no_force(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = tree(generate(tmp_path / "fresh", core_name="renamed", board=load_board("mps2-an500")))
    with monkeypatch.context() as patch:
        steps = crash_at(-1, patch)
        generate(generate(tmp_path / "whole"), core_name="renamed", board=load_board("mps2-an500"))
    assert len(steps) > 5
    for step in range(1, len(steps)):
        project = generate(tmp_path / str(step))
        (project / "app" / "main.c").write_text("mine")
        with monkeypatch.context() as patch:
            crash_at(step - 1, patch)
            with pytest.raises(Crash):
                generate(project, core_name="renamed", board=load_board("mps2-an500"))
        edited = next(p for p in (project / "CMakeLists.txt", project / "generated/core/renamed.c") if p.is_file())
        before = edited.read_bytes()
        edited.write_bytes(before + b"# mine")
        with pytest.raises(UsageError, match="were changed"):
            generate(project)
        edited.write_bytes(before)
        generate(project, core_name="renamed", board=load_board("mps2-an500"))
        after = tree(project)
        assert after.pop("app/main.c") == b"mine"
        assert after == {path: data for path, data in fresh.items() if path != "app/main.c"}


def test_two_writers_of_one_file_are_an_error() -> None:
    files = FileSet()
    files.add("a.c", b"", "the first")
    with pytest.raises(TigrisError, match=r"the second writes a\.c"):
        files.add("a.c", b"", "the second")


def test_a_damaged_or_newer_lock_is_refused(tmp_path: Path) -> None:
    project = generate(tmp_path / "p")
    lock = json.loads((project / "tigris.lock").read_text())
    for text, said in (
        ("{", "cannot be read"),
        (json.dumps({**lock, "lock": 99}), "version 99"),
        (json.dumps({**lock, "extra": 1}), "damaged"),
    ):
        (project / "tigris.lock").write_text(text)
        with pytest.raises(UsageError, match=said):
            generate(project)


# Cores: two folders in the user's own, `<name>` and `tigris_runtime`.

CLAMP = encode(handmade.clamp_plan(1e-3))
KERNEL = "tigris_runtime/src/kernels/{}.c".format


def test_a_core_and_its_runtime_are_all_that_is_written(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    core = generate_core(PLAN, tmp_path, core_name="digits", options={"model": "/elsewhere/digits.tflite"})
    files = tree(tmp_path)
    assert {path.split("/")[0] for path in files} == {"main.c", "digits", "tigris_runtime"}
    own = {path.removeprefix("digits/") for path in files if path.startswith("digits/")}
    assert own == {*core.files, "tigris.lock"}
    assert {"digits.h", "digits.c", "digits_plan.h", "digits_plan.c", "tigris_core.cmake", "README.md"} == set(
        core.files
    )
    assert {path for path in files if "/kernels/" in path and path.endswith(".c")} == {KERNEL("lookup_s8")}
    assert (core.path, core.runtime, core.created) == (tmp_path / "digits", tmp_path / "tigris_runtime", True)
    assert json.loads(files["digits/tigris.lock"])["options"] == {"model": "digits.tflite"}
    assert not any(str(tmp_path).encode() in data for data in files.values())


def test_cores_of_one_folder_share_a_runtime_with_the_kernels_of_all(tmp_path: Path) -> None:
    generate_core(PLAN, tmp_path, core_name="digits")
    generate_core(CLAMP, tmp_path, core_name="clamp")
    both = tree(tmp_path)
    assert {KERNEL("lookup_s8"), KERNEL("clamp_f32")} <= both.keys()
    assert b"src/kernels/lookup_s8.c" in both["tigris_runtime/tigris_runtime.cmake"]
    reversed_order = tmp_path / "other"
    generate_core(CLAMP, reversed_order, core_name="clamp")
    generate_core(PLAN, reversed_order, core_name="digits")
    assert tree(reversed_order) == both
    # A core whose folder was deleted is forgotten; one that needs other kernels now gives its old ones back.
    shutil.rmtree(tmp_path / "digits")
    assert not generate_core(CLAMP, tmp_path, core_name="clamp").created
    assert KERNEL("lookup_s8") not in tree(tmp_path)
    generate_core(PLAN, tmp_path, core_name="clamp")
    assert KERNEL("clamp_f32") not in tree(tmp_path)


def test_a_core_may_leave_the_runtime_out(tmp_path: Path) -> None:
    core = generate_core(PLAN, tmp_path, core_name="digits", runtime="none")
    assert core.runtime is None
    assert [p.name for p in tmp_path.iterdir()] == ["digits"]
    assert "find_package(tigris_runtime" in (core.path / "tigris_core.cmake").read_text()
    # Its kernels are not wanted in the copy that another core brings.
    generate_core(CLAMP, tmp_path, core_name="clamp")
    assert KERNEL("lookup_s8") not in tree(tmp_path)


def test_a_core_generated_again_is_the_same_and_not_even_touched(tmp_path: Path) -> None:
    generate_core(PLAN, tmp_path, core_name="digits")
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino) for path in tmp_path.rglob("*.*")}
    generate_core(PLAN, tmp_path, core_name="digits")
    assert before == {
        path: (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino) for path in tmp_path.rglob("*.*")
    }


@pytest.mark.parametrize("path", ["digits/digits.c", "digits/mine.c", KERNEL("lookup_s8"), "tigris_runtime/mine.h"])
def test_an_edited_file_of_a_core_is_named_and_needs_force(tmp_path: Path, path: str) -> None:
    generate_core(PLAN, tmp_path, core_name="digits")
    fresh = tree(tmp_path)
    (tmp_path / path).write_text("edited")
    edited = tree(tmp_path)
    with pytest.raises(UsageError, match=re.escape(path.split("/", 1)[1])) as error:
        generate_core(PLAN, tmp_path, core_name="digits")
    assert "--force" in str(error.value.hint)
    assert tree(tmp_path) == edited
    generate_core(PLAN, tmp_path, core_name="digits", force=True)
    assert tree(tmp_path) == fresh


@pytest.mark.parametrize("folder", ["digits", "tigris_runtime"])
def test_a_strangers_folder_of_the_same_name_is_left_alone(tmp_path: Path, folder: str) -> None:
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match=rf"{folder} is not a \w+.* made by tigris codegen: it has no tigris\.lock"):
        generate_core(PLAN, tmp_path, core_name="digits", force=True)
    assert tree(tmp_path) == {f"{folder}/notes.txt": b"mine"}


def test_a_core_is_no_project_and_a_project_no_core(tmp_path: Path) -> None:
    core = generate_core(PLAN, tmp_path, core_name="digits")
    with pytest.raises(UsageError, match=r"its tigris\.lock says that it is a core"):
        generate(core.path)
    with pytest.raises(UsageError, match="not a project made by tigris codegen"):
        read_lock(core.path)
    generate(tmp_path / "kws")
    with pytest.raises(UsageError, match="says that it is a project"):
        generate_core(PLAN, tmp_path, core_name="kws")
    generate_core(PLAN, tmp_path, core_name="clamp")


def test_a_core_cut_short_anywhere_needs_no_force(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def make(out: Path) -> None:
        generate_core(PLAN, out, core_name="digits")

    def change(out: Path) -> None:
        generate_core(CLAMP, out, core_name="digits")

    change(tmp_path / "fresh")
    fresh = tree(tmp_path / "fresh")
    make(tmp_path / "whole")
    with monkeypatch.context() as patch:
        steps = crash_at(-1, patch)
        change(tmp_path / "whole")
    assert len(steps) == 4
    for step in range(len(steps)):
        out = tmp_path / str(step)
        make(out)
        with monkeypatch.context() as patch:
            crash_at(step, patch)
            with pytest.raises(Crash):
                change(out)
        change(out)
        assert {path: data for path, data in tree(out).items() if not path.startswith(".")} == fresh


def test_the_header_of_a_core_states_its_handles_and_its_stack(tmp_path: Path) -> None:
    core = generate_core(PLAN, tmp_path, core_name="digits")
    header = (core.path / "digits.h").read_text()
    readme = (core.path / "README.md").read_text()
    assert f"| handles (`DIGITS_HANDLE_BYTES`, with 32-bit pointers) | {HANDLE_BYTES} |" in readme
    assert f"| **RAM of the model** (`DIGITS_RAM_BYTES`) | **{handmade.lookup_plan().ram_bytes}** |" in readme
    assert [int(n) for n in re.findall(r"_HANDLE_BYTES (\d+)u", header)] == [HANDLE_BYTES_64, HANDLE_BYTES]
    assert f"#define DIGITS_STACK_BYTES {CORE_STACK_BYTES}u" in header


# Templates.


def test_an_undefined_variable_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "template" / "{{cookiecutter.project}}"
    folder.mkdir(parents=True)
    (tmp_path / "template" / "cookiecutter.json").write_text('{"project": "p", "given": 1}')
    (folder / "file.txt").write_text("{{ cookiecutter.given }}\n")
    assert render(tmp_path / "template", {"given": 2}) == {"file.txt": b"2\n"}
    (folder / "file.txt").write_text("{{ cookiecutter.absent }}\n")
    with pytest.raises(TigrisError, match="absent"):
        render(tmp_path / "template", {"given": 2})


# The core on the host, where it must compile as cleanly and refuse a second run.

RE_ENTER = """
#include <stdio.h>
#include "digits.h"
#include "tigris_kernel.h"

static tigris_status_t run_inside, init_inside;

tigris_status_t tigris_k_lookup_s8(const tigris_call_t *call)
{
    (void)call;
    run_inside = digits_run();
    init_inside = digits_init();
    return TIGRIS_OK;
}

int main(void)
{
    const int early = digits_run() == TIGRIS_ERR_NULL && digits_input_0() == NULL && digits_output_0() == NULL;
    const int init = digits_init() == TIGRIS_OK && digits_input_0() != NULL;
    const int first = digits_run() == TIGRIS_OK;
    const int refused = run_inside == TIGRIS_ERR_BUSY && init_inside == TIGRIS_ERR_BUSY;
    const int again = digits_run() == TIGRIS_OK;
    printf("%d%d%d%d%d ", early, init, first, refused, again);
    printf("%d %d %d %d ", digits_quantize_input_0(0.5f / 255), digits_quantize_input_0(-0.5f / 255),
           digits_quantize_input_0(9.0f), digits_quantize_input_0(-9.0f));
    printf("%d %g %g\\n", digits_quantize_input_0(0.0f / 0.0f), (double)digits_dequantize_output_0(-128),
           (double)digits_dequantize_output_0(127));
    return 0;
}
"""


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_core_compiles_cleanly_quantizes_and_refuses_a_second_run(tmp_path: Path, compiler: str) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is missing")
    project = generate(tmp_path / "p")
    runtime = project / "generated" / "runtime"
    (tmp_path / "main.c").write_text(RE_ENTER)
    sources = [*(project / "generated/core").glob("*.c"), *(runtime / "src").glob("*.c"), tmp_path / "main.c"]
    kernel = runtime / "src/kernels/lookup_s8.c"
    flags = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-ffp-contract=off"]
    includes = [f"-I{project}/generated/core", f"-I{runtime}/include", f"-I{runtime}/src"]
    # The real check beside the kernel of this test: the real kernel gets another name.
    renamed = ["-Dtigris_k_lookup_s8=real_lookup_s8", "-c", str(kernel), "-o", str(tmp_path / "kernel.o")]
    subprocess.run([compiler, *flags, *includes, *renamed], check=True)
    program = tmp_path / "core"
    command = [compiler, *flags, *includes, *map(str, sources), str(tmp_path / "kernel.o"), "-o", str(program), "-lm"]
    subprocess.run(command, check=True)
    done = subprocess.run([program], check=True, capture_output=True, text=True)
    assert done.stdout == "11111 -127 -128 127 -128 -128 0 0.996094\n"


# The report.

LOG = """\
TIGRIS kws START vectors=2 ram=100 hz=25000000
TIGRIS kws OUTPUT 0 0 0102
TIGRIS kws RUN 0 peak=90 stack=64 ticks=1600
TIGRIS kws OUTPUT 1 0 0304
TIGRIS kws RUN 1 peak=80 stack=72 ticks=3200
TIGRIS kws PASS crc=0xb63cfbcd peak=90 stack=72 ticks=3200
"""


def test_a_report_holds_outputs_and_worst_figures() -> None:
    report = parse_report(LOG, "QEMU", "m", 0.625)
    assert report.passed
    assert report.outputs == ((b"\1\2",), (b"\3\4",))
    assert (report.peak_bytes, report.stack_bytes, report.ticks, report.instructions) == (90, 72, 3200, 2000)
    assert [run.instructions for run in report.runs] == [1000, 2000]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("OUTPUT 1 0 0304", "OUTPUT 1 0 0305"),
        ("TIGRIS kws RUN 1", "TIGRIS kws RIN 1"),
        ("peak=90 stack=72", "peak=80 stack=72"),
        ("TIGRIS kws PASS", "TIGRIS kws "),
        ("TIGRIS kws START", "TIGRIS FAULT"),
    ],
)
def test_a_log_that_is_cut_or_contradicts_itself_proves_nothing(old: str, new: str) -> None:
    assert old in LOG
    with pytest.raises(TigrisError, match=r"did not finish|damaged"):
        parse_report(LOG.replace(old, new), "QEMU", "m", 0.625)


def test_a_failure_is_told_in_the_firmwares_words() -> None:
    log = LOG.replace("PASS crc=0xb63cfbcd peak=90 stack=72 ticks=3200", "FAIL vector=1 status=8 no such kernel")
    report = parse_report(log, "QEMU", "m", None)
    assert (report.passed, report.failure) == (False, "vector=1 status=8 no such kernel")
    assert report.instructions is None


def test_the_host_compares_bytes_memory_and_vectors(tmp_path: Path) -> None:
    expectation = replace(
        read_expectation(generate(tmp_path / "p")),
        ram_bytes=100,
        stack_bytes=72,
        vectors=((b"\1\2",), (b"\3\4",)),
    )
    report = parse_report(LOG, "QEMU", "m", None)
    assert differences(expectation, report) == ()
    for wrong, said in (
        (replace(expectation, ram_bytes=89), "90 bytes of RAM were used, 89 were stated"),
        (replace(expectation, stack_bytes=71), "72 bytes of stack"),
        (replace(expectation, vectors=((b"\1\2",), (b"\3\5",))), "1 of 2 values differ, the first at 1: 4, expected 5"),
        (replace(expectation, vectors=((b"\1\2",),)), "2 test vectors were run, not 1"),
        (replace(expectation, vectors=((b"\1\2",), (b"\3",))), "2 bytes, not 1"),
    ):
        assert said in "\n".join(differences(wrong, report))
    failed = replace(report, passed=False, failure="vector=0")
    assert "self-test failed: vector=0" in differences(expectation, failed)[0]


def test_every_port_type_has_a_c_type(tmp_path: Path) -> None:
    plan = handmade.lookup_plan()
    for dtype, size in ((DTypeId.U8, 1), (DTypeId.S16, 2), (DTypeId.S32, 4), (DTypeId.S64, 8), (DTypeId.BOOL, 1)):
        port = Port("p", 0, dtype, (192 // size,), 0.5 if dtype is not DTypeId.BOOL else 0.0, 0)
        project = generate(tmp_path / dtype.name, replace(plan, inputs=(port,)))
        text = (project / "generated/core/digits.c").read_text()
        assert ("digits_quantize_input_0" in text) == (dtype not in (DTypeId.S64, DTypeId.BOOL))


# Whose runtime.


def test_a_project_with_the_runtime_of_its_framework_has_no_copy(tmp_path: Path) -> None:
    board = load_board("nucleo-h7")
    project = generate(tmp_path / "p", board=board, framework="zephyr", runtime="module")
    assert read_lock(project).runtime == "module"
    assert not any(path.startswith(("generated/runtime/", "generated/zephyr/")) for path in tree(project))
    generate(project, board=board, framework="zephyr")
    assert any(path.startswith("generated/runtime/") for path in tree(project))


@pytest.mark.parametrize(("runtime", "said"), [("module", "zephyr"), ("none", "--format core")])
def test_a_runtime_that_the_framework_does_not_know(tmp_path: Path, runtime: str, said: str) -> None:
    with pytest.raises(UsageError, match=f"projects for baremetal have no --runtime {runtime}") as error:
        generate(tmp_path / "p", runtime=runtime)
    assert said in str(error.value.hint)
    with pytest.raises(UsageError, match="a core is built by the firmware"):
        generate_core(PLAN, tmp_path, core_name="digits", runtime="module")
    assert not any(tmp_path.iterdir())
