"""Runs a function in a process of its own: where memory is bounded, or where the interpreter may crash."""

from __future__ import annotations

import multiprocessing
import os
import resource
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

#: What `in_child` returns where the function raised.
FAILED = 1


def in_child(function: Callable[[], int], extra_bytes: int | None = None) -> int:
    """The function's result as the exit code of a copy of this process; negative: the signal that ended it.

    With `extra_bytes` the copy's address space may grow by no more than that.
    """
    process = multiprocessing.get_context("fork").Process(target=_run, args=(function, extra_bytes))
    process.start()
    process.join()
    assert process.exitcode is not None
    return process.exitcode


def _run(function: Callable[[], int], extra_bytes: int | None) -> None:
    code = FAILED
    try:
        if extra_bytes is not None:
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            limit = pages * resource.getpagesize() + extra_bytes
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        code = function()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    os._exit(code)
