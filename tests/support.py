"""What several test modules need: where things are, and visible skips for what may be absent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

#: The repository, and the folder beside it with published models and the design; it is not part of the repository.
REPOSITORY = Path(__file__).resolve().parents[1]
SHARED = REPOSITORY.parent / "shared"

#: Marks a test that reads ../shared.
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the folder ../shared is absent")


def shared(relative: str) -> Path:
    """A path below ../shared; skips the calling test where it is absent."""
    path = SHARED / relative
    if not path.exists():
        pytest.skip(f"../shared/{relative} is absent")
    return path


def assert_equal(actual: NDArray[Any], expected: NDArray[Any], tolerance: float) -> None:
    """The same bytes, or, for a float output of a plan that states a tolerance, no further apart than that."""
    assert (actual.shape, actual.dtype) == (expected.shape, expected.dtype)
    if expected.dtype == np.float32 and tolerance > 0:
        difference = np.abs(actual.astype(np.float64) - expected.astype(np.float64))
        assert difference.size == 0 or difference.max() <= tolerance
    elif actual.tobytes() != expected.tobytes():
        different = np.flatnonzero(actual.reshape(-1).view(np.uint8) != expected.reshape(-1).view(np.uint8))
        first = int(different[0]) // expected.dtype.itemsize
        where = tuple(int(i) for i in np.unravel_index(first, expected.shape))
        got, wanted = actual.reshape(-1)[first], expected.reshape(-1)[first]
        count = len(np.unique(different // expected.dtype.itemsize))
        raise AssertionError(f"{count} of {expected.size} elements differ, first {where}: {got!r}, expected {wanted!r}")
