"""Bucketized releases: exact quasi-identifiers with a group, and the group's sensitive rows.

``quasi_identifiers`` holds a row a person: quasi-identifiers, ``group``, insensitive columns.
``sensitive`` holds a row a person too, the ``group`` and all sensitive columns; or, where the one
sensitive attribute is counted, a row for each value of a group with its ``count``. The tables are
in random orders of their own, so only the group links them.

Where a method adds counterfeits (re-publication), they are rows of ``sensitive`` that no person
has; ``counterfeits`` holds, for each group that has some, their ``count``. They are no secret: a
reader sees who is in a group and how many sensitive rows it has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.errors import ReleaseError
from discreet.methods.base import Bucketized, Counterfeits, Task
from discreet.releases.kinds.grouped_people import (
    exact_columns,
    group_codes_in,
    group_column,
    people_table,
    random_numbers,
)
from discreet.table.classes import Classes, group_codes
from discreet.table.coded_table import CodedTable
from discreet.table.counts import (
    ClassCounts,
    RefinedCounts,
    ValueCounts,
    count_classes,
    order_by_class,
)
from discreet.table.published import COUNT, GROUP, PublishedColumn, PublishedTable
from discreet.table.roles import Role

PEOPLE = "quasi_identifiers"
SENSITIVE = "sensitive"
COUNTERFEITS = "counterfeits"


def with_counterfeits(
    task: Task, outcome: Bucketized, fakes: Counterfeits
) -> dict[str, PublishedTable]:
    """The tables where some sensitive rows belong to no person."""
    kept = np.flatnonzero(outcome.group_of_row >= 0)
    group = outcome.group_of_row[kept]
    number, groups = random_numbers(group, task.orders)
    people = people_table(PEOPLE, task, number[group], groups, kept)
    of_row = number[np.concatenate([group, fakes.group])]
    columns = [group_column(of_row, groups)]
    for column in task.table.sensitive:
        codes = np.concatenate([column.codes[kept], fakes.value[column.name]]).astype(np.int32)
        columns.append(PublishedColumn(column.name, column.role, codes, column.values))
    tables = {PEOPLE: people, SENSITIVE: PublishedTable(SENSITIVE, columns, len(of_row))}
    if len(fakes.group):
        holders, size = np.unique(number[fakes.group], return_counts=True)
        counts, code = np.unique(size, return_inverse=True)
        tables[COUNTERFEITS] = PublishedTable(
            COUNTERFEITS,
            [
                group_column(holders, groups),
                PublishedColumn(
                    COUNT, Role.STRUCTURE, code.astype(np.int32), pl.Series(COUNT, counts)
                ),
            ],
            len(holders),
        )
    return tables


def counterfeits_of(people: CodedTable, tables: Mapping[str, CodedTable]) -> NDArray[np.int64]:
    """Return how many counterfeits each group has, by the people's codes of groups."""
    found = np.zeros(people[GROUP].cardinality, np.int64)
    if COUNTERFEITS in tables:
        table = tables[COUNTERFEITS]
        code = group_codes_in(people, table)[table[GROUP].codes]
        known = code >= 0
        number = people_counted(table)
        if number is not None:
            np.add.at(found, code[known], number[known])
    return found


def count_counterfeits(tables: Mapping[str, CodedTable]) -> int:
    """Return how many counterfeits a release says it has."""
    number = people_counted(tables[COUNTERFEITS]) if COUNTERFEITS in tables else None
    return 0 if number is None else int(number.sum())


def value_counts(
    task: Task, group: NDArray[np.int32], groups: int, kept: NDArray[np.int64] | None
) -> PublishedTable:
    """The values of each group, with the number of persons who have each."""
    (column,) = exact_columns(task.table.sensitive, kept)
    if task.kept is not None:  # a person with several rows counts once for each value
        person = task.kept.number if kept is None else task.kept.number[kept]
        shape = [groups, task.kept.count, len(column.dictionary)]
        once = group_codes([group, person.astype(np.int32), column.codes], shape, len(group))
        group = group[once.first_row]
        column = replace(column, codes=column.codes[once.first_row])
    entries = group_codes([group, column.codes], [groups, len(column.dictionary)], len(group))
    counts, code = np.unique(entries.size, return_inverse=True)
    columns = [
        group_column(group[entries.first_row], groups),
        PublishedColumn(
            column.name, column.role, column.codes[entries.first_row], column.dictionary
        ),
        PublishedColumn(COUNT, Role.STRUCTURE, code.astype(np.int32), pl.Series(COUNT, counts)),
    ]
    return PublishedTable(SENSITIVE, columns, entries.count)


def people_counted(sensitive: CodedTable) -> NDArray[np.int64] | None:
    """Return what each row of a table is counted as, where it has such a column."""
    if COUNT not in sensitive.columns or sensitive[COUNT].role is not Role.STRUCTURE:
        return None
    column = sensitive[COUNT]
    number = column.text.cast(pl.Int64, strict=False).fill_null(0).to_numpy()
    return number.astype(np.int64)[column.codes]


def sizes_of(sensitive: CodedTable) -> NDArray[np.int64]:
    """The people in each group, by the sensitive table's own codes."""
    group = sensitive[GROUP]
    return np.bincount(group.codes, people_counted(sensitive), group.cardinality).astype(np.int64)


def count_groups(sensitive: CodedTable, *, refined: bool = False) -> ClassCounts:
    """The counts of every group, from the sensitive table alone; found once for a table."""
    return sensitive.once(("groups counted", refined), lambda: _count_groups(sensitive, refined))


def _count_groups(sensitive: CodedTable, refined: bool) -> ClassCounts:
    group = sensitive[GROUP]
    weights = people_counted(sensitive)
    if weights is None:
        first = np.full(group.cardinality, -1, np.int64)
        first[group.codes[::-1]] = np.arange(len(group.codes))[::-1]
        classes = Classes(group.codes, first, group.counts)
        return count_classes(classes, sensitive.sensitive, refined=refined)
    if len(sensitive.sensitive) != 1:
        columns = len(sensitive.sensitive)
        raise ReleaseError(f"'{SENSITIVE}' counts the values of {columns} columns, not of one.")
    (column,) = sensitive.sensitive
    entries = group_codes(
        [group.codes, column.codes], [group.cardinality, column.cardinality], sensitive.rows
    )
    count = np.bincount(entries.class_of_row, weights, entries.count).astype(np.int64)
    of_group, value = group.codes[entries.first_row], column.codes[entries.first_row]
    start, order = order_by_class(of_group, value, group.cardinality, column.cardinality)
    counts = ValueCounts(start, value[order], count[order], column.cardinality)
    sizes = sizes_of(sensitive)
    inner = None
    if refined:  # no other sensitive attribute refines the groups
        every = np.arange(len(sizes), dtype=np.int32)
        inner = {column.name: RefinedCounts(counts, sizes, every)}
    return ClassCounts(sizes, {column.name: counts}, inner)
