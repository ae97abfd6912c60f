"""The page: self-contained, the same for the same input, and with nothing of a model's names taken for markup."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import REPOSITORY
from tests.unit.cli_support import SMALL, Tigris, relu_model
from tigris_codegen.errors import Refusal
from tigris_codegen.pipeline import Compiled, MapShape, Model
from tigris_codegen.plan.layout import Kind, Space
from tigris_codegen.plan.verify import expand
from tigris_codegen.report.analysis import Memory, analyze, refused
from tigris_codegen.report.html import COLUMNS, bytes_in, changes, html_page, outline
from tigris_codegen.sizes import Pools

HOSTILE = "</title></script><script>alert(1)</script>\"'><img src=x onerror=alert(2)>&\x1b[2J\u202e{{ 7*7 }}"
VOID = {"meta", "link", "br", "img"}


class Page(HTMLParser):
    """Elements with their attributes, and text by element; every element must be closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text: list[tuple[str, str]] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.text.append((self._open[-1] if self._open else "", data))

    def named(self, tag: str, name: str = "") -> list[dict[str, str]]:
        return [a for t, a in self.elements if t == tag and (not name or name in a.get("class", "").split())]

    def words(self) -> str:
        return " ".join(" ".join(data for tag, data in self.text if tag not in ("style", "script")).split())


@cache
def model() -> Model:
    path = REPOSITORY / "examples" / "digits" / "digits.tflite"
    return Model(path.read_bytes(), path.name)


@cache
def frontier() -> tuple[Compiled, ...]:
    return model().frontier()


def page(chosen: Compiled | None, pools: Pools | None, name: str = "digits.tflite") -> str:
    return html_page(analyze(model(), name, Memory(pools), chosen), model(), chosen, frontier())


@pytest.fixture(scope="module")
def smallest() -> Compiled:
    return model().smallest()


def test_the_page_needs_nothing_else(smallest: Compiled) -> None:
    text = page(smallest, Pools(8192))
    assert "http:" not in text and "https:" not in text and "url(" not in text and "@import" not in text
    for tag, attributes in Page(text).elements:
        assert tag not in ("img", "iframe", "object", "embed", "a", "form")
        assert not {"src", "style"} & attributes.keys() and not any(name.startswith("on") for name in attributes)
        if "href" in attributes:
            assert attributes["href"] == "data:,"


def test_only_its_own_script_and_style_may_run(smallest: Compiled) -> None:
    text = page(smallest, None)
    (policy,) = (m["content"] for m in Page(text).named("meta") if m.get("http-equiv"))
    assert policy.startswith("default-src 'none'") and "unsafe" not in policy
    for tag in ("style", "script"):
        (body,) = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_the_same_input_gives_the_same_page(smallest: Compiled) -> None:
    path = REPOSITORY / "examples" / "digits" / "digits.tflite"
    again = Model(path.read_bytes(), path.name)
    chosen = again.smallest()
    found = analyze(again, "digits.tflite", Memory(Pools(8192)), chosen)
    assert html_page(found, again, chosen, again.frontier()) == page(smallest, Pools(8192))


def test_every_shape_is_drawn_with_its_size_and_life(smallest: Compiled) -> None:
    parsed = Page(page(smallest, Pools(8192)))
    drawn = parsed.named("path", "shape")
    roomy = frontier()[0]
    assert len(drawn) == len(smallest.memory_map) + len(roomy.memory_map)
    labels = [shape["aria-label"] for shape in drawn]
    for shape in smallest.memory_map:
        if shape.kind in ("tensor", "window"):
            (found,) = [text for text in labels[: len(smallest.memory_map)] if text.split("\n")[0] == shape.name]
            taken = [i for i, (a, b) in enumerate(zip(shape.low, shape.high, strict=True)) if b > a]
            stored = next(s for s in model().problem.stored.values() if s.name == shape.name)
            most = max(b - a for a, b in zip(shape.low, shape.high, strict=True))
            assert f"{stored.bytes} B" in found
            assert f"{most // stored.row_bytes} of {stored.rows} rows" in found
            assert f"bytes {min(shape.low[i] for i in taken)} to {max(shape.high) - 1}" in found
            assert f"call{'s' if len(taken) > 1 else ''} {shape.first + taken[0]}" in found
    words = parsed.words()
    assert all(label.split("\n")[0] in words for label in labels)


