"""A tensor seen as rows: what bands, windows and liveness are counted in."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tigris_codegen.ir.graph import Tensor

#: A tensor with more indices than this along its band axis has one row per batch: it runs untiled.
MAX_ROWS = 0xFFFF


@dataclass(frozen=True)
class Rows:
    """`count` rows of `bytes` bytes each, `per_image` of them in each image of the batch."""

    count: int
    bytes: int
    per_image: int

    @property
    def total(self) -> int:
        return self.count * self.bytes


def band_axis(shape: tuple[int, ...]) -> int | None:
    """The first axis longer than 1 behind the batch axis; None where there is none."""
    return next((axis for axis in range(1, len(shape)) if shape[axis] > 1), None)


def rows_of(tensor: Tensor) -> Rows:
    """The rows of a tensor: one per index of its band axis and image; one per image where it has no band axis."""
    images = tensor.shape[0] if tensor.shape else 1
    axis = band_axis(tensor.shape)
    per_image = 1 if axis is None else tensor.shape[axis]
    if images * per_image > MAX_ROWS:
        images, per_image = (images, 1) if images <= MAX_ROWS else (1, 1)
    count = images * per_image
    return Rows(count, prod(tensor.shape) * tensor.dtype.bytes // max(count, 1), per_image)
