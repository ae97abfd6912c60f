"""Random graphs at random budgets: proved, within the budget, and the same bytes as with room for everything."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.corpus import layers
from tests.corpus.writer import ModelWriter, Tensor
from tigris_codegen.errors import FitError
from tigris_codegen.pipeline import Compiled, Model
from tigris_codegen.plan.codec import decode
from tigris_codegen.plan.verify import verify
from tigris_codegen.planner.memory import Layout
from tigris_codegen.planner.search import Search
from tigris_codegen.session import Session

#: The same examples in every run, and no search for a smaller one, which takes minutes.
DETERMINISTIC = settings(
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.generate),
)
Draw = Callable[[st.SearchStrategy[int]], int]


def _window(draw: Draw, x: Tensor, padding: str) -> tuple[tuple[int, int], tuple[int, int]]:
    """A kernel that fits the input, and its stride."""
    most = [5, 3] if padding == "SAME" else [min(x.shape[1], 4), min(x.shape[2], 3)]
    high, wide = (draw(st.integers(1, n)) for n in most)
    return (high, wide), (draw(st.integers(1, 3)), draw(st.integers(1, 2)))


def _conv(m: ModelWriter, x: Tensor, draw: Draw) -> Tensor:
    padding = ("SAME", "VALID")[draw(st.integers(0, 1))]
    kernel, stride = _window(draw, x, padding)
    return layers.conv_2d(m, x, draw(st.integers(1, 6)), kernel, stride=stride, padding=padding, activation="RELU")


def _dilated(m: ModelWriter, x: Tensor, draw: Draw) -> Tensor:
    return layers.conv_2d(m, x, 3, (3, 1), dilation=(draw(st.integers(1, 3)), 1), padding="SAME")


def _depthwise(m: ModelWriter, x: Tensor, draw: Draw) -> Tensor:
    kernel, (stride, _) = _window(draw, x, "SAME")
    return layers.depthwise_conv_2d(m, x, draw(st.integers(1, 2)), kernel, stride=(stride, stride))


def _pool(m: ModelWriter, x: Tensor, draw: Draw) -> Tensor:
    kind = ("MAX_POOL_2D", "AVERAGE_POOL_2D")[draw(st.integers(0, 1))]
    padding = ("SAME", "VALID")[draw(st.integers(0, 1))]
    kernel, stride = _window(draw, x, padding)
    return layers.pool_2d(m, x, kind, kernel, stride=stride, padding=padding)


def _pad(m: ModelWriter, x: Tensor, draw: Draw) -> Tensor:
    amounts = [(draw(st.integers(0, 2)), draw(st.integers(0, 2))) for _ in range(2)]
    return layers.pad(m, x, ((0, 0), *amounts, (0, 0)))


def _residual(m: ModelWriter, x: Tensor, draw: Draw) -> Tensor:
    y = layers.conv_2d(m, x, x.shape[3], (draw(st.integers(1, 3)), 3), activation="RELU")
    return layers.binary(m, x, y, "ADD")


def _gate(m: ModelWriter, x: Tensor, draw: Draw) -> Tensor:
    gate = layers.conv_2d(m, layers.mean(m, x, (1, 2), keep_dims=True), x.shape[3], (1, 1))
    return layers.binary(m, x, gate, "MUL")


def _branches(m: ModelWriter, x: Tensor, draw: Draw) -> Tensor:
    left = layers.conv_2d(m, x, 2, (1, 1))
    right = layers.conv_2d(m, x, 2, (3, draw(st.integers(1, 3))))
    return layers.concatenation(m, [left, right], draw(st.integers(1, 3)))


def _relu(m: ModelWriter, x: Tensor, draw: Draw) -> Tensor:
    return layers.relu(m, x)


BODY = (_conv, _dilated, _depthwise, _pool, _pad, _residual, _gate, _branches, _relu)


def _as_it_is(m: ModelWriter, x: Tensor) -> Tensor:
    return x


def _mean(m: ModelWriter, x: Tensor) -> Tensor:
    return layers.mean(m, x, (1, 2))


def _fully_connected(m: ModelWriter, x: Tensor) -> Tensor:
    return layers.fully_connected(m, x, 4, in_features=int(np.prod(x.shape[1:])))


def _global_pool(m: ModelWriter, x: Tensor) -> Tensor:
    return layers.pool_2d(m, x, "AVERAGE_POOL_2D", (x.shape[1], x.shape[2]))


HEADS = (_as_it_is, _mean, _fully_connected, _global_pool)


@dataclass(frozen=True)
class Drawn:
    """A model with what it is made of, to be shown where it fails."""

    blocks: str
    data: bytes = field(repr=False)


#: Largest batch, height, width, channels: images, and signals along one axis.
IMAGE, SIGNAL, SMALL = (2, 14, 6, 4), (2, 1, 24, 4), (1, 9, 3, 2)


@st.composite
def models(
    draw: Draw, fewest: int = 1, most: int = 5, shapes_drawn: tuple[tuple[int, ...], ...] = (IMAGE, IMAGE, SIGNAL)
) -> Drawn:
    """A chain of blocks with a head, in int8 or float."""
    m = ModelWriter("random")
    dtype = ("int8", "int8", "float32")[draw(st.integers(0, 2))]
    largest = shapes_drawn[draw(st.integers(0, len(shapes_drawn) - 1))]
    shape = [draw(st.integers(1, n)) for n in largest]
    x = y = layers.activation_input(m, shape, dtype)
    outputs: list[Tensor] = []
    shapes = [f"{dtype}{shape}"]
    for _ in range(draw(st.integers(fewest, most))):
        block = BODY[draw(st.integers(0, len(BODY) - 1))]
        y = block(m, y, draw)
        shapes.append(f"{block.__name__} {list(y.shape)}")
        if draw(st.integers(0, 7)) == 0:
            outputs.append(y)
    head = HEADS[draw(st.integers(0, len(HEADS) - 1))]
    y = head(m, y)
    shapes.append(head.__name__)
    return Drawn(", ".join(shapes), m.finish([x], [y, *(o for o in outputs if o is not y)]))


def outputs_of(compiled: Compiled, seed: int, poison: int) -> list[bytes]:
    random = np.random.RandomState(seed)
    with Session(compiled.plan_bytes) as session:
        inputs = {}
        for name, port in session.inputs.items():
            values = (
                random.uniform(-3, 3, port.shape) if port.dtype == "float32" else random.randint(-128, 128, port.shape)
            )
            inputs[name] = values.astype(port.dtype)
        return [o.tobytes() for o in session.run(inputs, poison=poison).values()]


def assert_apart(layout: Layout) -> None:
    """At no tick do two blocks share a byte, but where one hands its memory on; every block lies inside the pool."""
    heirs = {pair for group in layout.joined for pair in itertools.pairwise(group)}
    for first, block in layout.blocks.items():
        address = layout.addresses[first]
        assert address % 16 == 0 and address + block.bytes <= layout.bytes
        for second, other in layout.blocks.items():
            begin, end = max(block.first, other.first), min(block.last, other.last) + 1
            if first >= second or begin >= end:
                continue
            ours, theirs = slice(begin - block.first, end - block.first), slice(begin - other.first, end - other.first)
            if (first, second) in heirs or (second, first) in heirs:
                assert end == begin + 1
                continue
            low = np.maximum(address + block.low[ours], layout.addresses[second] + other.low[theirs])
            high = np.minimum(address + block.high[ours], layout.addresses[second] + other.high[theirs])
            assert (low >= high).all(), f"{first} and {second} share bytes"


@settings(DETERMINISTIC, max_examples=40)
@given(drawn=models(), part=st.integers(0, 1000))
def test_random_models(drawn: Drawn, part: int) -> None:
    made = Model(drawn.data, "random", effort=8)
    roomy, smallest = made.roomy(), made.smallest()
    least, most = smallest.plan.ram_bytes, roomy.plan.ram_bytes
    assert least <= most
    seed = zlib.crc32(drawn.data)
    wanted = outputs_of(roomy, seed, 0x00)
    pool = least + (most - least) * part // 1000
    between = made.within(pool)
    assert between.plan.ram_bytes <= pool
    for compiled in (roomy, between, smallest):
        verify(decode(compiled.plan_bytes))
        assert outputs_of(compiled, seed, 0xAA) == wanted
    with pytest.raises(FitError) as caught:
        made.within(least - 1)
    assert caught.value.need == least


@settings(DETERMINISTIC, max_examples=6)
@given(drawn=models(fewest=20, most=34, shapes_drawn=(SMALL,)), part=st.integers(0, 1000))
def test_random_models_of_many_operators(drawn: Drawn, part: int) -> None:
    made = Model(drawn.data, "random", effort=2)
    assert len(made.graph.ops) >= 20
    roomy, smallest = made.roomy(), made.smallest()
    least, most = smallest.plan.ram_bytes, roomy.plan.ram_bytes
    between = made.within(least + (most - least) * part // 1000)
    wanted = outputs_of(roomy, 1, 0x00)
    for compiled in (between, smallest):
        verify(decode(compiled.plan_bytes))
        assert outputs_of(compiled, 1, 0xAA) == wanted


@settings(DETERMINISTIC, max_examples=15)
@given(drawn=models(), less=st.integers(1, 200))
def test_random_models_in_two_pools(drawn: Drawn, less: int) -> None:
    made = Model(drawn.data, "random", effort=4)
    roomy = made.roomy()
    pool, slow = made.smallest().plan.ram_bytes - less, 1 << 16
    try:
        spilled = made.within(pool, slow)
    except FitError:
        return
    assert spilled.plan.fast_bytes + spilled.plan.workspace_bytes <= pool
    assert 0 < spilled.plan.slow_bytes <= slow
    seed = zlib.crc32(drawn.data)
    assert outputs_of(spilled, seed, 0xAA) == outputs_of(roomy, seed, 0x00)


@settings(DETERMINISTIC, max_examples=15)
@given(drawn=models())
def test_blocks_of_a_layout_are_apart(drawn: Drawn) -> None:
    search = Search((Model(drawn.data, "random").problem,), 8)
    for schedule in (search.roomy(), search.smallest()):
        assert schedule is not None
        assert_apart(schedule.fast)
        assert_apart(schedule.slow)


@settings(DETERMINISTIC, max_examples=10)
@given(drawn=models())
def test_more_memory_never_means_more_records(drawn: Drawn) -> None:
    made = Model(drawn.data, "random", effort=8)
    least, most = made.smallest().plan.ram_bytes, made.roomy().plan.ram_bytes
    records = []
    for pool in sorted({least + (most - least) * part // 4 for part in range(5)}):
        plan = made.within(pool).plan
        records.append(sum(r.target * (r.row - 1) - 1 if r.kind.name == "REPEAT" else 1 for r in plan.records))
    assert records == sorted(records, reverse=True)
