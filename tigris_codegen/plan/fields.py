"""The one way this project describes bytes: little-endian structs made of named, documented fields.

A `Struct` packs and unpacks itself in Python and prints itself as C and as a documentation table, so a layout is
written down once. Fields are naturally aligned and padding is explicit; a struct that breaks this fails when it is
defined, not on the device.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

#: Field type -> (struct module code, C type).
TYPES = {
    "u8": ("B", "uint8_t"),
    "i8": ("b", "int8_t"),
    "u16": ("H", "uint16_t"),
    "i16": ("h", "int16_t"),
    "u32": ("I", "uint32_t"),
    "i32": ("i", "int32_t"),
    "f32": ("f", "float"),
    #: A reference into the constants section: layout id in the top 4 bits, byte offset in the other 28.
    "const": ("I", "tigris_const_t"),
}

Value = int | float | tuple[int, ...]


@dataclass(frozen=True)
class Field:
    """One field: `count` > 1 makes it an array, whose value is a tuple of that length."""

    name: str
    type: str
    doc: str
    count: int = 1

    @property
    def item_bytes(self) -> int:
        return struct.calcsize("<" + TYPES[self.type][0])

    @property
    def bytes(self) -> int:
        return self.item_bytes * self.count


@dataclass(frozen=True)
class Struct:
    """A packed little-endian struct; `name` is its C name without the `tigris_` prefix and `_t` suffix."""

    name: str
    doc: str
    fields: tuple[Field, ...]

    def __post_init__(self) -> None:
        offset = 0
        for field in self.fields:
            if offset % field.item_bytes:
                raise TypeError(f"{self.name}.{field.name} at offset {offset} is not aligned to {field.item_bytes}")
            offset += field.bytes
        if offset % 4:
            raise TypeError(f"{self.name} is {offset} bytes long, not a multiple of 4")

    @property
    def c_name(self) -> str:
        return f"tigris_{self.name}_t"

    @cached_property
    def size(self) -> int:
        return sum(field.bytes for field in self.fields)

    @cached_property
    def _format(self) -> struct.Struct:
        return struct.Struct("<" + "".join(f"{f.count}{TYPES[f.type][0]}" for f in self.fields))

    def offsets(self) -> dict[str, int]:
        """Byte offset of each field."""
        result, offset = {}, 0
        for field in self.fields:
            result[field.name] = offset
            offset += field.bytes
        return result

    def pack(self, values: Mapping[str, Value]) -> bytes:
        """The bytes of one struct. `values` names exactly the fields; a value out of range raises struct.error."""
        if set(values) != {f.name for f in self.fields}:
            raise KeyError(f"{self.name}: fields {sorted(set(values) ^ {f.name for f in self.fields})} do not match")
        flat: list[int | float] = []
        for field in self.fields:
            value = values[field.name]
            items = value if isinstance(value, tuple) else (value,)
            if len(items) != field.count:
                raise ValueError(f"{self.name}.{field.name} holds {field.count} values, not {len(items)}")
            flat.extend(items)
        return self._format.pack(*flat)

    def unpack(self, data: bytes, offset: int = 0) -> dict[str, Value]:
        """The values of the struct at `offset`; struct.error where `data` ends too early."""
        flat = self._format.unpack_from(data, offset)
        values: dict[str, Value] = {}
        position = 0
        for field in self.fields:
            items = flat[position : position + field.count]
            values[field.name] = items if field.count > 1 else items[0]
            position += field.count
        return values

    def c_source(self) -> str:
        """The C declaration, each field with its documentation, and a check that the compiler agrees on the size."""
        lines = [f"/* {self.doc} */", "typedef struct {"]
        for field in self.fields:
            array = f"[{field.count}]" if field.count > 1 else ""
            lines.append(f"    {TYPES[field.type][1]} {field.name}{array}; /* {field.doc} */")
        lines.append(f"}} {self.c_name};")
        lines.append(f"TIGRIS_STATIC_ASSERT({self.name}_bytes, sizeof({self.c_name}) == {self.size}u);")
        return "\n".join(lines)

    def doc_table(self) -> str:
        """A Markdown table of the fields with their offsets."""
        rows = ["| offset | field | type | meaning |", "|---|---|---|---|"]
        for field, offset in zip(self.fields, self.offsets().values(), strict=True):
            array = f"[{field.count}]" if field.count > 1 else ""
            rows.append(f"| {offset} | `{field.name}` | {field.type}{array} | {field.doc} |")
        return "\n".join(rows)
