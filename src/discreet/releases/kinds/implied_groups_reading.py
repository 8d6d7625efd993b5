"""From the published tables of bucketized and decomposed releases to what measures read.

A group is the class of the structural measures; quasi-identifiers lose nothing, so what a release
gives up shows in ``loss_sensitive`` (the values left possible), in the divergence and in queries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.releases.kinds.bucketized.tables import count_groups, people_counted
from discreet.releases.kinds.decomposed import sensitive_sets
from discreet.releases.kinds.decomposed.raking import rake
from discreet.releases.kinds.decomposed.sensitive_sets import index_signatures, read_sets
from discreet.releases.kinds.decomposed.uniform_sets import UniformSets
from discreet.releases.kinds.implied_groups import ImpliedGroups, PublishedPeople, SensitiveRows
from discreet.table.assignments import Sets
from discreet.table.classes import Classes, group_codes
from discreet.table.code_maps import code_of_text, code_of_value
from discreet.table.coded_table import CodedTable, Column
from discreet.table.counts import order_by_class
from discreet.table.published import GROUP
from discreet.typing import Codes


def people_of(original: CodedTable, people: CodedTable) -> PublishedPeople:
    """The people of a release, ordered by group."""
    group = people[GROUP]
    rows = np.arange(people.rows, dtype=np.int32)
    start, order = order_by_class(group.codes, rows, group.cardinality, people.rows)
    columns = original.quasi_identifiers
    codes = {column.name: source_codes(people, column)[order] for column in columns}
    return PublishedPeople(codes, start)


def source_codes(published: CodedTable, column: Column) -> Codes:
    """A published exact column in the original's codes."""
    if column.name not in published.columns:
        raise InputError(
            f"The release lacks the column '{column.name}' of the original. "
            "Name the job that made the release."
        )
    exact = published[column.name]
    code = code_of_value(column, exact)
    if (code[exact.codes] < 0).any():
        raise InputError(
            f"Column '{column.name}' of the release has values that the original lacks. "
            "Name the job that made the release."
        )
    return code.astype(np.int32)[exact.codes]


def source_counts(published: CodedTable, column: Column) -> NDArray[np.int64]:
    """How often each of the original's values is published."""
    codes = source_codes(published, column)
    return np.bincount(codes, minlength=column.cardinality).astype(np.int64)


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
    if sensitive.rows > people.rows:  # counterfeits take their part of a group's mass
        held = np.bincount(group, minlength=groups)
        mass = mass * (people[GROUP].counts / np.maximum(held, 1))[of_group]
    return SensitiveRows(
        {c.name: code[distinct.first_row] for c, code in zip(columns, codes, strict=True)},
        distinct.count,
        start,
        signature[order],
        mass[order].astype(np.float64),
    )


def group_numbers(people: CodedTable, other: CodedTable) -> Codes:
    """The group of each row of another table, in the people's codes."""
    code = code_of_text(people[GROUP].text, other[GROUP].text)
    if (code < 0).any():
        raise InputError("The release names groups in which nobody is. Audit it first.")
    return code.astype(np.int32)[other[GROUP].codes]


def with_published_values(original: CodedTable, sensitive: CodedTable) -> CodedTable:
    """The original with the domains that its release shows: counterfeits may add values."""
    columns = dict(original.columns)
    for column in original.sensitive:
        if column.name in sensitive.columns:
            published = sensitive[column.name]
            shown = published.text.filter(published.counts > 0).to_list()
            columns[column.name] = column.with_domain(shown)
    return replace(original, columns=columns)


def implied_buckets(
    original: CodedTable, people: CodedTable, sensitive: CodedTable, suppressed_rows: int
) -> ImpliedGroups:
    """p2 of a bucketized release."""
    rows = bucket_rows(original, people, sensitive)
    return ImpliedGroups(original, people_of(original, people), rows, suppressed_rows)


@dataclass(frozen=True, eq=False)
class DecomposedReadings:
    """Both readings of a decomposed release."""

    sets: Sets
    people: PublishedPeople
    raked: ImpliedGroups | None  # None where the rows that groups may hold are too many to rake
    uniform: UniformSets


def read_decomposed(
    original: CodedTable, tables: Mapping[str, CodedTable], primary: str
) -> DecomposedReadings:
    """p2 of a decomposed release: raked, and uniform as in the paper."""
    published, sensitive = tables[sensitive_sets.PEOPLE], tables[sensitive_sets.SENSITIVE]
    names = [column.name for column in original.sensitive]
    code_of = {}
    for column in original.sensitive:
        source_codes(sensitive, column)
        code_of[column.name] = code_of_value(column, sensitive[column.name]).astype(np.int32)
    sets = read_sets(tables, names)
    people = people_of(original, published)
    signatures = index_signatures(sensitive, names)
    found = rake(sets, signatures, names.index(primary), published[GROUP].counts)
    raked = None
    if found is not None:
        codes = {
            name: code_of[name][signatures.codes[:, place]] for place, name in enumerate(names)
        }
        rows = SensitiveRows(codes, len(signatures.count), *found)
        raked = ImpliedGroups(original, people, rows)
    listed = [sets.of(place) for place in range(len(names))]
    in_original = [
        (start, code_of[name][value]) for name, (start, value) in zip(names, listed, strict=True)
    ]
    return DecomposedReadings(
        sets, people, raked, UniformSets(original, people, original.sensitive, in_original)
    )


def classes_of_groups(people: CodedTable) -> Classes:
    """Groups as the classes of the structural measures."""
    group = people[GROUP]
    first = np.zeros(group.cardinality, np.int64)
    first[group.codes[::-1]] = np.arange(people.rows)[::-1]
    return Classes(group.codes, first, group.counts)


def loss_of_buckets(
    original: CodedTable, sensitive: CodedTable, suppressed_rows: int
) -> dict[str, float]:
    """The share of its domain that a sensitive value may be in, by attribute."""
    counts = count_groups(sensitive)
    return {
        column.name: open_share(
            counts.values[column.name].start, counts.size, column.cardinality, suppressed_rows
        )
        for column in original.sensitive
    }


def open_share(
    start: NDArray[np.int64], size: NDArray[np.int64], cardinality: int, suppressed_rows: int = 0
) -> float:
    """The mean over people of (values left possible − 1) / (values − 1)."""
    possible = np.diff(start)
    left_open = float(size @ ((possible - 1) / max(cardinality - 1, 1))) + suppressed_rows
    return left_open / max(int(size.sum()) + suppressed_rows, 1)


def mean_log_sets(sets: Sets, people: CodedTable) -> float:
    """The mean over people of Σ ln|G.S_i|: the uniform divergence of unique quasi-identifiers."""
    size = people[GROUP].counts
    length = np.diff(sets.start).reshape(-1, sets.groups)
    return float(size @ np.log(np.maximum(length, 1)).sum(axis=0)) / max(people.rows, 1)


def check_people(original: CodedTable, people: CodedTable, suppressed_rows: int) -> None:
    """Refuse a release of other people."""
    if people.rows + suppressed_rows != original.rows:
        raise InputError(
            f"The release has {people.rows} rows and {suppressed_rows} suppressed, the original "
            f"{original.rows}. Name the job that made the release, with its own table."
        )
