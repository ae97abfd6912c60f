"""Sizes as people write them: 64K, 256KiB, 1.5M, 300000; pools: 64K, 64K+8M; and shares: 20%."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from tigris_codegen.errors import UsageError

_UNITS = {"": 1, "B": 1, "K": 1 << 10, "KIB": 1 << 10, "KB": 1 << 10, "M": 1 << 20, "MIB": 1 << 20, "MB": 1 << 20}
_FORMS = "write 64K, 256KiB, 1.5M or a number of bytes"
#: What 32-bit addresses reach.
MAX_SIZE = 1 << 32


@dataclass(frozen=True)
class Pools:
    """Memory for a plan, in bytes; `slow` None = everything lives in the fast pool."""

    fast: int
    slow: int | None = None

    def __str__(self) -> str:
        return show_size(self.fast) + ("" if self.slow is None else f" + {show_size(self.slow)}")


def parse_size(text: str) -> int:
    """Bytes of a size. K and M are 1024 and 1048576, with or without B or iB, in any case; UsageError otherwise."""
    match = re.fullmatch(r"\s*([0-9]{1,20}(?:\.[0-9]{1,20})?)\s*([a-zA-Z]*)\s*", text)
    if match is None or match[2].upper() not in _UNITS:
        raise UsageError(f"{text!r} is not a size", _FORMS)
    size = Fraction(match[1]) * _UNITS[match[2].upper()]
    if size.denominator != 1:
        raise UsageError(f"{text!r} is not a whole number of bytes", _FORMS)
    if size > MAX_SIZE:
        raise UsageError(f"{text!r} is more than 32-bit addresses reach (4096M)", _FORMS)
    return int(size)


def parse_pools(text: str) -> Pools:
    """One pool, `64K`, or a fast and a slow one, `64K+8M`."""
    sizes = text.split("+")
    if len(sizes) > 2:
        raise UsageError(f"{text!r} names {len(sizes)} pools", "give one, e.g. 64K, or a fast and a slow one: 64K+8M")
    return Pools(*(parse_size(size) for size in sizes))


def parse_share(text: str) -> float:
    """A part of a whole: `20%` is 0.2; UsageError for what is no percentage from 0% to 1000%."""
    match = re.fullmatch(r"\s*([0-9]{1,4}(?:\.[0-9]{1,6})?)\s*%\s*", text)
    if match is None or float(match[1]) > 1000:
        raise UsageError(f"{text!r} is not a percentage", "write 20%, at most 1000%")
    return float(match[1]) / 100


def show_size(size: int) -> str:
    """A size for people: exact bytes, and KiB where there are many."""
    return f"{size} B" if size < 10240 else f"{size} B ({size / 1024:.1f} KiB)"
