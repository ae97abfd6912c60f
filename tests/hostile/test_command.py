"""Bad models through the command: one clear message on stderr, exit code 1, and nothing left behind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.hostile.cases import RELU, dense, elementwise, optioned, relu
from tests.hostile.raw import Outside, RawCode, RawOp, RawTensor, builtin
from tests.unit.cli_support import SMALL, Tigris

X, Y = RELU.tensors

#: File -> the one line that is said of it.
SAID = {
    "cut": (SMALL.read_bytes()[:-40], "the file is damaged: "),
    "flipped": (b"\xff" + SMALL.read_bytes()[1:], "the file is damaged: "),
    "negative": (
        relu(tensors=(X, replace(Y, shape=(1, -4)))),
        "tensor 'y' has a dynamic shape, [1, -4]",
    ),
    "overflow": (
        elementwise(replace(X, shape=(1 << 16,) * 4), Y),
        f"tensor 'x' takes {1 << 64} bytes; up to {(1 << 28) - 1} are supported",
    ),
    "outside": (dense((b"", Outside(1 << 63, 4), bytes(4))), "the file is damaged: the data of tensor 'w' lie outside"),
    "circle": (
        relu(ops=(RawOp((1,), (1,)),), codes=(builtin("RESHAPE"),)),
        "operator 0 RESHAPE: it reads tensor 'y' before anything writes it",
    ),
    "subgraphs": (relu(subgraphs=2), "the model has 2 subgraphs"),
    "custom": (relu(codes=(RawCode(32, 32, b"a\nb\x1b[2J"),)), "operator 0 CUSTOM:a\\nb\\x1b[2J: a custom operator"),
    "operand": (relu(outputs=(7,)), "the file is damaged: a model output is tensor 7 of 2"),
    "stride": (optioned("CONV_2D", StrideH=0), "operator 0 CONV_2D: a stride or dilation below 1"),
    "large": (
        elementwise(RawTensor((1, 1 << 26), name=b"x"), RawTensor((1, 1 << 26), name=b"y")),
        f"operator 0 RELU: {1 << 27} bytes of tensors are alive here",
    ),
}
COMMANDS = (
    ("analyze",),
    ("compile", "-m", "64K", "-o", "made.tgrs"),
    ("inspect",),
    ("run",),
    ("codegen", "--board", "mps2-an500", "-o", "made"),
)


@pytest.fixture
def tigris(capsys: pytest.CaptureFixture[str]) -> Tigris:
    return Tigris(capsys)


@pytest.mark.parametrize("name", SAID)
def test_one_clear_message(name: str, tigris: Tigris, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, said = SAID[name]
    monkeypatch.chdir(tmp_path)
    file = tmp_path / f"{name}.tflite"
    file.write_bytes(data)
    for command, *options in COMMANDS:
        result = tigris(command, file.name, *options)
        assert result.code == 1
        message, *hints = result.err.splitlines()
        assert message.startswith(f"tigris: {name}.tflite: {said}")
        assert message.isprintable()
        assert len(hints) <= 1 and all(hint.startswith("  -> ") for hint in hints)
        assert "Traceback" not in result.out + result.err
        assert [path.name for path in tmp_path.iterdir()] == [file.name]
        answer = tigris(command, file.name, *options, "--json")
        assert (answer.code, answer.json["error"]["kind"]) == (1, "model")
        assert len(answer.json["error"]["refusals"]) == 1
