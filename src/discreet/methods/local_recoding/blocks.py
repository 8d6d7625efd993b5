"""Blocks: many distinct tuples are cut before a round, so that its candidates fit in memory.

A block is cut in the attribute in which a row of it pays most for the hull, between two children
of the hull's node (or two values of a free range), as near to its middle as it can be. That is
what Mondrian would do, stopped early: rows that are far apart would not have met in one class.
"""

from __future__ import annotations

import numpy as np

from discreet.methods.local_recoding.hulls import Space, cell_cost
from discreet.methods.shared.list_orders import sort_by_key
from discreet.table.kernels import kernel
from discreet.typing import Ints, Ints32

BLOCK = 2**15  # units


def is_large(space: Space) -> bool:
    """Return whether a table has more units than a block."""
    return len(space.rows) > BLOCK


def first_block(space: Space, least: int) -> Ints32:
    """The units of one block, found without cutting the others."""
    units = np.arange(len(space.rows), dtype=np.int32)
    while len(units) > BLOCK:
        place = cut(space, space.rank, space.rows, units, least)
        if not place:
            break
        units = units[:place]
    return units


def cut_blocks(space: Space, least: int, most: int | None = None) -> list[Ints32]:
    """The units of each block, at most so many where cuts with enough rows allow it."""
    most = BLOCK if most is None else most
    open_ = [np.arange(len(space.rows), dtype=np.int32)]
    closed = []
    while open_:
        units = open_.pop()
        place = 0
        if len(units) > most:
            place = cut(space, space.rank, space.rows, units, least)
        if place:
            open_.extend((units[:place], units[place:]))
        else:
            closed.append(units)
    return closed


# Compiled: called for every node of a tree of groups, mostly of a few items.
@kernel
def cut(space: Space, rank: Ints32, rows: Ints, items: Ints32, least: int) -> int:
    """Order items, given by ranks and rows, so that they can be cut in two, and say where.

    0, and the order as it was, where no cut leaves enough rows on both sides.
    """
    attributes, count = rank.shape[1], len(items)
    low, high = np.empty(attributes, np.int32), np.empty(attributes, np.int32)
    cost = np.empty(attributes)
    total = 0
    for item in items:
        total += rows[item]
    for j in range(attributes):
        low[j] = high[j] = rank[items[0], j]
        for item in items:
            low[j] = min(low[j], rank[item, j])
            high[j] = max(high[j], rank[item, j])
        cost[j] = cell_cost(space, j, low[j], high[j])
    order = np.empty(count, np.int32)
    room = np.empty((3, count), np.int32)  # for sorting
    for _ in range(attributes):
        j = 0
        for other in range(attributes):  # the most expensive that was not tried
            if cost[other] > cost[j]:
                j = other
        cost[j] = -1.0
        if low[j] == high[j]:
            continue
        base = np.int64(-1)  # of the level below the hull's node; a free range has none
        if space.levels[j]:
            base = space.first[j]
            while space.node[base + low[j]] != space.node[base + high[j]]:
                base += space.values[j]
            base -= space.values[j]
        for place in range(count):
            order[place] = items[place]
            room[0, place] = rank[items[place], j]
        sort_by_key(order, 0, count, room[0], room[1], room[2])
        best, nearest = 0, total + 1
        before = 0
        for place in range(1, count):
            before += rows[order[place - 1]]
            left, right = room[0, place - 1], room[0, place]
            apart = left != right
            if base >= 0:
                apart = space.node[base + left] != space.node[base + right]
            if not apart or before < least or total - before < least:
                continue
            if abs(2 * before - total) < nearest:
                best, nearest = place, abs(2 * before - total)
        if best:
            for place in range(count):
                items[place] = order[place]
            return best
    return 0
