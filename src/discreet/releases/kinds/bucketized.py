"""Bucketized releases: quasi-identifiers with a group, and the group's sensitive rows.

``quasi_identifiers`` holds a row a person: quasi-identifiers, ``group``, insensitive columns.
``sensitive`` holds a row a person too, the ``group`` and all sensitive columns; or, where the one
sensitive attribute is counted, a row for each value of a group with its ``count``. The tables are
in random orders of their own, so only the group links them.

Where a method adds counterfeits (re-publication), they are rows of ``sensitive`` that no person
has; ``counterfeits`` holds, for each group that has some, their ``count``. They are no secret: a
reader sees who is in a group and how many sensitive rows it has.

In generalized buckets all people of a group have the same cells in ``quasi_identifiers``. An
attacker who knows every person's group learns no more from them than from exact quasi-identifiers,
so what is guaranteed against that attacker holds here too. In p2 each sensitive row of a group lies
evenly over the values that the group's cells cover; counterfeits take their part of the group's
mass, so that the mass of a group is its number of people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.errors import ReleaseError
from discreet.hierarchies.coverage import coverage_of_cells, identity
from discreet.hierarchies.covering_classes import coverages_of, fitting_groups
from discreet.methods.base import Bucketized, GeneralizedBuckets, Task
from discreet.releases.audit.row_order import related_columns, same_order
from discreet.releases.kinds.base import Form, Kind, ReleaseTally, View
from discreet.releases.kinds.generalized import CoveredCells
from discreet.releases.kinds.grouped import (
    MEMBERSHIP,
    PUBLIC,
    GroupedKind,
    exact_columns,
    first_rows,
    group_codes_in,
    group_column,
    group_sentences,
    people_table,
    random_numbers,
    refuse_roles,
    sole_groups,
    source_rows,
)
from discreet.releases.kinds.implied_groups import (
    ImpliedGroups,
    SensitiveRows,
    check_people,
    group_numbers,
    open_share,
    people_of,
    source_codes,
    sum_people,
)
from discreet.releases.manifest import Manifest
from discreet.requirements.base import Domains
from discreet.statements import Statement
from discreet.table.classes import Classes, classes_of, group_codes
from discreet.table.code_maps import excess, recoded, taken
from discreet.table.coded_table import CodedTable, Column, Tables, count_codes, derived_once
from discreet.table.counts import (
    ClassCounts,
    RefinedCounts,
    count_classes,
    order_by_class,
    sum_counts,
)
from discreet.table.persons import Persons
from discreet.table.published import COUNT, GROUP, PublishedColumn, PublishedTable
from discreet.table.roles import Role
from discreet.typing import AnyInts, Ints, Ints32
from discreet.utility.cell_sums import CellSums, measures_of
from discreet.utility.figures import ImpliedReading, Measures
from discreet.utility.implied import Implied, ImpliedGeneralized

PEOPLE = "quasi_identifiers"
SENSITIVE = "sensitive"
COUNTERFEITS = "counterfeits"
ALONE = Statement("weakness.membership.alone")


class BucketizedKind(GroupedKind):
    """Two tables that share the group."""

    name: ClassVar[str] = "bucketized"
    outcome: ClassVar[type] = Bucketized
    makes_alike: ClassVar[bool] = False
    numbers_groups: ClassVar[bool] = True
    rows_table: ClassVar[str] = PEOPLE
    values_table: ClassVar[str] = SENSITIVE

    def tables(self, task: Task, outcome: Bucketized) -> dict[str, PublishedTable]:
        refuse_roles(task.table, self.name)
        placed = outcome.group_of_row >= 0
        placed_rows = None if placed.all() else np.flatnonzero(placed)
        group = outcome.group_of_row if placed_rows is None else outcome.group_of_row[placed_rows]
        number, groups = random_numbers(group, task.orders)
        group, fakes = number[group], outcome.counterfeits
        people = people_table(PEOPLE, task, group, groups, placed_rows)
        if outcome.counted:
            return {PEOPLE: people, SENSITIVE: value_counts(task, group, groups, placed_rows)}
        columns = exact_columns(task.table.sensitive, placed_rows)
        if fakes is None:
            columns = [group_column(group, groups), *columns]
            rows = PublishedTable(SENSITIVE, columns, len(group), source_rows(placed_rows))
            return {PEOPLE: people, SENSITIVE: rows}
        # Counterfeits are sensitive rows without a person.
        of_row = np.concatenate([group, number[fakes.group]])
        columns = [
            replace(c, codes=np.concatenate([c.codes, fakes.value[c.name]]).astype(np.int32))
            for c in columns
        ]
        rows = PublishedTable(SENSITIVE, [group_column(of_row, groups), *columns], len(of_row))
        tables = {PEOPLE: people, SENSITIVE: rows}
        # How many each group has is no secret.
        if len(fakes.group):
            holders, size = np.unique(number[fakes.group], return_counts=True)
            columns = [group_column(holders, groups), count_column(size)]
            tables[COUNTERFEITS] = PublishedTable(COUNTERFEITS, columns, len(holders))
        return tables

    def forms(self, tables: int) -> Mapping[str, Form]:
        return {
            PEOPLE: Form(PUBLIC, (GROUP,)),
            SENSITIVE: Form((Role.SENSITIVE,), (GROUP,), (COUNT,), Role.SENSITIVE),
            COUNTERFEITS: Form((), (GROUP, COUNT), may_lack=True),
        }

    def views(self, tables: Tables, domains: Domains, *, refined: bool) -> list[View]:
        counts = count_groups(tables[SENSITIVE], refined)
        if COUNTERFEITS in tables:
            people = tables[PEOPLE]
            code = group_codes_in(people, tables[SENSITIVE])
            members = np.append(people[GROUP].counts, 0)[code]  # the last for a group without any
            counts = replace(counts, real=members)
        return [View(counts, domains)]

    def shard_problems(self, tables: Tables, manifest: Manifest) -> list[str]:
        people, sensitive = tables[PEOPLE], tables[SENSITIVE]
        problems = []
        code = group_codes_in(people, sensitive)
        sizes = -counterfeits_of(people, tables)
        present = code >= 0
        sizes[code[present]] += sizes_of(sensitive)[present]
        rows = people[GROUP].counts
        # a person with several rows counts once for each value, so a group has no more than rows
        differ = (sizes < 1) | (sizes > rows) if manifest.keeps_rows else sizes != rows
        wrong = int(differ.sum() + (~present).sum())
        if wrong:
            problems.append(
                f"{wrong} groups have a different number of rows in '{SENSITIVE}' as in '{PEOPLE}'"
            )
        for name in (SENSITIVE, COUNTERFEITS):
            problems += _count_problems(tables, name)
            if name in tables and people_counted(tables[name]) is not None:
                problems += _twice_counted(tables[name], name)
        return problems

    def joined_problems(
        self, manifest: Manifest, tally: ReleaseTally, evidence: Sequence[Any]
    ) -> list[str]:
        problems = super().joined_problems(manifest, tally, evidence)
        fakes, stated = tally.counterfeits, getattr(manifest.method, COUNTERFEITS, 0)
        if fakes != stated:
            problems.append(f"the manifest says {stated} counterfeits, the tables {fakes}")
        return problems

    def order_problems(self, tables: Tables) -> list[str]:
        related = related_columns(tables[PEOPLE], tables[SENSITIVE])
        return [same_order(PEOPLE, SENSITIVE, related)] if related else []

    def groups(self, tables: Tables) -> tuple[Classes, dict[str, Column], Ints]:
        people, sensitive = tables[PEOPLE], tables[SENSITIVE]
        counted, groups = people_counted(sensitive), sensitive[GROUP].cardinality
        rows = np.arange(sensitive.rows)
        if counted is not None:  # a row for each person who has the value
            rows = np.repeat(rows, counted)
        group = sensitive[GROUP].codes[rows]
        size = np.bincount(group, minlength=groups).astype(np.int64)
        columns = {column.name: column.take(rows) for column in sensitive.sensitive}
        classes = Classes(group, first_rows(group, groups), size)
        return classes, columns, group_codes_in(sensitive, people)[people[GROUP].codes]

    def changed_values(
        self, tables: Tables, task: Task, manifest: Manifest, source_row: Ints32 | None
    ) -> list[str]:
        people, sensitive = tables[PEOPLE], tables[SENSITIVE]
        problems = _invented_values(tables, task)
        if problems or (source_row is None and manifest.suppressed_rows):
            return problems
        group_of_row = np.full(task.table.rows, -1, np.int32)
        if source_row is None:
            group_of_row = self.sole_groups(people, task).astype(np.int32)
        else:
            group_of_row[source_row] = people[GROUP].codes
        problems = moved_rows(people, sensitive, task, group_of_row)
        if (
            problems
            or source_row is None
            or task.basis.persons is None
            or people_counted(sensitive) is None
        ):
            return problems
        return _touch_problems(people, sensitive, task, task.basis.persons, source_row)

    def sole_groups(self, people: CodedTable, task: Task) -> Ints:
        """For each original row of a release without suppression its group, −1 where unknown."""
        return sole_groups(people, task.table)

    def reading(self, tables: Tables, task: Task, manifest: Manifest) -> ImpliedReading[Measures]:
        people, sensitive, gone = tables[PEOPLE], tables[SENSITIVE], manifest.suppressed_rows
        check_people(task.table, people, gone)
        original = with_published_values(task.table, sensitive)
        measures = measure_buckets(self.sums(tables, task, manifest)[""], original, gone)
        return ImpliedReading(
            original, measures, lambda: self.implied(original, tables, task, manifest)
        )

    def implied(
        self, original: CodedTable, tables: Tables, task: Task, manifest: Manifest
    ) -> Implied:
        """p2: every person of a group has each of its sensitive rows, by their masses."""
        people = people_of(original, tables[PEOPLE])
        rows = bucket_rows(original, tables[PEOPLE], tables[SENSITIVE])
        return ImpliedGroups(original, people, rows, suppressed_rows=manifest.suppressed_rows)

    def sums(self, tables: Tables, task: Task, manifest: Manifest) -> dict[str, CellSums]:
        original = with_published_values(task.table, tables[SENSITIVE])
        sums = self.sums_of_people(tables[PEOPLE], original, task)
        return {"": with_sensitive(sums, original, tables)}

    def sums_of_people(self, people: CodedTable, original: CodedTable, task: Task) -> CellSums:
        """Sum over people what their quasi-identifiers leave open."""
        return sum_people(people, original)

    def measures(
        self, sums: Mapping[str, CellSums], task: Task, manifest: Manifest, facts: Mapping[str, Any]
    ) -> Measures:
        return measure_buckets(sums[""], task.table, manifest.suppressed_rows)

    def sentences(self, manifest: Manifest) -> list[str]:
        return group_sentences(manifest)

    def weaknesses(self, manifest: Manifest) -> list[str]:
        if getattr(manifest.method, "groups", None) != 1:
            return [*super().weaknesses(manifest), MEMBERSHIP]
        # one group of all rows: there is no other group to learn from
        sensitive = list(manifest.tables[SENSITIVE].columns.values()).count(Role.SENSITIVE)
        return [*([Statement("weakness.whole-rows")] if sensitive > 1 else []), MEMBERSHIP]


class GeneralizedBucketsKind(BucketizedKind):
    """Two tables that share the group; the people of a group look alike."""

    name: ClassVar[str] = "generalized-buckets"
    outcome: ClassVar[type] = GeneralizedBuckets
    makes_alike: ClassVar[bool] = True

    def tables(self, task: Task, outcome: Bucketized) -> dict[str, PublishedTable]:
        assert isinstance(outcome, GeneralizedBuckets)
        tables = super().tables(task, outcome)
        group = outcome.group_of_row[outcome.group_of_row >= 0]
        columns = []
        for column in tables[PEOPLE].columns:
            cells = outcome.cells.get(column.name)
            if cells is not None:
                labels = pl.Series(column.name, list(cells.labels), dtype=pl.String)
                codes = cells.cell_of_class.take(group)
                column = replace(column, codes=codes, dictionary=labels)
            columns.append(column)
        return {**tables, PEOPLE: replace(tables[PEOPLE], columns=columns)}

    def shard_problems(self, tables: Tables, manifest: Manifest) -> list[str]:
        problems = super().shard_problems(tables, manifest)
        people = tables[PEOPLE]
        parts = classes_of([people[GROUP], *people.quasi_identifiers], people.rows).count
        mixed = parts - int((people[GROUP].counts > 0).sum())
        if mixed:
            problems.append(f"{mixed} groups of '{PEOPLE}' have rows with different cells")
        return problems

    def sole_groups(self, people: CodedTable, task: Task) -> Ints:
        first = first_rows(people[GROUP].codes, people[GROUP].cardinality)
        source = [task.table[column.name] for column in people.quasi_identifiers]
        kinds = classes_of(source, task.table.rows)
        fits = fitting_groups(
            coverages_of(people, source, task.hierarchies, {}),
            [column.codes[kinds.first_row] for column in source],
            [column.codes[first] for column in people.quasi_identifiers],
        )
        sole = np.full(kinds.count, -1, np.int64)
        if fits is not None:
            start, group = fits
            once = np.diff(start) == 1
            sole[once] = group[start[:-1][once]]
        return sole[kinds.class_of_row]

    def sums_of_people(self, people: CodedTable, original: CodedTable, task: Task) -> CellSums:
        cells = CoveredCells(people, original.quasi_identifiers, task.hierarchies, None).sums()
        return replace(CellSums.of_sizes(people[GROUP].counts), loss=cells.loss, bits=cells.bits)

    def implied(
        self, original: CodedTable, tables: Tables, task: Task, manifest: Manifest
    ) -> ImpliedGeneralized:
        """p2: the sensitive rows of all groups, each beside the cells of its group."""
        people, sensitive = tables[PEOPLE], tables[SENSITIVE]
        group, groups = group_numbers(people, sensitive), people[GROUP].cardinality
        first = first_rows(people[GROUP].codes, groups)
        weight = people_counted(sensitive)
        held = np.bincount(group, weight, groups)
        mass = (people[GROUP].counts / np.maximum(held, 1))[group]
        if weight is not None:
            mass = mass * weight
        columns, coverages = [], {}
        for column in original.quasi_identifiers:
            cells = people[column.name]
            columns.append(replace(cells, codes=cells.codes[first][group]))
            hierarchy = task.hierarchies.get(column.name)
            coverages[column.name] = coverage_of_cells(cells, column, hierarchy, None)
        for column in original.sensitive:
            columns.append(replace(column, codes=source_codes(sensitive, column)))
            coverages[column.name] = identity(column)
        gone = manifest.suppressed_rows
        return ImpliedGeneralized(columns, coverages, sensitive.rows, gone, mass)

    def quasi_identifier_sentences(self, manifest: Manifest, quasi: Sequence[str]) -> list[str]:
        return [Statement("quasi-identifiers.by-group", columns=quasi)]

    def sentences(self, manifest: Manifest) -> list[str]:
        groups = getattr(manifest.method, "groups", None)
        if groups is None:
            return []
        return [Statement("groups.random-numbers", groups=groups)]

    def weaknesses(self, manifest: Manifest) -> list[str]:
        return [*Kind.weaknesses(self, manifest), ALONE]


def _invented_values(tables: Tables, task: Task) -> list[str]:
    """Return whether sensitive rows that are no counterfeits are not in the original."""
    sensitive = tables[SENSITIVE]
    columns = sensitive.sensitive
    cells = [column.codes for column in columns]
    of_original = [recoded(column, task.table[column.name]) for column in columns]
    cardinalities = [column.cardinality + 1 for column in columns]
    invented = excess(cells, of_original, cardinalities, people_counted(sensitive))
    if invented > count_counterfeits(tables):
        return [f"{invented} rows of '{SENSITIVE}' are not in the original"]
    return []


def moved_rows(
    people: CodedTable, sensitive: CodedTable, task: Task, group_of_row: AnyInts
) -> list[str]:
    """Where a person's group is certain, the person's sensitive row must be there."""
    columns, weights = sensitive.sensitive, people_counted(sensitive)
    of_original = [recoded(column, task.table[column.name]) for column in columns]
    sole = group_of_row.astype(np.int32, copy=False)
    code = group_codes_in(people, sensitive)
    group = taken(code.astype(np.int32), sensitive[GROUP].codes)
    known = np.flatnonzero(sole >= 0)
    if task.basis.persons is not None:
        known = known[_first_of_each(task.basis.persons.number, [sole, *of_original], known)]
    of_person = [sole[known], *(column[known] for column in of_original)]
    bounds = [people[GROUP].cardinality, *(column.cardinality + 1 for column in columns)]
    cells = [column.codes for column in columns]
    moved = excess(of_person, [group, *cells], bounds, weights_of_others=weights)
    return [f"{moved} rows are in a group without their own sensitive row"] if moved else []


def _first_of_each(person: Ints, codes: Sequence[Ints32], rows: Ints) -> NDArray[np.intp]:
    """The first of some rows for each person and each combination of codes."""
    keys = np.stack([person[rows], *(column[rows] for column in codes)])
    return np.unique(keys, axis=1, return_index=True)[1]


def _touch_problems(
    people: CodedTable, sensitive: CodedTable, task: Task, persons: Persons, rows: Ints32
) -> list[str]:
    """Return where a count is not that of the persons of a group who have the value."""
    (column,) = sensitive.sensitive
    text = task.table[column.name].text.gather(task.table[column.name].codes[rows])
    group = people[GROUP].text.gather(people[GROUP].codes)
    derived = (
        pl.DataFrame({GROUP: group, "value": text, "of": persons.number[rows]})
        .unique()
        .group_by(GROUP, "value")
        .len("persons")
    )
    stated = pl.DataFrame(
        {
            GROUP: sensitive[GROUP].text.gather(sensitive[GROUP].codes),
            "value": column.text.gather(column.codes),
            "said": people_counted(sensitive),
        }
    )
    both = derived.join(stated, on=[GROUP, "value"], how="full", nulls_equal=True)
    wrong = both.filter(pl.col("persons").ne_missing(pl.col("said"))).height
    return [f"{wrong} counts of '{SENSITIVE}' are not those of persons"] if wrong else []


def _count_problems(tables: Tables, name: str) -> list[str]:
    """Counts that are no whole number above 0: a value that no person has would seem to occur."""
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


def count_column(number: Ints) -> PublishedColumn:
    """The published column of counts."""
    counts, code = np.unique(number, return_inverse=True)
    return PublishedColumn(COUNT, Role.STRUCTURE, code.astype(np.int32), pl.Series(COUNT, counts))


def counterfeits_of(people: CodedTable, tables: Tables) -> Ints:
    """Return how many counterfeits each group has, by the people's codes of groups."""
    counterfeits = np.zeros(people[GROUP].cardinality, np.int64)
    if COUNTERFEITS in tables:
        table = tables[COUNTERFEITS]
        code = group_codes_in(people, table)[table[GROUP].codes]
        known = code >= 0
        number = people_counted(table)
        if number is not None:
            np.add.at(counterfeits, code[known], number[known])
    return counterfeits


