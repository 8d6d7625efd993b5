"""The groups that are cheapest to join with some others, found without comparing all pairs.

All groups are the root of a binary tree, and every node is cut in two, each group standing where
the middle of its hull is. A node is cut in the attribute in which a row of it pays most for the
hull, between two children of the hull's node (or two values of a free range), as near to its middle
as it can be: what Mondrian would do. A node knows of its groups the greatest of
their least ranks and the least of their greatest ones: any group that joins one of them covers at
least what lies between, so no join with any of them costs less than that hull does. A search goes
down the cheaper side first and leaves out every node that can't bring anything cheaper than the
groups it has. What it finds is what comparing all would find, but for the choice among equals.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.methods.local_recoding.hulls import (
    Space,
    UnitGrouping,
    cell_cost,
    cell_costs,
    hull_costs,
    level_below,
)
from discreet.table.kernels import kernel
from discreet.table.kernels.lists import entries_of, stable_order
from discreet.typing import Floats, Ints, Ints32

LEAF = 16  # groups that are compared one by one
ROUNDING = 1e-12


class GroupTree(NamedTuple):
    """The nodes, each before all below it: the first side of a node follows it at once."""

    order: Ints32  # (groups,) those of each node are adjacent
    begin: Ints  # (nodes,)
    end: Ints  # (nodes,)
    second: Ints  # (nodes,) the node of the second side; −1 where a node is not cut
    low: Ints32  # (nodes, attributes) the greatest of the least ranks
    high: Ints32  # (nodes, attributes) the least of the greatest ranks
    size: Ints  # (nodes,) of the smallest group
    cost: Floats  # (nodes,) of the most expensive group


def nearest_of_all(grouping: UnitGrouping, groups: Ints, wanted: Ints) -> tuple[Ints, Floats]:
    """The groups that are cheapest to join with each of some, and what all rows pay more.

    As many as are wanted for each, cheapest first; −1 and ∞ where there are fewer.
    """
    hulls = grouping.low, grouping.high, grouping.size, grouping.cost
    return _nearest(grouping.space, *hulls, _tree(grouping.space, *hulls), groups, wanted)


def join_nearest(grouping: UnitGrouping, remaining: Ints, least: int) -> UnitGrouping:
    """Groups with the remaining rows of each unit, where they cost least.

    A host that can spare rows stays as it is: the rows that would join it found a group of their
    own, with as many of its rows as a group needs at ``least``. That never costs more.
    """
    space, units = grouping.space, np.flatnonzero(remaining)
    rank, rows = space.rank[units], remaining[units]
    # the nearest host, of which no more rows are generalized than a group needs
    size = np.minimum(grouping.size, least)
    near, _ = _nearest(
        space,
        np.concatenate((grouping.low, rank)),
        np.concatenate((grouping.high, rank)),
        np.concatenate((size, rows)),
        np.concatenate((grouping.cost, np.zeros(len(units)))),
        _tree(space, grouping.low, grouping.high, size, grouping.cost),
        grouping.count + np.arange(len(units)),
        np.ones(len(units), np.int64),
    )
    host = near[:, 0]
    joining = np.bincount(host, rows, grouping.count).astype(np.int64)
    lacking = np.maximum(least - joining, 0)
    lends = (joining > 0) & (grouping.size - lacking >= least)
    piece, of, lent = _lent_rows(grouping, np.flatnonzero(lends), lacking, host, rank)
    rows_of_piece = grouping.rows.copy()
    rows_of_piece[piece] -= lent
    return UnitGrouping.of(
        space,
        np.concatenate((grouping.unit, units, grouping.unit[piece])),
        np.concatenate(
            (grouping.group_of_piece, host + grouping.count * lends[host], grouping.count + of)
        ),
        np.concatenate((rows_of_piece, rows, lent)),
    )


def _lent_rows(
    grouping: UnitGrouping, lenders: Ints, lacking: Ints, host: Ints, rank: Ints32
) -> tuple[Ints, Ints, Ints]:
    """Piece, lender and number of the rows that cost least in a group with some others.

    Those have ranks and a host each, and lack so many rows of each host.
    """
    space = grouping.space
    low, high = grouping.high.copy(), grouping.low.copy()
    low[host], high[host] = rank, rank  # any row to start from
    np.minimum.at(low, host, rank)
    np.maximum.at(high, host, rank)
    piece, place = entries_of(grouping.start, lenders)
    of = lenders[place]
    rank_of_piece = space.rank[grouping.unit[piece]]
    pays = hull_costs(
        space, np.minimum(low[of], rank_of_piece), np.maximum(high[of], rank_of_piece)
    )
    order = np.lexsort((pays, of))
    piece, of = piece[order], of[order]
    rows = grouping.rows[piece]
    before = np.cumsum(rows) - rows
    first = np.append(0, np.cumsum(np.diff(grouping.start)[lenders]))[:-1]
    before -= np.repeat(before[first], np.diff(grouping.start)[lenders])
    return piece, of, np.clip(lacking[of] - before, 0, rows)


def cut_evenly(space: Space, rank: Ints32, most: int) -> list[Ints32]:
    """Units, given by their ranks, cut in two again and again into blocks of at most so many."""
    order = np.arange(len(rank), dtype=np.int32)
    begin, end, second = _cut_all(space, rank, order, most)
    return [
        order[low:high]
        for low, high in zip(begin[second < 0].tolist(), end[second < 0].tolist(), strict=True)
    ]


def _tree(space: Space, low: Ints32, high: Ints32, size: Ints, cost: Floats) -> GroupTree:
    middle = ((low + high) // 2).astype(np.int32)
    order = np.arange(len(size), dtype=np.int32)
    begin, end, second = _cut_all(space, middle, order, LEAF)
    ends = np.stack([begin, end], axis=1).ravel()

    def of_nodes(reduce: np.ufunc, figure: NDArray[Any]) -> Any:
        padded = np.concatenate((figure[order], figure[order[:1]]))
        return reduce.reduceat(padded, ends, axis=0)[::2].copy()  # one layout: compiled once

    return GroupTree(
        order,
        begin,
        end,
        second,
        of_nodes(np.maximum, low),
        of_nodes(np.minimum, high),
        of_nodes(np.minimum, size),
        of_nodes(np.maximum, cost),
    )


def _cut_all(space: Space, middle: Ints32, order: Ints32, most: int) -> tuple[Ints, Ints, Ints]:
    """Cut groups down to leaves of at most so many: begin, end and second side of each node."""
    begin, end = np.zeros(1, np.int64), np.full(1, len(order))
    begins, ends, parents, seconds = [begin], [end], [], []
    count = 1
    while len(cut := np.flatnonzero(end - begin > most)):  # all nodes of one depth at once
        parents.append(count - len(begin) + cut)
        seconds.append(count + len(cut) + np.arange(len(cut)))
        place = _cut_nodes(space, middle, order, begin[cut], end[cut])
        begin, end = np.concatenate((begin[cut], place)), np.concatenate((place, end[cut]))
        begins.append(begin)
        ends.append(end)
        count += len(begin)
    begin, end = np.concatenate(begins), np.concatenate(ends)
    nodes = np.lexsort((-end, begin))  # each before all below it
    number = np.empty_like(nodes)
    number[nodes] = np.arange(count)
    second = np.full(count, -1)
    if parents:
        second[number[np.concatenate(parents)]] = number[np.concatenate(seconds)]
    return begin[nodes], end[nodes], second


def _cut_nodes(space: Space, middle: Ints32, order: Ints32, begin: Ints, end: Ints) -> Ints:
    """Order the groups of each node so that it can be cut in two as a block is, and say where."""
    nodes, length = np.arange(len(begin)), end - begin
    start = np.cumsum(length) - length
    node = np.repeat(nodes, length)
    entry = np.arange(len(node)) + (begin - start)[node]
    ranks = middle[order[entry]]
    low, high = np.minimum.reduceat(ranks, start), np.maximum.reduceat(ranks, start)
    cost = np.stack([cell_costs(space, j, low[:, j], high[:, j]) for j in range(low.shape[1])])
    cost[(low == high).T] = -1.0
    chosen = cost.argmax(axis=0)
    low, high = low[nodes, chosen], high[nodes, chosen]
    key = ranks[np.arange(len(ranks)), chosen[node]]
    span = int(key.max()) + 1
    by_key = stable_order(node * span + key, len(nodes) * span)
    order[entry] = order[entry[by_key]]
    key = key[by_key]
    below = level_below(space, chosen, low, high)[node]
    child = np.where(below < 0, key, space.node[np.maximum(below, 0) + key])
    cuts = 1 + np.flatnonzero((child[1:] != child[:-1]) & (node[1:] == node[:-1]))
    of, place = node[cuts], cuts - start[node[cuts]]
    best = np.lexsort((np.abs(2 * place - length[of]), of))  # of each node the most even first
    best = best[np.flatnonzero(np.diff(of[best], prepend=-1))]
    cut_place = length // 2  # where all have the same middle
    cut_place[of[best]] = place[best]
    return begin + cut_place


# Compiled: a search through the tree for every failing group.
@kernel(work=5)
def _nearest(
    space: Space,
    low: Ints32,
    high: Ints32,
    size: Ints,
    cost: Floats,
    tree: GroupTree,
    groups: Ints,
    wanted: Ints,
) -> tuple[Ints, Floats]:
    most = 0
    for count in wanted:
        most = max(most, count)
    near = np.full((len(groups), most), -1, np.int64)
    added = np.full((len(groups), most), np.inf)
    open_ = np.empty(len(tree.begin) + 1, np.int64)
    least = np.empty(len(tree.begin) + 1)  # what each open node adds at least
    for i in range(len(groups)):
        f, worst = groups[i], wanted[i] - 1
        # Search down from the root, and leave out nodes that cannot bring anything cheaper.
        open_[0], least[0] = 0, -np.inf
        waiting = 1
        while waiting:
            waiting -= 1
            node = open_[waiting]
            if least[waiting] >= added[i, worst] - ROUNDING:
                continue
            # Compare the groups of a leaf, and insert the cheaper ones in order.
            if tree.second[node] < 0:
                for g in tree.order[tree.begin[node] : tree.end[node]]:
                    joined, more, j = 0.0, 0.0, 0
                    while j < low.shape[1] and more < added[i, worst]:  # else given up
                        at_least = min(low[f, j], low[g, j])
                        joined += cell_cost(space, j, at_least, max(high[f, j], high[g, j]))
                        more = size[f] * (joined - cost[f]) + size[g] * (joined - cost[g])
                        j += 1
                    place = worst
                    if g == f or more >= added[i, place]:
                        continue
                    while place > 0 and added[i, place - 1] > more:
                        near[i, place], added[i, place] = near[i, place - 1], added[i, place - 1]
                        place -= 1
                    near[i, place], added[i, place] = g, more
                continue
            for side in (node + 1, tree.second[node]):  # what a join adds at least, on each
                joined = 0.0
                for j in range(low.shape[1]):
                    at_least = min(low[f, j], tree.low[side, j])
                    joined += cell_cost(space, j, at_least, max(high[f, j], tree.high[side, j]))
                other = tree.size[side] * max(joined - tree.cost[side], 0.0)
                open_[waiting], least[waiting] = side, size[f] * (joined - cost[f]) + other
                waiting += 1
            if least[waiting - 2] < least[waiting - 1]:  # the cheaper side is looked at first
                far, more = open_[waiting - 1], least[waiting - 1]
                open_[waiting - 1], least[waiting - 1] = open_[waiting - 2], least[waiting - 2]
                open_[waiting - 2], least[waiting - 2] = far, more
    return near, added
