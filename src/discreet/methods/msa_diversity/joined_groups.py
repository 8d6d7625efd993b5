"""Join groups until they also meet what bounds on shares do not imply.

Where some values are not sensitive, a share of at most 1/ℓ does not give a group ℓ values:
{a, N, N} has two of the three that distinct 3-diversity asks for where a occurs, and an attacker
who rules N out (m-diversity) is certain of a. Such a group is joined with one near it on the
curve. Both requirements are closed under merging, so joining never undoes what was reached, and
every group passes in the end if the whole table does.

Each round joins every failing group with at most one other: with the nearest that makes it pass,
else with a failing neighbour, so groups without a remedy nearby double in size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.methods.base import Task
from discreet.methods.shared.grouped_rows import count_groups
from discreet.methods.shared.infeasibility import infeasible
from discreet.requirements.base import Requirement
from discreet.requirements.diversity import DistinctLDiversity, MDiversity
from discreet.table.classes import Classes
from discreet.table.counts import ClassCounts, count_classes, order_by_class
from discreet.table.kernels.lists import entries_of
from discreet.typing import Bools, Codes, Ints

NEIGHBOURS = 4  # groups to either side on the curve that may join a failing one


def join_failing(task: Task, order: Ints, group: Codes) -> Codes:
    """Return the groups of rows in curve ``order``, joined until all meet the requirements.

    InfeasibleError where the whole table as one group does not.
    """
    asked = [
        requirement
        for requirement in task.requirements
        if isinstance(requirement, DistinctLDiversity | MDiversity) and requirement.non_sensitive
    ]
    if not asked:
        return group
    # Join failing groups, round by round, until all pass.
    while True:
        by_row = np.empty(len(group), np.int32)
        by_row[order] = group
        counts = count_groups(task, by_row)
        passing = _passing(asked, counts, task)
        if passing.all():
            return group
        if len(passing) == 1:
            raise infeasible(
                "msa-diversity: not even all rows in one group meet the requirements",
                asked,
                counts,
                task.domains,
            )
        target = _joins(task, order, group, asked, passing)
        joined = target[group]
        number = np.unique(joined[group >= 0], return_inverse=True)[1]
        group = group.copy()
        group[group >= 0] = number.astype(np.int32)


def _passing(asked: Sequence[Requirement], counts: ClassCounts, task: Task) -> Bools:
    """(groups,) Whether each group meets every requirement."""
    passing: Bools = np.logical_and.reduce([r.passes(counts, task.domains) for r in asked])
    return passing


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Failing groups, each with its neighbours on the curve, the nearest first."""

    failing: Ints  # (pairs,)
    neighbour: Ints  # (pairs,)


def _joins(
    task: Task, order: Ints, group: Codes, asked: Sequence[Requirement], passing: Bools
) -> Ints:
    """(groups,) The group that each becomes part of; no group takes part in two joins."""
    along = _along_curve(group, len(passing))
    pairs = _neighbours(along, np.flatnonzero(~passing[along]))
    remedy = _passing(asked, _count_pairs(task, order, group, pairs, len(passing)), task)
    target = np.arange(len(passing))
    used = np.zeros(len(passing), bool)
    has_remedy = np.zeros(len(passing), bool)
    has_remedy[pairs.failing[remedy]] = True
    for number, other, passes in zip(
        pairs.failing.tolist(), pairs.neighbour.tolist(), remedy.tolist(), strict=True
    ):
        # a group waits for a remedy that another took; without one, failing groups join
        useful = passes or not (has_remedy[number] or passing[other])
        if useful and not used[number] and not used[other]:
            used[number] = used[other] = True
            target[number] = other
    if not used.any():  # no neighbour helps: join the first failing group with its nearest
        target[pairs.failing[0]] = pairs.neighbour[0]
    return target


def _along_curve(group: Codes, groups: int) -> Ints:
    """Return the groups in the order of their first rows on the curve."""
    first = np.full(groups, len(group))
    placed = np.flatnonzero(group >= 0)
    np.minimum.at(first, group[placed], placed)
    return np.argsort(first, kind="stable")


def _neighbours(along: Ints, places: Ints) -> _Pairs:
    """Pair the groups at some places of the curve with those around, the nearest first."""
    distance = np.array([sign * step for step in range(1, NEIGHBOURS + 1) for sign in (1, -1)])
    other = places[:, None] + distance
    inside = (other >= 0) & (other < len(along))
    failing = np.broadcast_to(places[:, None], other.shape)[inside]
    return _Pairs(along[failing], along[other[inside]])


def _count_pairs(task: Task, order: Ints, group: Codes, pairs: _Pairs, groups: int) -> ClassCounts:
    """Count the sensitive values of each pair as if it were one group."""
    placed = np.flatnonzero(group >= 0)
    start, by_group = order_by_class(group[placed], np.zeros(len(placed), np.int32), groups, 1)
    members = order[placed[by_group]]  # rows of the table, group after group
    chosen = np.stack([pairs.failing, pairs.neighbour], axis=1).ravel()
    length = np.diff(start)[chosen]
    rows = members[entries_of(start, chosen)[0]]
    size = length.reshape(-1, 2).sum(axis=1)
    pair_of_row = np.repeat(np.arange(len(size), dtype=np.int32), size)
    first = np.concatenate([[0], np.cumsum(size)[:-1]])
    sensitive = [column.take(rows) for column in task.table.sensitive]
    return count_classes(Classes(pair_of_row, first, size), sensitive)
