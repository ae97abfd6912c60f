"""Writes data/: the models, their inputs, and the outputs that TensorFlow Lite Micro computes.

Run from the top of the repository: python -m tests.corpus.generate
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.corpus import expectations, oracle
from tests.corpus.cases import FAMILIES, Build, Model, build


def expected(model: Model) -> dict[str, NDArray[Any]]:
    """Inputs and outputs of a case, by their names in the archive."""
    arrays: dict[str, NDArray[Any]] = {}
    for number in range(expectations.SETS):
        inputs = expectations.inputs(model.name, model.inputs, number)
        outputs = oracle.run(model.data, inputs, len(model.outputs))
        for side, tensors, values in (("in", model.inputs, inputs), ("out", model.outputs, outputs)):
            for index, (tensor, value) in enumerate(zip(tensors, values, strict=True)):
                if value.shape != tensor.shape or value.dtype != tensor.dtype:
                    raise ValueError(f"{model.name}: {tensor.name} is {value.dtype}{value.shape} in the interpreter")
                if value.dtype == np.float32 and not np.isfinite(value).all():
                    raise ValueError(f"{model.name}: {tensor.name} is not finite")
                arrays[expectations.key(model.name, side, index, number)] = value
    return arrays


def files(families: Mapping[str, Mapping[str, Build]]) -> dict[str, bytes]:
    """Name -> content of everything in data/. Raises when the interpreter refuses a case, after trying all."""
    result: dict[str, bytes] = {}
    refused: list[str] = []
    for family, cases in families.items():
        arrays: dict[str, NDArray[Any]] = {}
        for name in cases:
            model = build(name)
            result[f"{name}.tflite"] = model.data
            try:
                arrays.update(expected(model))
            except (RuntimeError, ValueError) as error:
                refused.append(f"{name}: {error}")
        result[f"{family}.npz"] = expectations.pack(arrays)
    if refused:
        raise SystemExit("TensorFlow Lite Micro does not run:\n" + "\n".join(refused))
    result["VERSIONS.json"] = json.dumps({"tflite-micro": oracle.version()}, indent=2).encode() + b"\n"
    return result


def main() -> None:
    written = files(FAMILIES)
    expectations.DATA.mkdir(exist_ok=True)
    for path in expectations.DATA.iterdir():
        if path.name not in written:
            path.unlink()
    for name, content in sorted(written.items()):
        (expectations.DATA / name).write_bytes(content)
    print(f"{len(written)} files, {sum(map(len, written.values()))} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
