"""Placement: blocks lie as low as their order allows, and apart."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.test_planner_random import assert_apart
from tigris_codegen.planner.memory import Block, Layout, pack, place

Profile = list[tuple[int, int]]  # (low, size) per tick, in units of 16 bytes


def block(number: int, first: int, profile: Profile) -> Block:
    low = np.array([16 * begin for begin, _ in profile], np.int64)
    return Block(("tensor", number), first, low, low + np.array([16 * size for _, size in profile], np.int64))


PROFILES = st.tuples(
    st.integers(0, 6), st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=6)
)


@settings(derandomize=True, deadline=None, database=None, max_examples=200, suppress_health_check=list(HealthCheck))
@given(drawn=st.lists(PROFILES, max_size=7), tries=st.integers(1, 12))
def test_random_blocks_are_apart(drawn: list[tuple[int, Profile]], tries: int) -> None:
    blocks = [block(number, first, profile) for number, (first, profile) in enumerate(drawn)]
    in_order = place(blocks)
    assert in_order is not None
    addresses, top = in_order
    assert_apart(Layout({b.key: b for b in blocks}, addresses, top))
    assert top == max((addresses[b.key] + b.bytes for b in blocks), default=0)
    assert place(blocks, top) == in_order
    assert top == 0 or place(blocks, top - 1) is None
    if blocks:
        packed = pack(blocks, tries)
        assert_apart(packed)
        assert packed.bytes == max(packed.addresses[b.key] + b.bytes for b in blocks)


def test_blocks_that_never_live_together_share_addresses() -> None:
    blocks = [block(0, 0, [(0, 2)] * 3), block(1, 3, [(0, 2)] * 3), block(2, 2, [(0, 1)] * 2)]
    found = place(blocks)
    assert found is not None
    addresses, top = found
    assert [addresses[b.key] for b in blocks] == [0, 0, 32]
    assert top == 48


def test_an_output_grows_into_rows_that_its_input_gives_up() -> None:
    """The input's rows die from the top on, the output's are written from the top on, one tick behind."""
    rows = 8
    dying = block(0, 0, [(row, rows - row) for row in range(rows)])
    growing = block(1, 0, [(0, row) for row in range(rows)])
    found = place([dying, growing])
    assert found is not None
    addresses, top = found
    assert addresses[growing.key] == 0
    assert top == 16 * rows
