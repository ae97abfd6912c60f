"""Every kind of error: its exit code, its one form on stderr, its JSON, and that nothing is left half-written."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest

from tests.support import REPOSITORY
from tests.unit.cli_support import CHAIN, SMALL, Result, Tigris, assert_shape, relu_model
from tigris_codegen.cli import host
from tigris_codegen.cli.common import error_lines
from tigris_codegen.cli.files import MAX_FILE_BYTES, write_file
from tigris_codegen.errors import TigrisError, UsageError


@pytest.fixture
def tigris(capsys: pytest.CaptureFixture[str]) -> Tigris:
    return Tigris(capsys)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


ERROR = {"error": {"kind": str, "exit_code": int, "message": str, "hint": (str, None), "refusals": [dict]}}


def assert_form(result: Result, code: int, said: str, hint: str | None = None) -> None:
    """`tigris: ...` lines, `  -> ...` below them, and nothing else."""
    assert result.code == code, result
    lines = result.err.splitlines()
    assert lines, "no error"
    assert all(line.startswith(("tigris: ", "  -> ")) for line in lines), result.err
    assert said in result.err
    assert not any(line.startswith("tigris: ") and line.endswith(".") for line in lines)
    if hint is not None:
        assert any(line.startswith("  -> ") and hint in line for line in lines), result.err


def both(tigris: Tigris, *arguments: str | Path) -> tuple[Result, dict[str, Any]]:
    """The refusal as text, and as JSON, with the same exit code and stderr."""
    text, as_json = tigris(*arguments), tigris(*arguments, "--json")
    assert (text.code, text.err) == (as_json.code, as_json.err)
    assert_shape(as_json.json, ERROR)
    assert as_json.json["error"]["exit_code"] == text.code
    return text, as_json.json


# 2: usage


@pytest.mark.parametrize(
    ("arguments", "said", "hint"),
    [
        (["nope"], "no such command 'nope'", "tigris --help"),
        (["analyze"], "missing argument", "tigris analyze --help"),
        (["analyze", "m.tflite", "--bord", "x"], "no such option", "tigris analyze --help"),
        (["analyze", "m.tflite", "-m", "banana"], "'banana' is not a size", "64K"),
        (["analyze", "m.tflite", "-m", "1K+2K+3K"], "names 3 pools", "64K+8M"),
        (["analyze", "m.tflite", "--backend", "x"], "backend 'x'", "reference"),
        (["analyze", "m.tflite", "--effort", "0"], "--effort", None),
        (["boards", "a", "b", "c"], "neither", "--help"),
        (["completion", "csh"], "csh", None),
        (["codegen", "m.tflite", "-o", "p"], "a project is for a board", "--board"),
    ],
)
def test_a_wrong_command_line(tigris: Tigris, arguments: list[str], said: str, hint: str | None) -> None:
    assert_form(tigris(*arguments), 2, said, hint)
    assert_shape(tigris(*arguments, "--json").json, ERROR)


def test_files_that_cannot_be_read(tigris: Tigris, here: Path) -> None:
    (here / "folder").mkdir()
    (here / "model.tflite").write_bytes(SMALL.read_bytes())
    assert_form(tigris("analyze", "modle.tflite"), 2, "modle.tflite: no such file", "model.tflite")
    assert_form(tigris("analyze", "gone/m.tflite"), 2, "no such file", "gone is not there")
    assert_form(tigris("run", "folder"), 2, "folder is a folder, not a file")
    assert_form(tigris("inspect", "model.tflite/x"), 2, "cannot be read: not a directory")
    with (here / "huge.tflite").open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    assert_form(tigris("analyze", "huge.tflite"), 2, f"has {MAX_FILE_BYTES + 1} bytes")


def test_a_file_that_may_not_be_read(tigris: Tigris, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(self: Path, *_arguments: object) -> NoReturn:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self))

    monkeypatch.setattr(Path, "open", denied)
    assert_form(tigris("analyze", "m.tflite"), 2, "m.tflite cannot be read: permission denied")


def test_a_plan_where_a_model_is_wanted_and_the_other_way_round(tigris: Tigris, here: Path) -> None:
    assert tigris("compile", SMALL, "-o", "add.tgrs").code == 0
    for command in ("analyze", "compile"):
        assert_form(tigris(command, "add.tgrs"), 2, "add.tgrs is a plan, not a model", "tigris inspect add.tgrs")
    (here / "plan.tflite").write_bytes((here / "add.tgrs").read_bytes())
    (here / "model.tgrs").write_bytes(SMALL.read_bytes())
    for command in ("inspect", "run"):
        assert_form(tigris(command, "plan.tflite"), 2, "holds a plan, not a model", "plan.tgrs")
        assert_form(tigris(command, "model.tgrs"), 2, "holds a model, not a plan", "model.tflite")


def test_outputs_that_cannot_be_written(tigris: Tigris, here: Path) -> None:
    (here / "folder").mkdir()
    model = here / "add.tflite"
    model.write_bytes(SMALL.read_bytes())
    (here / "link.tgrs").symlink_to("add.tflite")
    for output, said in (
        ("folder", "folder is a folder"),
        ("gone/x.tgrs", "there is no folder gone"),
        ("add.tflite/x.tgrs", "is not a folder"),
        ("other.tflite", "what is written is a plan"),
        ("link.tgrs", "it would be overwritten"),
    ):
        assert_form(tigris("compile", model, "-o", output), 2, said)
    assert model.read_bytes() == SMALL.read_bytes()
    assert sorted(p.name for p in here.iterdir()) == ["add.tflite", "folder", "link.tgrs"]
    (here / "file").write_text("mine")
    assert_form(tigris("codegen", model, "--board", "mps2-an500", "-o", "file"), 2, "is not a folder")
    assert_form(tigris("codegen", model, "--board", "mps2-an500", "-o", "."), 2, "not a project")
    assert (here / "file").read_text() == "mine"


def test_a_write_protected_output(tigris: Tigris, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "old.tgrs").write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda _path, _mode: False)
    assert_form(tigris("compile", SMALL, "-o", "old.tgrs"), 2, "old.tgrs cannot be written: it is write-protected")
    assert_form(tigris("compile", SMALL, "-o", "new.tgrs"), 2, "the folder . is write-protected")
    assert (here / "old.tgrs").read_bytes() == b"old"


def test_a_full_disk_leaves_the_old_file(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_arguments: object) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (here / "old").write_bytes(b"old")
    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(UsageError, match="old cannot be written: no space left on device"):
        write_file(here / "old", b"new")
    assert [(p.name, p.read_bytes()) for p in here.iterdir()] == [("old", b"old")]


def test_writing_keeps_links_modes_and_devices(here: Path) -> None:
    (here / "file").write_bytes(b"old")
    (here / "file").chmod(0o640)
    (here / "link").symlink_to("file")
    write_file(here / "link", b"new")
    assert (here / "link").is_symlink()
    assert ((here / "file").read_bytes(), (here / "file").stat().st_mode & 0o777) == (b"new", 0o640)
    write_file(Path(os.devnull), b"gone")
    assert not Path(os.devnull).is_file()


def test_inputs_that_do_not_fit(tigris: Tigris, here: Path) -> None:
    (here / "m.tflite").write_bytes(relu_model(ports=2))
    good = np.zeros((1, 4, 4, 3), np.float32)
    np.save("x.npy", good)
    np.save("type.npy", good.astype(np.int8))
    np.save("shape.npy", good[0])
    np.save("objects.npy", np.array([{}]), allow_pickle=True)
    np.savez("two.npz", a=good, b=good)
    (here / "text.npy").write_text("hello")
    (here / "cut.npy").write_bytes((here / "x.npy").read_bytes()[:-1])
    (here / "zip.npy").write_bytes(b"PK\x03\x04 no archive")
    for inputs, said in (
        ([], "'x0' is missing"),
        (["x.npy"], "'x1' is missing"),
        (["x.npy", "x.npy", "x.npy"], "3 inputs for a model of 2"),
        (["x0=x.npy", "x0=x.npy"], "'x0' is given twice"),
        (["z=x.npy"], "no input is called 'z'"),
        (["x.npy", "gone.npy"], "gone.npy: no such file"),
        (["x.npy", "type.npy"], "is int8, the model wants float32"),
        (["x.npy", "shape.npy"], "has shape [4, 4, 3]"),
        *((["x.npy", name], f"{name} is no .npy file") for name in ("objects.npy", "text.npy", "cut.npy", "zip.npy")),
        (["x.npy", "two.npz"], "two.npz holds several arrays"),
    ):
        options = [word for name in inputs for word in ("--input", name)]
        assert_form(tigris("run", "m.tflite", *options), 2, said)
    assert_form(
        tigris("run", "m.tflite", "--input", "x.npy", "--input", "x.npy", "--output", "y.npy"), 2, "2 outputs", ".npz"
    )
    assert not (here / "y.npy").exists()


# 1: model or plan refused


def test_a_model_that_does_not_convert(tigris: Tigris, here: Path) -> None:
    (here / "m.tflite").write_bytes(relu_model(ports=3, unsupported="LSTM"))
    for command in (["analyze"], ["compile"], ["inspect"], ["run"], ["codegen", "--board", "mps2-an500", "-o", "p"]):
        result, answer = both(tigris, command[0], "m.tflite", *command[1:])
        assert result.code == 1
        named = [line for line in result.err.splitlines() if line.startswith("tigris: m.tflite: operator ")]
        assert [line.split("operator ")[1] for line in named] == [f"{i} LSTM: not supported" for i in (1, 3, 5)]
        assert answer["error"]["kind"] == "model"
        assert [r["operator"] for r in answer["error"]["refusals"]] == [1, 3, 5]
    analysis = tigris("analyze", "m.tflite", "--json").json
    assert analysis["fits"] is False
    assert [(r["operator"], r["name"], r["code"]) for r in analysis["refusals"]] == [
        (i, "LSTM", "operator.unsupported") for i in (1, 3, 5)
    ]
    listed = tigris("inspect", "m.tflite", "--json").json["operators"]
    assert [op["status"] for op in listed] == ["converts", "refused"] * 3
    assert [p.name for p in here.iterdir()] == ["m.tflite"]


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("empty.tflite", b"", "the file is empty"),
        ("text.tflite", b"hello, world", "not a TensorFlow Lite model"),
        ("m.onnx", b"\x08\x07\x12\x07pytorch", "only TensorFlow Lite models (.tflite) are read today"),
        ("cut.tflite", SMALL.read_bytes()[:200], "damaged"),
    ],
)
def test_a_file_that_is_no_model(tigris: Tigris, here: Path, name: str, data: bytes, said: str) -> None:
    (here / name).write_bytes(data)
    for command in ("analyze", "compile", "inspect", "run"):
        result, _ = both(tigris, command, name)
        assert_form(result, 1, said)
        assert result.err.startswith(f"tigris: {name}: ")


def test_a_file_that_is_no_plan(tigris: Tigris, here: Path) -> None:
    assert tigris("compile", SMALL, "-o", "add.tgrs").code == 0
    data = (here / "add.tgrs").read_bytes()
    (here / "empty.tgrs").write_bytes(b"")
    (here / "text.tgrs").write_bytes(b"hello" * 100)
    (here / "cut.tgrs").write_bytes(data[:-1])
    (here / "flipped.tgrs").write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    for name in ("empty", "text", "cut", "flipped"):
        for command in (["inspect"], ["run"], ["codegen", "--board", "mps2-an500", "-o", "p"]):
            result, answer = both(tigris, command[0], f"{name}.tgrs", *command[1:])
            assert_form(result, 1, f"{name}.tgrs: ")
            assert answer["error"]["kind"] == "plan"


# 3: does not fit


def test_a_model_that_does_not_fit(tigris: Tigris, here: Path) -> None:
    for command in (["analyze"], ["compile"], ["codegen", "--board", "mps2-an500", "-o", "p"]):
        result, answer = both(tigris, command[0], CHAIN, *command[1:], "-m", "64")
        error = answer["error"]
        assert (error["kind"], error["have_bytes"]) == ("fit", 64)
        assert_form(result, 3, f"needs {error['need_bytes']} bytes of RAM, the pool has 64", str(error["need_bytes"]))
        if command[0] == "analyze":
            assert answer["fits"] is False
            assert answer["smallest_single_pool_bytes"] == error["need_bytes"] == answer["ram"]["total_bytes"]
            assert answer["described"] == "smallest"
            assert "does not fit" in result.out
    assert not list(here.iterdir())


def test_a_model_that_does_not_fit_a_board(tigris: Tigris, here: Path) -> None:
    tigris("compile", CHAIN, "-o", "c.tgrs")
    board = ("--board", "mps2-an500", "--fast-region", "ram", "--reserve", "4M", "-o", "p")
    result, answer = both(tigris, "codegen", CHAIN, *board, "--slow-region", "ram")
    assert_form(result, 3, "in ram")
    assert answer["error"]["have_bytes"] == 0
    assert_form(tigris("codegen", "c.tgrs", *board[:4], "--fast-region", "code", "-o", "p"), 2, "code of mps2-an500")
    assert not (here / "p").exists()


# 4: a tool or a board is missing


def test_an_unknown_board(tigris: Tigris) -> None:
    for arguments in (["boards", "mps2-an5000"], ["analyze", SMALL, "--board", "mps2-an5000"]):
        result, answer = both(tigris, *arguments)
        assert_form(result, 4, "there is no board mps2-an5000", "mps2-an500")
        assert answer["error"]["kind"] == "missing"


def test_a_missing_host_library(tigris: Tigris, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIGRIS_HOST_LIBRARY", "gone.so")
    result, _ = both(tigris, "run", SMALL)
    assert_form(result, 4, "gone.so, which is not a file")


# Interrupts, pipes, bugs


@pytest.mark.parametrize("reason", [KeyboardInterrupt, SystemError])
def test_interrupts_and_bugs(
    tigris: Tigris, here: Path, monkeypatch: pytest.MonkeyPatch, reason: type[BaseException]
) -> None:
    def fall(*_arguments: object, **_options: object) -> NoReturn:
        raise reason("in the middle")

    monkeypatch.setattr(host, "plan_for", fall)
    result = tigris("compile", SMALL, "-o", "x.tgrs")
    assert not list(here.iterdir())
    if reason is KeyboardInterrupt:
        assert result.code == 130
        assert result.err.strip() == "tigris: stopped"
    else:
        assert result.code not in range(6)
        assert "Traceback" in result.err
        assert "this is a bug in Tigris" in result.err
        assert result.err.splitlines()[-1].startswith("  -> report it")


@pytest.mark.skipif(os.name != "posix", reason="pipes as on POSIX")
def test_a_reader_that_goes_away_is_met_with_silence(tigris: Tigris, here: Path) -> None:
    tigris("compile", CHAIN, "-o", "d.tgrs")
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "tigris_codegen", "inspect", "d.tgrs", "-v"]
    try:
        done = subprocess.run(
            command,
            stdout=writer,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
            check=False,
        )
    finally:
        os.close(writer)
    assert done.stderr == b""
    assert done.returncode not in range(6)


def test_what_a_tool_printed_is_indented_and_harmless() -> None:
    lines = error_lines(TigrisError("cmake failed:\nerror: \x1b[31mred\nmore", "look at it"))
    assert lines == ["tigris: cmake failed:", "  error: \\x1b[31mred", "  more", "  -> look at it"]
