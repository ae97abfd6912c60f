"""Sizes as people write and read them."""

from __future__ import annotations

import pytest

from tigris_codegen.errors import UsageError
from tigris_codegen.sizes import parse_size, show_size


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("300000", 300000),
        ("17B", 17),
        ("64K", 65536),
        ("64k", 65536),
        ("64KB", 65536),
        ("256KiB", 262144),
        ("1.5M", 1572864),
        ("0.5K", 512),
        (" 2 MiB ", 2097152),
    ],
)
def test_sizes_are_read(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "K", "-1", "1e3", "64G", "64 K B", "1,5M", "0x40", "1.5", "0.3K", "nan", "inf"])
def test_what_is_no_size_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError):
        parse_size(text)


@pytest.mark.parametrize("size", [0, 1, 1023, 10239, 10240, 65536, 1572864])
def test_the_exact_number_is_always_shown(size: int) -> None:
    shown = show_size(size)
    assert shown.startswith(f"{size} B")
    assert ("KiB" in shown) == (size >= 10240)


def test_kibibytes_are_shown_where_there_are_many() -> None:
    assert show_size(98304) == "98304 B (96.0 KiB)"
