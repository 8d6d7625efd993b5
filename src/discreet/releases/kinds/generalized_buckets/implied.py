"""The utility of groups with generalized quasi-identifiers: figures, and the implied distribution.

Each sensitive row of a group lies evenly over the values that the group's cells cover. Counterfeits
take their part of the group's mass, so that the mass of a group is its number of people.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from discreet.hierarchies.coverage import coverage_of_cells, identity
from discreet.methods.base import Task
from discreet.releases.kinds.bucketized.implied import (
    measure_buckets,
    with_published_values,
    with_sensitive,
)
from discreet.releases.kinds.bucketized.tables import PEOPLE, SENSITIVE, people_counted
from discreet.releases.kinds.exact_people import check_people, group_numbers, source_codes
from discreet.releases.kinds.generalized.implied import sum_cells
from discreet.table.coded_table import CodedTable
from discreet.table.published import GROUP
from discreet.utility.cell_sums import CellSums
from discreet.utility.figures import Measures
from discreet.utility.implied_cells import ImpliedGeneralized
from discreet.utility.reading import ImpliedReading


def read_cells(
    task: Task, tables: Mapping[str, CodedTable], suppressed_rows: int
) -> ImpliedReading[Measures]:
    """Read the release against the original."""
    check_people(task.table, tables[PEOPLE], suppressed_rows)
    original = with_published_values(task.table, tables[SENSITIVE])
    measures = measure_buckets(sum_cells_of_groups(task, tables), original, suppressed_rows)
    return ImpliedReading(
        original, measures, lambda: _implied(original, task, tables, suppressed_rows)
    )


def sum_cells_of_groups(task: Task, tables: Mapping[str, CodedTable]) -> CellSums:
    """Sum over some groups: what their cells and their sensitive values leave open."""
    people = tables[PEOPLE]
    original = with_published_values(task.table, tables[SENSITIVE])
    cells = sum_cells(people, original.quasi_identifiers, task.hierarchies, None)
    sums = replace(CellSums.of_sizes(people[GROUP].counts), loss=cells.loss, bits=cells.bits)
    return with_sensitive(sums, original, tables)


def _implied(
    original: CodedTable, task: Task, tables: Mapping[str, CodedTable], suppressed_rows: int
) -> ImpliedGeneralized:
    """p2: the sensitive rows of all groups, each beside the cells of its group."""
    people, sensitive = tables[PEOPLE], tables[SENSITIVE]
    group, groups = group_numbers(people, sensitive), people[GROUP].cardinality
    first = np.zeros(groups, np.int64)
    first[people[GROUP].codes[::-1]] = np.arange(people.rows)[::-1]
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
    return ImpliedGeneralized(columns, coverages, sensitive.rows, suppressed_rows, mass)