def count_counterfeits(tables: Tables) -> int:
    """Return how many counterfeits a release says it has."""
    number = people_counted(tables[COUNTERFEITS]) if COUNTERFEITS in tables else None
    return 0 if number is None else int(number.sum())


def value_counts(task: Task, group: Ints32, groups: int, rows: Ints | None) -> PublishedTable:
    """The values of each group, with the number of persons who have each."""
    (column,) = exact_columns(task.table.sensitive, rows)
    if task.basis.persons is not None:  # a person with several rows counts once for each value
        person = task.basis.persons.number if rows is None else task.basis.persons.number[rows]
        shape = [groups, task.basis.persons.count, len(column.dictionary)]
        once = group_codes([group, person.astype(np.int32), column.codes], shape, len(group))
        group = group[once.first_row]
        column = replace(column, codes=column.codes[once.first_row])
    entries = group_codes([group, column.codes], [groups, len(column.dictionary)], len(group))
    columns = [
        group_column(group[entries.first_row], groups),
        PublishedColumn(
            column.name, column.role, column.codes[entries.first_row], column.dictionary
        ),
        count_column(entries.size),
    ]
    return PublishedTable(SENSITIVE, columns, entries.count)


def people_counted(sensitive: CodedTable) -> Ints | None:
    """Return what each row of a table is counted as, where it has such a column."""
    if COUNT not in sensitive.columns or sensitive[COUNT].role is not Role.STRUCTURE:
        return None
    column = sensitive[COUNT]
    number = column.text.cast(pl.Int64, strict=False).fill_null(0).to_numpy()
    return sensitive.once("counts", lambda: taken(number.astype(np.int64), column.codes))


