"""Boards: TOML files -> validated, frozen Board values."""

from tigris_codegen.boards.backends import BACKENDS, Backend
from tigris_codegen.boards.docs import boards_markdown, size_text, sizes_text
from tigris_codegen.boards.load import list_boards, load_board
from tigris_codegen.boards.model import Board, Framework, FrameworkName, Memory

__all__ = [
    "BACKENDS",
    "Backend",
    "Board",
    "Framework",
    "FrameworkName",
    "Memory",
    "boards_markdown",
    "list_boards",
    "load_board",
    "size_text",
    "sizes_text",
]
