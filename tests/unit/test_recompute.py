"""Values computed again: only where it is allowed, only as much as is allowed, and the same bytes."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tests.corpus import layers
from tests.corpus.writer import ModelWriter
from tests.unit.cli_support import Tigris
from tests.unit.test_planner_random import outputs_of
from tigris_codegen.errors import FitError, UsageError
from tigris_codegen.pipeline import Model
from tigris_codegen.plan.codec import decode
from tigris_codegen.plan.verify import verify
from tigris_codegen.planner.problem import compute_again
from tigris_codegen.sizes import parse_share


@cache
def gated(blocks: int) -> bytes:
    """Squeeze-and-excite blocks: a wide tensor is averaged, waits for the gate made of its mean, and is read again."""
    m = ModelWriter("gated")
    first = x = layers.activation_input(m, [1, 12, 12, 4], "int8")
    for _ in range(blocks):
        wide = layers.conv_2d(m, x, 16, (1, 1), activation="RELU")
        wide = layers.depthwise_conv_2d(m, wide, 1, (3, 3))
        gate = layers.conv_2d(m, layers.mean(m, wide, (1, 2), keep_dims=True), 16, (1, 1))
        x = layers.conv_2d(m, layers.binary(m, wide, gate, "MUL"), 4, (1, 1))
    return m.finish([first], [x])


def test_nothing_is_computed_again_unless_it_is_allowed() -> None:
    model = Model(gated(1), "gated")
    assert model.smallest().macs == model.problem.macs
    with pytest.raises(FitError) as caught:
        model.within(model.smallest().plan.ram_bytes // 2)
    assert "--recompute" in str(caught.value.hint)


@pytest.mark.parametrize("blocks", [1, 2])
def test_less_memory_for_the_same_bytes(blocks: int) -> None:
    plain, again = Model(gated(blocks), "gated"), Model(gated(blocks), "gated", recompute=1.0)
    less = again.smallest()
    assert less.plan.ram_bytes < 0.6 * plain.smallest().plan.ram_bytes
    assert plain.problem.macs < less.macs <= 2 * plain.problem.macs
    verify(decode(less.plan_bytes))
    assert outputs_of(less, 3, 0xAA) == outputs_of(plain.roomy(), 3, 0x00)


@pytest.mark.parametrize("limit", [0.01, 0.3, 0.6, 0.7, 3.0])
def test_no_more_than_allowed(limit: float) -> None:
    model = Model(gated(2), "gated", recompute=limit)
    for point in model.frontier():
        assert point.macs <= (1 + limit) * model.problem.macs


def test_what_fits_without_is_not_computed_again() -> None:
    plain, again = Model(gated(1), "gated"), Model(gated(1), "gated", recompute=1.0)
    least = plain.smallest().plan.ram_bytes
    assert again.within(least).macs == plain.problem.macs
    assert again.within(least).plan_bytes == plain.within(least).plan_bytes
    below = again.within(least - 1)
    assert below.macs > plain.problem.macs
    assert below.plan.ram_bytes < least


def test_the_frontier_goes_on_below_what_fits_without() -> None:
    plain, again = Model(gated(1), "gated"), Model(gated(1), "gated", recompute=1.0)
    points = [point.plan.ram_bytes for point in again.frontier()]
    assert points == sorted(set(points), reverse=True)
    assert points[: len(plain.frontier())] == [point.plan.ram_bytes for point in plain.frontier()]
    assert points[-1] == again.smallest().plan.ram_bytes < plain.smallest().plan.ram_bytes


def test_recomputing_goes_before_spilling() -> None:
    again = Model(gated(1), "gated", recompute=1.0)
    least = again.smallest().plan.ram_bytes
    assert again.within(least, 1 << 16).plan.slow_bytes == 0
    spilled = again.within(least - 16, 1 << 16)
    assert spilled.plan.slow_bytes > 0
    assert outputs_of(spilled, 3, 0xAA) == outputs_of(again.roomy(), 3, 0x00)


def test_the_second_tensor_is_made_for_the_late_reader_alone() -> None:
    problem = Model(gated(1), "gated").problem
    tensor = next(t for t, readers in problem.readers.items() if len(readers) == 2)
    early, late = problem.readers[tensor]
    once = compute_again(problem, tensor, late, 1)
    deep = compute_again(problem, tensor, late, 6)
    assert once is not None and deep is not None
    assert len(once.works) == len(problem.works) + 1
    assert len(deep.works) == len(problem.works) + 2  # as far back as the model's input
    assert once.readers[tensor] == (early,)
    assert deep.macs - problem.macs == problem.works[0].macs + problem.works[1].macs
    names = {stored.name for stored in deep.stored.values()}
    assert {name for name in names if name.endswith(" (again)")}


def test_the_report_states_the_price(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tigris, model = Tigris(capsys), tmp_path / "gated.tflite"
    model.write_bytes(gated(1))
    plain = tigris("analyze", model, "--json").json
    assert plain["macs_again"] == 0
    pool = str(plain["smallest_single_pool_bytes"] // 2 + 512)
    found = tigris("analyze", model, "-m", pool, "--recompute", "100%", "--json").json
    assert found["fits"] and 0 < found["macs_again"] <= plain["macs"]
    assert found["macs"] == plain["macs"] + found["macs_again"]
    text = tigris("analyze", model, "-m", pool, "--recompute", "100%").out
    assert f"{found['macs']} multiply-accumulates, {found['macs_again']} of them again" in text


def test_shares() -> None:
    assert [parse_share(text) for text in ("0%", "20%", " 12.5 %", "1000%")] == [0, 0.2, 0.125, 10]
    for text in ("20", "", "%", "-1%", "1001%", "1e3%", "nan%"):
        with pytest.raises(UsageError, match="percentage"):
            parse_share(text)