def sizes_of(sensitive: CodedTable) -> Ints:
    """The people in each group, by the sensitive table's own codes."""
    group, weights = sensitive[GROUP], people_counted(sensitive)
    if weights is None or (weights == 1).all():
        return count_codes(group.codes, group.cardinality)
    return np.bincount(group.codes, weights, group.cardinality).astype(np.int64)


@derived_once
def count_groups(sensitive: CodedTable, refined: bool = False) -> ClassCounts:
    """The counts of every group, from the sensitive table alone; found once for a table."""
    group = sensitive[GROUP]
    weights = people_counted(sensitive)
    if weights is None:
        classes = Classes(group.codes, first_rows(group.codes, group.cardinality), group.counts)
        return count_classes(classes, sensitive.sensitive, refined=refined)
    if len(sensitive.sensitive) != 1:
        columns = len(sensitive.sensitive)
        raise ReleaseError(
            f"'{SENSITIVE}' has a count beside {columns} columns; it belongs to one."
        )
    (column,) = sensitive.sensitive
    shape = (group.cardinality, column.cardinality)
    counts = sum_counts(group.codes.astype(np.int64), column.codes, weights, shape)
    sizes = sizes_of(sensitive)
    inner = None
    if refined:  # no other sensitive attribute refines the groups
        every = np.arange(len(sizes), dtype=np.int32)
        inner = {column.name: RefinedCounts(counts, sizes, every)}
    return ClassCounts(sizes, {column.name: counts}, inner)


