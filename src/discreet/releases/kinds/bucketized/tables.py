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
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.errors import ReleaseError
from discreet.methods.base import Bucketized, Counterfeits, Task
from discreet.releases.audit.row_order import related_columns, same_order
from discreet.releases.kinds.base import Kind, View
from discreet.releases.kinds.grouped_people import (
    PUBLIC,
    exact_columns,
    group_codes_in,
    group_column,
    number_problems,
    people_changes,
    people_table,
    random_numbers,
    refuse_roles,
    row_problems,
    sole_groups,
    source_rows,
)
from discreet.releases.manifest import Manifest
from discreet.releases.table_forms import Form
from discreet.requirements.base import Domains
from discreet.table.classes import Classes, group_codes
from discreet.table.code_maps import excess, recoded
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


class BucketizedKind(Kind):
    """Two tables that share the group."""

    name: ClassVar[str] = "bucketized"
    outcome: ClassVar[type] = Bucketized
    makes_alike: ClassVar[bool] = False

    def tables(self, task: Task, outcome: Bucketized) -> dict[str, PublishedTable]:
        refuse_roles(task.table, self.name)
        if outcome.counterfeits is not None:
            return _with_counterfeits(task, outcome, outcome.counterfeits)
        suppressed = self.suppressed(outcome)
        kept = np.flatnonzero(outcome.group_of_row >= 0) if suppressed else None
        group = outcome.group_of_row if kept is None else outcome.group_of_row[kept]
        number, groups = random_numbers(group, task.orders)
        group = number[group]
        people = people_table(PEOPLE, task, group, groups, kept)
        if outcome.counted:
            sensitive = _value_counts(task, group, groups, kept)
        else:
            columns = [group_column(group, groups), *exact_columns(task.table.sensitive, kept)]
            sensitive = PublishedTable(SENSITIVE, columns, len(group), source_rows(kept))
        return {PEOPLE: people, SENSITIVE: sensitive}

    def forms(self, tables: int) -> Mapping[str, Form]:
        return {
            PEOPLE: Form(PUBLIC, (GROUP,)),
            SENSITIVE: Form((Role.SENSITIVE,), (GROUP,), (COUNT,), Role.SENSITIVE),
            COUNTERFEITS: Form((), (GROUP, COUNT), may_lack=True),
        }

    def suppressed(self, outcome: Bucketized) -> int:
        return int((outcome.group_of_row < 0).sum())

    def views(
        self, tables: Mapping[str, CodedTable], domains: Domains, *, refined: bool
    ) -> list[View]:
        counts = count_groups(tables[SENSITIVE], refined=refined)
        if COUNTERFEITS in tables:
            people = tables[PEOPLE]
            code = group_codes_in(people, tables[SENSITIVE])
            members = np.append(people[GROUP].counts, 0)[code]  # the last for a group without any
            counts = replace(counts, real=members)
        return [View(counts, domains)]

    def sizes(self, tables: Mapping[str, CodedTable]) -> dict[str, NDArray[np.int64]]:
        return {"": tables[PEOPLE][GROUP].counts}

    def counterfeits(self, tables: Mapping[str, CodedTable]) -> int:
        return count_counterfeits(tables)

    def inconsistencies(self, tables: Mapping[str, CodedTable], manifest: Manifest) -> list[str]:
        people, sensitive = tables[PEOPLE], tables[SENSITIVE]
        problems = row_problems(people, PEOPLE, manifest)
        code = group_codes_in(people, sensitive)
        sizes = -counterfeits_of(people, tables)
        present = code >= 0
        sizes[code[present]] += _sizes(sensitive)[present]
        wrong = int((sizes != people[GROUP].counts).sum() + (~present).sum())
        if wrong:
            problems.append(
                f"{wrong} groups have not as many sensitive rows in '{SENSITIVE}' as people in "
                f"'{PEOPLE}'"
            )
        fakes, said = count_counterfeits(tables), getattr(manifest.method, COUNTERFEITS, 0)
        if fakes != said:
            problems.append(f"the manifest says {said} counterfeits, the tables {fakes}")
        for name in (SENSITIVE, COUNTERFEITS):
            problems += _count_problems(tables, name)
        return problems

    def structure_problems(self, tables: Mapping[str, CodedTable]) -> list[str]:
        problems = number_problems(tables[PEOPLE], PEOPLE)
        for name in (SENSITIVE, COUNTERFEITS):
            if name in tables and people_counted(tables[name]) is not None:
                problems += _twice_counted(tables[name], name)
        return problems

    def order_problems(self, tables: Mapping[str, CodedTable]) -> list[str]:
        related = related_columns(tables[PEOPLE], tables[SENSITIVE])
        return [same_order(PEOPLE, SENSITIVE, related)] if related else []

    def changes(
        self, tables: Mapping[str, CodedTable], task: Task, manifest: Manifest
    ) -> list[str]:
        people, sensitive = tables[PEOPLE], tables[SENSITIVE]
        problems = people_changes(people, PEOPLE, task, manifest)
        columns = sensitive.sensitive
        cells = [column.codes for column in columns]
        of_original = [recoded(column, task.table[column.name]) for column in columns]
        cardinalities = [column.cardinality + 1 for column in columns]
        weights = people_counted(sensitive)
        invented = excess(cells, of_original, cardinalities, weights)
        if invented > count_counterfeits(tables):
            problems.append(f"{invented} rows of '{SENSITIVE}' are not in the original")
        if problems or manifest.suppressed_rows:
            return problems
        # Where a person's group is certain, the person's sensitive row must stand there.
        group = group_codes_in(people, sensitive)[sensitive[GROUP].codes].astype(np.int32)
        sole = sole_groups(people, task.table).astype(np.int32)
        known = sole >= 0
        of_person = [sole[known], *(column[known] for column in of_original)]
        bounds = [people[GROUP].cardinality, *cardinalities]
        moved = excess(of_person, [group, *cells], bounds, weights_of_others=weights)
        if moved:
            problems.append(f"{moved} people stand in a group without their own sensitive row")
        return problems


