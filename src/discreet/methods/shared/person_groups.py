"""Groups of persons with several rows each: every row of a member carries the group's cells.

A method groups one row for each person, with the most frequent value of each column. The cells of
a group then cover all rows of all its members, so nothing tells two members apart, whatever an
attacker knows of their rows. Groups that do not meet a requirement on persons are merged with a
neighbour on the Hilbert curve until all do.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InfeasibleError
from discreet.methods.base import Generalized, Method, Task
from discreet.methods.shared.grouped_rows import cells_of_groups
from discreet.methods.shared.hilbert import WORD, hilbert_index
from discreet.methods.shared.infeasibility import infeasible
from discreet.requirements.base import Requirement
from discreet.requirements.on_persons import verdict_on_persons
from discreet.table.classes import Classes
from discreet.table.coded_table import CodedTable, Column
from discreet.table.graphs import smallest_connected
from discreet.table.person_counts import count_persons
from discreet.table.persons import CollapseRule, Persons, chosen_codes
from discreet.typing import Floats, Ints


def group_persons(method: Method, task: Task, persons: Persons) -> Generalized:
    """Run a method on persons, and publish all their rows."""
    single = replace(task, table=_one_row_each(task.table, persons), kept=None)
    found = method.run(single)
    assert isinstance(found, Generalized)  # require_fit lets no other method by
    requirements = [*task.requirements, *found.promises]
    group = _merged_until_sound(task, persons, found.class_of_row, requirements)
    class_of_row = np.where(group[persons.number] < 0, -1, group[persons.number]).astype(np.int32)
    cells = cells_of_groups(task, class_of_row, method.cell_hierarchy)
    suppressed = int((class_of_row < 0).sum())
    facts: dict[str, Any] = {"suppressed_rows": suppressed, "groups": int(group.max()) + 1}
    kept = {name: fact for name, fact in found.facts.items() if name == "hierarchies"}
    return Generalized(class_of_row, cells, facts | kept, found.promises)


def _one_row_each(table: CodedTable, persons: Persons) -> CodedTable:
    """The most frequent values of each person, under the codes of the table."""
    columns = {
        column.name: replace(
            column, codes=chosen_codes(column, persons, CollapseRule.MOST_FREQUENT)
        )
        for column in table
    }
    return replace(table, columns=columns, rows=persons.count)


def _merged_until_sound(
    task: Task,
    persons: Persons,
    group: NDArray[np.int32],
    requirements: list[Requirement],
) -> NDArray[np.int32]:
    """The group of each person, −1 for a suppressed one; groups that fail are merged."""
    shown = np.flatnonzero(group >= 0)
    place = _places(task.table, persons)[shown]
    rows = np.flatnonzero(group[persons.number] >= 0)
    own = persons.take(rows)
    sensitive = [column.take(rows) for column in task.table.sensitive]
    group = group.copy()
    while True:
        group[shown] = np.unique(group[shown], return_inverse=True)[1]
        classes = Classes.of_numbers(group[own.number])
        passes = np.ones(classes.count, bool)
        for requirement in requirements:
            verdict = verdict_on_persons(requirement, classes, own, sensitive, task.domains)
            passes &= verdict.passes
            if classes.count == 1 and not verdict.holds:
                raise _infeasible(requirement, classes, own, sensitive, task)
        if passes.all():
            return group
        group[shown] = _joined_with_nearest(group[shown], place, ~passes)


def _infeasible(
    requirement: Requirement,
    classes: Classes,
    persons: Persons,
    sensitive: list[Column],
    task: Task,
) -> InfeasibleError:
    assert requirement.person_basis is not None
    counts = count_persons(classes, persons, sensitive, requirement.person_basis)
    said = "no grouping of persons meets the requirements, not even all in one group"
    remedies = ("use 'rows: collapse', so that a person has fewer values",)
    return infeasible(said, [requirement], counts, task.domains, remedies)


def _places(table: CodedTable, persons: Persons) -> Floats:
    """Where each person lies: the mean rank of each quasi-identifier, from 0 to 1."""
    places = [
        np.bincount(persons.number, column.codes, persons.count)
        / np.maximum(persons.rows_of, 1)
        / max(column.cardinality - 1, 1)
        for column in table.quasi_identifiers
    ]
    return np.stack(places, axis=1) if places else np.zeros((persons.count, 1))


def _joined_with_nearest(
    group: NDArray[np.int32], place: Floats, fails: NDArray[np.bool_]
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
