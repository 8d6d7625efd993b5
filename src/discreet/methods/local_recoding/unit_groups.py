"""Groups of rows on their way to become classes: which rows of which units, and their hulls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.methods.local_recoding.hulls import Space, hull_costs
from discreet.table.counts import order_of_keys
from discreet.typing import Floats, Ints, Ints32


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