def bucket_rows(original: CodedTable, people: CodedTable, sensitive: CodedTable) -> SensitiveRows:
    """The sensitive rows of every bucket, by count."""
    columns = original.sensitive
    codes = [source_codes(sensitive, column) for column in columns]
    distinct = group_codes(codes, [c.cardinality for c in columns], sensitive.rows)
    group = group_numbers(people, sensitive)
    groups = people[GROUP].cardinality
    entries = group_codes([group, distinct.class_of_row], [groups, distinct.count], sensitive.rows)
    of_group, signature = group[entries.first_row], distinct.class_of_row[entries.first_row]
    start, order = order_by_class(of_group, signature, groups, distinct.count)
    mass = np.bincount(entries.class_of_row, people_counted(sensitive), entries.count) * 1.0
    # counterfeits take their part of a group's mass; a person with several values has each
    held = np.bincount(group, people_counted(sensitive), groups)
    mass = mass * (people[GROUP].counts / np.maximum(held, 1))[of_group]
    return SensitiveRows(
        {c.name: code[distinct.first_row] for c, code in zip(columns, codes, strict=True)},
        distinct.count,
        start,
        signature[order],
        mass[order].astype(np.float64),
    )


def with_published_values(original: CodedTable, sensitive: CodedTable) -> CodedTable:
    """The original with the domains that its release shows: counterfeits may add values."""
    columns = dict(original.columns)
    for column in original.sensitive:
        if column.name in sensitive.columns:
            published = sensitive[column.name]
            shown = published.text.filter(published.counts > 0).to_list()
            columns[column.name] = column.with_domain(shown)
    return replace(original, columns=columns)


def with_sensitive(sums: CellSums, original: CodedTable, tables: Tables) -> CellSums:
    """Sums over people, with what their groups' sensitive values leave open."""
    people, sensitive = tables[PEOPLE], tables[SENSITIVE]
    counts = count_groups(sensitive)
    for column in original.sensitive:
        start = counts.values[column.name].start
        share = open_share(start, counts.size, column.cardinality)
        sums.loss[column.name] = share * people.rows
    if COUNTERFEITS in tables:
        sums.further = {
            "counterfeits": count_counterfeits(tables),
            "sensitive rows": sensitive.rows,
        }
    return sums


def measure_buckets(sums: CellSums, original: CodedTable, suppressed_rows: int) -> Measures:
    """Return the measures of groups, with the sensitive rows that belong to no person."""
    measures = measures_of(sums, original, suppressed_rows)
    if not sums.further:
        return measures
    fakes = int(sums.further["counterfeits"])
    share = fakes / sums.further["sensitive rows"]
    fake_counts = {"counterfeits": fakes, "counterfeit_share": share}
    return replace(measures, counts={**fake_counts, **measures.counts})
