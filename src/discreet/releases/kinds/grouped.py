"""What the kinds that keep quasi-identifiers exact have in common: people in numbered groups.

Numbers of groups carry no information: they are drawn anew, at random, when tables are formed.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import polars as pl

from discreet.errors import InputError
from discreet.methods.base import Task
from discreet.releases.adversary_view import AdversaryView, covering_view, exact_view
from discreet.releases.audit.matching import unexplained_rows, untraced_rows
from discreet.releases.kinds.base import Kind
from discreet.releases.manifest import Manifest
from discreet.statements import Statement
from discreet.table.classes import Classes, group_codes
from discreet.table.code_maps import code_of_text, excess_rows, recoded
from discreet.table.coded_table import CodedTable, Column, SourceRows, Tables
from discreet.table.published import GROUP, PublishedColumn, PublishedTable
from discreet.table.roles import Role
from discreet.typing import AnyInts, Codes, Ints, Ints32

PUBLIC = (Role.QUASI_IDENTIFIER, Role.INSENSITIVE, Role.WEIGHT)  # what is beside a person's group


def random_numbers(group_of_row: AnyInts, rng: np.random.Generator) -> tuple[Ints32, int]:
    """Draw a new number from 0 … n − 1 for each of the n groups that have rows.

    Numbers without gaps leave nothing but their order to choose, which is random.
    """
    used = np.bincount(group_of_row) > 0
    groups = int(used.sum())
    number = np.full(len(used), -1, np.int32)
    number[used] = rng.permutation(groups)
    return number, groups


def group_column(group: Codes, groups: int) -> PublishedColumn:
    """The published column of group numbers, counted from 1."""
    numbers = pl.Series(GROUP, np.arange(1, groups + 1))
    return PublishedColumn(GROUP, Role.STRUCTURE, group, numbers)


def exact_columns(columns: Sequence[Column], rows: Ints | None) -> list[PublishedColumn]:
    """Columns as they are in the source, of all rows or of those that are kept."""
    return [
        PublishedColumn(c.name, c.role, c.codes if rows is None else c.codes[rows], c.values)
        for c in columns
    ]


def people_table(
    name: str, task: Task, group: Codes, groups: int, rows: Ints | None
) -> PublishedTable:
    """Quasi-identifiers as they are, the group, and insensitive columns."""
    table = task.table
    columns = [
        *exact_columns(table.quasi_identifiers, rows),
        group_column(group, groups),
        *exact_columns(table.insensitive, rows),
    ]
    return PublishedTable(name, columns, len(group), source_rows(rows))


def source_rows(rows: Ints | None) -> Ints32 | None:
    """The source's rows that published rows represent, as a table keeps them."""
    return None if rows is None else rows.astype(np.int32)


def refuse_roles(table: CodedTable, method: str) -> None:
    """Refuse roles that the release cannot treat."""
    others = [c.name for c in table if c.role is Role.QUASI_SENSITIVE]
    if others:
        names = ", ".join(f"'{name}'" for name in others)
        raise InputError(
            f"{method}: cannot treat quasi-sensitive attributes ({names}). Give them the role "
            "'sensitive', or use the method 'quasi-sensitive'."
        )
    if not table.sensitive:
        raise InputError(f"{method}: no attribute is sensitive. Give one the role 'sensitive'.")


def group_codes_in(people: CodedTable, other: CodedTable) -> Ints:
    """Return for each group number of another table its code in the people's table, or −1."""
    return code_of_text(people[GROUP].text, other[GROUP].text)


def unaccounted_rows(published: CodedTable, task: Task, manifest: Manifest) -> list[str]:
    """Return whether published and suppressed rows are not those of the original."""
    accounted = published.rows + manifest.suppressed_rows
    if accounted == task.table.rows:
        return []
    return [f"the original has {task.table.rows} rows, the release accounts for {accounted}"]


