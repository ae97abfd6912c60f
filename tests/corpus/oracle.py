"""TensorFlow Lite Micro's interpreter: what every result is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import metadata
from typing import Any

from numpy.typing import NDArray
from tflite_micro.python.tflite_micro import runtime

ARENA_BYTES = 1 << 20


def version() -> str:
    """Of the installed package."""
    return metadata.version("tflite-micro")


def run(model: bytes, inputs: Sequence[NDArray[Any]], outputs: int) -> list[NDArray[Any]]:
    """The outputs of one invocation in a fresh interpreter."""
    interpreter = runtime.Interpreter.from_bytes(model, arena_size=ARENA_BYTES)
    for index, values in enumerate(inputs):
        interpreter.set_input(values, index)
    interpreter.invoke()
    return [interpreter.get_output(index).copy() for index in range(outputs)]
