"""The kind of bucketized releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.methods.base import Bucketized, Task
from discreet.releases.adversary_view import AdversaryView
from discreet.releases.audit.row_order import related_columns, same_order
from discreet.releases.kinds.base import Kind, View
from discreet.releases.kinds.bucketized.adversary_view import view_of_buckets
from discreet.releases.kinds.bucketized.implied import (
    measure_buckets,
    read_bucketized,
    sum_buckets,
    with_published_values,
)
from discreet.releases.kinds.bucketized.tables import (
    COUNTERFEITS,
    PEOPLE,
    SENSITIVE,
    count_counterfeits,
    count_groups,
    counted_values,
    counterfeits_of,
    keys_of,
    people_counted,
    sizes_of,
    value_counts,
    with_counterfeits,
)
from discreet.releases.kinds.grouped_people import (
    MEMBERSHIP,
    PUBLIC,
    exact_columns,
    group_codes_in,
    group_column,
    group_columns,
    group_sentences,
    number_problems,
    people_changes,
    people_table,
    random_numbers,
    refuse_roles,
    sole_groups,
    source_rows,
    traced_people,
)
from discreet.releases.manifest import Manifest
from discreet.releases.release_tally import ReleaseTally
from discreet.releases.table_forms import Form
from discreet.requirements.base import Domains
from discreet.table.classes import group_codes
from discreet.table.code_maps import excess, recoded, taken
from discreet.table.coded_table import CodedTable, Column
from discreet.table.persons import Persons
from discreet.table.published import COUNT, GROUP, PublishedTable
from discreet.table.roles import Role
from discreet.utility.cell_sums import CellSums
from discreet.utility.figures import Measures
from discreet.utility.reading import ImpliedReading


class BucketizedKind(Kind):
    """Two tables that share the group."""

    name: ClassVar[str] = "bucketized"
    outcome: ClassVar[type] = Bucketized
    makes_alike: ClassVar[bool] = False
    numbers_groups: ClassVar[bool] = True

    def tables(self, task: Task, outcome: Bucketized) -> dict[str, PublishedTable]:
        refuse_roles(task.table, self.name)
        if outcome.counterfeits is not None:
            return with_counterfeits(task, outcome, outcome.counterfeits)
        suppressed = self.suppressed(outcome)
        kept = np.flatnonzero(outcome.group_of_row >= 0) if suppressed else None
        group = outcome.group_of_row if kept is None else outcome.group_of_row[kept]
        number, groups = random_numbers(group, task.orders)
        group = number[group]
        people = people_table(PEOPLE, task, group, groups, kept)
        if outcome.counted:
            sensitive = value_counts(task, group, groups, kept)
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

    def class_columns(self, manifest: Manifest, table: str) -> list[str] | None:
        return group_columns(manifest, table)

    def shard_problems(self, tables: Mapping[str, CodedTable], manifest: Manifest) -> list[str]:
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
        return problems

    def joined_problems(
        self, manifest: Manifest, tally: ReleaseTally, evidence: Sequence[Any]
    ) -> list[str]:
        problems = super().joined_problems(manifest, tally, evidence)
        fakes, said = tally.counterfeits, getattr(manifest.method, COUNTERFEITS, 0)
        if fakes != said:
            problems.append(f"the manifest says {said} counterfeits, the tables {fakes}")
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
        problems = self.people_problems(people, task, manifest) + _invented_rows(tables, task)
        if problems or manifest.suppressed_rows:
            return problems
        return moved_rows(people, sensitive, task, self.sole_groups(people, task))

    def people_problems(self, people: CodedTable, task: Task, manifest: Manifest) -> list[str]:
        """Return whether the people are those of the original."""
        return people_changes(people, PEOPLE, task, manifest)

    def sole_groups(self, people: CodedTable, task: Task) -> NDArray[np.int64]:
        """For each original row of a release without suppression its group, −1 where unknown."""
        return sole_groups(people, task.table)

    def traced_changes(
        self,
        tables: Mapping[str, CodedTable],
        task: Task,
        manifest: Manifest,
        source_rows: Mapping[str, NDArray[np.int32]],
    ) -> list[str]:
        people, sensitive = tables[PEOPLE], tables[SENSITIVE]
        rows = source_rows.get(PEOPLE)
        if rows is None or task.table.rows != people.rows + manifest.suppressed_rows:
            return self.changes(tables, task, manifest)
        problems = traced_people(people, PEOPLE, task, manifest, rows)
        problems += _invented_rows(tables, task)
        if not problems and not manifest.suppressed_rows:
            group_of_row = np.full(task.table.rows, -1, np.int32)
            group_of_row[rows] = people[GROUP].codes
            problems += moved_rows(people, sensitive, task, group_of_row)
        if problems or task.kept is None or people_counted(sensitive) is None:
            return problems
        return _touch_problems(people, sensitive, task, task.kept, rows)

    def person_classes(self, table: CodedTable) -> NDArray[np.int64]:
        return table[GROUP].codes.astype(np.int64)

    def person_values(
        self, table: CodedTable, task: Task | None, rows: NDArray[np.int32] | None
    ) -> list[Column]:
        assert task is not None and rows is not None  # numbers of persons are never published
        return [column.take(rows) for column in task.table.sensitive]

    def reading(
        self, tables: Mapping[str, CodedTable], task: Task, manifest: Manifest
    ) -> ImpliedReading[Measures]:
        return read_bucketized(task.table, tables, manifest)

    def sums(
        self, tables: Mapping[str, CodedTable], task: Task, manifest: Manifest
    ) -> dict[str, CellSums]:
        original = with_published_values(task.table, tables[SENSITIVE])
        return {"": sum_buckets(original, tables)}

    def measures(
        self,
        sums: Mapping[str, CellSums],
        task: Task,
        manifest: Manifest,
        facts: Mapping[str, Any],
    ) -> Measures:
        return measure_buckets(sums[""], task.table, manifest.suppressed_rows)

    def adversary_views(
        self,
        tables: Mapping[str, CodedTable],
        task: Task,
        manifest: Manifest,
        rng: np.random.Generator,
    ) -> list[AdversaryView]:
        return [view_of_buckets(tables[PEOPLE], tables[SENSITIVE], task)]

    def sentences(self, manifest: Manifest) -> list[str]:
        return group_sentences(manifest)

    def weaknesses(self, manifest: Manifest) -> list[str]:
        return [*super().weaknesses(manifest), MEMBERSHIP]


def _invented_rows(tables: Mapping[str, CodedTable], task: Task) -> list[str]:
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
    people: CodedTable, sensitive: CodedTable, task: Task, group_of_row: NDArray[np.integer]
) -> list[str]:
    """Where a person's group is certain, the person's sensitive row must be there."""
    columns, weights = sensitive.sensitive, people_counted(sensitive)
    of_original = [recoded(column, task.table[column.name]) for column in columns]
    sole = group_of_row.astype(np.int32, copy=False)
    code = group_codes_in(people, sensitive)
    if (
        weights is not None
        and len(columns) == 1
        and task.kept is None
        and np.array_equal(code, np.arange(people[GROUP].cardinality))
        and _are_counted(sole, of_original[0], sensitive)
    ):
        return []
    group = taken(code.astype(np.int32), sensitive[GROUP].codes)
    known = np.flatnonzero(sole >= 0)
    if task.kept is not None:
        known = known[_first_of_each(task.kept.number, [sole, *of_original], known)]
    of_person = [sole[known], *(column[known] for column in of_original)]
    bounds = [people[GROUP].cardinality, *(column.cardinality + 1 for column in columns)]
    cells = [column.codes for column in columns]
    moved = excess(of_person, [group, *cells], bounds, weights_of_others=weights)
    return [f"{moved} rows are in a group without their own sensitive row"] if moved else []


def _are_counted(group: NDArray[np.int32], value: NDArray[np.int32], sensitive: CodedTable) -> bool:
    """Return whether a table counts just these pairs of a group and a value, one for each row."""
    found = counted_values(sensitive)
    (column,) = sensitive.sensitive
    if group.min(initial=0) < 0 or (found.count < 0).any() or found.count.sum() != len(group):
        return False
    if value.max(initial=-1) >= column.cardinality:
        return False
    key = keys_of(group, value, (sensitive[GROUP].cardinality, column.cardinality))
    key.sort()
    return np.array_equal(key, np.repeat(found.key, found.count))


def _first_of_each(
    person: NDArray[np.int64], codes: Sequence[NDArray[np.int32]], rows: NDArray[np.int64]
) -> NDArray[np.intp]:
    """The first of some rows for each person and each combination of codes."""
    keys = np.stack([person[rows], *(column[rows] for column in codes)])
    return np.unique(keys, axis=1, return_index=True)[1]


def _touch_problems(
    people: CodedTable,
    sensitive: CodedTable,
    task: Task,
    persons: Persons,
    rows: NDArray[np.int32],
) -> list[str]:
    """Return where a count is not that of the persons of a group who have the value."""
    (column,) = sensitive.sensitive
    text = task.table[column.name].text.gather(task.table[column.name].codes[rows])
    group = people[GROUP].text.gather(people[GROUP].codes)
    found = (
        pl.DataFrame({GROUP: group, "value": text, "of": persons.number[rows]})
        .unique()
        .group_by(GROUP, "value")
        .len("persons")
    )
    said = pl.DataFrame(
        {
            GROUP: sensitive[GROUP].text.gather(sensitive[GROUP].codes),
            "value": column.text.gather(column.codes),
            "said": people_counted(sensitive),
        }
    )
    both = found.join(said, on=[GROUP, "value"], how="full", nulls_equal=True)
    wrong = both.filter(pl.col("persons").ne_missing(pl.col("said"))).height
    return [f"{wrong} counts of '{SENSITIVE}' are not those of persons"] if wrong else []


def _count_problems(tables: Mapping[str, CodedTable], name: str) -> list[str]:
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
    if len(table.sensitive) == 1 and GROUP in table.columns and len(columns) == 2:
        twice = table.rows - len(counted_values(table).distinct())
        return [f"{twice} rows of '{name}' repeat what another counts"] if twice else []
    classes = group_codes(
        [column.codes for column in columns], [column.cardinality for column in columns], table.rows
    )
    twice = table.rows - classes.count
    return [f"{twice} rows of '{name}' repeat what another counts"] if twice else []
