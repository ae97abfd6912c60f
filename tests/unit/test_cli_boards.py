"""A folder of boards of one's own, given to the commands."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.unit.cli_support import SMALL, Tigris
from tigris_codegen import resources
from tigris_codegen.codegen import read_lock


@pytest.fixture
def tigris(capsys: pytest.CaptureFixture[str]) -> Tigris:
    return Tigris(capsys)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the board `mine` on a SoC of its own, whose RAM is 8 KiB."""
    out = tmp_path / "boards"
    (out / "soc").mkdir(parents=True)
    shipped = resources.boards_dir()
    soc = (shipped / "soc" / "stm32f446xe.toml").read_text()
    assert "size = 0x00020000\n" in soc
    soc = soc.replace('name = "stm32f446xe"', 'name = "small"').replace("size = 0x00020000\n", "size = 0x00002000\n")
    (out / "soc" / "small.toml").write_text(soc.split("[frameworks.zephyr]")[0] + "[uarts" + soc.split("[uarts", 1)[1])
    (out / "mine.toml").write_text(
        'name = "mine"\ntitle = "Mine"\nsoc = "small"\n'
        '[console]\nuart = "usart2"\nbaud = 115200\ntx = { port = "a", pin = 2, function = 7 }\n'
    )
    return out


def test_boards_lists_and_shows_a_folders_boards_with_the_others(tigris: Tigris, folder: Path) -> None:
    names = [b["name"] for b in tigris("boards", "--json").json["boards"]]
    assert "mine" not in names
    more = [b["name"] for b in tigris("boards", "--boards-path", folder, "--json").json["boards"]]
    assert more == sorted([*names, "mine"])
    (shown,) = tigris("boards", "show", "mine", "--boards-path", folder, "--json").json["boards"]
    assert shown["soc"] == "small"


def test_boards_shows_what_a_debug_probe_needs_to_know(tigris: Tigris) -> None:
    (shown,) = tigris("boards", "show", "nucleo-h7", "--json").json["boards"]
    assert shown["probe"] == {"pyocd": "stm32h743xx", "openocd": ["board/st_nucleo_h743zi.cfg"]}
    text = tigris("boards", "nucleo-h7").out
    assert "pyOCD: stm32h743xx" in text
    assert "OpenOCD: board/st_nucleo_h743zi.cfg" in text
    assert "OCD" not in tigris("boards", "mps2-an386").out


def test_a_folder_is_looked_in_before_the_packages_own(tigris: Tigris, folder: Path) -> None:
    (folder / "mine.toml").rename(folder / "nucleo-h7.toml")
    text = (folder / "nucleo-h7.toml").read_text()
    (folder / "nucleo-h7.toml").write_text(text.replace('name = "mine"', 'name = "nucleo-h7"'))
    for arguments, soc in ((("--boards-path", folder), "small"), ((), "stm32h743xi")):
        (shown,) = tigris("boards", "nucleo-h7", *arguments, "--json").json["boards"]
        assert shown["soc"] == soc


def test_analyze_and_compile_plan_for_a_board_of_the_folder(tigris: Tigris, folder: Path, tmp_path: Path) -> None:
    unknown = tigris("analyze", SMALL, "--board", "mine")
    assert (unknown.code, "no board mine" in unknown.err) == (4, True)
    assert tigris("analyze", SMALL, "--board", "mine", "--boards-path", folder).code == 0
    plan = tmp_path / "p.tgrs"
    assert tigris("compile", SMALL, "--board", "mine", "--boards-path", folder, "-o", plan).code == 0
    assert plan.is_file()


def test_codegen_takes_a_board_of_the_folder_and_the_project_keeps_it(
    tigris: Tigris, folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "firmware"
    assert tigris("codegen", SMALL, "--board", "mine", "--boards-path", folder, "-o", out).code == 0
    for name in ("mine.toml", "soc/small.toml"):
        assert (out / "generated/board" / name).read_bytes() == (folder / name).read_bytes()
    assert read_lock(out).options["boards_path"] == (folder.name,)


def test_verify_takes_the_folders_board_instead_of_the_projects(tigris: Tigris, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "firmware"
    assert tigris("codegen", SMALL, "--board", "mine", "--boards-path", folder, "-o", out).code == 0
    (folder / "mine.toml").write_text((folder / "mine.toml").read_text() + "speed = 1\n")
    wrong = tigris("verify", out, "--boards-path", folder)
    assert wrong.code == 2
    assert "mine.toml: console.tx.speed: unknown key" in wrong.err or "speed: unknown key" in wrong.err


@pytest.mark.parametrize(
    "command", [("boards",), ("analyze", SMALL), ("codegen", SMALL, "-o", "never"), ("verify", "never")]
)
def test_a_folder_that_is_not_there_is_named(tigris: Tigris, tmp_path: Path, command: tuple[str | Path, ...]) -> None:
    answer = tigris(*command, "--boards-path", tmp_path / "absent")
    assert answer.code == 2
    assert "absent: no such folder" in answer.err


def test_several_folders_are_looked_in_in_their_order(tigris: Tigris, folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    (other / "mine.toml").write_text((other / "mine.toml").read_text().replace('title = "Mine"', 'title = "Other"'))
    for first, second, title in ((folder, other, "Mine"), (other, folder, "Other")):
        (shown,) = tigris("boards", "mine", "--boards-path", first, "--boards-path", second, "--json").json["boards"]
        assert shown["title"] == title
