"""Hulls: the least generalized tuple over some rows, what a row pays for it, and groups with hulls.

The leaves of every hierarchy are ranked so that the leaves below any node are neighbours. The hull
of some rows in one attribute is then decided by their least and greatest rank: the lowest common
ancestor of these two is that of all between. The same pair of ranks serves an attribute that is
published as a free range. Hulls of two groups join by taking the lesser and the greater rank.

A unit is what is never told apart: all rows with the same quasi-identifiers and, where more than
their number is promised, the same sensitive values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.hierarchies.hierarchy import Hierarchy
from discreet.methods.shared.hilbert import leaf_order
from discreet.table.coded_table import Column
from discreet.table.counts import order_of_keys
from discreet.table.kernels import kernel
from discreet.typing import Codes, Floats, Ints, Ints32


class Space(NamedTuple):
    """The units of a table with their ranks, and the hierarchies as flat tables.

    The node of rank r at level l of attribute j is at ``first[j] + l · values[j] + r``.
    Losses are divided by the number of attributes, so that they add up to the mean over cells.
    """

    rank: Ints32  # (units, attributes)
    rows: Ints  # (units,)
    first: Ints  # (attributes,)
    values: Ints  # (attributes,)
    levels: Ints  # (attributes,) a free range has none
    node: Codes  # flat
    loss: Floats  # flat; for a free range the place of each rank in the range of the data
    missing: Ints  # (attributes,) the rank of a missing value in a free range, else −1

    def take(self, units: NDArray[np.integer], rows: Ints) -> Space:
        """The same space for some units, with some of their rows."""
        return self._replace(rank=np.ascontiguousarray(self.rank[units]), rows=rows)


def hierarchy_tables(
    hierarchy: Hierarchy, code_of_rank: Ints, attributes: int
) -> tuple[Codes, Floats]:
    """Node and loss of each level and rank; a level of one node is added where there is none."""
    nodes = [level.node_of_leaf[code_of_rank] for level in hierarchy.levels]
    losses = [
        level.loss[node] / attributes for level, node in zip(hierarchy.levels, nodes, strict=True)
    ]
    if hierarchy.levels[-1].nodes > 1:
        nodes.append(np.zeros_like(nodes[0]))
        losses.append(np.full(len(nodes[0]), 1.0 / attributes))
    return np.concatenate(nodes), np.concatenate(losses)


def range_table(column: Column, attributes: int) -> Floats:
    """The place of each value in the range of the data, which is as long as the whole loss."""
    numbers = column.numbers
    if numbers is None or not np.isfinite(numbers).any():
        return np.zeros(column.cardinality)
    least, greatest = np.nanmin(numbers), np.nanmax(numbers)
    place = (numbers - least) / max(greatest - least, np.finfo(np.float64).tiny) / attributes
    return np.where(np.isfinite(place), place, 0.0)


def build_space(
    columns: Sequence[Column],
    hierarchies: Sequence[Hierarchy | None],
    units: Ints,
    rows: Ints,
) -> Space:
    """The space of some columns; ``units`` has a row of the table for each unit."""
    ranks = []
    # Write the tables of all attributes one after the other.
    nodes, losses, first, levels, missing = [], [], [0], [], []
    for column, hierarchy in zip(columns, hierarchies, strict=True):
        code_of_rank = leaf_order(column, hierarchy)
        rank_of_code = np.empty(column.cardinality, np.int32)
        rank_of_code[code_of_rank] = np.arange(column.cardinality, dtype=np.int32)
        ranks.append(rank_of_code[column.codes[units]])
        if hierarchy is None:
            loss = range_table(column, len(columns))
            node = np.zeros(len(loss), np.int32)
        else:
            node, loss = hierarchy_tables(hierarchy, code_of_rank, len(columns))
        nodes.append(node)
        losses.append(loss)
        first.append(first[-1] + len(loss))
        levels.append(0 if hierarchy is None else len(loss) // max(column.cardinality, 1))
        has_null = hierarchy is None and column.has_null
        missing.append(column.cardinality - 1 if has_null else -1)
    return Space(
        np.ascontiguousarray(np.array(ranks, np.int32).reshape(len(columns), len(units)).T),
        rows,
        np.array(first[:-1], np.int64),
        np.array([column.cardinality for column in columns], np.int64),
        np.array(levels, np.int64),
        np.concatenate([np.zeros(0, np.int32), *nodes]),
        np.concatenate([np.zeros(0), *losses]),
        np.array(missing, np.int64),
    )


# Compiled: called by kernels for every cell that they compare.
@kernel
def cell_cost(space: Space, attribute: int, low: int, high: int) -> float:
    """Return what a row pays for a cell that covers two ranks."""
    first, values = space.first[attribute], space.values[attribute]
    if space.levels[attribute] == 0:
        if low == high:
            return 0.0
        if high == space.missing[attribute]:
            return 1.0 / len(space.first)
        return float(space.loss[first + high] - space.loss[first + low])
    base = first
    while space.node[base + low] != space.node[base + high]:
        base += values
    return float(space.loss[base + low])


def hull_costs(space: Space, low: Ints32, high: Ints32) -> Floats:
    """Return what a row pays for each of some hulls, (hulls, attributes)."""
    cost = np.zeros(len(low))
    for attribute in range(low.shape[1]):
        cost += cell_costs(space, attribute, low[:, attribute], high[:, attribute])
    return cost


def cell_costs(space: Space, attribute: int, low: Ints32, high: Ints32) -> Floats:
    """Return what a row pays for each of some cells that cover two ranks."""
    first, values = space.first[attribute], space.values[attribute]
    if space.levels[attribute] == 0:
        cost = space.loss[first + high] - space.loss[first + low]
        cost = np.where(high == space.missing[attribute], 1.0 / len(space.first), cost)
        return np.where(low == high, 0.0, cost)
    base = np.full(len(low), first)
    apart = np.flatnonzero(space.node[first + low] != space.node[first + high])
    while len(apart):
        base[apart] += values
        here = base[apart]
        apart = apart[space.node[here + low[apart]] != space.node[here + high[apart]]]
    return np.asarray(space.loss[base + low])


def level_below(space: Space, attribute: Ints, low: Ints32, high: Ints32) -> Ints:
    """Return where the level below the node of each hull begins in ``node``; −1 in a free range.

    Hulls are given by an attribute and two ranks.
    """
    begin = space.first[attribute]
    free = space.levels[attribute] == 0
    apart = np.flatnonzero(~free)
    while len(apart):
        here = begin[apart]
        apart = apart[space.node[here + low[apart]] != space.node[here + high[apart]]]
        begin[apart] += space.values[attribute[apart]]
    return np.where(free, -1, begin - space.values[attribute])


@dataclass(frozen=True, eq=False)
class UnitGrouping:
    """Groups as they were made, in one row of pieces."""

    space: Space
    start: Ints  # (groups + 1,) where the pieces of each group start
    unit: Ints  # (pieces,)
    rows: Ints  # (pieces,)
    size: Ints  # (groups,)
    cost: Floats  # (groups,) what a row pays
    low: Ints32  # (groups, attributes)
    high: Ints32  # (groups, attributes)

    @staticmethod
    def of(space: Space, unit: Ints, group: Ints, rows: Ints) -> UnitGrouping:
        """Groups from pieces in any order; group numbers may have gaps.

        Pieces of the same unit and group become one; those without rows are dropped. The units
        of a group are in order.
        """
        groups, units = int(group.max(initial=-1)) + 1, len(space.rows)
        order = order_of_keys(group * units + unit, groups * units)
        order = order[rows[order] > 0]
        unit, group, rows = unit[order], group[order], rows[order]
        first = (np.diff(group, prepend=-1) != 0) | (np.diff(unit, prepend=-1) != 0)
        if not first.all():
            rows = np.add.reduceat(rows, np.flatnonzero(first))
            unit, group = unit[first], group[first]
        begins = np.diff(group, prepend=-1) != 0
        start = np.append(np.flatnonzero(begins), len(group))
        low, high, size, cost = hulls_of(space, unit, start, rows)
        return UnitGrouping(space, start, unit, rows, size, cost, low, high)

    @staticmethod
    def joined(parts: Sequence[UnitGrouping]) -> UnitGrouping:
        """The groups of several parts of the same space."""
        if len(parts) == 1:
            return parts[0]
        first = np.cumsum([0, *(part.count for part in parts)])
        return UnitGrouping.of(
            parts[0].space,
            np.concatenate([part.unit for part in parts]),
            np.concatenate([p.group_of_piece + n for p, n in zip(parts, first, strict=False)]),
            np.concatenate([part.rows for part in parts]),
        )

    @property
    def count(self) -> int:
        return len(self.size)

    @property
    def total(self) -> float:
        """The cost of all rows together."""
        return float(self.size @ self.cost)

    @property
    def group_of_piece(self) -> Ints:
        return np.repeat(np.arange(self.count), np.diff(self.start))


def hulls_of(
    space: Space, unit: Ints, start: Ints, rows: Ints
) -> tuple[Ints32, Ints32, Ints, Floats]:
    """Least and greatest ranks, size and cost of every group, whose pieces are adjacent."""
    groups, attributes = len(start) - 1, space.rank.shape[1]
    low, high = np.empty((groups, attributes), np.int32), np.empty((groups, attributes), np.int32)
    if not groups:
        return low, high, np.zeros(0, np.int64), np.zeros(0)
    rank = space.rank[unit].T.copy()  # a short list is read faster on its own
    for attribute in range(attributes):
        low[:, attribute] = np.minimum.reduceat(rank[attribute], start[:-1])
        high[:, attribute] = np.maximum.reduceat(rank[attribute], start[:-1])
    size = np.add.reduceat(rows, start[:-1])
    return low, high, size, hull_costs(space, low, high)
