"""Sizes and pools as people write them."""

from __future__ import annotations

import pytest

from tigris_codegen.errors import UsageError
from tigris_codegen.sizes import Pools, parse_pools, parse_size, show_size


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("64K", 65536),
        ("64k", 65536),
        ("256KiB", 262144),
        ("256KB", 262144),
        ("1.5M", 1572864),
        ("300000", 300000),
        ("300000B", 300000),
        (" 16 K ", 16384),
        ("0", 0),
        ("0.25K", 256),
        ("4096M", 1 << 32),
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text",
    ["", "K", "-1K", "1e6", "64G", "64Kb/s", "1.0001K", "1..5M", "0x10", "nan", "٣K", "4097M", "9" * 30, "64K+8M"],
)
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(UsageError):
        parse_size(text)


def test_pools() -> None:
    assert parse_pools("64K") == Pools(65536)
    assert parse_pools("64K+8M") == Pools(65536, 8 << 20)
    assert parse_pools("64K + 8M") == Pools(65536, 8 << 20)
    for text in ("64K+", "+8M", "1K+2K+3K"):
        with pytest.raises(UsageError):
            parse_pools(text)


def test_sizes_are_shown_exactly() -> None:
    assert show_size(9999) == "9999 B"
    assert show_size(16384) == "16384 B (16.0 KiB)"
