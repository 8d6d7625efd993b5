"""Blocks: a table of very many distinct tuples is cut first, so that candidates fit in memory.

A block is cut in the attribute in which a row of it pays most for the hull, between two children
of the hull's node (or two values of a free range), as near to its middle as it can be. That is
what Mondrian would do, stopped early: rows that are far apart would not have met in one class.
"""

from __future__ import annotations

import numpy as np

from discreet.methods.local_recoding.hulls import Space, cell_cost
from discreet.table.kernels import kernel
from discreet.typing import Ints, Ints32

BLOCK = 2**15  # units


def cut_blocks(space: Space, least: int, most: int = BLOCK) -> list[Ints]:
    """The units of each block, at most so many where cuts with enough rows allow it."""
    open_ = [np.arange(len(space.rows))]
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
def cut(space: Space, rank: Ints32, rows: Ints, items: Ints, least: int) -> int:
    """Order items, given by ranks and rows, so that they can be cut in two, and say where.

    0, and the order as it was, where no cut leaves enough rows on both sides.
    """
    attributes = rank.shape[1]
    low, high = rank[items[0]].copy(), rank[items[0]].copy()
    total = 0
    for item in items:
        total += rows[item]
        for j in range(attributes):
            low[j] = min(low[j], rank[item, j])
            high[j] = max(high[j], rank[item, j])
    costs = np.array([cell_cost(space, j, low[j], high[j]) for j in range(attributes)])
    for j in np.argsort(-costs, kind="mergesort"):
        if low[j] == high[j]:
            continue
        base = np.int64(-1)  # of the level below the hull's node; a free range has none
        if space.levels[j]:
            base = space.first[j]
            while space.node[base + low[j]] != space.node[base + high[j]]:
                base += space.values[j]
            base -= space.values[j]
        order = items[np.argsort(rank[items, j], kind="mergesort")]
        best, nearest = 0, total + 1
        before = 0
        for place in range(1, len(order)):
            before += rows[order[place - 1]]
            left, right = rank[order[place - 1], j], rank[order[place], j]
            apart = left != right
            if base >= 0:
                apart = space.node[base + left] != space.node[base + right]
            if not apart or before < least or total - before < least:
                continue
            if abs(2 * before - total) < nearest:
                best, nearest = place, abs(2 * before - total)
        if best:
            items[:] = order
            return best
    return 0
