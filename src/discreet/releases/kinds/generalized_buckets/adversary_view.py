"""The attacker's view of groups with generalized quasi-identifiers.

A person is in a group whose cells cover the person's values; several groups may.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.hierarchies.covering_classes import coverages_of, fitting_groups
from discreet.methods.base import Task
from discreet.releases.adversary_view import AdversaryView, certain_view, mixed_view
from discreet.releases.kinds.bucketized.tables import SENSITIVE, people_counted
from discreet.releases.kinds.generalized.adversary_view import sampled_placement
from discreet.releases.placement import weigh
from discreet.table.classes import Classes, classes_of
from discreet.table.code_maps import code_of_text
from discreet.table.coded_table import CodedTable
from discreet.table.published import GROUP
from discreet.typing import Ints


def view_of_cells(
    people: CodedTable, sensitive: CodedTable, task: Task, rng: np.random.Generator
) -> AdversaryView:
    """Read the cells of each group with every person's quasi-identifiers given."""
    counted = people_counted(sensitive)
    rows = np.arange(sensitive.rows)
    if counted is not None:
        rows = np.repeat(rows, counted)
    group_of_row, groups = sensitive[GROUP].codes[rows], sensitive[GROUP].cardinality
    classes = Classes(group_of_row, _first(group_of_row, groups), np.bincount(group_of_row))
    columns = {column.name: column.take(rows) for column in sensitive.sensitive}

    group_of_people = code_of_text(sensitive[GROUP].text, people[GROUP].text)[people[GROUP].codes]
    member = _first(group_of_people, groups)
    size = np.bincount(group_of_people, minlength=groups)
    own = [task.table[column.name] for column in people.quasi_identifiers]
    kinds = classes_of(own, task.table.rows)
    coverages = coverages_of(people, own, task.hierarchies, {})
    cells = [column.codes[member] for column in people.quasi_identifiers]
    values = [column.codes[kinds.first_row] for column in own]
    fits = fitting_groups(coverages, values, cells)
    if fits is None:
        placement, place = sampled_placement(coverages, values, cells, size, rng)
        of_person = place[kinds.class_of_row]
        return mixed_view(SENSITIVE, classes, columns, placement, of_person, task)
    start, group = fits
    if (np.diff(start) <= 1).all():
        group_of_kind = np.full(kinds.count, -1, np.int32)
        group_of_kind[np.diff(start) > 0] = group
        return certain_view(SENSITIVE, classes, columns, group_of_kind, kinds.class_of_row)
    placement = weigh(start, group, kinds.size, size, task.table.rows - people.rows)
    return mixed_view(SENSITIVE, classes, columns, placement, kinds.class_of_row, task)


def _first(code: NDArray[np.integer], codes: int) -> Ints:
    """The first row of each code."""
    first = np.zeros(codes, np.int64)
    first[code[::-1]] = np.arange(len(code))[::-1]
    return first
