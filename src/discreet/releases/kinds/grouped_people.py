"""What the kinds that keep quasi-identifiers exact have in common: people in numbered groups.

Numbers of groups carry no information: they are drawn anew, at random, when tables are formed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.methods.base import Task
from discreet.releases.audit.tracing import untraced_rows
from discreet.releases.manifest import Manifest
from discreet.table.classes import group_codes
from discreet.table.code_maps import code_of_text, excess_rows, recoded
from discreet.table.coded_table import CodedTable, Column
from discreet.table.published import GROUP, PublishedColumn, PublishedTable
from discreet.table.roles import Role
from discreet.typing import Codes

PUBLIC = (Role.QUASI_IDENTIFIER, Role.INSENSITIVE, Role.WEIGHT)  # what is beside a person's group


def random_numbers(
    group_of_row: NDArray[np.integer], rng: np.random.Generator
) -> tuple[NDArray[np.int32], int]:
    """Draw a new number from 0 … n − 1 for each of the n groups that have rows.

    Numbers without gaps leave nothing but their order to choose, which is random.
    """
    used = np.bincount(group_of_row) > 0
    groups = int(used.sum())
    number = np.full(len(used), -1, np.int32)
    number[used] = rng.permutation(groups)
    return number, groups


def number_problems(people: CodedTable, name: str) -> list[str]:
    """Where groups are not numbered from 1 to their number: other numbers could carry values."""
    text = people[GROUP].text
    number = text.cast(pl.Int64, strict=False)
    plain = number.null_count() == 0 and bool((number.cast(pl.String) == text).all())
    if plain and number.min() == 1 and number.max() == len(text):
        return []
    return [f"the groups of '{name}' are not numbered from 1 to {len(text)}"]


def group_column(group: Codes, groups: int) -> PublishedColumn:
    """The published column of group numbers, counted from 1."""
    numbers = pl.Series(GROUP, np.arange(1, groups + 1))
    return PublishedColumn(GROUP, Role.STRUCTURE, group, numbers)


def exact_columns(
    columns: Sequence[Column], kept: NDArray[np.int64] | None
) -> list[PublishedColumn]:
    """Columns as they are in the source, of all rows or of those that are kept."""
    return [
        PublishedColumn(c.name, c.role, c.codes if kept is None else c.codes[kept], c.values)
        for c in columns
    ]


def people_table(
    name: str, task: Task, group: Codes, groups: int, kept: NDArray[np.int64] | None
) -> PublishedTable:
    """Quasi-identifiers as they are, the group, and insensitive columns."""
    table = task.table
    columns = [
        *exact_columns(table.quasi_identifiers, kept),
        group_column(group, groups),
        *exact_columns(table.insensitive, kept),
    ]
    return PublishedTable(name, columns, len(group), source_rows(kept))


def source_rows(kept: NDArray[np.int64] | None) -> NDArray[np.int32] | None:
    """The source's rows that published rows represent, as a table keeps them."""
    return None if kept is None else kept.astype(np.int32)


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


def group_columns(manifest: Manifest, table: str) -> list[str] | None:
    """Return the column by which rows of a table belong together; None for a table without it."""
    return [GROUP] if GROUP in manifest.tables[table].columns else None


def group_codes_in(people: CodedTable, other: CodedTable) -> NDArray[np.int64]:
    """Return for each group number of another table its code in the people's table, or −1."""
    return code_of_text(people[GROUP].text, other[GROUP].text)


def people_changes(people: CodedTable, name: str, task: Task, manifest: Manifest) -> list[str]:
    """Return whether quasi-identifiers and insensitive columns are those of the original."""
    problems = []
    original = task.table
    if original.rows != people.rows + manifest.suppressed_rows:
        problems.append(
            f"the original has {original.rows} rows, the release accounts for "
            f"{people.rows + manifest.suppressed_rows}"
        )
    names = [column.name for column in people if column.role is not Role.STRUCTURE]
    invented = excess_rows(people, names, original)
    if invented:
        problems.append(f"{invented} of {people.rows} rows of '{name}' are not in the original")
    return problems


def traced_people(
    people: CodedTable, name: str, task: Task, manifest: Manifest, source_row: NDArray[np.int32]
) -> list[str]:
    """The same for a caller that knows the source's row behind each person."""
    if task.table.rows != people.rows + manifest.suppressed_rows:
        return people_changes(people, name, task, manifest)
    return traced_rows(people, name, task, source_row)


def traced_rows(
    published: CodedTable, name: str, task: Task, source_row: NDArray[np.int32]
) -> list[str]:
    """Return whether every published row has the cells of the source's row that it represents."""
    columns = {c.name: c for c in published if c.role is not Role.STRUCTURE}
    untraced = untraced_rows(CodedTable(columns, published.rows), task, {}, source_row)
    return [f"{untraced} rows of '{name}' are not in the original"] if untraced else []


def sole_groups(people: CodedTable, original: CodedTable) -> NDArray[np.int64]:
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
    return [
        f"Quasi-identifiers are exact. The rows are in {groups:,} groups with random numbers; "
        "nothing else links them to sensitive values."
    ]


MEMBERSHIP = "Presence: exact quasi-identifiers show whether a target is in the table (membership)."
