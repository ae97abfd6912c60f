"""Sessions: what goes in, what comes out, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.format.plans import compiled, expected
from tigris_codegen.errors import MissingError, PlanError, UsageError
from tigris_codegen.plan.codec import encode
from tigris_codegen.resources import HOST_LIBRARY_VARIABLE
from tigris_codegen.session import Session, load_status

CASE = ("chain_concatenation_conv_s8", "smallest")
TWO_POOLS = ("chain_inverted_residual_s8", "400+4096")


@pytest.fixture
def session() -> Session:
    return Session(compiled(*CASE).plan_bytes)


def inputs() -> dict[str, np.ndarray]:
    return {name: expected(CASE[0], "in", i) for i, name in enumerate(("a", "b"))}


def test_runs_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "case.tgrs"
    path.write_bytes(compiled(*CASE).plan_bytes)
    with Session.open(path) as opened:
        assert list(opened.inputs) == ["a", "b"]
        (result,) = opened.run(inputs()).values()
    assert np.array_equal(result, expected(CASE[0], "out", 0))


def test_ports_are_those_of_the_model(session: Session) -> None:
    a = session.inputs["a"]
    assert (a.shape, a.dtype, a.zero_point) == ((1, 5, 6, 2), "int8", 3)
    assert a.scale == np.float32(0.05)


def test_results_stay_after_the_next_run_and_after_closing(session: Session) -> None:
    (first,) = session.run(inputs()).values()
    session.run({name: np.zeros_like(array) for name, array in inputs().items()})
    session.close()
    assert np.array_equal(first, expected(CASE[0], "out", 0))


def test_sessions_are_independent(session: Session) -> None:
    with Session(compiled(*TWO_POOLS).plan_bytes) as other:
        name, result = next(iter(other.inputs)), next(iter(other.outputs))
        mine = session.run(inputs())
        theirs = other.run({name: expected(TWO_POOLS[0], "in", 0)})
        assert np.array_equal(next(iter(mine.values())), expected(CASE[0], "out", 0))
        assert np.array_equal(theirs[result], expected(TWO_POOLS[0], "out", 0))


def test_an_array_need_not_be_contiguous(session: Session) -> None:
    strided = {name: np.repeat(array, 2, axis=2)[:, :, ::2] for name, array in inputs().items()}
    assert not strided["a"].flags.c_contiguous
    (result,) = session.run(strided).values()
    assert np.array_equal(result, expected(CASE[0], "out", 0))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda given: given.pop("a"), "input 'a' is missing"),
        (lambda given: given.update(c=given["a"]), "no input is called 'c'"),
        (lambda given: given.update(a=given["a"][0]), "has shape"),
        (lambda given: given.update(a=given["a"].astype(np.float32)), "is float32, the model wants int8"),
    ],
)
def test_wrong_inputs_are_named(session: Session, change: object, message: str) -> None:
    given = inputs()
    assert callable(change)
    change(given)
    with pytest.raises(UsageError, match=message):
        session.run(given)


def test_a_closed_session_says_so(session: Session) -> None:
    session.close()
    session.close()
    with pytest.raises(UsageError, match="closed"):
        session.run(inputs())
    with pytest.raises(UsageError, match="closed"):
        session.reset_state()


def test_a_plan_that_only_the_loader_refuses() -> None:
    plan = compiled(*CASE).plan
    small = encode(replace(plan, fast_bytes=plan.fast_bytes - 16))
    assert load_status(compiled(*CASE).plan_bytes) is None
    assert load_status(small) == "a record would leave its memory"
    with pytest.raises(PlanError, match="a record would leave its memory"):
        Session(small)


@pytest.mark.parametrize("data", [b"", b"TGRS", b"\0" * 200])
def test_what_is_no_plan(data: bytes) -> None:
    with pytest.raises(PlanError, match="not a Tigris plan"):
        Session(data)
    assert load_status(data) is not None


def test_the_host_library_may_be_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "libtigris_host.so"
    monkeypatch.setenv(HOST_LIBRARY_VARIABLE, str(broken))
    with pytest.raises(MissingError, match="not a file"):
        Session(compiled(*CASE).plan_bytes)
    broken.write_bytes(b"no library")
    with pytest.raises(MissingError, match="does not load"):
        Session(compiled(*CASE).plan_bytes)


def test_state_starts_over(session: Session) -> None:
    session.reset_state()
    (result,) = session.run(inputs()).values()
    assert np.array_equal(result, expected(CASE[0], "out", 0))