def _with_counterfeits(
    task: Task, outcome: Bucketized, fakes: Counterfeits
) -> dict[str, PublishedTable]:
    """The tables where some sensitive rows are nobody's."""
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
    """How many counterfeits each group has, by the people's codes of groups."""
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
    """How many counterfeits a release says it has."""
    number = people_counted(tables[COUNTERFEITS]) if COUNTERFEITS in tables else None
    return 0 if number is None else int(number.sum())


def _value_counts(
    task: Task, group: NDArray[np.int32], groups: int, kept: NDArray[np.int64] | None
) -> PublishedTable:
    (column,) = exact_columns(task.table.sensitive, kept)
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
    """What each row of a table is counted as, where it has such a column."""
    if COUNT not in sensitive.columns or sensitive[COUNT].role is not Role.STRUCTURE:
        return None
    column = sensitive[COUNT]
    number = column.text.cast(pl.Int64, strict=False).fill_null(0).to_numpy()
    return number.astype(np.int64)[column.codes]


def _count_problems(tables: Mapping[str, CodedTable], name: str) -> list[str]:
    """Counts that are no whole number above 0: a value that nobody has would seem to occur."""
    number = people_counted(tables[name]) if name in tables else None
    wrong = 0 if number is None else int((number < 1).sum())
    if number is None or wrong:
        return [f"{wrong} rows of '{name}' have no count above 0"] if wrong else []
    text = tables[name][COUNT].text
    if (text.cast(pl.Int64).cast(pl.String) != text).any():
        return [f"'{name}' has counts with signs, blanks or leading zeros"]
    return []


def _twice_counted(table: CodedTable, name: str) -> list[str]:
    """Rows that one row with the sum of their counts would replace."""
    columns = [column for column in table if column.name != COUNT]
    classes = group_codes(
        [column.codes for column in columns], [column.cardinality for column in columns], table.rows
    )
    twice = table.rows - classes.count
    return [f"{twice} rows of '{name}' repeat what another counts"] if twice else []


def _sizes(sensitive: CodedTable) -> NDArray[np.int64]:
    """The people in each group, by the sensitive table's own codes."""
    group = sensitive[GROUP]
    return np.bincount(group.codes, people_counted(sensitive), group.cardinality).astype(np.int64)


def count_groups(sensitive: CodedTable, *, refined: bool = False) -> ClassCounts:
    """The counts of every group, from the sensitive table alone."""
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
    sizes = _sizes(sensitive)
    inner = None
    if refined:  # no other sensitive attribute refines the groups
        every = np.arange(len(sizes), dtype=np.int32)
        inner = {column.name: RefinedCounts(counts, sizes, every)}
    return ClassCounts(sizes, {column.name: counts}, inner)
