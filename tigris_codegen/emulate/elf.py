"""A firmware image: what is loaded where, and which names lie there."""

from __future__ import annotations

import bisect
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from tigris_codegen.errors import TigrisError

_ALLOCATED, _WRITABLE = 0x2, 0x1


@dataclass(frozen=True)
class Range:
    """Addresses from `start` up to, not including, `end`."""

    start: int
    end: int


@dataclass(frozen=True)
class Image:
    """An ELF file. Function addresses come without the Thumb bit.

    `segments` are load address and bytes; `constants` the ranges of code and constants; `objects` maps the name of a
    source file to its own variables, `variables` are those that all files see; `names` are the named addresses in
    order.
    """

    segments: tuple[tuple[int, bytes], ...]
    symbols: Mapping[str, int]
    constants: tuple[Range, ...]
    objects: Mapping[str, tuple[Range, ...]]
    variables: Mapping[str, Range]
    names: tuple[tuple[int, str], ...]

    def symbol(self, name: str) -> int:
        """The address of a global symbol; TigrisError where the image has none."""
        if name not in self.symbols:
            raise TigrisError(f"the image has no symbol {name}: it was stripped, or is no self-test made by Tigris.")
        return self.symbols[name]

    def name_of(self, address: int) -> str:
        """The last name at or before the address, with the distance."""
        at = bisect.bisect_right(self.names, (address, "\U0010ffff")) - 1
        if at < 0:
            return "nothing"
        start, name = self.names[at]
        return name if start == address else f"{name}+0x{address - start:x}"


def read_image(path: Path) -> Image:
    """Reads an image; TigrisError for a file that is none."""
    try:
        with path.open("rb") as stream:
            return _read(ELFFile(stream))
    except (OSError, ELFError) as error:
        raise TigrisError(f"{path} cannot be read as an ELF image: {error}.") from error


def _read(elf: ELFFile) -> Image:
    symbols: dict[str, int] = {}
    objects: dict[str, list[Range]] = {}
    variables: dict[str, Range] = {}
    names: list[tuple[int, str]] = []
    source = ""
    table = elf.get_section_by_name(".symtab")
    for symbol in table.iter_symbols() if isinstance(table, SymbolTableSection) else ():
        kind, place = symbol["st_info"]["type"], symbol["st_info"]["bind"]
        address = symbol["st_value"] & ~1 if kind == "STT_FUNC" else symbol["st_value"]
        if kind == "STT_FILE":
            source = symbol.name
        elif symbol["st_shndx"] != "SHN_UNDEF" and symbol.name and not symbol.name.startswith("$"):
            if place != "STB_LOCAL":
                symbols[symbol.name] = address
                if kind == "STT_OBJECT":
                    variables[symbol.name] = Range(address, address + symbol["st_size"])
            elif kind == "STT_OBJECT":
                objects.setdefault(source, []).append(Range(address, address + symbol["st_size"]))
            if symbol["st_shndx"] != "SHN_ABS":
                names.append((address, symbol.name))
    return Image(
        segments=tuple((s["p_paddr"], s.data()) for s in elf.iter_segments("PT_LOAD") if s["p_filesz"]),
        symbols=symbols,
        constants=tuple(
            Range(s["sh_addr"], s["sh_addr"] + s["sh_size"])
            for s in elf.iter_sections()
            if s["sh_flags"] & _ALLOCATED and not s["sh_flags"] & _WRITABLE and s["sh_size"]
        ),
        objects={name: tuple(ranges) for name, ranges in objects.items()},
        variables=variables,
        names=tuple(sorted(names)),
    )
