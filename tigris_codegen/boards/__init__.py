"""Boards: TOML files -> validated, frozen Board values."""

from tigris_codegen.boards.load import list_boards, load_board
from tigris_codegen.boards.model import Board, Framework, FrameworkName, Memory

__all__ = ["Board", "Framework", "FrameworkName", "Memory", "list_boards", "load_board"]
