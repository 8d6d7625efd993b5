"""Groups of persons with several rows each.

Under ``scope: persons`` a method groups one row for each person, with the most frequent value of
each column; the cells of a group then cover all rows of all its members, so nothing tells two
members apart, whatever an attacker knows of their rows. Under ``scope: rows`` it groups rows. In
both cases groups whose persons do not meet a requirement are merged with a neighbour until all do.

Where a requirement counts the persons who have a value at all, the row of a person has the
sensitive value that most persons have: the bound on it is the first that a group breaks.

An attacker who knows how many rows a person has expects a value in one of many rows rather than in
one of few. ``hide_numbers_of_rows`` merges groups until that tells little.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.errors import InfeasibleError
from discreet.methods.base import Bucketized, Generalized, Method, Task
from discreet.methods.shared.grouped_rows import cells_of_groups, merged_where_equal
from discreet.methods.shared.person_bands import banded_groups
from discreet.methods.shared.sound_groups import (
    Centres,
    RowUnits,
    joined_with_nearest,
    merged_until_sound,
)
from discreet.requirements.base import Requirement
from discreet.requirements.covered_values import SparingRequirement
from discreet.requirements.judge import person_basis
from discreet.table.coded_table import CodedTable, Column
from discreet.table.kernels.lists import distinct_values
from discreet.table.persons import (
    CollapseRule,
    PersonBasis,
    Persons,
    Scope,
    chosen_codes,
    share_without,
)
from discreet.typing import Codes, Floats, GroupOfRow, Ints

BELIEVED = 0.5  # above it a verdict counts a value as believed
SURE = 1 - 1e-9
MOST_LIKELY = 0.04  # share of the persons with a sensitive value; a verdict looks at 5 %


def group_persons(
    method: Method, task: Task, persons: Persons, *, hides_numbers: bool = False
) -> Generalized:
    """Run a method on persons, and publish their rows.

    ``hides_numbers`` asks for groups in which the number of a person's rows tells little.
    """
    private: dict[str, Any] = {}
    if task.basis.keeping.scope is Scope.ROWS:
        class_of_row = _groups_of_rows(method, task, persons)
    elif task.basis.keeping.numbered:

        def grouped(part: Task, members: Persons) -> GroupOfRow:
            return groups_of_persons(method, part, members)

        class_of_row, excess = banded_groups(task, persons, grouped)
        private["excess_rows"] = excess
    else:
        group = groups_of_persons(method, task, persons)
        if hides_numbers:
            group = hide_numbers_of_rows(task, persons, group)
        class_of_row = group[persons.number]
    cells = cells_of_groups(task, class_of_row, method.cell_hierarchy)
    facts = {
        "suppressed_rows": int((class_of_row < 0).sum()),
        "groups": int(class_of_row.max(initial=-1)) + 1,
    }
    return Generalized(class_of_row, cells, facts, method.promises(task), private)


def groups_of_persons(
    method: Method, task: Task, persons: Persons, asked: Sequence[Requirement] | None = None
) -> GroupOfRow:
    """The group of each person, −1 for a suppressed one.

    ``asked`` are the requirements that the method itself meets, by default all of the task.
    """
    first = task if asked is None else replace(task, requirements=asked)
    group = _first_groups(method, first, one_row_each(task, persons))
    units = RowUnits.of(task.table, persons.number)
    return merged_until_sound(task, persons, units, group, promised(method, task))


def _groups_of_rows(method: Method, task: Task, persons: Persons) -> GroupOfRow:
    """The group of each row; those with equal cells are one, as an attacker sees them."""
    group = _first_groups(method, task, task.table)
    units = RowUnits.of(task.table, np.arange(task.table.rows))
    while True:
        group = merged_until_sound(task, persons, units, group, promised(method, task))
        seen = merged_where_equal(task, group, method.cell_hierarchy)
        if seen.max(initial=-1) == group.max(initial=-1):
            return group
        group = seen  # persons of several groups: what each group meets, their union may not


def promised(method: Method, task: Task) -> list[Requirement]:
    """The task's requirements, and what the method promises beside them."""
    asked = list(task.requirements)
    return asked + [one for one in method.promises(task) if one not in asked]


def _first_groups(method: Method, task: Task, table: CodedTable) -> GroupOfRow:
    """The groups of a table's rows; all rows where the method finds none, persons may pass."""
    try:
        basis = replace(task.basis, persons=None)
        outcome = method.run(replace(task, table=table, basis=basis))
    except InfeasibleError:
        return np.zeros(table.rows, np.int32)
    assert isinstance(outcome, Generalized | Bucketized)  # others are unfit for persons
    return outcome.class_of_row if isinstance(outcome, Generalized) else outcome.group_of_row


def one_row_each(task: Task, persons: Persons) -> CodedTable:
    """One row for each person, under the codes of the table."""
    sensitive = {column.name for column in task.table.sensitive}
    columns = {}
    for column in task.table:
        codes = _commonest_sensitive(task, column, persons) if column.name in sensitive else None
        if codes is None:
            codes = chosen_codes(column, persons, CollapseRule.MOST_FREQUENT)
        columns[column.name] = replace(column, codes=codes)
    return replace(task.table, columns=columns, rows=persons.count)


