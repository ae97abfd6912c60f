"""Sizes as people write them: 64K, 256KiB, 1.5M, 300000."""

from __future__ import annotations

import re

from tigris_codegen.errors import UsageError

_UNITS = {"": 1, "B": 1, "K": 1 << 10, "KIB": 1 << 10, "KB": 1 << 10, "M": 1 << 20, "MIB": 1 << 20, "MB": 1 << 20}


def parse_size(text: str) -> int:
    """Bytes of a size. K and M are 1024 and 1048576, with or without B or iB, in any case; UsageError otherwise."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", text)
    if match is None or match[2].upper() not in _UNITS:
        raise UsageError(f"{text!r} is not a size", "write 64K, 256KiB, 1.5M or a number of bytes")
    size = float(match[1]) * _UNITS[match[2].upper()]
    if size != int(size):
        raise UsageError(f"{text!r} is not a whole number of bytes")
    return int(size)


def show_size(size: int) -> str:
    """A size for people: exact bytes, and KiB where there are many."""
    return f"{size} B" if size < 10240 else f"{size} B ({size / 1024:.1f} KiB)"
