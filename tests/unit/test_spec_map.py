"""docs/SPEC_MAP.md has a row for every name of the specification, and its states are those of the sources."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from tests.support import REPOSITORY, shared
from tigris_codegen.ops import SPECS

STATES = ("here", "needless", "later")
SPECIFICATIONS = ("ethos-u-stream-split.md", "runtime-readme.md", "tflite-guide.md")
MAP = REPOSITORY / "docs" / "SPEC_MAP.md"
FENCE = re.compile(r"^```[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
SPAN = re.compile(r"`([^`]+)`")
LINK = re.compile(r"\]\(([^)]+)\)")
C_NAME = re.compile(r"tigris_\w+|TIGRIS_\w+\w")
#: A word in backticks that is a path of the repository.
PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)+")


@dataclass(frozen=True)
class Row:
    """Names with the state that they share."""

    names: tuple[str, ...]
    state: str
    where: str


def plain(name: str) -> str:
    """A name as the map spells it: one space between words, without the parentheses of a call or a shell comment."""
    return " ".join(name.split(" #")[0].split()).removesuffix("()")


def rows() -> list[Row]:
    cells = [line.strip("|").split(" | ") for line in MAP.read_text().splitlines() if line.startswith("| `")]
    return [Row(tuple(map(plain, SPAN.findall(names))), state.strip(), where) for names, state, where in cells]


def specified(text: str) -> set[str]:
    """Every word or command that the text sets as code, and every file that it links to."""
    outside = FENCE.sub("", text)
    lines = [line for block in FENCE.findall(text) for line in block.splitlines()]
    files = [link for link in LINK.findall(outside) if not link.startswith(("http", "/"))]
    return {plain(name) for name in (*SPAN.findall(outside), *lines, *files) if name.strip()}


def sources() -> str:
    """What is written in C or into generated projects, and what reads the environment."""
    folders = (REPOSITORY / "runtime", REPOSITORY / "templates")
    files = [path for folder in folders for path in folder.rglob("*") if path.suffix in (".c", ".h", ".txt")]
    return "\n".join(path.read_text() for path in (*files, *(REPOSITORY / "tigris_codegen").rglob("*.py")))


@pytest.mark.parametrize("name", SPECIFICATIONS)
def test_every_name_has_a_row(name: str) -> None:
    wanted = specified(shared(f"spec/{name}").read_text())
    assert len(wanted) > 30
    assert wanted - {n for row in rows() for n in row.names} == set()


def test_the_map_is_well_formed() -> None:
    assert {row.state for row in rows()} == set(STATES)
    assert all(row.names and row.where.strip(" |") for row in rows())
    names = [name for row in rows() for name in row.names]
    assert sorted(names) == sorted(set(names)), "a name has two rows"


def test_operators_are_in_the_state_that_the_map_says() -> None:
    states = {name: row.state for row in rows() for name in row.names}
    assert {kind: states.get(kind) for kind in SPECS} == dict.fromkeys(SPECS, "here")
    operators = MAP.read_text().split("## Operators")[1].split("## ")[0]
    there = {n for row in rows() if row.state == "here" for n in row.names if f"`{n}`" in operators}
    assert there == SPECS.keys()


def test_c_names_are_in_the_sources_where_the_map_says_so_and_only_there() -> None:
    text = sources()
    checked = 0
    for row in rows():
        for name in (n for n in row.names if C_NAME.fullmatch(n) or n in ("tigris_iface.h", "host/tigris_host.h")):
            checked += 1
            found = re.search(rf"\b{re.escape(name.removeprefix('host/'))}\b", text) is not None
            assert found == (row.state == "here"), f"{name} is {row.state} in docs/SPEC_MAP.md"
    assert checked > 20


def test_places_exist() -> None:
    for row in rows():
        for place in filter(PATH.fullmatch, SPAN.findall(row.where)):
            assert (REPOSITORY / place).exists(), place
