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
from dataclasses import dataclass, replace
from typing import Any

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
from discreet.table.code_maps import taken
from discreet.table.coded_table import CodedTable, count_codes
from discreet.table.counts import (
    ClassCounts,
    RefinedCounts,
    ValueCounts,
    count_classes,
)
from discreet.table.kernels.lists import starts_of
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
    return sensitive.once("counts", lambda: taken(number.astype(np.int64), column.codes))


def sizes_of(sensitive: CodedTable) -> NDArray[np.int64]:
    """The people in each group, by the sensitive table's own codes."""
    group, weights = sensitive[GROUP], people_counted(sensitive)
    if weights is None or (weights == 1).all():
        return count_codes(group.codes, group.cardinality)
    return np.bincount(group.codes, weights, group.cardinality).astype(np.int64)


@dataclass(frozen=True, eq=False)
class CountedValues:
    """The rows of a table that counts the values of groups, sorted by group and value."""

    key: NDArray[np.unsignedinteger[Any]]  # (rows,) of group and value
    count: NDArray[np.int64]  # (rows,)

    def distinct(self) -> NDArray[np.intp]:
        """Return where each key occurs first."""
        first = np.ones(len(self.key), np.bool_)
        np.not_equal(self.key[1:], self.key[:-1], out=first[1:])
        return np.flatnonzero(first)


def keys_of(
    group: NDArray[np.int32], value: NDArray[np.int32], shape: tuple[int, int]
) -> NDArray[np.unsignedinteger[Any]]:
    """Return a key for each pair of a group and a value; there are ``shape`` of both."""
    key: NDArray[Any] = group.astype(np.uint32 if shape[0] * shape[1] < 2**32 else np.uint64)
    key *= key.dtype.type(shape[1])
    np.add(key, value, out=key, casting="unsafe")
    return key


def counted_values(sensitive: CodedTable) -> CountedValues:
    """Sort the rows of a table that counts the values of one attribute; once for a table."""
    return sensitive.once("sorted", lambda: _counted_values(sensitive))


def _counted_values(sensitive: CodedTable) -> CountedValues:
    group, (column,), count = sensitive[GROUP], sensitive.sensitive, people_counted(sensitive)
    assert count is not None
    key = keys_of(group.codes, column.codes, (group.cardinality, column.cardinality))
    if (count == 1).all():
        key.sort()
        return CountedValues(key, count)
    order = np.argsort(key)
    return CountedValues(key[order], count[order])


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
    found = counted_values(sensitive)
    key, count = found.key, found.count
    entries = count_codes(group.codes, group.cardinality)
    first = found.distinct()
    if len(first) < len(key):
        key, count = key[first], np.add.reduceat(count, first)
        entries = np.bincount((key // column.cardinality).astype(np.int64), None, group.cardinality)
    value = (key % key.dtype.type(column.cardinality)).astype(np.int32)
    counts = ValueCounts(starts_of(entries), value, count, column.cardinality)
    sizes = sizes_of(sensitive)
    inner = None
    if refined:  # no other sensitive attribute refines the groups
        every = np.arange(len(sizes), dtype=np.int32)
        inner = {column.name: RefinedCounts(counts, sizes, every)}
    return ClassCounts(sizes, {column.name: counts}, inner)
