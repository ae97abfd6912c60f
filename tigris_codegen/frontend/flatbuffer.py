"""Proves the structure of a .tflite file before anything is read from it.

The schema classes of the `tflite` package follow offsets without looking. So every table, vector and string that the
importer will touch is first checked to lie inside the file; after that the schema classes cannot leave it, and what
they take is bounded by the size of the file. Tables that the importer does not read are not looked at.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass

IDENTIFIER = b"TFL3"
ROOT = 0


class DamagedFile(Exception):
    """The file is not a well-formed model. The message says where."""


@dataclass(frozen=True)
class Scalar:
    """A number stored in the table."""

    bytes: int


@dataclass(frozen=True)
class Vector:
    """Numbers (a string is a vector of bytes) stored elsewhere."""

    item_bytes: int


@dataclass(frozen=True)
class Table:
    """A table stored elsewhere; `fields` by position in the schema, those that the importer reads."""

    name: str
    fields: Mapping[int, Scalar | Vector | Table | Tables]


@dataclass(frozen=True)
class Tables:
    """A vector of tables."""

    of: Table


STRING = Vector(1)
_OPERATOR_CODE = Table("operator code", {0: Scalar(1), 1: STRING, 2: Scalar(4), 3: Scalar(4)})
_QUANTIZATION = Table("quantization", {2: Vector(4), 3: Vector(8), 4: Scalar(1), 6: Scalar(4)})
_SPARSITY = Table("sparsity", {})
_TENSOR = Table(
    "tensor",
    {
        0: Vector(4),
        1: Scalar(1),
        2: Scalar(4),
        3: STRING,
        4: _QUANTIZATION,
        5: Scalar(1),
        6: _SPARSITY,
        7: Vector(4),
        8: Scalar(1),
    },
)
_OPTIONS = Table("options", {})
_OPERATOR = Table("operator", {0: Scalar(4), 1: Vector(4), 2: Vector(4), 3: Scalar(1), 4: _OPTIONS})
_SUBGRAPH = Table("subgraph", {0: Tables(_TENSOR), 1: Vector(4), 2: Vector(4), 3: Tables(_OPERATOR), 4: STRING})
_BUFFER = Table("buffer", {0: Vector(1), 1: Scalar(8), 2: Scalar(8)})
_MODEL = Table("model", {0: Scalar(4), 1: Tables(_OPERATOR_CODE), 2: Tables(_SUBGRAPH), 4: Tables(_BUFFER)})

#: A table and its place in a vector take at least this many bytes, so that a file has only so many tables.
_LEAST_TABLE_BYTES = 8
#: Writers may share vectors between tables; a file whose vectors add up to more than this is made to exhaust readers.
MOST_SHARING = 8


class _Checker:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.tables_left = len(data) // _LEAST_TABLE_BYTES + 1
        self.bytes_left = len(data) * MOST_SHARING

    def number(self, code: str, position: int, what: str) -> int:
        if position < 0 or position + struct.calcsize(code) > len(self.data):
            raise DamagedFile(f"{what} lies outside the file")
        (value,) = struct.unpack_from("<" + code, self.data, position)
        return int(value)

    def target(self, position: int, what: str) -> int:
        """Where the offset at `position` points to."""
        return position + self.number("I", position, what)

    def vector(self, position: int, item_bytes: int, what: str) -> tuple[int, int]:
        """Position of the first item and number of items of the vector whose offset is at `position`."""
        start = self.target(position, what)
        count = self.number("I", start, what)
        if start + 4 + count * item_bytes > len(self.data):
            raise DamagedFile(f"{what} has {count} items, more than the file holds")
        self.bytes_left -= count * item_bytes
        if self.bytes_left < 0:
            raise DamagedFile("the file names more data than it can hold")
        return start + 4, count

    def field_offsets(self, position: int, what: str) -> tuple[tuple[int, ...], int]:
        """Offsets of a table's fields (0 = absent) and the table's size."""
        vtable = position - self.number("i", position, what)
        vtable_bytes, table_bytes = self.number("H", vtable, what), self.number("H", vtable + 2, what)
        if vtable_bytes < 4 or vtable_bytes % 2 or vtable + vtable_bytes > len(self.data):
            raise DamagedFile(f"{what} has a field list outside the file")
        if table_bytes < 4 or position + table_bytes > len(self.data):
            raise DamagedFile(f"{what} reaches beyond the end of the file")
        offsets = struct.unpack_from(f"<{vtable_bytes // 2 - 2}H", self.data, vtable + 4)
        if any(o >= table_bytes for o in offsets):
            raise DamagedFile(f"{what} has a field outside of it")
        return offsets, table_bytes

    def table(self, position: int, form: Table) -> None:
        self.tables_left -= 1
        if self.tables_left < 0:
            raise DamagedFile("the file names more tables than it can hold")
        what = f"a {form.name}"
        offsets, table_bytes = self.field_offsets(position, what)
        for slot, field in form.fields.items():
            offset = offsets[slot] if slot < len(offsets) else 0
            if not offset:
                continue
            place = position + offset
            bytes_taken = field.bytes if isinstance(field, Scalar) else 4
            if offset < 4 or offset + bytes_taken > table_bytes:
                raise DamagedFile(f"{what} has a field outside of it")
            if isinstance(field, Vector):
                self.vector(place, field.item_bytes, f"a vector of {what}")
            elif isinstance(field, Table):
                self.table(self.target(place, what), field)
            elif isinstance(field, Tables):
                start, count = self.vector(place, 4, f"a vector of {what}")
                for i in range(count):
                    self.table(self.target(start + 4 * i, what), field.of)


def check_structure(data: bytes) -> None:
    """DamagedFile where reading the model could leave the file."""
    checker = _Checker(data)
    checker.table(checker.target(ROOT, "the model"), _MODEL)


def copy_options(data: bytes, position: int) -> tuple[bytes, int]:
    """An options table on its own, with zeros behind it, and its position there.

    Which numbers a table holds only its schema class knows: behind the zeros none of them leaves the copy.
    """
    checker = _Checker(data)
    offsets, table_bytes = checker.field_offsets(position, "options")
    vtable = struct.pack(f"<{len(offsets) + 2}H", 4 + 2 * len(offsets), table_bytes, *offsets)
    body = data[position + 4 : position + table_bytes]
    return vtable + struct.pack("<i", len(vtable)) + body + bytes(8), len(vtable)


#: An options table without fields: every option has its default.
EMPTY_OPTIONS = struct.pack("<HHi", 4, 4, 4) + bytes(8), 4
