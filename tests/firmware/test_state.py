"""Projects of models with state carry its buffer and run with it. No operator has state yet: the plan is ours."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.firmware import handmade
from tests.firmware.support import missing_for
from tigris_codegen.boards import load_board
from tigris_codegen.codegen import TestVector, generate_project, place
from tigris_codegen.emulate import build, verify_project
from tigris_codegen.errors import FitError
from tigris_codegen.plan.codec import encode
from tigris_codegen.session import Session

PLAN = handmade.delay_plan()


def vectors() -> list[TestVector]:
    """Two inputs, each to a model that starts anew."""
    made = []
    for number in range(2):
        given = np.full(PLAN.inputs[0].shape, number + 1, np.int8)
        with Session(encode(PLAN)) as session:
            (answer,) = session.run({"x": given}).values()
        assert not answer.any()
        made.append(TestVector((given.tobytes(),), (answer.tobytes(),)))
    return made


def make(out: Path, board: str) -> Path:
    known = load_board(board)
    host = [program for program in ("cmake", "cc") if shutil.which(program) is None]
    lacking = host if board == "posix" else missing_for(known)
    if lacking:
        pytest.skip(f"missing: {', '.join(lacking)}")
    return generate_project(encode(PLAN), known, out, core_name="delay", vectors=vectors()).path


@pytest.mark.parametrize(
    ("board", "emulator"), [("posix", "native"), ("mps2-an386", "qemu"), ("nucleo-f446re", "unicorn")]
)
def test_a_project_with_state_passes(tmp_path: Path, board: str, emulator: str) -> None:
    project = make(tmp_path / "p", board)
    header = (project / "generated/core/delay.h").read_text()
    assert f"#define DELAY_STATE_BYTES {handmade.STATE_BYTES}u" in header
    assert "delay_run(" not in header and "delay_run_with_state(" in header
    result = verify_project(project, emulator)
    result.check()
    assert result.report.stated_ram_bytes == result.report.peak_bytes == PLAN.ram_bytes
    assert PLAN.ram_bytes == PLAN.fast_bytes + handmade.STATE_BYTES + PLAN.workspace_bytes
    if emulator == "unicorn":
        assert result.report.watch is not None and result.report.watch.inferences == 4


MAIN = """
#include <stdio.h>
#include <string.h>
#include "delay.h"

int main(void)
{
    if (delay_init() != TIGRIS_OK || delay_state_init(delay_state(), DELAY_STATE_BYTES) != TIGRIS_OK) {
        return 1;
    }
    for (int turn = 1; turn <= 4; turn++) {
        if (turn == 4 && delay_state_init(delay_state(), DELAY_STATE_BYTES) != TIGRIS_OK) {
            return 2;
        }
        memset(delay_input_0(), turn, DELAY_INPUT_0_BYTES);
        if (delay_run_with_state(delay_state(), DELAY_STATE_BYTES) != TIGRIS_OK) {
            return 3;
        }
        printf("%d", delay_output_0()[DELAY_OUTPUT_0_ELEMENTS - 1u]);
    }
    return 0;
}
"""


def test_the_state_lasts_from_run_to_run(tmp_path: Path) -> None:
    project = make(tmp_path / "p", "posix")
    assert "delay_state_init(delay_state(), DELAY_STATE_BYTES);" in (project / "app/main.c").read_text()
    (project / "app/main.c").write_text(MAIN)
    folder = build(project).parent
    subprocess.run(["cmake", "--build", "--preset", "release", "--target", "delay"], cwd=project, check=True)
    done = subprocess.run([folder / "delay"], capture_output=True, text=True, check=True)
    assert done.stdout == "0120"


def test_a_model_without_variables_has_a_state_of_no_bytes(tmp_path: Path) -> None:
    vectors = handmade.lookup_vectors(1)
    project = generate_project(
        handmade.lookup_bytes(), load_board("posix"), tmp_path / "p", core_name="d", vectors=vectors
    )
    source = (project.path / "generated/core/d.c").read_text()
    assert re.search(r"void \*d_state\(void\)\n{\n    return NULL;\n}", source)
    assert "d_run_with_state(" in (project.path / "generated/core/d.h").read_text()


def test_the_state_takes_its_room_from_the_variables() -> None:
    board = load_board("microbit")
    have = board.arena_regions("baremetal")["ram"]
    room = have - PLAN.fast_bytes - PLAN.workspace_bytes
    fits = replace(PLAN, state_bytes=room)
    assert place(fits, 100, board, "baremetal").fast == "ram"
    with pytest.raises(FitError, match="the fast arena needs"):
        place(replace(PLAN, state_bytes=room + 1), 100, board, "baremetal")