def test_one_stop_for_the_keyboard_per_drawing(smallest: Compiled) -> None:
    parsed = Page(page(smallest, Pools(8192)))
    drawings = parsed.named("svg", "drawing")
    stops = [a for tag, a in parsed.elements if tag in ("path", "circle") and a.get("tabindex") == "0"]
    others = [a for tag, a in parsed.elements if tag in ("path", "circle") and a.get("tabindex") == "-1"]
    assert len(stops) == len(drawings) == 3  # this plan, whole operators, the frontier
    assert all(a["aria-label"] and a["role"] == "img" for a in (*stops, *others)) and others


def test_figures_frontier_operators_and_interface(smallest: Compiled) -> None:
    words = Page(page(smallest, Pools(8192))).words()
    plan = smallest.plan
    assert f"Fits in {8192} B." in words
    assert f"pool: {plan.ram_bytes} B used, {8192 - plan.ram_bytes} B of 8192 B free" in words
    for made in frontier():
        assert re.search(rf"\b{made.plan.ram_bytes} \d+ {len(made.plan.records)}\b", words)
    for op in plan.operators:
        assert op.kernel_name in words
    for port in (*plan.inputs, *plan.outputs):
        assert port.name in words


def test_a_model_that_does_not_fit_shows_by_how_much() -> None:
    need = model().smallest().plan.ram_bytes
    words = Page(page(None, Pools(4096))).words()
    assert "Does not fit in 4096 B." in words and f"{need} B needed, {need - 4096} B more than its 4096 B" in words


def test_two_pools_have_a_map_each(smallest: Compiled) -> None:
    chosen = model().within(smallest.plan.ram_bytes - 1024, 1 << 20)
    text = page(chosen, Pools(smallest.plan.ram_bytes - 1024, 1 << 20))
    words = Page(text).words()
    assert f"fast arena, {chosen.plan.fast_bytes} B" in words and f"slow arena, {chosen.plan.slow_bytes} B" in words
    in_slow = [s for s in chosen.memory_map if s.space is Space.SLOW]
    assert in_slow and all(s.name in words for s in in_slow)


def test_refusals_in_full() -> None:
    refusals = (
        Refusal("conv_2d.dilation", "a dilation of 0", 3, "CONV_2D", "use 1"),
        Refusal("file.damaged", "the file ends early"),
    )
    parsed = Page(html_page(refused("bad.tflite", Memory(), refusals)))
    words = parsed.words()
    assert "Does not convert: 2 refusals." in words
    assert "3 CONV_2D a dilation of 0 use 1 conv_2d.dilation" in words
    assert "- - the file ends early - file.damaged" in words
    assert not parsed.named("svg")


def test_names_are_text_whatever_is_in_them() -> None:
    made = Model(relu_model((HOSTILE, "y" + HOSTILE), ports=2), HOSTILE)
    chosen = made.smallest()
    assert all(HOSTILE in shape.name for shape in chosen.memory_map)
    text = html_page(analyze(made, HOSTILE, Memory(), chosen), made, chosen, made.frontier())
    parsed = Page(text)
    assert len(parsed.named("script")) == 1 and not parsed.named("img")
    assert "\x1b" not in text and "\u202e" not in text
    assert "\\x1b[2J\\u202e{{ 7*7 }}" in parsed.words()
    assert all("<script>alert(1)</script>\"'>" in a["aria-label"] for a in parsed.named("path", "shape"))
    refusal = Refusal(HOSTILE, HOSTILE, 0, HOSTILE, HOSTILE)
    parsed = Page(html_page(refused(HOSTILE, Memory(board=HOSTILE), (refusal,))))
    assert len(parsed.named("script")) == 1 and not parsed.named("img")


