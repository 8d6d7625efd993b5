"""The attacker's view of a bucketized release.

Groups are written beside exact quasi-identifiers; people who look alike may be in several groups,
in each with the share of them who are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet.methods.base import Task
from discreet.releases.adversary_view import (
    AdversaryView,
    KnownMembers,
    certain_view,
    mixed_view,
)
from discreet.releases.kinds.bucketized.tables import SENSITIVE, people_counted
from discreet.releases.placement import Placement
from discreet.table.classes import Classes, group_codes
from discreet.table.code_maps import code_of_text, recoded
from discreet.table.coded_table import CodedTable
from discreet.table.published import GROUP


def view_of_buckets(people: CodedTable, sensitive: CodedTable, task: Task) -> AdversaryView:
    """Read exact quasi-identifiers with their group, and the group's sensitive rows."""
    counted = people_counted(sensitive)
    rows = np.arange(sensitive.rows) if counted is None else np.repeat(
        np.arange(sensitive.rows), counted
    )  # fmt: skip
    group_of_row = sensitive[GROUP].codes[rows]
    groups = sensitive[GROUP].cardinality
    first = np.zeros(groups, np.int64)
    first[group_of_row[::-1]] = np.arange(len(rows))[::-1]
    size = np.bincount(group_of_row, minlength=groups).astype(np.int64)
    classes = Classes(group_of_row, first, size)
    columns = {column.name: column.take(rows) for column in sensitive.sensitive}

    quasi = people.quasi_identifiers
    both = [np.concatenate([c.codes, recoded(c, task.table[c.name])]) for c in quasi]
    total = people.rows + task.table.rows
    kinds = group_codes(both, [c.cardinality + 1 for c in quasi], total)
    of_people, of_person = np.split(kinds.class_of_row, [people.rows])
    group_of_people = code_of_text(sensitive[GROUP].text, people[GROUP].text)[people[GROUP].codes]
    pairs = group_codes(
        [of_people, group_of_people.astype(np.int32)], [kinds.count, groups], people.rows
    )
    kind, group = of_people[pairs.first_row], group_of_people[pairs.first_row]
    order = np.argsort(kind, kind="stable")
    start = np.searchsorted(kind[order], np.arange(kinds.count + 1))
    alike = np.bincount(of_people, minlength=kinds.count)
    weight = pairs.size[order] / alike[kind[order]]
    placement = Placement(start, group[order].astype(np.int32), weight)
    if (np.diff(start) <= 1).all():
        group_of_kind = np.full(kinds.count, -1, np.int32)
        group_of_kind[np.diff(start) > 0] = placement.group
        return certain_view(SENSITIVE, classes, columns, group_of_kind, of_person)
    first_person = np.zeros(kinds.count, np.int64)
    first_person[of_person[::-1]] = np.arange(task.table.rows)[::-1]
    members = KnownMembers(
        first_person[of_people], group_of_people.astype(np.int32), of_people, of_person
    )
    mixed = mixed_view(SENSITIVE, classes, columns, placement, of_person, task)
    return replace(mixed, members=members)
