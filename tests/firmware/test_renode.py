"""Renode without Renode: command line and reading of the console with a program that plays it, suites by a dry run.

Nothing here is run by the real Renode; docs/TESTING.md says what was.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.firmware import handmade
from tests.firmware.support import missing
from tests.support import REPOSITORY
from tigris_codegen.boards import Board, list_boards, load_board
from tigris_codegen.codegen import generate_project
from tigris_codegen.emulate import RenodeEmulator, emulators_of, verify_project
from tigris_codegen.emulate.renode import write_script
from tigris_codegen.errors import MissingError, TigrisError, UsageError

DOUBLES = REPOSITORY / "tests" / "doubles" / "renode"
SUITES = sorted((REPOSITORY / "renode").glob("*.robot"))
BOARDS = [board for board in list_boards() if board.emulators.renode]

#: Reads what it is told as Renode does: commands, the script that they include, the files that the script loads.
FAKE = """#!{python}
import re, sys
from pathlib import Path

def plain(path):
    return Path(path.replace("\\\\ ", " "))

include, backend, start = sys.argv[-1].split("; ")
script = plain(re.fullmatch(r"include @(.+)", include)[1])
uart, console = re.fullmatch(r"sysbus[.](\\w+) CreateFileBackend @(.+) true", backend).groups()
assert start == "start"
loaded = re.findall(r"[$]ORIGIN/(\\S+)", script.read_text())
for name in loaded:
    assert (script.parent / name).is_file(), name
