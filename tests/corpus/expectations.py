"""Inputs of the cases, and the committed files: models as .tflite, inputs and outputs in one .npz per family."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.corpus.writer import Tensor

DATA = Path(__file__).parent / "data"
SETS = 2  # of inputs per case
FIRST_ZIP_DATE = (1980, 1, 1, 0, 0, 0)
BYTES_AT_THE_EDGES = (-128, -127, -1, 0, 1, 126, 127)


def inputs(case: str, tensors: tuple[Tensor, ...], number: int) -> list[NDArray[Any]]:
    """Input set `number` of a case.

    8 bits: set 0 holds every value equally often, in random order; set 1 mostly values at the edges. Both hold the two
    extremes as far as there is room. Float: set 0 is uniform over -3 to 3; set 1 holds multiples of 0.25 from -8 to 8
    (ties of rounding, negative zeros) and two values far outside.
    """
    random = np.random.RandomState(zlib.crc32(f"{case}/{number}".encode()))
    return [_floats(random, t, number) if t.dtype == "float32" else _bytes(random, t, number) for t in tensors]


def _floats(random: np.random.RandomState, tensor: Tensor, number: int) -> NDArray[Any]:
    size = int(np.prod(tensor.shape))
    values = random.uniform(-3, 3, size) if number == 0 else np.round(random.uniform(-32, 32, size)) / 4
    if number == 1 and size > 2:
        values[:2] = 1000, -1000
        random.shuffle(values)
    return values.astype(np.float32).reshape(tensor.shape)


def _bytes(random: np.random.RandomState, tensor: Tensor, number: int) -> NDArray[Any]:
    size = int(np.prod(tensor.shape))
    if number == 0:
        values = np.resize(random.permutation(256) - 128, size)
    else:
        values = np.where(
            random.rand(size) < 0.6, random.choice(BYTES_AT_THE_EDGES, size), random.randint(-128, 128, size)
        )
    values[:2] = (127, -128)[:size] if number else (-128, 127)[:size]
    random.shuffle(values)
    return (values + (128 if tensor.dtype == "uint8" else 0)).astype(tensor.dtype).reshape(tensor.shape)


def key(case: str, side: str, index: int, number: int) -> str:
    """Name of an array: `<case>/in0/1` is input 0 of set 1."""
    return f"{case}/{side}{index}/{number}"


def pack(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """An .npz archive that depends on nothing but the arrays."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as file:
        for name in sorted(arrays):
            content = io.BytesIO()
            np.lib.format.write_array(
                content, np.ascontiguousarray(arrays[name]).reshape(arrays[name].shape), version=(1, 0)
            )
            info = zipfile.ZipInfo(f"{name}.npy", FIRST_ZIP_DATE)
            info.create_system = 3  # otherwise the system the generator runs on
            info.external_attr = 0o644 << 16
            file.writestr(info, content.getvalue())
    return archive.getvalue()
