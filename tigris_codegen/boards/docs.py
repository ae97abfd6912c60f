"""The table of boards, as docs/BOARDS.md prints it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tigris_codegen.boards.model import Board, FrameworkName

_TITLES: Mapping[FrameworkName, str] = {
    "baremetal": "bare metal",
    "zephyr": "Zephyr",
    "esp-idf": "ESP-IDF",
    "platformio": "PlatformIO",
    "posix": "POSIX",
}
_FPU = {"none": "no FPU", "sp": "single-precision FPU", "dp": "double-precision FPU"}
_UNITS = ((1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B"))


def _in_units(size: int) -> tuple[int, str]:
    return next((size // unit, name) for unit, name in _UNITS if (size >= unit and size % unit == 0) or unit == 1)


def size_text(size: int) -> str:
    """Bytes in the largest unit that divides them: 64 KiB."""
    return "{} {}".format(*_in_units(size))


def sizes_text(sizes: Iterable[int]) -> str:
    """Sizes in a row, a unit that repeats only once: 128, 512 KiB, 8 MiB."""
    parts: list[tuple[int, str]] = [_in_units(size) for size in sizes]
    texts = []
    for index, (number, unit) in enumerate(parts):
        repeats = index + 1 < len(parts) and parts[index + 1][1] == unit
        texts.append(str(number) if repeats else f"{number} {unit}")
    return ", ".join(texts)


def _core(board: Board) -> str:
    soc = board.soc
    extras = [_FPU[soc.fpu], *(["MVE"] if soc.mve else ["DSP"] if soc.dsp else [])]
    return f"{soc.core}: {', '.join(extras)}" if soc.core.startswith("cortex") else soc.core


def _memory(board: Board, kind: str) -> str:
    return ", ".join(f"`{region.name}` {size_text(region.size)}" for region in board.memory if region.kind == kind)


def _framework(board: Board, name: FrameworkName) -> str:
    use = board.frameworks.get(name)
    if use is None:
        return "-"
    return f"`{use.id}`" if use.id else "yes"


def _row(board: Board) -> Sequence[str]:
    return (
        f"`{board.name}`",
        board.title,
        _core(board),
        _memory(board, "ram"),
        _memory(board, "flash"),
        *(_framework(board, name) for name in _TITLES),
        ", ".join(board.emulators.names) or "-",
    )


def boards_markdown(boards: Iterable[Board]) -> str:
    """The table: a row per board."""
    head = ("board", "what it is", "core", "RAM", "flash", *_TITLES.values(), "emulators")
    rows = [head, ["---"] * len(head), *(_row(board) for board in boards)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)
