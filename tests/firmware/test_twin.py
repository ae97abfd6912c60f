"""Twins: which board runs in the place of another, that it runs the same, and that the answer says so."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from tests.firmware import handmade
from tests.firmware.support import missing_for
from tests.support import REPOSITORY
from tests.unit.cli_support import Tigris
from tigris_codegen.boards import Board, list_boards, load_board
from tigris_codegen.codegen import CoreModel, Need, TestVector, generate_project, generate_project_of, read_lock
from tigris_codegen.emulate import EMULATORS, twin, verify_project
from tigris_codegen.errors import MissingError, UsageError
from tigris_codegen.plan.codec import encode
from tigris_codegen.plan.plan import Plan

SMALL = Need(program=4096, fast=2048, slow=0, variables=20)
KIB = 1024


def with_fast(fast: int) -> Need:
    return replace(SMALL, fast=fast)


@pytest.fixture(autouse=True)
def in_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    """Headers from npm are looked for above the working folder, too."""
    monkeypatch.chdir(REPOSITORY)


def needs(*boards: str) -> pytest.MarkDecorator:
    names = sorted({name for board in boards for name in missing_for(load_board(board))})
    return pytest.mark.skipif(bool(names), reason=f"missing: {', '.join(names)}")


def make(out: Path, board: Board, framework: str, plan: Plan | None = None, vectors: Sequence[TestVector] = ()) -> Path:
    generate_project(
        encode(plan or handmade.lookup_plan()),
        board,
        out,
        core_name="digits",
        vectors=vectors or handmade.lookup_vectors(2),
        framework=framework,
    )
    return out


# Which board.


def chosen(board: str, need: Need = SMALL) -> twin.Twin:
    return twin.choose_twin(load_board(board), need, EMULATORS)


@pytest.mark.parametrize("board", list_boards(), ids=[b.name for b in list_boards()])
def test_every_board_has_a_twin_with_its_core_or_the_answer_says_so(board: Board) -> None:
    found = twin.choose_twin(board, SMALL, EMULATORS)
    assert EMULATORS[found.emulator].supports(found.board)
    assert found.framework in found.board.frameworks
    if board.soc.core.startswith("xtensa"):
        assert found.board.name == "posix"
        assert f"no emulator here can be the core {board.soc.core}" in found.sentence
        assert "another core" in found.sentence
    elif board.soc.core == "cortex-m0plus":
        assert found.board.soc.core == "cortex-m0"
        assert "same instructions" in found.sentence
    else:
        assert found.board.soc.core == board.soc.core


def test_a_board_that_can_be_emulated_is_its_own_twin() -> None:
    assert chosen("nucleo-h7").board == load_board("nucleo-h7")
    assert chosen("nucleo-h7").sentence == "the board itself, as bare metal"


def test_the_smallest_board_that_fits() -> None:
    cores = [b for b in list_boards() if b.soc.core == "cortex-m33" and "baremetal" in b.frameworks]
    rooms = {b.name: max(b.arena_regions("baremetal").values()) - SMALL.variables for b in cores}
    sizes = {b.name: sum(r.size for r in b.memory if r.kind == "ram") for b in cores}
    by_size = sorted(sizes, key=lambda name: (sizes[name], name))
    assert len(by_size) > 2
    for smaller, larger in pairwise(by_size):
        assert chosen("pico2", with_fast(rooms[smaller] // 16 * 16)).board.name == smaller
        assert chosen("pico2", with_fast(rooms[smaller] + 16)).board.name == larger


def test_no_board_is_large_enough_but_unicorn_has_any_memory() -> None:
    pico, micro = load_board("pico"), load_board("microbit")
    found = chosen("pico", with_fast(100 * KIB))
    assert (found.board.name, found.emulator) == ("microbit", "unicorn")
    assert found.sentence.endswith("with as much memory as pico")
    for kind in ("flash", "ram"):
        (region,) = [r for r in found.board.memory if r.kind == kind]
        (before,) = [r for r in micro.memory if r.kind == kind]
        assert (region.base, region.size) == (before.base, sum(r.size for r in pico.memory if r.kind == kind))
    with pytest.raises(UsageError, match="no board with the core cortex-m0plus"):
        chosen("pico", with_fast(300 * KIB))


# What is in a project.


@pytest.mark.parametrize("framework", ["zephyr", "platformio", "esp-idf", "posix", "baremetal"])
def test_the_models_of_a_project_are_read_back(framework: str, tmp_path: Path) -> None:
    board = next(b for b in list_boards() if framework in b.frameworks)
    plan, vectors = handmade.lookup_plan(), handmade.lookup_vectors(12)
    project = make(tmp_path / "p", board, framework, plan, vectors)
    (model,) = twin.models_of(project, read_lock(project))
    assert (model.name, model.data) == ("digits", encode(plan))
    assert model.vectors == tuple(vectors)


def test_a_changed_plan_is_refused(tmp_path: Path) -> None:
    project = make(tmp_path / "p", load_board("pico"), "platformio")
    path = project / "generated" / "core" / "digits_plan.c"
    path.write_text(path.read_text().replace("0x", "0x0", 1))
    with pytest.raises(UsageError, match="no longer has the plan"):
        verify_project(project, twin=True)
    path.unlink()
    with pytest.raises(UsageError, match="cannot be read"):
        verify_project(project, twin=True)


# Runs.


@needs("microbit")
@pytest.mark.parametrize("framework", ["platformio", "zephyr"])
def test_a_pico_runs_as_its_twin(framework: str, tmp_path: Path) -> None:
    project = make(tmp_path / "p", load_board("pico"), framework)
    before = sorted(project.rglob("*"))
    result = verify_project(project, twin=True)
    result.check()
    assert result.board.name == "pico"
    assert result.twin is not None and result.twin.board.name == "microbit"
    assert result.report.outputs == tuple(v.outputs for v in handmade.lookup_vectors(2))
    assert result.report.peak_bytes == handmade.lookup_plan().ram_bytes
    assert sorted(project.rglob("*")) == before


@needs("microbit")
def test_a_model_larger_than_the_twins_board_runs(tmp_path: Path) -> None:
    micro = load_board("microbit")
    ram = micro.region(micro.frameworks["baremetal"].data).size
    plan = replace(handmade.lookup_plan(), fast_bytes=4 * ram)
    result = verify_project(make(tmp_path / "p", load_board("pico"), "platformio", plan), twin=True)
    result.check()
    assert result.report.emulator == "Unicorn"
    assert result.report.stated_ram_bytes == plan.ram_bytes > ram


@needs("microbit")
def test_a_wrong_expectation_is_a_difference(tmp_path: Path) -> None:
    (vector,) = handmade.lookup_vectors(1)
    wrong = TestVector(vector.inputs, (bytes([vector.outputs[0][0] ^ 1]) + vector.outputs[0][1:],))
    result = verify_project(make(tmp_path / "p", load_board("pico"), "platformio", vectors=[wrong]), twin=True)
    assert any("values differ" in difference for difference in result.differences)


@needs("qemu-riscv32")
def test_riscv(tmp_path: Path) -> None:
    result = verify_project(make(tmp_path / "p", load_board("esp32c3-devkitm"), "esp-idf"), twin=True)
    result.check()
    assert result.twin is not None and result.twin.board.name == "qemu-riscv32"


@needs("mps2-an505")
def test_several_cores_that_share_an_arena(tmp_path: Path) -> None:
    data, vectors = handmade.lookup_bytes(), handmade.lookup_vectors(2)
    models = [CoreModel.decoded(name, data, vectors) for name in ("one", "two")]
    board = load_board("mps2-an505")
    options = {"share_arena": True}
    generate_project_of(models, board, tmp_path / "p", framework="baremetal", share_arena=True, options=options)
    result = verify_project(tmp_path / "p", twin=True)
    result.check()
    assert len(result.report.runs) == len(result.expectation.vectors) >= 4


@needs("netduinoplus2")
def test_a_board_without_an_emulator_runs_as_its_twin_unasked(tmp_path: Path) -> None:
    boards = tmp_path / "boards"
    (boards / "soc").mkdir(parents=True)
    own = REPOSITORY / "boards"
    soc = (own / "soc" / "stm32f446xe.toml").read_text()
    without = re.sub(r"^\[emulators\.unicorn\]\n(?:.+\n)*", "", soc, flags=re.MULTILINE)
    assert without != soc
    (boards / "soc" / "mine.toml").write_text(without.replace('name = "stm32f446xe"', 'name = "mine"'))
    text = (own / "nucleo-f446re.toml").read_text()
    text = text.replace('name = "nucleo-f446re"', 'name = "mine"').replace('soc = "stm32f446xe"', 'soc = "mine"')
    (boards / "mine.toml").write_text(text)
    board = load_board("mine", [boards])
    assert board.emulators.names == ()
    project = make(tmp_path / "p", board, "baremetal")
    result = verify_project(project)
    result.check()
    assert result.twin is not None
    assert result.twin.board.soc.core == board.soc.core
    with pytest.raises(UsageError, match="unicorn cannot be the board mine"):
        verify_project(project, "unicorn")


def test_a_missing_framework_names_the_way_without_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("IDF_PATH", "ZEPHYR_BASE"):
        monkeypatch.delenv(name, raising=False)
    for board, framework, missing in (
        ("pico", "zephyr", "west is missing"),
        ("esp32-devkitc", "esp-idf", "ESP-IDF is missing"),
        ("pico", "platformio", "pio is missing"),
    ):
        project = make(tmp_path / framework, load_board(board), framework)
        with pytest.raises(MissingError, match=missing) as error:
            verify_project(project)
        assert error.value.exit_code == 4
        assert "install" in str(error.value.hint) and "`--twin`" in str(error.value.hint)


def test_an_emulator_of_ones_own_is_not_for_twins(tmp_path: Path) -> None:
    project = make(tmp_path / "p", load_board("pico"), "platformio")
    with pytest.raises(UsageError, match="twin has an emulator of its own"):
        verify_project(project, "unicorn", twin=True)
    with pytest.raises(UsageError, match="unicorn cannot run a project for platformio"):
        verify_project(project, "unicorn")


@needs("microbit")
def test_the_answer_names_the_twin(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tigris = Tigris(capsys)
    project = make(tmp_path / "p", load_board("pico"), "platformio")
    answer = tigris("verify", project, "--twin", "--json").json
    assert (answer["board"], answer["twin"], answer["passed"]) == ("pico", "microbit", True)
    assert answer["twin_is"] == "same instructions as cortex-m0plus"
    said = tigris("verify", project, "--twin").out.splitlines()
    assert said[0] == "pico: its own image was not run, but its twin"
    assert said[1].startswith("  microbit in ")
    assert said[2].strip() == answer["twin_is"]
    assert said[-1] == "PASS"