def invented_rows(
    published: CodedTable,
    name: str,
    task: Task,
    source_row: Ints32 | None,  # (rows,) where the publisher knows it
) -> list[str]:
    """Return whether rows of a table with exact cells are not in the original."""
    if source_row is None:
        names = [column.name for column in published if column.role is not Role.STRUCTURE]
        invented = excess_rows(published, names, task.table)
    else:
        invented = untraced_rows(published, task, {}, source_row)
    if not invented:
        return []
    return [f"{invented} of {published.rows} rows of '{name}' are not in the original"]


class GroupedKind(Kind):
    """Rows in groups whose sensitive values are counted, beside their cells or in a second table.

    The groups are the classes of equal cells, or they are numbered.
    """

    rows_table: ClassVar[str]  # a row for each published row, with its quasi-identifiers
    values_table: ClassVar[str]  # the sensitive values of each group

    @abstractmethod
    def groups(self, tables: Tables) -> tuple[Classes, dict[str, Column], Ints]:
        """Return the sensitive rows by group, their columns, and the group of published rows."""

    @abstractmethod
    def changed_values(
        self,
        tables: Tables,
        task: Task,
        manifest: Manifest,
        source_row: Ints32 | None,  # of the table of rows, where the publisher knows it
    ) -> list[str]:
        """Return changes of sensitive and quasi-sensitive values that the rows do not show."""

    def changes(
        self,
        tables: Tables,
        task: Task,
        manifest: Manifest,
        source_rows: SourceRows | None = None,
        *,
        part: bool = False,
    ) -> list[str]:
        published = tables[self.rows_table]
        problems = unaccounted_rows(published, task, manifest)
        source = (source_rows or {}).get(self.rows_table) if not problems else None
        if not self.makes_alike:
            problems += invented_rows(published, self.rows_table, task, source)
        else:
            levels = manifest.method.levels_of(self.rows_table) or {}
            problems += unexplained_rows(published, self.rows_table, task, levels, source)
        return problems or self.changed_values(tables, task, manifest, source)

    def adversary_views(
        self, tables: Tables, task: Task, manifest: Manifest, rng: np.random.Generator
    ) -> list[AdversaryView]:
        rows = tables[self.rows_table]
        classes, columns, group = self.groups(tables)
        if not self.makes_alike:
            return [exact_view(self.values_table, classes, columns, rows, group, task)]
        levels = manifest.method.levels_of(self.rows_table) or {}
        row_of_group = first_rows(group, classes.count)
        size = np.bincount(group, minlength=classes.count)
        return [
            covering_view(
                self.values_table, classes, columns, rows, row_of_group, size, levels, task, rng
            )
        ]


def first_rows(code: AnyInts, codes: int) -> Ints:
    """Return the first row of each code; 0 for a code that no row has."""
    first = np.zeros(codes, np.int64)
    first[code[::-1]] = np.arange(len(code))[::-1]
    return first


def sole_groups(people: CodedTable, original: CodedTable) -> Ints:
    """For each original row the group that it must be in, −1 where its like are in several.

    Only for a release without suppression: rows that agree in all that is published of them are
    the same to an attacker, and where all of these are in one group, so is each of them.
    """
    columns = [column for column in people if column.role is not Role.STRUCTURE]
    cardinalities = [column.cardinality + 1 for column in columns]
    both = [np.concatenate([c.codes, recoded(c, original[c.name])]) for c in columns]
    alike = group_codes(both, cardinalities, people.rows + original.rows)
    of_people, of_original = np.split(alike.class_of_row, [people.rows])
    least = np.full(alike.count, people.rows, np.int64)
    greatest = np.full(alike.count, -1, np.int64)
    np.minimum.at(least, of_people, people[GROUP].codes)
    np.maximum.at(greatest, of_people, people[GROUP].codes)
    sole = np.where(least == greatest, greatest, -1)
    return sole[of_original]


def group_sentences(manifest: Manifest) -> list[str]:
    """Return how rows are grouped where quasi-identifiers stay exact."""
    groups = getattr(manifest.method, "groups", None)
    if groups is None:
        return []
    if groups == 1:  # all rows: the number of the group says nothing
        return [Statement("groups.none")]
    return [Statement("groups.exact", groups=groups)]


MEMBERSHIP = Statement("weakness.membership")
