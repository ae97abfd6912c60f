"""Several models in one firmware, built and run: alone and in turn, with a shared arena and with their own."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tests.firmware import handmade
from tests.firmware.support import missing_for
from tests.foreign.support import Models, make_models, random_inputs, run
from tigris_codegen.boards import Board, load_board
from tigris_codegen.codegen import CoreModel, TestVector, generate_cores, generate_project_of, need_together
from tigris_codegen.emulate import verify_project
from tigris_codegen.errors import TigrisError
from tigris_codegen.pipeline import Compiled
from tigris_codegen.plan.codec import encode
from tigris_codegen.session import Session


@pytest.fixture(scope="module")
def models() -> Models:
    return make_models()


def core_model(name: str, compiled: Compiled) -> CoreModel:
    inputs = random_inputs(compiled)
    with Session(compiled.plan_bytes) as session:
        outputs = session.run(inputs)
    vector = TestVector(tuple(a.tobytes() for a in inputs.values()), tuple(a.tobytes() for a in outputs.values()))
    return CoreModel.decoded(name, compiled.plan_bytes, [vector])


def both(models: Models) -> list[CoreModel]:
    return [core_model("digits", models.digits), core_model("adder", models.adder)]


def need(board: Board) -> None:
    host = [program for program in ("cmake", "cc") if shutil.which(program) is None]
    lacking = host if board.name == "posix" else missing_for(board)
    if lacking:
        pytest.skip(f"missing: {', '.join(lacking)}")


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "apart"])
@pytest.mark.parametrize(
    ("board", "emulator"),
    [("posix", "native"), ("mps2-an386", "qemu"), ("qemu-riscv32", "qemu"), ("nucleo-f446re", "unicorn")],
)
def test_cores_run_in_turn(tmp_path: Path, models: Models, board: str, emulator: str, shared: bool) -> None:
    known = load_board(board)
    need(known)
    made = both(models)
    project = generate_project_of(made, known, tmp_path / "p", share_arena=shared)
    result = verify_project(project.path, emulator)
    result.check()
    stated = need_together(made, shared).ram
    digits, adder = (m.plan.ram_bytes for m in made)
    assert result.report.stated_ram_bytes == stated == (max(digits, adder) + 20 if shared else project.need.ram)
    # digits, adder, then digits, adder, digits over what the other has left.
    order = [made[i].vectors[0].outputs for i in (0, 1, 0, 1, 0)]
    assert list(result.report.outputs) == order
    if shared:
        assert result.report.peak_bytes == stated
    if emulator == "unicorn":
        assert result.report.watch is not None and result.report.watch.inferences == 7


def test_cores_share_where_there_is_no_exclusive_access(tmp_path: Path) -> None:
    """A Cortex-M0 takes the arena with interrupts off."""
    board = load_board("microbit")
    need(board)
    plans = {"one": handmade.lookup_plan(), "two": handmade.lookup_plan(slow=True)}
    made = [CoreModel.decoded(name, encode(plan), handmade.lookup_vectors(2)) for name, plan in plans.items()]
    project = generate_project_of(made, board, tmp_path / "p", share_arena=True)
    for emulator in ("qemu", "unicorn"):
        result = verify_project(project.path, emulator)
        result.check()
        assert len(result.report.runs) == 7


def test_the_runs_in_turn_notice_arenas_that_overlap(tmp_path: Path) -> None:
    """Each core's own vectors pass; only the runs in turn show that one overwrites the other's outputs."""
    need(load_board("posix"))
    plan = handmade.lookup_plan()
    vectors = handmade.lookup_vectors(2)
    made = [CoreModel.decoded("one", encode(plan), vectors[:1]), CoreModel.decoded("two", encode(plan), vectors[1:])]
    project = generate_project_of(made, load_board("posix"), tmp_path / "p").path
    assert verify_project(project).ok
    one, two = (project / f"generated/core/{name}.c" for name in ("one", "two"))
    one.write_text(
        one.read_text()
        .replace("static uint8_t fast_arena", "uint8_t one_fast_arena")
        .replace("fast_arena, sizeof fast_arena", "one_fast_arena, sizeof one_fast_arena")
    )
    text = two.read_text()
    text, count = re.subn(
        r"static uint8_t fast_arena\[\w+\][^;]*;", "extern uint8_t one_fast_arena[TWO_FAST_ARENA_BYTES];", text
    )
    assert count == 1
    two.write_text(text.replace("fast_arena, sizeof fast_arena", "one_fast_arena, sizeof one_fast_arena"))
    result = verify_project(project)
    assert not result.report.passed
    # The third and the fourth run are those in turn; the third is the one whose outputs were overwritten.
    assert result.report.failure is not None and result.report.failure.startswith("vector=2 output=0")


def test_a_shared_arena_that_is_too_small_does_not_build(tmp_path: Path) -> None:
    need(load_board("posix"))
    large = replace(handmade.lookup_plan(), fast_bytes=handmade.lookup_plan().fast_bytes + 64)
    vectors = handmade.lookup_vectors(1)
    made = [
        CoreModel.decoded("one", encode(handmade.lookup_plan()), vectors),
        CoreModel.decoded("two", encode(large), vectors),
    ]
    project = generate_project_of(made, load_board("posix"), tmp_path / "p", share_arena=True).path
    header = project / "generated/core/one_two_arena.h"
    text = header.read_text()
    header.write_text(text.replace(f"_FAST_BYTES {large.fast_bytes}u", f"_FAST_BYTES {large.fast_bytes - 16}u"))
    assert header.read_text() != text
    with pytest.raises(TigrisError, match="two_fast_arena_bytes"):
        verify_project(project)


MAIN = """
#include <stdio.h>
#include <string.h>
#include "adder.h"
#include "digits.h"
#include "vectors.h"

