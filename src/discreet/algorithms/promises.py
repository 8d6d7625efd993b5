"""Whether groups of units keep the promises of a task, and how those that fail are mended.

A group that fails borrows one row from a neighbour that can spare it, or is joined with a
neighbour: whatever costs least and lets every group that is touched pass. Where nothing helps, it
is joined with the cheapest neighbour, so that groups get fewer until all pass or one is left:
every requirement is at its best where the whole table is one class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.algorithms.frequency_sets import OnDemand, refine
from discreet.algorithms.groups import NOBODY, Grouping, Groups, Members, join_costs
from discreet.algorithms.hulls import Floats, Integers, Ranks, Space, joined_cost
from discreet.algorithms.method import Task
from discreet.data.classes import group_codes
from discreet.data.counts import ClassCounts, RefinedCounts, ValueCounts, order_by_class
from discreet.kernels import kernel
from discreet.models.requirement import SizeRequirement

NEAREST = 12  # groups that a failing one may be joined with
LENDERS = 24  # groups whose rows it may borrow
LOANS = 16  # rows that it may borrow, of which one is chosen


class Promises:
    """The requirements of a task, judged on groups of units."""

    def __init__(self, task: Task, row_of_unit: Integers) -> None:
        self.requirements = tuple(task.requirements)
        self.domains = task.domains
        self.least = max((r.least_rows for r in self.requirements), default=1)
        self.only_sizes = all(isinstance(r, SizeRequirement) for r in self.requirements)
        self._sensitive = {column.name: column for column in task.table.sensitive}
        self._task, self._row_of_unit = task, row_of_unit
        self._refined = any(r.needs_refined_counts for r in self.requirements)

    def of(self, units: Integers) -> Promises:
        """The same where only some units are there, numbered anew."""
        return Promises(self._task, self._row_of_unit[units])

    def passes(self, members: Sequence[Members]) -> NDArray[np.bool_]:
        """Which groups keep every promise."""
        if self.only_sizes:
            return np.array([part.rows.sum() >= self.least for part in members], bool)
        counts = self.counts(members)
        passes = np.ones(len(members), bool)
        for requirement in self.requirements:
            passes &= requirement.passes(counts, self.domains)
        return passes

    def all_pass(self, members: Sequence[Members]) -> bool:
        return bool(self.passes(members).all())

    def counts(self, members: Sequence[Members]) -> ClassCounts:
        """The counts of some groups, compared with the whole table where that is asked for."""
        lengths = [len(part.unit) for part in members]
        of_class = np.repeat(np.arange(len(members), dtype=np.int32), lengths)
        row = self._row_of_unit[np.concatenate([part.unit for part in members])]
        rows = np.concatenate([part.rows for part in members])
        size = np.bincount(of_class, rows, len(members)).astype(np.int64)

        def count(name: str) -> ValueCounts:
            column = self._sensitive[name]
            value = column.codes[row]
            shape = [len(members), column.cardinality]
            pairs = group_codes([of_class, value], shape, len(row))
            total = np.bincount(pairs.class_of_row, rows, pairs.count).astype(np.int64)
            first = pairs.first_row
            start, order = order_by_class(of_class[first], value[first], *shape)
            return ValueCounts(
                start, value[first][order], total[order], column.cardinality, column.counts
            )

        def refined(name: str) -> RefinedCounts:
            columns = list(self._sensitive.values())
            pairs = group_codes(
                [of_class, *(column.codes[row] for column in columns)],
                [len(members), *(column.cardinality for column in columns)],
                len(row),
            )
            total = np.bincount(pairs.class_of_row, rows, pairs.count).astype(np.int64)
            first = pairs.first_row
            return refine(of_class[first], row[first], total, len(members), self._sensitive, name)

        names = tuple(self._sensitive)
        inner = OnDemand(names, refined) if self._refined else None
        return ClassCounts(size, OnDemand(names, count), inner)


@dataclass(frozen=True, eq=False)
class _Remedy:
    """One way to mend a failing group, with a neighbour."""

    group: int
    neighbour: int
    added: float  # what it adds to the cost of all rows
    mended: Members
    remains: Members | None  # of the neighbour; None where it is joined


def mend(
    made: Grouping, promises: Promises, progress: Callable[[float], None] = lambda share: None
) -> Grouping:
    """Mend failing groups until all pass or one group is left."""
    groups = Groups.of(made)
    failing = np.flatnonzero(~promises.passes(groups.members))
    most = max(len(failing), 1)
    while len(failing) and np.count_nonzero(groups.size) > 1:
        progress(1 - len(failing) / most)
        remedies = [r for group in failing for r in _remedies(groups, promises, int(group))]
        touched: set[int] = set()
        for remedy in _cheapest(remedies, _which_help(remedies, promises)):
            if remedy.group not in touched and remedy.neighbour not in touched:
                touched |= {remedy.group, remedy.neighbour}
                groups.put(remedy.group, remedy.mended)
                groups.put(remedy.neighbour, remedy.remains or NOBODY)
        changed = np.array(sorted(touched))
        changed = changed[groups.size[changed] > 0]
        passed = promises.passes([groups.members[g] for g in changed])
        failing = np.union1d(np.setdiff1d(failing, list(touched)), changed[~passed])
    return groups.settled()


def _cheapest(remedies: Sequence[_Remedy], helps: NDArray[np.bool_]) -> list[_Remedy]:
    """The best remedy of each group, cheapest first: one that helps, else a join."""
    chosen: dict[int, tuple[bool, float, _Remedy]] = {}
    for remedy, good in zip(remedies, helps, strict=True):
        if not good and remedy.remains is not None:
            continue
        rank = (not good, remedy.added, remedy)
        if remedy.group not in chosen or rank[:2] < chosen[remedy.group][:2]:
            chosen[remedy.group] = rank
    return [remedy for *_, remedy in sorted(chosen.values(), key=lambda rank: rank[:2])]


def _remedies(groups: Groups, promises: Promises, group: int) -> list[_Remedy]:
    """What could be done about one group, cheapest joins and loans."""
    added = join_costs(groups.space, groups.low, groups.high, groups.size, groups.cost, group)
    count = min(LENDERS, len(added) - 1)
    near = np.argpartition(added, count)[: count + 1]
    near = near[np.isfinite(added[near])]
    near = near[np.argsort(added[near], kind="stable")]
    own = groups.members[group]
    remedies = [
        _Remedy(group, int(g), float(added[g]), merged(own, groups.members[g]), None)
        for g in near[:NEAREST]
    ]
    lenders = near[groups.size[near] > promises.least]
    if len(lenders) and not promises.only_sizes:
        remedies += _loans(groups, group, lenders)
    return remedies


def _loans(groups: Groups, group: int, lenders: Integers) -> list[_Remedy]:
    """The cheapest single rows that a group could borrow."""
    parts = [groups.members[g] for g in lenders]
    unit = np.concatenate([part.unit for part in parts])
    lender = np.repeat(lenders, [len(part.unit) for part in parts])
    cost = _costs_with(groups.space, groups.low[group], groups.high[group], unit)
    size = groups.size[group]
    added = cost * (size + 1) - size * groups.cost[group] - groups.cost[lender]
    loans = []
    for place in np.argsort(added, kind="stable")[:LOANS]:
        one = Members(unit[place : place + 1], np.ones(1, np.int64))
        g = int(lender[place])
        remains = _without(groups.members[g], one)
        mended = merged(groups.members[group], one)
        loans.append(_Remedy(group, g, float(added[place]), mended, remains))
    return loans


@kernel
def _costs_with(space: Space, low: Ranks, high: Ranks, units: Integers) -> Floats:
    """What a row pays for the hull of a group and each of some units."""
    cost = np.empty(len(units))
    for i in range(len(units)):
        rank = space.rank[units[i]]
        cost[i] = joined_cost(space, low, high, rank, rank)
    return cost


def _which_help(remedies: Sequence[_Remedy], promises: Promises) -> NDArray[np.bool_]:
    """Under which remedies all that is touched passes."""
    helps = promises.passes([remedy.mended for remedy in remedies])
    loans = [n for n, remedy in enumerate(remedies) if remedy.remains is not None and helps[n]]
    if loans:
        left = [remedies[n].remains for n in loans]
        helps[loans] = promises.passes([part for part in left if part is not None])
    return helps


def merged(one: Members, other: Members) -> Members:
    """The rows of two groups together."""
    unit, place = np.unique(np.concatenate((one.unit, other.unit)), return_inverse=True)
    rows = np.bincount(place, np.concatenate((one.rows, other.rows)), len(unit))
    return Members(unit, rows.astype(np.int64))


def _without(whole: Members, part: Members) -> Members:
    rows = whole.rows - np.where(np.isin(whole.unit, part.unit), part.rows[0], 0)
    return Members(whole.unit[rows > 0], rows[rows > 0])
