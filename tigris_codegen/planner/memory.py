"""From steps to addresses: who is stored whole, who in a window, and where each lies.

A block is what gets one address: a tensor, a window, an accumulator or scratch memory. At each tick (one per step) it
occupies one range of bytes relative to its address, from its first live row to its last; blocks may share addresses
wherever their ranges do not meet at the same tick.
"""

from __future__ import annotations

import random
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tigris_codegen.plan.layout import ALIGNMENT, MAX_WINDOW, Space
from tigris_codegen.planner.problem import Problem
from tigris_codegen.planner.schedule import Step, lifetimes, work_spans

#: A tensor goes into a window where that takes at most this part of its memory: rows of a window are moved again and
#: again, which is cheap only while they are few.
WINDOW_SHARE = 0.6

Key = tuple[str, int]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Shift:
    """After step `tick`, the rows from place `first` on move to the front of the window: `kept` of them."""

    tick: int
    first: int
    kept: int


@dataclass(frozen=True)
class Window:
    """A tensor's window: `rows` places; `origins[tick]` is the row in place 0 while that step runs."""

    rows: int
    origins: dict[int, int]
    shifts: tuple[Shift, ...]


@dataclass(frozen=True)
class Block:
    """`key` says what it is: ("tensor" | "accumulator" | "scratch", tensor or work number).

    From tick `first` on, `low[i]` to `high[i]` is the range of bytes occupied at tick first + i; empty where both are
    equal. `window` is None for what is stored whole. `parts` are the blocks that a joined one holds, each with its
    place in it.
    """

    key: Key
    first: int
    low: Ints
    high: Ints
    window: Window | None = None
    space: Space = Space.FAST
    parts: tuple[tuple[Block, int], ...] = ()

    @cached_property
    def bytes(self) -> int:
        return int(self.high.max())

    @cached_property
    def lowest(self) -> int:
        return int(self.low.min())

    @cached_property
    def last(self) -> int:
        return self.first + len(self.low) - 1

    @property
    def area(self) -> int:
        return int((self.high - self.low).sum())


@dataclass(frozen=True)
class Layout:
    """Addresses of all blocks and the bytes they take in all; `joined` are the groups that hand memory on in place."""

    blocks: dict[Key, Block]
    addresses: dict[Key, int]
    bytes: int
    joined: tuple[tuple[Key, ...], ...] = ()


def make_blocks(problem: Problem, steps: Sequence[Step], window_share: float = WINDOW_SHARE) -> tuple[Block, ...]:
    """The blocks of a schedule; tensors whose window takes at most `window_share` of their memory get one."""
    lives = lifetimes(problem, steps)
    ticks = max(lives.ticks, 1)
    touching = _touching_ticks(steps)
    blocks = []
    for tensor, stored in problem.stored.items():
        # Rows that nothing reads are not written: they are at no tick.
        written = lives.written.get(tensor, np.zeros(stored.rows, np.int64))
        if tensor in problem.inputs:
            written = np.zeros(stored.rows, np.int64)
        read = np.maximum(written, lives.read.get(tensor, written))
        if tensor in problem.kept:
            read = np.full(stored.rows, ticks - 1, np.int64)
        key = ("tensor", tensor)
        block = None
        if not stored.whole:
            block = _windowed(key, steps, touching.get(tensor, []), tensor, read, stored.row_bytes)
            assert block.window is not None
            if block.window.rows > min(MAX_WINDOW, window_share * stored.rows):
                block = None
        if block is None:
            block = replace(_whole(key, written, read, stored.row_bytes), space=stored.space)
            if (written < 0).any():
                rows = int(np.flatnonzero(written >= 0).max()) + 1
                block = replace(block, window=Window(rows, dict.fromkeys(touching[tensor], 0), ()))
        blocks.append(block)
    for w, (begin, end) in work_spans(steps).items():
        work = problem.works[w]
        if work.accumulator_bytes and any(s.flags for s in steps if s.work == w):
            blocks.append(_constant(("accumulator", w), begin, end, work.accumulator_bytes))
        if work.scratch_bytes:
            blocks.append(_constant(("scratch", w), begin, end, work.scratch_bytes))
    return tuple(blocks)


def _touching_ticks(steps: Sequence[Step]) -> dict[int, list[int]]:
    """Tensor -> the ticks at which it is read or written, ascending."""
    found: dict[int, list[int]] = {}
    for tick, step in enumerate(steps):
        for tensor in {step.write[0], *(r[0] for r in step.reads)}:
            found.setdefault(tensor, []).append(tick)
    return found


def _constant(key: Key, begin: int, end: int, size: int) -> Block:
    low = np.zeros(end - begin + 1, np.int64)
    return Block(key, begin, low, low + size)


