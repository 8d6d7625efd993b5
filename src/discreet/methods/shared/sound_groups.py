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
    place = units.place[shown]
    rows = np.flatnonzero(group[units.of_row] >= 0)
    of_row, own = units.of_row[rows], persons.take(rows)
    sensitive = [column.take(rows) for column in task.table.sensitive]
    group = group.copy()
    changed = np.ones(int(group.max(initial=-1)) + 1, bool)  # groups that were not judged yet
    while True:
        used, group[shown] = np.unique(group[shown], return_inverse=True)
        changed = changed[used]
        passes = np.ones(len(used), bool)
        for requirement in requirements:
            judged = np.ones(len(used), bool) if requirement.against_table else changed
            some = np.flatnonzero(judged[group[of_row]])
            numbers, own_class = np.unique(group[of_row[some]], return_inverse=True)
            classes = Classes.of_numbers(own_class.astype(np.int32))
            columns = [column.take(some) for column in sensitive]
            counts = counts_on_persons(requirement, classes, own.take(some), columns)
            passes[numbers] &= requirement.passes(counts, task.domains)
            if len(used) == 1 and not requirement.check(counts, task.domains).holds:
                raise _infeasible(requirement, counts, task)
        if passes.all():
            return group
        before = group[shown]
        group[shown] = joined_with_nearest(before, place, ~passes)
        label = np.empty(len(used), np.int64)
        label[before] = group[shown]
        changed = np.bincount(label, minlength=len(used)) > 1


def _infeasible(requirement: Requirement, counts: ClassCounts, task: Task) -> InfeasibleError:
    said = "no grouping of persons meets the requirements, not even all in one group"
    remedies = ("use 'rows: collapse', so that a person has fewer values",)
    return infeasible(said, [requirement], counts, task.domains, remedies)


def joined_with_nearest(
    group: GroupOfRow, place: Floats, fails: NDArray[np.bool_]
) -> NDArray[np.int32]:
    """The groups after each that fails has joined the nearer of its neighbours on the curve."""
    size = np.bincount(group)
    middle = np.stack(
        [np.bincount(group, column) / np.maximum(size, 1) for column in place.T], axis=1
    )
    bits = max(min(16, WORD // middle.shape[1]), 1)
    grid = np.floor(middle * ((1 << bits) - 1) + 1e-9).astype(np.int64)
    order = np.lexsort(hilbert_index(grid, bits)[::-1])
    failing = np.flatnonzero(fails[order])
    before, after = order[np.maximum(failing - 1, 0)], order[np.minimum(failing + 1, len(size) - 1)]
    own = order[failing]
    far_before, far_after = (
        np.where(other == own, np.inf, ((middle[other] - middle[own]) ** 2).sum(axis=1))
        for other in (before, after)
    )
    partner: Ints = np.where(far_before <= far_after, before, after)
    result: NDArray[np.int32] = smallest_connected(len(size), own, partner)[group].astype(np.int32)
    return result