def test_the_command_writes_the_page(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    result = Tigris(capsys)("analyze", SMALL, "--html", target)
    assert result.code == 0 and str(target) in result.out
    made = Model(SMALL.read_bytes(), SMALL.name)
    roomy = made.roomy()
    wanted = html_page(analyze(made, SMALL.name, Memory(), roomy), made, roomy, made.frontier())
    assert target.read_text(encoding="utf-8") == wanted
    as_json = Tigris(capsys)("analyze", SMALL, "--html", target, "--json").json
    assert as_json["html"] == str(target)
    assert as_json["frontier"][-1]["ram_bytes"] == roomy.plan.ram_bytes


def test_the_command_writes_refusals_and_what_does_not_fit(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    model_file, target = tmp_path / "bad.tflite", tmp_path / "page.html"
    model_file.write_bytes(relu_model(unsupported="LSTM"))
    assert Tigris(capsys)("analyze", model_file, "--html", target).code == 1
    assert "Does not convert" in target.read_text(encoding="utf-8")
    assert Tigris(capsys)("analyze", SMALL, "-m", "16", "--html", target).code == 3
    assert "Does not fit in 16 B" in target.read_text(encoding="utf-8")


def test_the_page_never_replaces_the_model(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    model_file = tmp_path / "m.tflite"
    model_file.write_bytes(SMALL.read_bytes())
    assert Tigris(capsys)("analyze", model_file, "--html", model_file).code == 2
    assert model_file.read_bytes() == SMALL.read_bytes()
    assert Tigris(capsys)("analyze", model_file, "--html", tmp_path / "none" / "page.html").code == 2
    assert sorted(tmp_path.iterdir()) == [model_file]


def shape_of(low: Sequence[int], high: Sequence[int], first: int = 0) -> MapShape:
    return MapShape("x", "tensor", Space.FAST, first, tuple(low), tuple(high))


def covered(path: str) -> set[tuple[int, int]]:
    """Cells (call, byte) inside a path of horizontal and vertical lines, by crossings from below."""
    edges: list[tuple[int, int, int]] = []  # horizontal: byte, from call, to call
    x = y = start = 0
    for command, numbers in re.findall(r"([MHVZ])([-\d ]*)", path):
        values = [int(n) for n in numbers.split()]
        if command == "M":
            x, y = start, _ = values[0], values[1]
        elif command == "V":
            y = values[0]
        elif command == "H":
            edges.append((y, x, values[0]))
            x = values[0]
        else:
            assert x == start
    calls = {c for _, a, b in edges for c in range(min(a, b), max(a, b))}
    inside = set()
    for call in calls:
        crossed = sorted(y for y, a, b in edges if min(a, b) <= call < max(a, b))
        for begin, end in zip(crossed[::2], crossed[1::2], strict=True):
            inside |= {(call, byte) for byte in range(begin, end)}
    return inside


ranges = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)).map(sorted), min_size=1, max_size=12)


@given(ranges, st.integers(0, 5))
def test_a_path_covers_exactly_what_is_occupied(found: list[list[int]], first: int) -> None:
    shape = shape_of([a for a, _ in found], [b for _, b in found], first)
    wanted = {(first + i, byte) for i, (a, b) in enumerate(found) for byte in range(a, b)}
    assert covered(outline(changes(shape, 1))) == wanted


@given(ranges, st.integers(0, 5), st.integers(2, 5))
def test_merged_calls_cover_all_that_is_occupied_in_them(found: list[list[int]], first: int, column: int) -> None:
    shape = shape_of([a for a, _ in found], [b for _, b in found], first)
    runs = changes(shape, column)
    assert all(call % column == 0 for call, _, _ in runs)
    assert all(a[1:] != b[1:] for a, b in pairwise(runs))
    drawn = covered(outline(runs))
    assert {(first + i, byte) for i, (a, b) in enumerate(found) for byte in range(a, b)} <= drawn


def test_many_calls_stay_a_small_page() -> None:
    """A window that changes at each of very many calls."""
    roomy = frontier()[0]
    operators = len(roomy.plan.operators)
    runs = [r for r, _ in expand(roomy.plan.records) if r.kind is Kind.RUN]
    plan = replace(roomy.plan, records=tuple(runs[i % operators] for i in range(50_000)))
    shape = shape_of([i % 7 for i in range(50_000)], [100 + i % 11 for i in range(50_000)])
    made = replace(roomy, plan=plan, memory_map=tuple(replace(shape, name=f"t{i}") for i in range(20)))
    found = analyze(model(), "big.tflite", Memory(), roomy)
    text = html_page(found, model(), made, ())
    assert len(text) < 2_000_000
    drawn = Page(text).named("path", "shape")
    assert len(drawn) == 20 and all(len(a["data-runs"].split()) <= COLUMNS + 1 for a in drawn)


@pytest.mark.parametrize("spans", [[], [(0, 4), (4, 6)], [(0, 8), (2, 4), (6, 10)], [(3, 3), (5, 9), (5, 9), (0, 1)]])
def test_bytes_in_two_shapes_count_once(spans: list[tuple[int, int]]) -> None:
    assert bytes_in(spans) == len({byte for low, high in spans for byte in range(low, high)})


def test_no_more_is_alive_than_the_arena_holds() -> None:
    """The RELU is computed in place: its input and its output are the same bytes."""
    model = Model(relu_model(), "relu")
    chosen = model.roomy()
    page = html_page(analyze(model, "relu", Memory(), chosen), model, chosen, model.frontier())
    found = re.search(r"Most bytes are alive at call \d+, .*: (\d+) B in an arena of (\d+) B", page)
    assert found is not None and int(found[1]) == int(found[2]) == chosen.plan.fast_bytes
