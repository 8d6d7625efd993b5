"""The groups that are cheapest to join with some others, found without comparing all pairs.

All groups are the root of a binary tree, and every node is cut in two as blocks are (``blocks``),
each group standing where the middle of its hull is. A node knows of its groups the greatest of
their least ranks and the least of their greatest ones: any group that joins one of them covers at
least what lies between, so no join with any of them costs less than that hull does. A search goes
down the cheaper side first and leaves out every node that can't bring anything cheaper than the
groups it has. What it finds is what comparing all would find, but for the choice among equals.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.methods.local_recoding.blocks import cut
from discreet.methods.local_recoding.hulls import Space, joined_cost
from discreet.methods.local_recoding.unit_groups import UnitGrouping, join_adds, keep_nearest
from discreet.table.kernels import kernel
from discreet.typing import Floats, Ints, Ints32

LEAF = 16  # groups that are compared one by one
ROUNDING = 1e-12


class GroupTree(NamedTuple):
    """The nodes, each before all below it: the first side of a node follows it at once."""

    order: Ints  # (groups,) those of each node are adjacent
    begin: Ints  # (nodes,)
    end: Ints  # (nodes,)
    second: Ints  # (nodes,) the node of the second side; −1 where a node is not cut
    low: Ints32  # (nodes, attributes) the greatest of the least ranks
    high: Ints32  # (nodes, attributes) the least of the greatest ranks
    size: Ints  # (nodes,) of the smallest group
    cost: Floats  # (nodes,) of the most expensive group


def nearest_of_all(made: UnitGrouping, groups: Ints, count: int) -> tuple[Ints, Floats]:
    """The groups that are cheapest to join with each of some, and what all rows pay more.

    Cheapest first; −1 and ∞ where there are fewer.
    """
    hulls = made.low, made.high, made.size, made.cost
    tree = _tree(made.space, *hulls)
    return _nearest(made.space, *hulls, tree, groups, count)


@kernel
def _tree(space: Space, low: Ints32, high: Ints32, size: Ints, cost: Floats) -> GroupTree:
    groups, attributes = low.shape
    middle = ((low + high) // 2).astype(np.int32)
    alike = np.ones(groups, np.int64)
    order = np.arange(groups)
    begin, end = np.zeros(2 * groups, np.int64), np.zeros(2 * groups, np.int64)
    second = np.full(2 * groups, -1, np.int64)
    open_ = np.empty((groups + 1, 3), np.int64)  # begin, end, and whose second side it is
    open_[0] = (0, groups, -1)
    waiting, nodes = 1, 0
    while waiting:
        waiting -= 1
        first, last, parent = open_[waiting]
        begin[nodes], end[nodes] = first, last
        if parent >= 0:
            second[parent] = nodes
        if last - first > LEAF:
            place = cut(space, middle, alike, order[first:last], 1)
            if not place:  # all have the same middle
                place = (last - first) // 2
            open_[waiting] = (first + place, last, nodes)
            open_[waiting + 1] = (first, first + place, -1)
            waiting += 2
        nodes += 1
    node_low = np.empty((nodes, attributes), np.int32)
    node_high = np.empty((nodes, attributes), np.int32)
    node_size, node_cost = np.empty(nodes, np.int64), np.empty(nodes)
    for node in range(nodes):
        own = order[begin[node] : end[node]]
        node_size[node], node_cost[node] = size[own].min(), cost[own].max()
        node_low[node], node_high[node] = low[own[0]], high[own[0]]
        for g in own:
            for j in range(attributes):
                node_low[node, j] = max(node_low[node, j], low[g, j])
                node_high[node, j] = min(node_high[node, j], high[g, j])
    sides = begin[:nodes], end[:nodes], second[:nodes]
    return GroupTree(order, *sides, node_low, node_high, node_size, node_cost)


@kernel
def _adds_at_least(
    space: Space, low: Ints32, high: Ints32, size: int, cost: float, tree: GroupTree, node: int
) -> float:
    """Return what a join of one group with any of a node adds at least."""
    joined = joined_cost(space, low, high, tree.low[node], tree.high[node])
    other = tree.size[node] * max(joined - tree.cost[node], 0.0)
    return size * (joined - cost) + float(other)


@kernel
def _nearest(
    space: Space,
    low: Ints32,
    high: Ints32,
    size: Ints,
    cost: Floats,
    tree: GroupTree,
    groups: Ints,
    count: int,
) -> tuple[Ints, Floats]:
    near = np.full((len(groups), count), -1, np.int64)
    added = np.full((len(groups), count), np.inf)
    open_ = np.empty(len(tree.begin) + 1, np.int64)
    least = np.empty(len(tree.begin) + 1)  # what each open node adds at least
    for i in range(len(groups)):
        f = groups[i]
        open_[0], least[0] = 0, -np.inf
        waiting = 1
        while waiting:
            waiting -= 1
            node = open_[waiting]
            if least[waiting] >= added[i, -1] - ROUNDING:
                continue
            if tree.second[node] < 0:
                for g in tree.order[tree.begin[node] : tree.end[node]]:
                    if g != f:
                        more = join_adds(space, low, high, size, cost, f, g, added[i, -1])
                        keep_nearest(near[i], added[i], g, more)
                continue
            far, close = node + 1, tree.second[node]
            hull = low[f], high[f], size[f], cost[f]
            far_adds = _adds_at_least(space, *hull, tree, far)
            close_adds = _adds_at_least(space, *hull, tree, close)
            if far_adds < close_adds:
                far, close, far_adds, close_adds = close, far, close_adds, far_adds
            open_[waiting], least[waiting] = far, far_adds
            open_[waiting + 1], least[waiting + 1] = close, close_adds
            waiting += 2
    return near, added
