"""Groups of rows on their way to become classes: which rows of which units, and their hulls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discreet.methods.local_recoding.hulls import Space, cell_costs, hull_costs
from discreet.table.counts import order_of_keys
from discreet.table.kernels.lists import entries_of, stable_order
from discreet.typing import Bools, Floats, Ints, Ints32


@dataclass(frozen=True, eq=False)
class UnitMembers:
    """The rows of one group: some rows of each of some units."""

    unit: Ints
    rows: Ints


NO_MEMBERS = UnitMembers(np.zeros(0, np.int64), np.zeros(0, np.int64))


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
    def of(
        space: Space,
        unit: Ints,
        group: Ints,
        rows: Ints,
        before: UnitGrouping | None = None,
        changed: Bools | None = None,
    ) -> UnitGrouping:
        """Groups from pieces in any order; group numbers may have gaps.

        Pieces of the same unit and group become one; those without rows are dropped. The units
        of a group are in order. Groups that are not ``changed`` have the same number, rows and so
        hull ``before``.
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
        if before is None or changed is None:
            number = np.cumsum(begins) - 1
            low, high, size, cost = hulls_of(space, unit, number, rows, len(start) - 1)
            return UnitGrouping(space, start, unit, rows, size, cost, low, high)
        kept = group[begins]
        low, high, size, cost = hulls = tuple(
            figure[kept] for figure in (before.low, before.high, before.size, before.cost)
        )
        anew = changed[kept]
        piece = np.flatnonzero(np.repeat(anew, np.diff(start)))
        number = np.cumsum(begins[piece]) - 1
        found = hulls_of(space, unit[piece], number, rows[piece], int(anew.sum()))
        for figure, of_changed in zip(hulls, found, strict=True):
            figure[anew] = of_changed
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

    def take(self, groups: NDArray[np.integer]) -> UnitGrouping:
        """Some of the groups."""
        piece, _ = entries_of(self.start, groups)
        start = np.append(0, np.cumsum(np.diff(self.start)[groups]))
        of_groups = (part[groups] for part in (self.size, self.cost, self.low, self.high))
        return UnitGrouping(self.space, start, self.unit[piece], self.rows[piece], *of_groups)

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

    def members(self) -> list[UnitMembers]:
        """The rows of each group."""
        ends = self.start.tolist()
        return [
            UnitMembers(self.unit[begin:end], self.rows[begin:end]) for begin, end in pairwise(ends)
        ]


@dataclass(eq=False)
class UnitGroups:
    """Groups that change; dissolved ones keep their number and have no rows."""

    space: Space
    members: list[UnitMembers]
    low: Ints32  # (groups, attributes)
    high: Ints32  # (groups, attributes)
    size: Ints  # (groups,)
    cost: Floats  # (groups,) what a row pays

    @staticmethod
    def of(made: UnitGrouping) -> UnitGroups:
        arrays = made.low.copy(), made.high.copy(), made.size.copy(), made.cost.copy()
        return UnitGroups(made.space, made.members(), *arrays)

    def put(self, group: int, members: UnitMembers) -> None:
        """Give a group other rows."""
        zeros = np.zeros(len(members.unit), np.int64)
        low, high, size, cost = hulls_of(self.space, members.unit, zeros, members.rows, 1)
        self.members[group] = members
        self.low[group], self.high[group] = low[0], high[0]
        self.size[group], self.cost[group] = size[0], cost[0]

    def grow(self, count: int) -> Ints:
        """The numbers of some more groups, without rows as yet."""
        before = len(self.members)
        self.members.extend([NO_MEMBERS] * count)
        empty = np.zeros((count, self.low.shape[1]), np.int32)
        self.low, self.high = np.concatenate((self.low, empty)), np.concatenate((self.high, empty))
        self.size = np.concatenate((self.size, np.zeros(count, np.int64)))
        self.cost = np.concatenate((self.cost, np.zeros(count)))
        return np.arange(before, before + count)

    def settled(self) -> UnitGrouping:
        """The groups as they are, without the dissolved ones."""
        lengths = [len(members.unit) for members in self.members]
        return UnitGrouping.of(
            self.space,
            np.concatenate([members.unit for members in self.members]),
            np.repeat(np.arange(len(lengths)), lengths),
            np.concatenate([members.rows for members in self.members]),
        )


def hulls_of(
    space: Space, unit: Ints, group: Ints, rows: Ints, groups: int
) -> tuple[Ints32, Ints32, Ints, Floats]:
    """Least and greatest ranks, size and cost of every group."""
    attributes = space.rank.shape[1]
    low = np.full((groups, attributes), np.iinfo(np.int32).max, np.int32)
    high = np.full((groups, attributes), -1, np.int32)
    if (np.diff(group) < 0).any():
        order = stable_order(group, groups)
        unit, group, rows = unit[order], group[order], rows[order]
    some = np.flatnonzero(np.bincount(group, minlength=groups))
    if len(some):
        first = np.flatnonzero(np.diff(group, prepend=-1))
        rank = space.rank[unit].T.copy()  # a short list is read faster on its own
        for attribute in range(attributes):
            low[some, attribute] = np.minimum.reduceat(rank[attribute], first)
            high[some, attribute] = np.maximum.reduceat(rank[attribute], first)
    size = np.bincount(group, rows, groups).astype(np.int64)
    cost = np.zeros(groups)
    cost[some] = hull_costs(space, low[some], high[some])
    return low, high, size, cost


def covering_groups(
    space: Space, low: Ints32, high: Ints32, cost: Floats, hosts: Ints, units: Ints
) -> tuple[Floats, Ints]:
    """The cheapest of some groups whose hull already covers each unit: its cost and number."""
    best = np.full(len(units), np.inf)
    which = np.full(len(units), -1, np.int64)
    for g in hosts:
        cheaper = np.flatnonzero(cost[g] < best)
        rank = space.rank[units[cheaper]]
        covers = np.ones(len(cheaper), np.bool_)
        for j in range(rank.shape[1]):
            at_least, at_most = (
                np.minimum(low[g, j], rank[:, j]),
                np.maximum(high[g, j], rank[:, j]),
            )
            joined = cell_costs(space, j, at_least, at_most)
            own = cell_costs(space, j, low[g : g + 1, j], high[g : g + 1, j])
            within = (low[g, j] <= rank[:, j]) & (rank[:, j] <= high[g, j])
            covers &= within | (joined <= own + 1e-12)
        best[cheaper[covers]], which[cheaper[covers]] = cost[g], g
    return best, which
