"""Several cores in one firmware, with arenas of their own or a shared one: what is refused, proved, stated, noticed."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.firmware import handmade
from tests.unit.cli_support import CHAIN, DIGITS, SMALL, Tigris
from tigris_codegen.boards import load_board
from tigris_codegen.codegen import CoreModel, generate_cores, generate_project_of, need_together, read_lock
from tigris_codegen.codegen.context import selftest_runs
from tigris_codegen.errors import PlanError, UsageError
from tigris_codegen.plan.codec import encode
from tigris_codegen.plan.plan import Plan
from tigris_codegen.plan.verify import PlanFault, verify_shared

LOOKUP, SLOW, CLAMP = handmade.lookup_plan(), handmade.lookup_plan(slow=True), handmade.clamp_plan(1e-3)


def model(name: str, plan: Plan = LOOKUP) -> CoreModel:
    vectors = [handmade.clamp_vector()] if plan is CLAMP else handmade.lookup_vectors(2)
    return CoreModel.decoded(name, encode(plan), vectors)


@pytest.fixture
def tigris(capsys: pytest.CaptureFixture[str]) -> Tigris:
    return Tigris(capsys)


THREE = (model("one"), model("two", SLOW), model("three", CLAMP))


# The verifier.


def test_plans_that_share_are_proved_in_arenas_of_exactly_the_largest_size() -> None:
    fast, slow = max(p.fast_bytes for p in (LOOKUP, SLOW)), SLOW.slow_bytes
    verify_shared((LOOKUP, SLOW), fast, slow)
    for wrong in ((fast - 1, slow), (fast + 16, slow), (fast, slow - 1), (fast, slow + 16)):
        with pytest.raises(PlanFault, match=r"a shared (fast|slow) arena of \d+ bytes, the plans need \d+"):
            verify_shared((LOOKUP, SLOW), *wrong)


def test_a_plan_that_reads_what_another_left_is_found() -> None:
    """Alone it reads nothing wrong: memory that holds nothing is not what it expects either, but the fault is told."""
    forgetful = replace(LOOKUP, records=LOOKUP.records[:1])
    with pytest.raises(PlanFault, match=r"plan 1 in the shared arenas: output 'scores' is not whole"):
        verify_shared((LOOKUP, forgetful), LOOKUP.fast_bytes, 0)


def test_the_same_plan_twice_does_not_live_on_the_bytes_of_its_first_run() -> None:
    """Its labels are others in each run: what the run before has left is as wrong as any other byte."""
    lazy = replace(LOOKUP, records=LOOKUP.records[1:])
    with pytest.raises(PlanFault, match="plan 0"):
        verify_shared((lazy, LOOKUP), LOOKUP.fast_bytes, 0)
    verify_shared((LOOKUP, LOOKUP), LOOKUP.fast_bytes, 0)


def test_a_plan_outside_of_the_shared_arena_is_found() -> None:
    (source, target) = LOOKUP.operands
    outside = replace(LOOKUP, operands=(source, replace(target, offset=LOOKUP.fast_bytes - 16)))
    with pytest.raises(PlanFault, match="do not fit"):
        verify_shared((LOOKUP, outside), LOOKUP.fast_bytes, 0)


# Names, sizes, what is refused.


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("kws", "kws"), "two cores are called kws"),
        (("kws", "KWS"), "two cores are called kws"),
        (("kws", "kws_plan"), "would write the same files"),
    ],
)
def test_names_that_cannot_be_together(tmp_path: Path, names: tuple[str, str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        generate_cores([model(name) for name in names], tmp_path)
    assert not any(tmp_path.iterdir())


def test_one_model_and_a_model_with_state_share_no_arena(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nobody to share"):
        generate_cores(THREE[:1], tmp_path, share_arena=True)
    stateful = replace(model("s"), plan=replace(LOOKUP, state_bytes=16))
    with pytest.raises(UsageError, match="s keeps state"):
        generate_cores([model("one"), stateful], tmp_path, share_arena=True)
    broken = replace(model("b"), plan=replace(LOOKUP, records=LOOKUP.records[:1]))
    with pytest.raises(PlanError, match="the arena cannot be shared: plan 1"):
        generate_cores([model("one"), broken], tmp_path, share_arena=True)
    assert not any(tmp_path.iterdir())


def test_ram_is_the_largest_arena_and_every_workspace() -> None:
    plans = [m.plan for m in THREE]
    shared = need_together(THREE, share_arena=True)
    assert shared.fast == max(p.fast_bytes for p in plans)
    assert shared.slow == max(p.slow_bytes for p in plans)
    assert shared.ram == shared.fast + shared.slow + sum(p.workspace_bytes for p in plans)
    apart = need_together(THREE, share_arena=False)
    assert apart.ram == sum(p.ram_bytes for p in plans)  # these sizes are multiples of 16
    odd = [replace(m, plan=replace(m.plan, fast_bytes=m.plan.fast_bytes + 1)) for m in THREE]
    assert need_together(odd, share_arena=False).fast == apart.fast + 16 * len(odd)


def test_frameworks_that_take_one_model_say_so(tmp_path: Path) -> None:
    board = load_board("nucleo-h7")
    with pytest.raises(UsageError, match="projects for zephyr take one model, not 2") as error:
        generate_project_of(THREE[:2], board, tmp_path / "p", framework="zephyr")
    assert "--format core" in str(error.value.hint) and "baremetal" in str(error.value.hint)
    assert not any(tmp_path.iterdir())


def test_the_runs_of_the_self_test_go_up_and_down_the_list() -> None:
    assert [(r.core, r.vector, r.painted) for r in selftest_runs([2])] == [(0, 0, True), (0, 1, True)]
    runs = [(r.core, r.vector, r.painted) for r in selftest_runs([1, 2, 1])]
    assert runs[:4] == [(0, 0, True), (1, 0, True), (1, 1, True), (2, 0, True)]
    assert [core for core, _, _ in runs[4:]] == [0, 1, 2, 1, 0]
    assert not any(painted for _, _, painted in runs[4:])


# What is written.


def test_cores_that_share_bring_the_arena_once(tmp_path: Path) -> None:
    cores = generate_cores(THREE, tmp_path, share_arena=True)
    arena = tmp_path / "one_two_three_arena"
    assert {core.arena for core in cores} == {arena}
    header = (arena / "one_two_three_arena.h").read_text()
    stated = {m[1]: int(m[2]) for m in re.finditer(r"#define ONE_TWO_THREE_ARENA_(\w+)_BYTES (\d+)u", header)}
    need = need_together(THREE, share_arena=True)
    assert stated == {"FAST": need.fast, "SLOW": need.slow, "RAM": need.ram}
    for core in cores:
        assert "static uint8_t fast_arena" not in (core.path / f"{core.path.name}.c").read_text()
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    generate_cores(THREE, tmp_path, share_arena=True)
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    (arena / "one_two_three_arena.c").write_text("edited")
    with pytest.raises(UsageError, match=r"one_two_three_arena has generated files that were changed"):
        generate_cores(THREE, tmp_path, share_arena=True)


#: What the cores notice: B's inputs end A's turn; while anything runs, nobody gets an input and nobody runs.
TURNS = r"""
#include <stdio.h>
#include "one.h"
#include "two.h"
#include "one_two_arena.h"
#include "tigris_kernel.h"

