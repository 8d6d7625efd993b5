"""The utility of a bucketized release: its figures, and the distribution that it implies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from discreet.releases.kinds.bucketized.tables import (
    COUNTERFEITS,
    PEOPLE,
    SENSITIVE,
    count_counterfeits,
    count_groups,
    people_counted,
)
from discreet.releases.kinds.exact_people import (
    check_people,
    group_numbers,
    open_share,
    people_of,
    source_codes,
    sum_people,
)
from discreet.releases.kinds.implied_groups import ImpliedGroups, SensitiveRows
from discreet.releases.manifest import Manifest
from discreet.table.classes import group_codes
from discreet.table.coded_table import CodedTable
from discreet.table.counts import order_by_class
from discreet.table.published import GROUP
from discreet.utility.cell_sums import CellSums, measures_of
from discreet.utility.figures import Measures
from discreet.utility.reading import ImpliedReading


def read_bucketized(
    original: CodedTable, tables: Mapping[str, CodedTable], manifest: Manifest
) -> ImpliedReading[Measures]:
    """Read a bucketized release against the original."""
    people, sensitive = tables[PEOPLE], tables[SENSITIVE]
    suppressed_rows = manifest.suppressed_rows
    check_people(original, people, suppressed_rows)
    original = with_published_values(original, sensitive)
    measures = measure_buckets(sum_buckets(original, tables), original, suppressed_rows)
    return ImpliedReading(
        original, measures, lambda: implied_buckets(original, people, sensitive, suppressed_rows)
    )


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


def implied_buckets(
    original: CodedTable, people: CodedTable, sensitive: CodedTable, suppressed_rows: int
) -> ImpliedGroups:
    """p2 of a bucketized release."""
    rows = bucket_rows(original, people, sensitive)
    return ImpliedGroups(original, people_of(original, people), rows, suppressed_rows)


def sum_buckets(original: CodedTable, tables: Mapping[str, CodedTable]) -> CellSums:
    """Sum over some groups: what their sensitive values leave open, and counterfeits."""
    people = tables[PEOPLE]
    return with_sensitive(sum_people(people, original), original, tables)


def with_sensitive(
    sums: CellSums, original: CodedTable, tables: Mapping[str, CodedTable]
) -> CellSums:
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