static void put(const char *name, const void *bytes, size_t count)
{
    printf("%s ", name);
    for (size_t i = 0; i < count; i++) {
        printf("%02x", ((const unsigned char *)bytes)[i]);
    }
    printf("\\n");
}

int main(void)
{
    if (digits_init() != TIGRIS_OK || adder_init() != TIGRIS_OK) {
        return 1;
    }
    for (int turn = 0; turn < 2; turn++) {
        memcpy(digits_input_0(), digits_pixels, sizeof digits_pixels);
        if (digits_run() != TIGRIS_OK) {
            return 2;
        }
        put("digits", digits_output_0(), DIGITS_OUTPUT_0_BYTES);
        memcpy(adder_input_0(), adder_a, sizeof adder_a);
        memcpy(adder_input_1(), adder_b, sizeof adder_b);
        if (adder_run() != TIGRIS_OK) {
            return 3;
        }
        put("adder", adder_output_0(), ADDER_OUTPUT_0_BYTES);
    }
    return digits_output_0() != NULL;
}
"""


def test_cores_that_share_as_cmake_targets(tmp_path: Path, models: Models) -> None:
    """In somebody else's firmware: two lines of CMake for each core bring the arena once."""
    lacking = [p for p in ("cmake", "ninja", "cc") if shutil.which(p) is None]
    if lacking:
        pytest.skip(f"missing: {', '.join(lacking)}")
    generate_cores(both(models), tmp_path / "src", share_arena=True)
    (tmp_path / "main.c").write_text(MAIN)
    (tmp_path / "vectors.h").write_text(models.vectors)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.18)\nproject(other C)\nadd_executable(other main.c)\n"
        + "".join(
            f"include(src/{core}/tigris_core.cmake)\ntarget_link_libraries(other PRIVATE tigris_core_{core})\n"
            for core in ("digits", "adder")
        )
    )
    run("cmake", "-S", tmp_path, "-B", tmp_path / "build", "-G", "Ninja")
    run("ninja", "-C", tmp_path / "build")
    done = subprocess.run([tmp_path / "build/other"], capture_output=True, text=True, check=True)
    turn = [line for line in models.printed.splitlines() if not line.startswith("best")]
    assert done.stdout.splitlines() == turn * 2
