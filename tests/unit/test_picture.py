"""Pictures for the terminal: bars that add up, on any width, in any encoding."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from tests.support import REPOSITORY
from tigris_codegen.pipeline import Compiled, Model
from tigris_codegen.plan.layout import EXECUTOR
from tigris_codegen.report.analysis import Analysis, Memory, Ram, analyze, refused
from tigris_codegen.report.picture import ASCII, UNICODE, pool_uses, print_picture, shares, thinned
from tigris_codegen.report.price import FrontierPoint, frontier_points, unbeaten, weights_read_again
from tigris_codegen.sizes import Pools


@cache
def model() -> Model:
    path = REPOSITORY / "examples" / "digits" / "digits.tflite"
    return Model(path.read_bytes(), path.name)


@cache
def frontier() -> tuple[Compiled, ...]:
    return model().frontier()


def analysis(chosen: Compiled | None, pools: Pools | None = None) -> Analysis:
    return analyze(model(), "digits.tflite", Memory(pools), chosen)


def printed(found: Analysis, width: int = 100, encoding: str = "utf-8") -> str:
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    console = Console(file=file, width=width, legacy_windows=False)
    with console.capture() as captured:
        print_picture(console, found)
    return captured.get()


def bars(text: str, marks: str) -> list[str]:
    """Lines that hold nothing but these marks."""
    return [line.strip() for line in text.splitlines() if re.fullmatch(f" *[{re.escape(marks)}]+ *", line)]


def test_frontier_goes_from_the_smallest_to_whole_operators() -> None:
    points = frontier_points(frontier())
    smallest, roomy = model().smallest().plan, model().roomy().plan
    assert (points[0].ram_bytes, points[-1].ram_bytes) == (smallest.ram_bytes, roomy.ram_bytes)
    assert points[-1].calls == len(roomy.operators)
    assert points[0].calls > points[-1].calls
    assert [p.ram_bytes for p in points] == sorted({p.ram_bytes for p in points})


def test_every_band_reads_the_weights_again() -> None:
    roomy, smallest = model().roomy(), model().smallest()
    assert weights_read_again(roomy, model()) == (0,) * len(roomy.plan.operators)
    found = analysis(model().smallest()).plan
    assert found is not None
    for op, read_again, stored in zip(
        found.operators, weights_read_again(smallest, model()), smallest.plan.operators, strict=True
    ):
        if op.bands == 1 or op.kernel == "add_s8":
            assert read_again == 0
        if op.kernel == "conv_2d_s8" and op.bands > 1:
            p = stored.params
            weights = p["out_c"] * p["kernel_h"] * p["kernel_w"] * p["in_c"]
            assert read_again == (op.bands - 1) * (weights + 4 * p["out_c"] + 8 * p["out_c"])


@pytest.mark.parametrize("width", [40, 60, 100, 200])
def test_no_line_is_wider_than_the_console(width: int) -> None:
    text = printed(analysis(model().smallest(), Pools(8192)), width)
    assert max(map(len, text.splitlines())) <= width


def test_the_bar_shows_what_is_used_and_what_is_free() -> None:
    chosen = model().smallest()
    size = 2 * chosen.plan.ram_bytes
    text = printed(analysis(chosen, Pools(size)))
    assert f"{chosen.plan.ram_bytes} B used, {size - chosen.plan.ram_bytes} B of {size} B free" in text
    (bar,) = bars(text, UNICODE.parts + UNICODE.free + UNICODE.limit)
    assert bar.endswith(UNICODE.limit)
    used = len(bar) - 1 - bar.count(UNICODE.free)
    assert abs(used - bar.count(UNICODE.free)) <= 2  # each of two parts shows, however small


def test_what_does_not_fit_reaches_beyond_the_mark() -> None:
    need = model().smallest().plan.ram_bytes
    text = printed(analysis(None, Pools(need // 2)))
    assert f"{need} B needed, {need - need // 2} B more than its {need // 2} B" in text
    (bar,) = bars(text, UNICODE.parts + UNICODE.free + UNICODE.limit)
    before, after = bar.split(UNICODE.limit)
    assert abs(len(before) - len(after)) <= 1


def test_two_pools_have_a_bar_each() -> None:
    least = model().smallest().plan.ram_bytes
    chosen = model().within(least - 1024, 1 << 20)
    assert chosen.plan.slow_bytes
    text = printed(analysis(chosen, Pools(least - 1024, 1 << 20)))
    assert "fast pool" in text and "slow pool" in text
    assert f"{chosen.plan.fast_bytes + EXECUTOR.size} B used" in text
    assert f"{chosen.plan.slow_bytes} B used" in text
    assert len(bars(text, UNICODE.parts + UNICODE.free + UNICODE.limit)) == 2


def test_plain_ascii_where_the_console_has_nothing_else() -> None:
    found = analysis(model().smallest(), Pools(8192))
    text = printed(found, encoding="ascii")
    assert text.isascii()
    assert ASCII.parts[0] * 5 in text
    assert not printed(found).isascii()


def test_frontier_marks_its_ends_and_the_plan() -> None:
    points = unbeaten(frontier_points(frontier()))
    chosen = next(c for c in frontier() if c.plan.ram_bytes == points[-2].ram_bytes)
    lines = printed(analysis(chosen, Pools(points[-2].ram_bytes))).splitlines()
    rows = {p: next(line for line in lines if line.startswith(f"  {p.ram_bytes:{5}d} B")) for p in points}
    assert all(f" {p.calls} calls" in row for p, row in rows.items())
    assert "smallest" in rows[points[0]] and "whole operators" in rows[points[-1]]
    assert [p for p in points if "this plan" in rows[p]] == [points[-2]]
    lengths = [rows[p].count(UNICODE.parts[0]) for p in points]
    assert lengths == sorted(lengths) and lengths[0] < lengths[-1]
    assert f"{len(points) - 1} of {len(points)} fit" in lines[-1]


@given(st.lists(st.builds(FrontierPoint, st.integers(1, 9), st.integers(1, 9), st.just(1)), max_size=8))
def test_unbeaten_points_trade_ram_for_calls(points: list[FrontierPoint]) -> None:
    kept = sorted(set(unbeaten(points)), key=lambda p: (p.ram_bytes, p.calls))
    least = {p.ram_bytes: min(q.calls for q in kept if q.ram_bytes == p.ram_bytes) for p in kept}
    assert all(a > b for a, b in pairwise(least.values()))
    for point in points:
        assert any(k.ram_bytes <= point.ram_bytes and k.calls <= point.calls for k in kept)


def test_a_model_that_does_not_convert_has_no_picture() -> None:
    assert printed(refused("bad.tflite", Memory(), ())) == ""


def test_parts_of_a_pool_add_up_to_its_bytes() -> None:
    ram = Ram(total_bytes=1000, fast_bytes=700, slow_bytes=200, state_bytes=80, workspace_bytes=20, scratch_bytes=100)
    fast, slow = pool_uses(ram, 4096, 8192)
    assert (fast.used, slow.used) == (800, 200)
    (only,) = pool_uses(replace(ram, slow_bytes=0), 4096, None)
    assert only.used == 800


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=4), st.integers(4, 200))
def test_shares_fill_no_more_than_there_is(sizes: list[int], width: int) -> None:
    columns = shares(sizes, max(sum(sizes), 1), width)
    assert sum(columns) <= width
    assert all((column > 0) == (size > 0) for column, size in zip(columns, sizes, strict=True))


@given(st.integers(1, 50), st.integers(2, 12))
def test_thinned_keeps_the_ends(number: int, most: int) -> None:
    points = [FrontierPoint(i, number - i, 1) for i in range(number)]
    kept = thinned(points, most)
    assert len(kept) <= most and kept[0] == points[0] and kept[-1] == points[-1]
    assert len(set(kept)) == len(kept)
