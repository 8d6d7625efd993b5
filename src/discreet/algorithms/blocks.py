"""Blocks: a table of very many distinct tuples is cut first, so that candidates fit in memory.

A block is cut in the attribute in which a row of it pays most for the hull, between two children
of the hull's node (or two values of a free range), as near to its middle as it can be. That is
what Mondrian would do, stopped early: rows that are far apart would not have met in one class.
"""

from __future__ import annotations

import numpy as np

from discreet.algorithms.hulls import Integers, Space, cell_cost, cell_level

BLOCK = 2**15  # units


def cut_blocks(space: Space, least: int, most: int = BLOCK) -> list[Integers]:
    """The units of each block, at most so many where cuts with enough rows allow it."""
    open_ = [np.arange(len(space.rows))]
    closed = []
    while open_:
        units = open_.pop()
        halves = _cut(space, units, least) if len(units) > most else None
        if halves is None:
            closed.append(units)
        else:
            open_.extend(halves)
    return closed


def _cut(space: Space, units: Integers, least: int) -> tuple[Integers, Integers] | None:
    """Two halves of a block; None where no cut leaves enough rows on both sides."""
    ranks, rows = space.rank[units], space.rows[units]
    low, high = ranks.min(axis=0), ranks.max(axis=0)
    costs = [cell_cost(space, j, low[j], high[j]) for j in range(len(low))]
    for j in np.argsort(-np.array(costs), kind="stable"):
        if low[j] == high[j]:
            continue
        order = np.argsort(ranks[:, j], kind="stable")
        rank = ranks[order, j]
        node = rank
        if space.levels[j]:
            level = cell_level(space, j, low[j], high[j])
            node = space.node[space.first[j] + (level - 1) * space.values[j] + rank]
        before = np.cumsum(rows[order])
        cuts = np.flatnonzero(node[1:] != node[:-1])
        cuts = cuts[(before[cuts] >= least) & (before[-1] - before[cuts] >= least)]
        if len(cuts):
            cut = cuts[np.abs(2 * before[cuts] - before[-1]).argmin()] + 1
            return units[order[:cut]], units[order[cut:]]
    return None
