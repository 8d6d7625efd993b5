"""Blocks: many distinct tuples are cut before a round, so that its candidates fit in memory.

A block is cut in the attribute in which a row of it pays most for the hull, between two children
of the hull's node (or two values of a free range), as near to its middle as it can be. That is
what Mondrian would do, stopped early: rows that are far apart would not have met in one class.
"""

from __future__ import annotations

import numpy as np

from discreet.methods.local_recoding.hulls import Space, cell_costs, level_below
from discreet.table.kernels.lists import stable_order
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


def cut(space: Space, rank: Ints32, rows: Ints, items: Ints32, least: int) -> int:
    """Order items, given by ranks and rows, so that they can be cut in two, and say where.

    0, and the order as it was, where no cut leaves enough rows on both sides.
    """
    own = rank[items]
    low, high = own.min(axis=0), own.max(axis=0)
    costs = [
        cell_costs(space, j, low[j : j + 1], high[j : j + 1])[0] if low[j] < high[j] else -1.0
        for j in range(len(low))
    ]
    for j in np.argsort(-np.array(costs), kind="stable"):  # the most expensive first
        if low[j] == high[j]:
            return 0
        order = stable_order(own[:, j], int(high[j]) + 1)
        child = own[order, j]
        below = level_below(space, np.array([j]), low[j : j + 1], high[j : j + 1])[0]
        if below >= 0:  # cut between children; a free range between values
            child = space.node[below + child]
        before = np.cumsum(rows[items[order]])
        total, before = before[-1], before[:-1]
        apart = (child[1:] != child[:-1]) & (before >= least) & (total - before >= least)
        places = np.flatnonzero(apart)
        if len(places):
            items[:] = items[order]
            return 1 + int(places[np.abs(2 * before[places] - total).argmin()])
    return 0
