"""Groups merged with their neighbours until the persons in each meet every requirement.

Units are what a group consists of: persons, with all their rows, or single rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InfeasibleError
from discreet.methods.base import Task
from discreet.methods.shared.hilbert import WORD, hilbert_index
from discreet.methods.shared.infeasibility import infeasible
from discreet.methods.shared.judged_persons import counts_on_persons
from discreet.requirements.base import Requirement
from discreet.table.classes import Classes
from discreet.table.coded_table import CodedTable
from discreet.table.counts import ClassCounts
from discreet.table.graphs import smallest_connected
from discreet.table.persons import Persons
from discreet.typing import Floats, GroupOfRow, Ints


@dataclass(frozen=True, eq=False)
class RowUnits:
    """The units that are grouped, and where each lies."""

    of_row: Ints  # (rows,)
    place: Floats  # (units, quasi-identifiers), from 0 to 1

    @classmethod
    def of(cls, table: CodedTable, of_row: Ints) -> RowUnits:
        """Units at the mean rank of each quasi-identifier over their rows."""
        rows = np.maximum(np.bincount(of_row), 1)
        places = [
            np.bincount(of_row, column.codes) / rows / max(column.cardinality - 1, 1)
            for column in table.quasi_identifiers
        ]
        return cls(of_row, np.stack(places, axis=1) if places else np.zeros((len(rows), 1)))


def merged_until_sound(
    task: Task,
    persons: Persons,
    units: RowUnits,
    group: GroupOfRow,
    requirements: list[Requirement],
) -> GroupOfRow:
    """The group of each unit, −1 for a suppressed one; groups that fail are merged."""
    shown = np.flatnonzero(group >= 0)
    result = np.full(len(group), -1, np.int32)
    first, result[shown] = np.unique(group[shown], return_inverse=True)
    rows = np.flatnonzero(result[units.of_row] >= 0)
    members, first_of_row = persons.take(rows), result[units.of_row[rows]]
    sensitive = [column.take(rows) for column in task.table.sensitive]
    centres = Centres.of(result[shown], units.place[shown])
    label = np.arange(len(first))  # of each group that was given: the one that it is part of
    changed = np.ones(len(first), bool)  # groups that were not judged yet
    while True:
        # Judge the groups that changed; against the table all of them.
        passes = np.ones(len(changed), bool)
        of_row = label[first_of_row]
        for requirement in requirements:
            judged_rows = np.arange(len(of_row))
            if not requirement.algebra.against_table:
                judged_rows = np.flatnonzero(changed[of_row])
            numbers, of_class = np.unique(of_row[judged_rows], return_inverse=True)
            classes = Classes.of_numbers(of_class.astype(np.int32))
            columns = [column.take(judged_rows) for column in sensitive]
            counts = counts_on_persons(requirement, classes, members.take(judged_rows), columns)
            passes[numbers] &= requirement.passes(counts, task.domains)
            if len(changed) == 1 and not requirement.check(counts, task.domains).holds:
                raise _infeasible(requirement, counts, task)
        if passes.all():
            result[shown] = label[result[shown]]
            return result
        # Merge each group that fails with its nearest neighbour.
        merged = joined_with_nearest(centres.of_groups(label), ~passes)
        _, place, parts = np.unique(merged, return_inverse=True, return_counts=True)
        label, changed = place[label], parts > 1


def _infeasible(requirement: Requirement, counts: ClassCounts, task: Task) -> InfeasibleError:
    problem = "no grouping of persons meets the requirements, not even all in one group"
    remedies = ("use 'rows: collapse', so that a person has fewer values",)
    return infeasible(problem, [requirement], counts, task.domains, remedies)


@dataclass(frozen=True, eq=False)
class Centres:
    """Where groups lie: the sums of the places of their units."""

    size: Floats  # (groups,)
    total: Floats  # (groups, quasi-identifiers)

    @classmethod
    def of(cls, group: GroupOfRow, place: Floats) -> Centres:
        """Sum the places of the units of each group."""
        sums = [np.bincount(group, column) for column in place.T]
        size = np.bincount(group).astype(np.float64)
        return cls(size, np.stack(sums, axis=1).astype(np.float64))

    def of_groups(self, label: Ints) -> Floats:
        """The middle of each group of groups."""
        size = np.maximum(np.bincount(label, self.size), 1)
        return np.stack([np.bincount(label, column) / size for column in self.total.T], axis=1)


def joined_with_nearest(middle: Floats, fails: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Join each group that fails with the nearer of its neighbours on the curve.

    The result is, for each group, the least of those that it is joined with.
    """
    groups = len(middle)
    bits = max(min(16, WORD // middle.shape[1]), 1)
    grid = np.floor(middle * ((1 << bits) - 1) + 1e-9).astype(np.int64)
    order = np.lexsort(hilbert_index(grid, bits)[::-1])
    failing = np.flatnonzero(fails[order])
    before, after = order[np.maximum(failing - 1, 0)], order[np.minimum(failing + 1, groups - 1)]
    failing_group = order[failing]
    far_before, far_after = (
        np.where(
            other == failing_group,
            np.inf,
            ((middle[other] - middle[failing_group]) ** 2).sum(axis=1),
        )
        for other in (before, after)
    )
    partner: Ints = np.where(far_before <= far_after, before, after)
    return smallest_connected(groups, failing_group, partner).astype(np.int64)
