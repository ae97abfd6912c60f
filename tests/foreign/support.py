"""Somebody else's firmware, and the two models that go into it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.corpus import expectations
from tests.support import REPOSITORY
from tigris_codegen.codegen import generate_core
from tigris_codegen.codegen.context import hex_lines
from tigris_codegen.pipeline import Compiled, compile_model
from tigris_codegen.session import Session

FIRMWARE = Path(__file__).resolve().parent / "firmware"


def need(*tools: str) -> None:
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"missing: {', '.join(missing)}")


def run(*command: str | Path, cwd: Path | None = None) -> str:
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@dataclass(frozen=True)
class Models:
    """The two models, inputs for them, and what the firmware must print."""

    digits: Compiled
    adder: Compiled
    vectors: str
    printed: str


def random_inputs(compiled: Compiled) -> dict[str, NDArray[Any]]:
    random = np.random.default_rng(3)
    return {
        port.name: random.integers(-128, 128, port.shape, np.int8)
        if port.scale
        else random.uniform(-3, 3, port.shape).astype(np.float32)
        for port in compiled.plan.inputs
    }


def outputs(compiled: Compiled, inputs: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    with Session(compiled.plan_bytes) as session:
        (result,) = session.run(inputs).values()
    return result


def make_models() -> Models:
    """digits.tflite in 16 KiB and a case of the corpus, with random inputs and what the host makes of them."""
    digits = compile_model((REPOSITORY / "examples/digits/digits.tflite").read_bytes(), "digits", 16384)
    adder = compile_model((expectations.DATA / "add_column_row_f32.tflite").read_bytes(), "adder")
    pixels, addends = random_inputs(digits), random_inputs(adder)
    names = ("digits_pixels", "adder_a", "adder_b")
    arrays = [
        f"static const uint8_t {name}[{array.nbytes}] = {{\n" + "\n".join(hex_lines(array.tobytes())) + "\n};\n"
        for name, array in zip(names, [*pixels.values(), *addends.values()], strict=True)
    ]
    scores, sums = outputs(digits, pixels), outputs(adder, addends)
    printed = f"digits {scores.tobytes().hex()}\nadder {sums.tobytes().hex()}\nbest {int(scores.argmax())}\n"
    return Models(digits, adder, "#include <stdint.h>\n\n" + "".join(arrays), printed)


def write_cores(models: Models, digits: Path, adder: Path, **options: Any) -> None:
    generate_core(models.digits.plan_bytes, digits, core_name="digits", **options)
    generate_core(models.adder.plan_bytes, adder, core_name="adder", **options)
