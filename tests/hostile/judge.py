"""What must be true of any file: it becomes a plan that the runtime accepts, or a refusal that a person can read."""

from __future__ import annotations

import re
import time

from tigris_codegen.errors import FitError, ModelError
from tigris_codegen.pipeline import Compiled, Model
from tigris_codegen.session import load_status

#: Seconds of processor time for any file.
MOST_SECONDS = 2.0
#: The smallest plan is searched for models of at most so many rows, where that takes milliseconds.
SMALL_ROWS = 16

CODE = re.compile(r"[a-z0-9_]+\.[a-z0-9_]+")


def judge(data: bytes, *, smallest: bool = True) -> Compiled | tuple[str, ...]:
    """The plan with whole operators, or the codes of the refusals; anything else fails the calling test."""
    started = time.process_time()
    found: Compiled | tuple[str, ...]
    try:
        model = Model(data, "hostile.tflite")
        found = model.roomy()
        assert load_status(found.plan_bytes) is None
        if smallest and sum(stored.rows for stored in model.problem.stored.values()) <= SMALL_ROWS:
            assert load_status(model.smallest().plan_bytes) is None
    except ModelError as error:
        found = tuple(refusal.code for refusal in error.refusals)
        assert found
        for refusal in error.refusals:
            assert CODE.fullmatch(refusal.code)
            assert len(refusal.reason.split()) > 1 and str(refusal).isprintable()
    except FitError as error:
        assert str(error).isprintable()
        found = ("fit",)
    assert time.process_time() - started < MOST_SECONDS
    return found
