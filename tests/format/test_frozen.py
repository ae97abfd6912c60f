"""Plans that were written once must load and give the recorded bytes for as long as their version is read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.corpus import expectations
from tests.format.freeze import FROZEN
from tests.support import assert_equal
from tigris_codegen.plan.codec import decode, encode
from tigris_codegen.plan.layout import FORMAT_VERSION
from tigris_codegen.plan.verify import verify
from tigris_codegen.session import Session

PLANS = sorted(FROZEN.glob("v*/*.tgrs"))


def test_there_are_frozen_plans_of_every_version() -> None:
    for version in range(1, FORMAT_VERSION + 1):
        assert len(list((FROZEN / f"v{version}").glob("*.tgrs"))) >= 5


@pytest.mark.parametrize("path", PLANS, ids=[f"{p.parent.name}-{p.stem}" for p in PLANS])
def test_frozen_plan_runs(path: Path) -> None:
    data, case = path.read_bytes(), path.name.split(".")[0]
    plan = decode(data)
    verify(plan)
    if path.parent.name == f"v{FORMAT_VERSION}":
        assert encode(plan) == data
    with np.load(path.parent / "expected.npz") as archive, Session(data) as session:
        for number in range(expectations.SETS):
            inputs = {n: archive[expectations.key(case, "in", i, number)] for i, n in enumerate(session.inputs)}
            outputs = session.run(inputs, poison=0x55)
            for i, name in enumerate(session.outputs):
                assert_equal(outputs[name], archive[expectations.key(case, "out", i, number)], plan.tolerance)