def _whole(key: Key, written: Ints, read: Ints, row_bytes: int) -> Block:
    """A tensor stored whole: at each tick from its first live row to its last."""
    live = np.flatnonzero(written >= 0)
    first, last = int(written[live].min()), int(read[live].max())
    count = last - first + 1
    low: Ints = np.full(count, len(written), np.int64)
    high = np.zeros(count, np.int64)
    for row, begin, end in zip(live, written[live] - first, read[live] - first, strict=True):
        np.minimum(low[begin : end + 1], row, out=low[begin : end + 1])
        np.maximum(high[begin : end + 1], row + 1, out=high[begin : end + 1])
    low = np.minimum(low, high)
    return Block(key, first, low * row_bytes, high * row_bytes)


def _windowed(key: Key, steps: Sequence[Step], touching: list[int], tensor: int, read: Ints, row_bytes: int) -> Block:
    """A tensor in a window: rows that have died make room at once, what is left moves to the front."""
    held: list[tuple[int, int]] = []  # (tick from which, rows held)
    origins: dict[int, int] = {}
    shifts: list[Shift] = []
    origin = frontier = rows = 0
    for tick in touching:
        written, _, stop = steps[tick].write
        if written == tensor:
            frontier = max(frontier, stop)
        origins[tick] = origin
        rows = max(rows, frontier - origin)
        held.append((tick, frontier - origin))
        live = origin
        while live < frontier and read[live] <= tick:
            live += 1
        if live > origin:
            if frontier > live:
                shifts.append(Shift(tick, live - origin, frontier - live))
            origin = live
            held.append((tick + 1, frontier - live))
    first, end = touching[0], touching[-1] + 1
    high = np.zeros(end - first, np.int64)
    for (begin, count), (until, _) in zip(held, [*held[1:], (end, 0)], strict=True):
        high[begin - first : until - first] = count
    return Block(key, first, np.zeros_like(high), high * row_bytes, Window(rows, origins, tuple(shifts)))


