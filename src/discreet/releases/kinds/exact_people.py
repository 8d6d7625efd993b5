"""Measures of releases that publish exact quasi-identifiers in groups, whatever the kind.

A group is the class of the structural measures; quasi-identifiers lose nothing, so what a release
gives up shows in ``loss_sensitive`` (the values left possible), in the divergence and in queries.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.hierarchies.coverage import identity
from discreet.releases.kinds.implied_groups import PublishedPeople
from discreet.table.code_maps import code_of_text, code_of_value
from discreet.table.coded_table import CodedTable, Column
from discreet.table.counts import order_by_class
from discreet.table.published import GROUP
from discreet.typing import Codes
from discreet.utility.cell_sums import CellSums
from discreet.utility.loss import bits_of_cells


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


def sum_people(people: CodedTable, original: CodedTable) -> CellSums:
    """Sum over people whose quasi-identifiers are exact, in groups: they lose nothing."""
    sums = CellSums.of_sizes(people[GROUP].counts)
    for column in original.quasi_identifiers:
        source_codes(people, column)  # refuses values of another table
        code = code_of_value(column, people[column.name])
        counts = np.bincount(code, people[column.name].counts, column.cardinality)
        sums.loss[column.name] = 0.0
        sums.bits[column.name] = bits_of_cells(column, identity(column), counts.astype(np.int64))
    return sums


def group_numbers(people: CodedTable, other: CodedTable) -> Codes:
    """The group of each row of another table, in the people's codes."""
    code = code_of_text(people[GROUP].text, other[GROUP].text)
    if (code < 0).any():
        raise InputError("The release names groups without rows. Audit it first.")
    return code.astype(np.int32)[other[GROUP].codes]


def open_share(
    start: NDArray[np.int64], size: NDArray[np.int64], cardinality: int, suppressed_rows: int = 0
) -> float:
    """The mean over people of (values left possible − 1) / (values − 1)."""
    possible = np.diff(start)
    left_open = float(size @ ((possible - 1) / max(cardinality - 1, 1))) + suppressed_rows
    return left_open / max(int(size.sum()) + suppressed_rows, 1)


def check_people(original: CodedTable, people: CodedTable, suppressed_rows: int) -> None:
    """Refuse a release of other people."""
    if people.rows + suppressed_rows != original.rows:
        raise InputError(
            f"The release has {people.rows} rows and {suppressed_rows} suppressed, the original "
            f"{original.rows}. Name the job that made the release, with its own table."
        )
