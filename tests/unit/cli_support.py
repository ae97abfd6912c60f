"""Running `tigris` inside the test's process, and comparing JSON with a shape."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.corpus.writer import ModelWriter
from tests.support import REPOSITORY
from tigris_codegen.cli import run_command

DIGITS = REPOSITORY / "examples" / "digits" / "digits.tflite"
CORPUS = REPOSITORY / "tests" / "corpus" / "data"
SMALL = CORPUS / "add_equal_s8.tflite"
CHAIN = CORPUS / "chain_residual_s8.tflite"


@dataclass(frozen=True)
class Result:
    """What a command answered."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found


@dataclass(frozen=True)
class Tigris:
    """The command, as a function of its arguments."""

    capsys: pytest.CaptureFixture[str]

    def __call__(self, *arguments: str | Path) -> Result:
        self.capsys.readouterr()
        code = run_command([str(a) for a in arguments])
        captured = self.capsys.readouterr()
        return Result(code, captured.out, captured.err)


def assert_shape(value: Any, shape: Any, where: str = "answer") -> None:
    """`shape` is a type, a list of one shape, a dict of shapes (more keys are allowed), or a tuple of alternatives."""
    if isinstance(shape, tuple):
        if value is None and None in shape:
            return
        shape = next(s for s in shape if s is not None)
    if isinstance(shape, dict):
        assert isinstance(value, dict), where
        for key, inner in shape.items():
            assert key in value, f"{where} lacks {key}"
            assert_shape(value[key], inner, f"{where}.{key}")
    elif isinstance(shape, list):
        assert isinstance(value, list), where
        for index, item in enumerate(value):
            assert_shape(item, shape[0], f"{where}[{index}]")
    else:
        assert type(value) is shape, f"{where} is {value!r}"


def relu_model(
    names: tuple[str, str] = ("x", "y"), ports: int = 1, unsupported: str | None = None, inputs: bool = True
) -> bytes:
    """RELUs side by side; with `unsupported` an operator of that kind behind each, without `inputs` on constants."""
    m = ModelWriter("relus")
    shape = (1, 4, 4, 3)
    sources, results = [], []
    for i in range(ports):
        number = str(i) if ports > 1 else ""
        data = None if inputs else np.ones(shape, np.float32)
        source = m.tensor(names[0] + number, shape, "float32", data=data)
        result = m.tensor(names[1] + number, shape, "float32")
        if unsupported:
            between = m.tensor(f"between{number}", shape, "float32")
            m.operator("RELU", [source], [between])
            m.operator(unsupported, [between], [result])
        else:
            m.operator("RELU", [source], [result])
        sources.append(source)
        results.append(result)
    return m.finish(sources if inputs else [], results)
