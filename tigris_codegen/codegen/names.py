"""Names of cores."""

from __future__ import annotations

import re

from tigris_codegen.errors import UsageError

#: Names whose header would hide one of C's or of the project's, or whose build target exists already.
_C_HEADERS = (
    "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdarg stdbool stddef "
    "stdint stdio stdlib string tgmath time wchar wctype"
)
_PROJECT_NAMES = (
    "board console device platform selftest vectors all clean debug firmware flash help install m package test"
)
RESERVED = frozenset(f"{_C_HEADERS} {_PROJECT_NAMES}".split(" "))


def check_core_name(name: str) -> None:
    """UsageError unless `name` can be the prefix of C functions and macros."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
        raise UsageError(f"{name!r} cannot name the core: it is no C identifier.", f"try {core_name_for(name)}")
    if _is_reserved(name):
        raise UsageError(f"{name!r} cannot name the core: the name is taken.", f"try {core_name_for(name)}")


def _is_reserved(name: str) -> bool:
    return name.lower() in RESERVED or name.lower().startswith("tigris")


def core_name_for(text: str) -> str:
    """A core name made from a file name: `KWS-int8.v2` -> `kws_int8_v2`."""
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
    if not name or name[0].isdigit() or _is_reserved(name):
        name = f"model_{name}".rstrip("_")
    return name