static int refused_inside;

tigris_status_t tigris_k_lookup_s8(const tigris_call_t *call)
{
    (void)call;
    refused_inside = two_input_0() == NULL && one_input_0() == NULL && two_run() == TIGRIS_ERR_BUSY &&
                     one_run() == TIGRIS_ERR_BUSY && two_init() == TIGRIS_ERR_BUSY;
    return TIGRIS_OK;
}

int main(void)
{
    const int early = one_input_0() == NULL && one_run() == TIGRIS_ERR_NULL;
    const int init = one_init() == TIGRIS_OK && two_init() == TIGRIS_OK;
    const int unclaimed = one_output_0() == NULL && one_run() == TIGRIS_ERR_ARENA;
    const int first = one_input_0() != NULL && one_output_0() != NULL && one_run() == TIGRIS_OK;
    const int inside = refused_inside;
    const int readable = one_output_0() != NULL && two_output_0() == NULL;
    const int unwritten = two_run() == TIGRIS_ERR_ARENA && one_output_0() != NULL;
    const int second = two_input_0() != NULL && two_run() == TIGRIS_OK;
    const int lost = one_output_0() == NULL && one_run() == TIGRIS_ERR_ARENA && two_output_0() != NULL;
    const int again = one_input_0() != NULL && one_run() == TIGRIS_OK && two_output_0() == NULL;
    printf("%d%d%d%d%d%d%d%d%d%d", early, init, unclaimed, first, inside, readable, unwritten, second, lost, again);
    printf(" %d\n", (uint8_t *)one_input_0() < one_two_arena_fast + ONE_TWO_ARENA_FAST_BYTES);
    return 0;
}
"""


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_a_core_notices_that_another_has_the_arena(tmp_path: Path, compiler: str) -> None:
    generate_cores([model("one"), model("two")], tmp_path, share_arena=True)
    (tmp_path / "main.c").write_text(TURNS)
    kernel = tmp_path / "tigris_runtime/src/kernels/lookup_s8.c"
    flags = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-ffp-contract=off"]
    folders = ("one", "two", "one_two_arena", "tigris_runtime/include", "tigris_runtime/src")
    flags += [f"-I{tmp_path / folder}" for folder in folders]
    # The real check beside the kernel of this test: the real kernel gets another name.
    renamed = ["-Dtigris_k_lookup_s8=real_lookup_s8", "-c", str(kernel), "-o", str(tmp_path / "kernel.o")]
    subprocess.run([compiler, *flags, *renamed], check=True)
    sources = sorted(str(path) for path in tmp_path.rglob("*.c") if path != kernel)
    program = tmp_path / "turns"
    subprocess.run([compiler, *flags, *sources, str(tmp_path / "kernel.o"), "-o", str(program), "-lm"], check=True)
    done = subprocess.run([program], check=True, capture_output=True, text=True)
    assert done.stdout == "1111111111 1\n"


# The command.


def test_codegen_of_several_models(tigris: Tigris, tmp_path: Path) -> None:
    shared = tigris("codegen", SMALL, CHAIN, "--share-arena", "--board", "mps2-an386", "-o", tmp_path / "s", "--json")
    apart = tigris("codegen", SMALL, CHAIN, "--board", "mps2-an386", "-o", tmp_path / "a", "--json")
    assert shared.code == apart.code == 0, shared.err + apart.err
    sizes = [core["ram_bytes"] for core in shared.json["cores"]]
    assert shared.json["ram_bytes"] == max(sizes) + 20 < apart.json["ram_bytes"]
    lock = read_lock(tmp_path / "s")
    assert lock.core == "add_equal_s8_chain_residual_s8"
    assert [m.core for m in lock.models] == ["add_equal_s8", "chain_residual_s8"]
    assert lock.options["share_arena"] is True
    text = tigris("codegen", SMALL, CHAIN, "--share-arena", "--format", "core", "-o", tmp_path / "c")
    assert text.code == 0
    assert f"RAM {shared.json['ram_bytes']} B together" in text.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((SMALL, "--share-arena"), "one model has nobody to share its arena with"),
        ((SMALL, SMALL), "two cores are called add_equal_s8"),
        ((SMALL, CHAIN, "--name", "one"), "1 names for 2 models"),
        ((SMALL, CHAIN, "--framework", "zephyr"), "projects for zephyr take one model, not 2"),
    ],
)
def test_what_the_command_refuses(tigris: Tigris, tmp_path: Path, arguments: tuple[str | Path, ...], said: str) -> None:
    result = tigris("codegen", *arguments, "--board", "nucleo-h7", "-o", tmp_path / "p")
    assert result.code == 2
    assert said in result.err
    assert not (tmp_path / "p").exists()


def test_models_that_do_not_share_leave_each_other_room(tigris: Tigris, tmp_path: Path) -> None:
    """On 16 KiB the digits fit once; the second model gets what is left, or there is none."""
    board = load_board("microbit")
    alone = tigris("codegen", DIGITS, "--board", board.name, "-o", tmp_path / "one", "--json").json["ram_bytes"]
    two = ("codegen", DIGITS, DIGITS, "--name", "a", "--name", "b", "--board", board.name)
    assert tigris(*two, "-o", tmp_path / "two").code == 3
    shared = tigris(*two, "--share-arena", "-o", tmp_path / "shared", "--json")
    assert shared.json["ram_bytes"] == alone + 20


def test_vectors_are_given_by_core(tigris: Tigris, tmp_path: Path) -> None:
    array = np.zeros((3, 32, 32, 1), np.int8)
    np.save(tmp_path / "x.npy", array)
    command = ("codegen", DIGITS, SMALL, "--share-arena", "-m", "64K", "--board", "posix", "-o", tmp_path / "p")
    assert tigris(*command, "--test-input", f"digits={tmp_path / 'x.npy'}").code == 0
    expected = json.loads((tmp_path / "p/generated/selftest/expected.json").read_text())
    assert [len(core["vectors"]) for core in expected["cores"]] == [3, 1]
    unnamed = tigris(*command, "--test-input", tmp_path / "x.npy")
    assert unnamed.code == 2
    assert "does not say for which core it is" in unnamed.err