def join(problem: Problem, steps: Sequence[Step], blocks: Sequence[Block]) -> tuple[Block, ...]:
    """The blocks with every output that may take the memory of its dying input joined to that input's block.

    A kernel that goes through the elements in order may write over those that it has read. An output of smaller or
    equal elements begins where its input begins, one of larger elements ends where its input ends: so in one call no
    write reaches an element still to be read.
    """
    tensors = {
        block.key[1]: block
        for block in blocks
        if block.key[0] == "tensor" and block.window is None and block.space is Space.FAST
    }
    joined: dict[int, list[tuple[int, int]]] = {}  # tensor -> the group that it is in: tensors and places
    for tick, step in enumerate(steps):
        target, first, stop = step.write
        output = tensors.get(target)
        if output is None or output.first != tick or stop - first != problem.stored[target].rows:
            continue
        for source in _dying_inputs(problem, step, tensors):
            group = joined.setdefault(source, [(source, 0)])
            place = dict(group)[source]
            grown = problem.stored[target].bytes - problem.stored[source].bytes
            group.append((target, place - max(-(-grown // ALIGNMENT) * ALIGNMENT, 0)))
            joined[target] = group
            break
    groups = {id(group): group for group in joined.values() if len(group) > 1}
    inside = {tensor for group in groups.values() for tensor, _ in group}
    alone = [block for block in blocks if block.key[0] != "tensor" or block.key[1] not in inside]
    return (*alone, *(_one_block([(tensors[t], place) for t, place in group]) for group in groups.values()))


def _dying_inputs(problem: Problem, step: Step, tensors: Container[int]) -> Iterator[int]:
    """Inputs of a step whose memory its output may take: whole, in the same pool, read for the last time."""
    work = problem.works[step.work]
    for source in (work.inputs[index].tensor for index in work.in_place):
        reads = [stop - first for tensor, first, stop in step.reads if tensor == source]
        if source in tensors and reads == [problem.stored[source].rows] and problem.last_use[source] == step.work:
            yield source


def _one_block(group: list[tuple[Block, int]]) -> Block:
    """The block of a group: at each tick the range from the lowest byte of its members to the highest."""
    base = min(place for _, place in group)
    parts = tuple((block, place - base) for block, place in group)
    first, last = min(b.first for b, _ in parts), max(b.last for b, _ in parts)
    low: Ints = np.full(last - first + 1, np.iinfo(np.int64).max, np.int64)
    high = np.zeros(last - first + 1, np.int64)
    for block, place in parts:
        at = slice(block.first - first, block.last - first + 1)
        held = block.high > block.low
        low[at] = np.where(held, np.minimum(low[at], block.low + place), low[at])
        high[at] = np.where(held, np.maximum(high[at], block.high + place), high[at])
    return Block(parts[0][0].key, first, np.minimum(low, high), high, parts=parts)


class Meetings:
    """Where blocks would meet; the placements of one set of blocks ask for the same pairs again and again."""

    def __init__(self) -> None:
        self._known: dict[tuple[Key, Key], tuple[Ints, Ints]] = {}

    def free_from(self, block: Block, other: Block, distance: int) -> int:
        """The least distance of the block's address from the other's, at least `distance`, at which they are apart."""
        key = block.key, other.key
        if key not in self._known:
            self._known[key] = _taken(block, other)
        low, reach = self._known[key]
        # Everything that begins below and reaches beyond pushes it up.
        place = int(np.searchsorted(low, distance, "left")) - 1
        return max(distance, int(reach[place])) if place >= 0 else distance


def _taken(block: Block, other: Block) -> tuple[Ints, Ints]:
    """Strictly between which distances the block would meet the other one at some tick: where that begins, ascending,
    and the furthest end of all that begin so far."""
    begin, end = max(block.first, other.first), min(block.last, other.last) + 1
    own, its = slice(begin - block.first, end - block.first), slice(begin - other.first, end - other.first)
    low, high = other.low[its] - block.high[own], other.high[its] - block.low[own]
    both = (other.high[its] > other.low[its]) & (block.high[own] > block.low[own])
    order = np.argsort(low[both], kind="stable")
    reach: Ints = np.maximum.accumulate(high[both][order]) if len(order) else high[both]
    return low[both][order], reach


def place(
    blocks: Iterable[Block], limit: int | None = None, meetings: Meetings | None = None
) -> tuple[dict[Key, int], int] | None:
    """First fit: each block, in order, at the lowest aligned address free of what is placed; None = over the limit."""
    meetings = meetings or Meetings()
    placed: list[tuple[Block, int]] = []
    top = 0
    for block in blocks:
        address = _lowest(block, placed, meetings)
        top = max(top, address + block.bytes)
        if limit is not None and top > limit:
            return None
        placed.append((block, address))
    return {block.key: address for block, address in placed}, top


def _lowest(block: Block, placed: list[tuple[Block, int]], meetings: Meetings) -> int:
    """Lowest aligned address at which the block's range meets no placed one at any tick."""
    # Most of what is alive at the same time lies elsewhere: only where the outermost ranges meet are ticks looked at.
    near = [
        (address + other.lowest - block.bytes, address + other.bytes - block.lowest, other, address)
        for other, address in placed
        if other.first <= block.last and block.first <= other.last
    ]
    lowest, moved = 0, True
    while moved:
        moved = False
        for outer_low, outer_high, other, address in near:
            if outer_low < lowest < outer_high:
                free = address + meetings.free_from(block, other, lowest - address)
                if free > lowest:
                    lowest, moved = -(-free // ALIGNMENT) * ALIGNMENT, True
    return lowest


def pack(blocks: Sequence[Block], tries: int, bound: int = 0) -> Layout:
    """The best of `tries` placement orders of the blocks of one pool; a layout of `bound` bytes is good enough.

    After a few fixed orders, the block that ends highest goes to an earlier place in the best order so far.
    """
    starts = [
        sorted(blocks, key=lambda b: (-b.bytes, b.key)),
        sorted(blocks, key=lambda b: (-b.area, b.key)),
        sorted(blocks, key=lambda b: (-b.bytes * len(b.low), b.key)),
        sorted(blocks, key=lambda b: (b.first, b.key)),
        sorted(blocks, key=lambda b: (-b.last, b.key)),
    ]
    rng = random.Random(0)
    meetings = Meetings()
    best_order = starts[0]
    best = place(best_order, meetings=meetings)
    assert best is not None
    for attempt in range(1, tries):
        if best[1] <= bound:
            break
        order = starts[attempt] if attempt < len(starts) else _promoted(best_order, best, rng)
        found = place(order, best[1], meetings)
        if found is not None:
            best, best_order = found, order
    addresses, top = best
    parts = [(part, addresses[b.key] + at) for b in blocks for part, at in b.parts or ((b, 0),)]
    joined = tuple(tuple(part.key for part, _ in b.parts) for b in blocks if b.parts)
    return Layout({b.key: b for b, _ in parts}, {b.key: address for b, address in parts}, top, joined)


def _promoted(order: list[Block], found: tuple[dict[Key, int], int], rng: random.Random) -> list[Block]:
    addresses, top = found
    highest = [i for i, b in enumerate(order) if addresses[b.key] + b.bytes == top]
    changed = list(order)
    block = changed.pop(rng.choice(highest))
    changed.insert(rng.randrange(max(highest[0], 1)), block)
    if rng.random() < 0.5 and len(changed) > 1:
        i, j = rng.randrange(len(changed)), rng.randrange(len(changed))
        changed[i], changed[j] = changed[j], changed[i]
    return changed