def _commonest_sensitive(task: Task, column: Column, persons: Persons) -> Codes | None:
    """The value of each person that most persons have, sensitive ones before others.

    None where no requirement counts the persons who have a value at all. Values that a requirement
    counts as one kind are as common as the kind.
    """
    asked = [
        requirement
        for requirement in task.requirements
        if isinstance(requirement, SparingRequirement)
        and person_basis(requirement) is PersonBasis.TOUCHED
        and column.name in (requirement.named or (column.name,))
    ]
    if not asked:
        return None
    touch = distinct_values(persons.number * column.cardinality + column.codes)
    person, value = np.divmod(touch, column.cardinality)
    having = np.bincount(value, minlength=column.cardinality)
    common = np.zeros(column.cardinality, np.int64)  # persons with a sensitive value of the kind
    for requirement in asked:
        kind = requirement.counted_as(task.domains[column.name])
        kinds = int(kind.max(initial=0)) + 1
        sensitive = kind[value] >= 0
        member = distinct_values(person[sensitive] * kinds + kind[value[sensitive]])
        persons_of_kind = np.bincount(member % kinds, minlength=kinds)
        common = np.maximum(common, np.where(kind >= 0, persons_of_kind[kind], 0))
    order = np.lexsort((having[value], common[value], person))
    last = np.flatnonzero(np.append(np.diff(person[order]) > 0, True))
    return value[order[last]].astype(np.int32)


def hide_numbers_of_rows(task: Task, persons: Persons, group: GroupOfRow) -> GroupOfRow:
    """Merge groups until the number of a person's rows makes few values likely, and none certain.

    The rows of a group, dealt out at random, give a person with many of them a value with a
    greater chance. Counted are the persons who have a sensitive value with a chance above
    ``BELIEVED``, where all rows of the table as one group give none above it.
    """
    units = RowUnits.of(task.table, persons.number)
    centres = Centres.of(group, units.place)
    label = np.arange(int(group.max()) + 1)
    touches = [_Touches.of(task, column, persons) for column in task.table.sensitive]
    while True:
        # Whose value is too likely, in groups as they are now.
        now = label[group]
        groups = int(now.max()) + 1
        likely, certain = np.zeros(persons.count, bool), np.zeros(persons.count, bool)
        for touch in touches:
            chance = touch.chances(now[persons.number], now)
            likely[touch.person[(chance > BELIEVED) & (touch.unlinked <= BELIEVED)]] = True
            certain[touch.person[(chance >= SURE) & (touch.unlinked < SURE)]] = True
        spared = int(MOST_LIKELY * min(touch.persons for touch in touches))
        excess = int(likely.sum()) - spared
        if groups == 1 or (excess <= 0 and not certain.any()):
            return now.astype(np.int32)
        # Merge the smallest of their groups, as many as it takes, with their neighbours.
        merging = np.bincount(now[certain], minlength=groups) > 0
        if excess > 0:
            hot = np.bincount(now[likely], minlength=groups)
            smallest = np.lexsort((np.bincount(now, minlength=groups), hot == 0))
            enough = int(np.searchsorted(np.cumsum(hot[smallest]), excess)) + 1
            merging[smallest[:enough]] = True
        merged = joined_with_nearest(centres.of_groups(label), merging)
        label = np.unique(merged, return_inverse=True)[1][label]


@dataclass(frozen=True, eq=False)
class _Touches:
    """The persons who have a sensitive value of an attribute, a line for each value of each."""

    column: Column
    person: Ints
    value: Ints
    rows: Ints  # of the person
    unlinked: Floats  # the chance of the value, were all rows of the table one group
    persons: int

    @classmethod
    def of(cls, task: Task, column: Column, persons: Persons) -> _Touches:
        touch = distinct_values(persons.number * column.cardinality + column.codes)
        person, value = np.divmod(touch, column.cardinality)
        marks = task.secrets.sensitive_values.get(column.name)
        if marks is not None:
            person, value = person[marks[value]], value[marks[value]]
        rows = persons.rows_of[person]
        having = np.bincount(column.codes, minlength=column.cardinality)[value]
        everything = np.full(len(person), len(column.codes))
        unlinked = 1 - share_without(everything, having, rows)
        return cls(column, person, value, rows, unlinked, len(distinct_values(person)))

    def chances(self, group_of_row: Ints, group_of_person: Ints) -> Floats:
        """(lines,) The chance of each value in its person's group."""
        key, count = np.unique(
            group_of_row * self.column.cardinality + self.column.codes, return_counts=True
        )
        group = group_of_person[self.person]
        having = count[np.searchsorted(key, group * self.column.cardinality + self.value)]
        return 1 - share_without(np.bincount(group_of_row)[group], having, self.rows)
