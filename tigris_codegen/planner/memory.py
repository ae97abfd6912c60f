"""From steps to addresses: who is stored whole, who in a window, and where each lies.

A block is what gets one address: a tensor, a window, an accumulator or scratch memory. It is a set of rectangles in
the plane of ticks and bytes, and blocks may share addresses wherever their rectangles do not meet.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tigris_codegen.plan.layout import ALIGNMENT, MAX_WINDOW
from tigris_codegen.planner.problem import Problem
from tigris_codegen.planner.schedule import Step, lifetimes, work_spans

#: A tensor goes into a window where that takes at most this part of its memory: a window's rows all live as long as
#: the tensor, rows of a tensor stored whole die one by one and make room for others.
WINDOW_SHARE = 0.6

Key = tuple[str, int]


@dataclass(frozen=True)
class Block:
    """`key` says what it is: ("tensor" | "accumulator" | "scratch", tensor or work number).

    `rectangles` has one row (first tick, last tick, first byte, stop byte) per rectangle, relative to the address.
    `window` is the number of rows held, 0 = all.
    """

    key: Key
    rectangles: NDArray[np.int64]
    window: int = 0

    @property
    def bytes(self) -> int:
        return int(self.rectangles[:, 3].max())

    @property
    def area(self) -> int:
        r = self.rectangles
        return int(((r[:, 1] - r[:, 0] + 1) * (r[:, 3] - r[:, 2])).sum())


@dataclass(frozen=True)
class Layout:
    """Addresses of all blocks and the bytes they take in all."""

    blocks: dict[Key, Block]
    addresses: dict[Key, int]
    bytes: int


def make_blocks(problem: Problem, steps: list[Step]) -> tuple[Block, ...]:
    """The blocks of a schedule, windows chosen."""
    lives = lifetimes(problem, steps)
    blocks = []
    for tensor, stored in problem.stored.items():
        first = lives.written.get(tensor, np.zeros(stored.rows, np.int64))
        if tensor in problem.inputs:
            first = np.zeros(stored.rows, np.int64)
        last = np.maximum(first, lives.read.get(tensor, first))
        if tensor in problem.outputs:
            last = np.full(stored.rows, max(lives.ticks - 1, 0), np.int64)
        window = 0 if stored.whole else _window_rows(steps, tensor, last)
        if 0 < window <= MAX_WINDOW and window <= WINDOW_SHARE * stored.rows:
            rectangles = np.array([[first.min(), last.max(), 0, window * stored.row_bytes]], np.int64)
        else:
            window, rectangles = 0, _staircase(first, last, stored.row_bytes)
        blocks.append(Block(("tensor", tensor), rectangles, window))
    for w, (begin, end) in work_spans(steps).items():
        work = problem.works[w]
        if work.accumulator_bytes and any(s.flags for s in steps if s.work == w):
            blocks.append(Block(("accumulator", w), np.array([[begin, end, 0, work.accumulator_bytes]], np.int64)))
        if work.scratch_bytes:
            blocks.append(Block(("scratch", w), np.array([[begin, end, 0, work.scratch_bytes]], np.int64)))
    return tuple(blocks)


def live_from(steps: list[Step], tensor: int, last: NDArray[np.int64]) -> list[tuple[int, int, int, int]]:
    """(tick, first live row, rows written before, stop row) of every step that writes new rows of the tensor.

    A row is live from its writing to its last reading; the first live row only grows, because it is the first that
    any later step still reads.
    """
    found, frontier, live = [], 0, 0
    for tick, step in enumerate(steps):
        written, _, stop = step.write
        if written != tensor or stop <= frontier:
            continue
        while live < frontier and last[live] < tick:
            live += 1
        found.append((tick, live, frontier, stop))
        frontier = stop
    return found


def _window_rows(steps: list[Step], tensor: int, last: NDArray[np.int64]) -> int:
    return max((stop - live for _, live, _, stop in live_from(steps, tensor, last)), default=0)


def _staircase(first: NDArray[np.int64], last: NDArray[np.int64], row_bytes: int) -> NDArray[np.int64]:
    """One rectangle per run of neighbouring rows that live equally long."""
    change = np.flatnonzero((np.diff(first) != 0) | (np.diff(last) != 0)) + 1
    starts = np.concatenate(([0], change))
    stops = np.concatenate((change, [len(first)]))
    return np.stack((first[starts], last[starts], starts * row_bytes, stops * row_bytes), axis=1)


def place(blocks: Iterable[Block], limit: int | None = None) -> tuple[dict[Key, int], int] | None:
    """First fit: each block, in order, at the lowest aligned address free of what is placed; None = over the limit."""
    placed = np.empty((0, 4), np.int64)
    addresses: dict[Key, int] = {}
    top = 0
    for block in blocks:
        address = _lowest(block.rectangles, placed)
        top = max(top, address + block.bytes)
        if limit is not None and top > limit:
            return None
        addresses[block.key] = address
        placed = np.concatenate((placed, block.rectangles + np.array([0, 0, address, address], np.int64)))
    return addresses, top


def _lowest(rectangles: NDArray[np.int64], placed: NDArray[np.int64]) -> int:
    """Lowest aligned address at which no rectangle meets a placed one at the same tick."""
    r, p = rectangles[:, None, :], placed[None, :, :]
    meets = (r[..., 0] <= p[..., 1]) & (p[..., 0] <= r[..., 1])
    own, other = np.nonzero(meets)
    if not len(own):
        return 0
    # The address may not lie strictly between these two.
    low = placed[other, 2] - rectangles[own, 3]
    high = placed[other, 3] - rectangles[own, 2]
    order = np.argsort(low, kind="stable")
    low, reach = low[order], np.maximum.accumulate(high[order])
    address = 0
    while True:
        # Everything that begins below the address and reaches beyond it pushes it up.
        index = int(np.searchsorted(low, address, "left")) - 1
        if index < 0 or reach[index] <= address:
            return address
        address = -(-int(reach[index]) // ALIGNMENT) * ALIGNMENT


def pack(blocks: tuple[Block, ...], tries: int, limit: int | None = None, best_of_all: bool = False) -> Layout | None:
    """The first of `tries` placement orders within `limit` bytes, or the best of them; None where none is within."""
    starts = [
        sorted(blocks, key=lambda b: (-b.bytes, b.key)),
        sorted(blocks, key=lambda b: (-b.area, b.key)),
        sorted(blocks, key=lambda b: (-b.bytes * len(b.rectangles), b.key)),
        sorted(blocks, key=lambda b: (int(b.rectangles[:, 0].min()), b.key)),
    ]
    rng = random.Random(0)
    best: tuple[dict[Key, int], int] | None = None
    best_order = starts[0]
    for attempt in range(tries):
        if attempt < len(starts):
            order = starts[attempt]
        else:
            order = list(best_order)
            i, j = rng.randrange(len(order)), rng.randrange(len(order))
            order[i], order[j] = order[j], order[i]
        found = place(order, limit if best is None else best[1])
        if found is not None and (best is None or found[1] <= best[1]):
            best, best_order = found, order
            if limit is not None and not best_of_all:
                break
    if best is None:
        return None
    return Layout({b.key: b for b in blocks}, *best)
