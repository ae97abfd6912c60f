"""The graph: frozen, typed values that every pass turns into a new graph."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray


class DType(Enum):
    """Element types. The value is the numpy name."""

    S8 = "int8"
    U8 = "uint8"
    S16 = "int16"
    S32 = "int32"
    S64 = "int64"
    F32 = "float32"
    BOOL = "bool"

    @property
    def bytes(self) -> int:
        return np.dtype(self.value).itemsize


@dataclass(frozen=True)
class Quantization:
    """real = scale * (value - zero_point). One pair per tensor, or one per index of `axis`."""

    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int = 0

    @property
    def scale(self) -> float:
        return self.scales[0]

    @property
    def zero_point(self) -> int:
        return self.zero_points[0]


@dataclass(frozen=True)
class Tensor:
    """A dense array, row-major. `data` holds the bytes of a constant, None for what is computed at run time."""

    name: str
    shape: tuple[int, ...]
    dtype: DType
    quantization: Quantization | None = None
    data: bytes | None = None

    @property
    def elements(self) -> int:
        return prod(self.shape)

    @property
    def bytes(self) -> int:
        return self.elements * self.dtype.bytes

    def array(self) -> NDArray[Any]:
        """The constant as a read-only array of the tensor's shape; a ValueError where the tensor is not constant."""
        if self.data is None:
            raise ValueError(f"tensor {self.name!r} is not constant")
        return np.frombuffer(self.data, self.dtype.value).reshape(self.shape)


@dataclass(frozen=True)
class Op:
    """One operator. `inputs` and `outputs` index Graph.tensors; -1 is an optional input left out.

    `attributes` is the frozen dataclass of the operator's home in `ops/`; `source` the index in the model's file,
    None for an operator that a pass added.
    """

    kind: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    attributes: Any
    source: int | None


@dataclass(frozen=True)
class Graph:
    """Operators in execution order over numbered tensors; `inputs` and `outputs` are tensor numbers."""

    name: str
    tensors: tuple[Tensor, ...]
    ops: tuple[Op, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
