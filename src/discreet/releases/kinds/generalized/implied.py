"""Reading a generalized table: its structure and loss, and the distribution it implies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from discreet.errors import InputError
from discreet.hierarchies.coverage import Coverage, coverage_of_cells
from discreet.hierarchies.hierarchy import Hierarchy
from discreet.knowledge.links import Links
from discreet.table.coded_table import CodedTable, Column
from discreet.table.roles import Role
from discreet.utility.cell_sums import CellSums, measures_of
from discreet.utility.figures import Measures
from discreet.utility.implied_cells import ImpliedGeneralized
from discreet.utility.loss import bits_of_cells, loss_of_cells
from discreet.utility.reading import ImpliedReading
from discreet.utility.term_coverage import TermCoverage, term_coverage
from discreet.utility.terms import measure_terms


def read_generalized(
    original: CodedTable,
    hierarchies: Mapping[str, Hierarchy],
    published: CodedTable,
    suppressed_rows: int,
    levels: Mapping[str, int] | None = None,
    links: Mapping[str, Links] | None = None,
) -> ImpliedReading[Measures]:
    """Read the published rows of a generalized release against the original.

    ``levels`` are those of a full-domain recoding; with them a label that a hierarchy has on
    several levels is read on the one that was used. Every value in the original's dictionaries
    must occur: they are the domain of each attribute.
    """
    sensitive = [column.name for column in original.sensitive]
    parts = measure_parts(original, hierarchies, published, suppressed_rows, levels, sensitive)
    if original.quasi_sensitive:
        measures, implied = _with_terms(parts, original, published, links or {})
        return ImpliedReading(original, measures, lambda: implied)
    weights = published.analysis_weights
    if weights is None or original.analysis_weights is None or not published.rows:
        return ImpliedReading(original, parts.measures, lambda: parts.implied)

    def imply_weighted() -> ImpliedGeneralized:
        gone = round(suppressed_rows * float(weights.mean()))  # a suppressed row weighs the mean
        columns = [*parts.quasi_identifiers, *parts.sensitive]
        return ImpliedGeneralized(columns, parts.coverages, parts.rows, gone, weights)

    return ImpliedReading(
        original, parts.measures, lambda: parts.implied, imply_weighted=imply_weighted
    )


def _with_terms(
    parts: MeasuredTable,
    original: CodedTable,
    published: CodedTable,
    links: Mapping[str, Links],
) -> tuple[Measures, ImpliedGeneralized]:
    """The same with what is left of the quasi-sensitive attributes."""
    _check_same_people(original.quasi_sensitive, original.rows, published, parts.suppressed_rows)
    columns = [*parts.quasi_identifiers, *parts.sensitive]
    coverages: dict[str, Coverage | TermCoverage] = {**parts.coverages}
    terms = {}
    for column in original.quasi_sensitive:
        cells = _occurring(published[column.name])
        columns.append(cells)
        coverages[column.name] = term_coverage(column, cells)
        terms[column.name] = measure_terms(column, cells, published.classes, links.get(column.name))
    implied = ImpliedGeneralized(columns, coverages, published.rows, parts.suppressed_rows)
    return replace(parts.measures, terms=terms), implied


@dataclass(frozen=True, eq=False)
class MeasuredTable:
    """The measures of one generalized table, and what they were made from."""

    measures: Measures
    coverages: Mapping[str, Coverage]  # of all measured columns
    quasi_identifiers: Sequence[Column]  # as published, with dictionaries of what occurs
    sensitive: Sequence[Column]
    rows: int
    suppressed_rows: int

    @cached_property
    def implied(self) -> ImpliedGeneralized:
        """p2 of the table, made when it is first needed."""
        columns = [*self.quasi_identifiers, *self.sensitive]
        return ImpliedGeneralized(columns, self.coverages, self.rows, self.suppressed_rows)


def measure_parts(
    original: CodedTable,
    hierarchies: Mapping[str, Hierarchy],
    published: CodedTable,
    suppressed_rows: int,
    levels: Mapping[str, int] | None,
    sensitive: Sequence[str],
) -> MeasuredTable:
    """Measure a table with all quasi-identifiers and some sensitive attributes, but no queries."""
    measured = [*original.quasi_identifiers, *(original[name] for name in sensitive)]
    _check_same_people(measured, original.rows, published, suppressed_rows)
    records = {column.name: _occurring(published[column.name]) for column in measured}
    coverages = {
        column.name: _coverage(records[column.name], column, hierarchies, levels)
        for column in measured
    }
    sums = sum_cells(published, measured, hierarchies, levels)
    return MeasuredTable(
        measures_of(sums, original, suppressed_rows, levels),
        coverages,
        [records[column.name] for column in original.quasi_identifiers],
        [records[name] for name in sensitive],
        published.rows,
        suppressed_rows,
    )


def sum_cells(
    published: CodedTable,
    measured: Sequence[Column],
    hierarchies: Mapping[str, Hierarchy],
    levels: Mapping[str, int] | None,
) -> CellSums:
    """Sum what is measured over the cells of a table, or of some of its classes."""
    sums = CellSums.of_sizes(published.classes.size)
    for column in measured:
        cells = _occurring(published[column.name])
        coverage = _coverage(cells, column, hierarchies, levels)
        hierarchy, level = _read_by(column, hierarchies, levels)
        lost = loss_of_cells(column, cells, coverage, hierarchy, level)
        sums.loss[column.name] = float(lost @ cells.counts)
        if column.role is Role.QUASI_IDENTIFIER:
            sums.bits[column.name] = bits_of_cells(column, coverage, cells.counts)
        else:
            sums.masked += int(cells.counts[coverage.size > 1].sum())
    return sums


def _read_by(
    column: Column, hierarchies: Mapping[str, Hierarchy], levels: Mapping[str, int] | None
) -> tuple[Hierarchy | None, int | None]:
    """Return the hierarchy and the level by which the cells of a column are read.

    A sensitive cell is exact, a set or masked: never a label, even if it reads like one.
    """
    is_generalized = column.role is Role.QUASI_IDENTIFIER
    hierarchy = hierarchies.get(column.name) if is_generalized else None
    return hierarchy, (levels or {}).get(column.name)


def _coverage(
    cells: Column,
    column: Column,
    hierarchies: Mapping[str, Hierarchy],
    levels: Mapping[str, int] | None,
) -> Coverage:
    return coverage_of_cells(cells, column, *_read_by(column, hierarchies, levels))


def _check_same_people(
    measured: Sequence[Column], rows: int, published: CodedTable, suppressed_rows: int
) -> None:
    lacking = [column.name for column in measured if column.name not in published.columns]
    if lacking:
        raise InputError(
            f"The release lacks {len(lacking)} columns of the original: {', '.join(lacking)}. "
            "Name the job that made the release."
        )
    if published.rows + suppressed_rows != rows:
        raise InputError(
            f"The release has {published.rows} rows and {suppressed_rows} suppressed, the original "
            f"{rows}. Name the job that made the release, with its own table."
        )


def _occurring(column: Column) -> Column:
    """The column with a dictionary of the cells that do occur."""
    occurs = column.counts > 0
    if occurs.all():
        return column
    code = np.cumsum(occurs, dtype=np.int32) - 1
    return replace(
        column,
        codes=code[column.codes],
        text=column.text.filter(occurs),
        values=column.values.filter(occurs),
        numbers=None if column.numbers is None else column.numbers[occurs],
    )
