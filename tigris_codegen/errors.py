"""Errors a person can act on. Each class says who must act; anything else that is raised is a bug of ours.

`exit_code` is what the command line returns.
"""

from __future__ import annotations

from dataclasses import dataclass


class TigrisError(Exception):
    """Base class. The message is one or more whole sentences; `hint` says what to do next, where there is one."""

    exit_code = 1

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(frozen=True)
class Refusal:
    """Why one operator (or the file as a whole, `operator` None) does not convert.

    `code` is stable and machine-readable (`conv_2d.dilation`), `reason` the end of a sentence that starts with the
    operator, `hint` what to do about it, or None.
    """

    code: str
    reason: str
    operator: int | None = None
    name: str | None = None
    hint: str | None = None

    def __str__(self) -> str:
        where = "" if self.operator is None else f"operator {self.operator} {self.name}: "
        return where + self.reason + (f" ({self.hint})" if self.hint else "")


class ModelError(TigrisError):
    """The model must change: it is damaged or uses what does not convert. Carries every refusal at once."""

    exit_code = 1

    def __init__(self, refusals: tuple[Refusal, ...]) -> None:
        super().__init__("\n".join(str(r) for r in refusals))
        self.refusals = refusals


class PlanError(TigrisError):
    """The plan file must be made again: it is damaged, or made for another version."""

    exit_code = 1


class UsageError(TigrisError):
    """The command or call must change."""

    exit_code = 2


class FitError(TigrisError):
    """The memory must grow or the model shrink. Sizes in bytes."""

    exit_code = 3

    def __init__(self, message: str, need: int, have: int, hint: str | None = None) -> None:
        super().__init__(message, hint)
        self.need = need
        self.have = have


class MissingError(TigrisError):
    """The machine or the board collection must get something: a tool, a library, a board."""

    exit_code = 4


class DifferenceError(TigrisError):
    """Verification ran and found a difference."""

    exit_code = 5
