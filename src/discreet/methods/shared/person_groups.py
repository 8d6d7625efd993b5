"""Groups of persons with several rows each.

Under ``scope: persons`` a method groups one row for each person, with the most frequent value of
each column; the cells of a group then cover all rows of all its members, so nothing tells two
members apart, whatever an attacker knows of their rows. Under ``scope: rows`` it groups rows. In
both cases groups whose persons do not meet a requirement are merged with a neighbour until all do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from discreet.errors import InfeasibleError
from discreet.methods.base import Bucketized, Generalized, Method, Task
from discreet.methods.shared.grouped_rows import cells_of_groups, merged_where_equal
from discreet.methods.shared.person_bands import banded_groups
from discreet.methods.shared.sound_groups import RowUnits, merged_until_sound
from discreet.requirements.base import Requirement
from discreet.table.coded_table import CodedTable
from discreet.table.persons import CollapseRule, Persons, Scope, chosen_codes
from discreet.typing import GroupOfRow


def group_persons(method: Method, task: Task, persons: Persons) -> Generalized:
    """Run a method on persons, and publish their rows."""
    private: dict[str, Any] = {}
    if task.basis.keeping.scope is Scope.ROWS:
        class_of_row = _groups_of_rows(method, task, persons)
    elif task.basis.keeping.numbered:

        def grouped(part: Task, members: Persons) -> GroupOfRow:
            return groups_of_persons(method, part, members)

        class_of_row, excess = banded_groups(task, persons, grouped)
        private["excess_rows"] = excess
    else:
        class_of_row = groups_of_persons(method, task, persons)[persons.number]
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
    group = _first_groups(method, first, one_row_each(task.table, persons))
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


def one_row_each(table: CodedTable, persons: Persons) -> CodedTable:
    """The most frequent values of each person, under the codes of the table."""
    columns = {
        column.name: replace(
            column, codes=chosen_codes(column, persons, CollapseRule.MOST_FREQUENT)
        )
        for column in table
    }
    return replace(table, columns=columns, rows=persons.count)