Path({log!r}).write_text("\\n".join([*sys.argv[1:-1], uart, *loaded]))
console = plain(console)
{body}
"""
#: Prints on the UART, then waits for the word that ends Renode.
PLAYS = """console.write_bytes(Path({uart!r}).read_bytes())
assert sys.stdin.readline() == "quit\\n"
Path({uart!r} + ".quit").touch()
"""


@pytest.fixture(autouse=True)
def in_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    """Headers from npm are looked for above the working folder, too."""
    monkeypatch.chdir(REPOSITORY)


def with_renode(monkeypatch: pytest.MonkeyPatch, folder: Path, body: str) -> Path:
    """Puts a Renode that does `body` into the search path; where it writes down how it was called."""
    tools, log = folder / "tools", folder / "called.txt"
    tools.mkdir()
    program = tools / "renode"
    program.write_text(FAKE.format(python=sys.executable, log=str(log), body=body))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    return log


def image_in(folder: Path) -> Path:
    path = folder / "a folder" / "digits_selftest.elf"
    path.parent.mkdir()
    path.write_bytes(b"an image")
    return path


@pytest.mark.skipif(bool(missing()), reason=f"missing: {', '.join(missing())}")
@pytest.mark.parametrize("board", BOARDS, ids=[b.name for b in BOARDS])
def test_verify_reads_what_a_board_prints(board: Board, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = handmade.lookup_vectors()
    project = tmp_path / "a project"
    generate_project(
        handmade.lookup_bytes(), board, project, core_name="digits", vectors=vectors, framework="baremetal"
    )
    # What the image prints, by another emulator.
    uart = tmp_path / "uart.txt"
    printed = verify_project(project, "unicorn").report.log
    uart.write_bytes(printed.replace("\n", "\r\n").encode())
    log = with_renode(monkeypatch, tmp_path, PLAYS.format(uart=str(uart)))
    result = verify_project(project, "renode")
    result.check()
    assert board.emulators.renode is not None
    report = result.report
    assert (report.emulator, report.machine) == ("Renode", board.emulators.renode.platform)
    assert (report.outputs, report.instructions) == (tuple(v.outputs for v in vectors), None)
    assert (tmp_path / "uart.txt.quit").exists()
    assert log.read_text().splitlines() == [
        *("--disable-xwt", "--console", "--plain", "-e", board.emulators.renode.uart),
        *("digits_selftest.repl", "digits_selftest.elf"),
    ]
    # A wrong byte is a difference.
    uart.write_bytes(uart.read_bytes().replace(b"OUTPUT 0 0 ", b"OUTPUT 0 0 00", 1))
    with pytest.raises(TigrisError, match="damaged"):
        verify_project(project, "renode")


@pytest.mark.parametrize("board", BOARDS, ids=[b.name for b in BOARDS])
def test_the_machine_has_the_boards_clock(board: Board, tmp_path: Path) -> None:
    script = write_script(image_in(tmp_path), board, "digits")
    assert board.emulators.renode is not None
    description = script.with_suffix(".repl").read_text()
    assert f'using "{board.emulators.renode.platform}"' in description
    assert f"systickFrequency: {board.clock_hz}" in description
    assert f"PerformanceInMips: {board.clock_hz // 1_000_000}\n" in description
    assert f'mach create "{board.name}"' in script.read_text()


def test_a_firmware_that_does_not_end_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = tmp_path / "quit"
    body = f'console.write_text("TIGRIS digits START")\nsys.stdin.readline()\nPath({str(mark)!r}).touch()'
    with_renode(monkeypatch, tmp_path, body)
    with pytest.raises(
        TigrisError, match="did not end within 1 seconds under Renode; it printed:\nTIGRIS digits START"
    ):
        RenodeEmulator().run(image_in(tmp_path), BOARDS[0], "digits", 1)
    assert mark.exists()


def test_what_renode_says_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_renode(monkeypatch, tmp_path, 'sys.exit("no platform for you")')
    with pytest.raises(TigrisError, match="did not finish under Renode") as error:
        RenodeEmulator().run(image_in(tmp_path), BOARDS[0], "digits", 60)
    assert "no platform for you" in str(error.value)


def test_a_console_of_before_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    image = image_in(tmp_path)
    image.with_suffix(".txt").write_text("TIGRIS digits PASS crc=0x00000000 peak=1 stack=1 ticks=1\n")
    with_renode(monkeypatch, tmp_path, "pass")
    with pytest.raises(TigrisError, match="did not finish"):
        RenodeEmulator().run(image, BOARDS[0], "digits", 60)


def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingError, match="renode is missing") as error:
        RenodeEmulator().run(image_in(tmp_path), BOARDS[0], "digits", 60)
    assert (error.value.exit_code, "1.16.1" in str(error.value.hint)) == (4, True)
    with pytest.raises(UsageError, match="mps2-an386 is no platform of Renode"):
        RenodeEmulator().run(tmp_path / "x.elf", load_board("mps2-an386"), "digits", 60)


def test_it_runs_only_where_it_is_asked_for() -> None:
    assert {board.name for board in BOARDS} == {"nucleo-h753zi", "stm32f7-discovery", "nrf52840dk"}
    assert all(emulators_of(board)[0] != "renode" and "renode" in emulators_of(board) for board in BOARDS)


# Suites for renode-test.


def dry_run(suite: Path) -> subprocess.CompletedProcess[str]:
    nothing = ("--output", "NONE", "--log", "NONE", "--report", "NONE")
    variables = ("--variable", f"RENODEKEYWORDS:{DOUBLES / 'renode-keywords.resource'}", "--variable", "SCRIPT:x.resc")
    return subprocess.run(
        [sys.executable, "-m", "robot", "--dryrun", *nothing, *variables, suite],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("suite", SUITES, ids=[s.stem for s in SUITES])
def test_suites_use_keywords_that_are_there(suite: Path) -> None:
    done = dry_run(suite)
    assert done.returncode == 0, done.stdout
    assert "1 test, 1 passed" in done.stdout


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Start Emulation", "Start Emulating"),
        ("treatAsRegex", "treatAsRegExp"),
        ("Execute Script    ${SCRIPT}", "Execute Script"),
    ],
)
def test_a_dry_run_sees_what_is_wrong(tmp_path: Path, old: str, new: str) -> None:
    for path in (SUITES[0], REPOSITORY / "renode" / "selftest.resource"):
        (tmp_path / path.name).write_text(path.read_text().replace(old, new))
    assert dry_run(tmp_path / SUITES[0].name).returncode != 0


def test_each_board_has_a_suite_that_listens_to_its_console() -> None:
    found = {}
    for suite in SUITES:
        text = suite.read_text()
        name = re.search(r"^Self Test Of (\S+)$", text, re.MULTILINE)
        uart = re.search(r"^    Self Test Should Pass    sysbus\.(\w+)$", text, re.MULTILINE)
        assert name and uart
        found[name[1]] = uart[1]
    assert found == {board.name: board.emulators.renode.uart for board in BOARDS if board.emulators.renode}


def test_the_suites_wait_for_the_line_that_the_self_test_prints() -> None:
    text = (REPOSITORY / "renode" / "selftest.resource").read_text()
    start, last = (line.replace("\\\\", "\\") for line in re.findall(r"Wait For Line On Uart    (.*?)    treat", text))
    assert re.search(start, "TIGRIS digits START vectors=3 ram=404 hz=64000000")
    assert re.search(last, "TIGRIS digits PASS crc=0x1234abcd peak=404 stack=592 ticks=17176155")
    assert not re.search(last, "TIGRIS digits FAIL vector=0 output=0 byte=1 got=0x00 expected=0x01")
