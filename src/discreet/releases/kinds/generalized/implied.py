"""Reading a generalized table: its structure and loss, and the distribution it implies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.errors import InputError
from discreet.hierarchies.coverage import Coverage, coverage_of_cells
from discreet.hierarchies.hierarchy import Hierarchy
from discreet.knowledge.links import Links
from discreet.table.coded_table import CodedTable, Column
from discreet.table.roles import Role
from discreet.utility.figures import Measures, counted_rows
from discreet.utility.implied_cells import ImpliedGeneralized
from discreet.utility.loss import entropy, loss_of_cells, mean_loss
from discreet.utility.reading import ImpliedReading
from discreet.utility.structure import structure
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
    measures, implied = parts.measures, parts.implied
    if original.quasi_sensitive:
        measures, implied = _with_terms(parts, original, published, suppressed_rows, links or {})
    return ImpliedReading(original, measures, lambda: implied)


def _with_terms(
    parts: MeasuredTable,
    original: CodedTable,
    published: CodedTable,
    suppressed_rows: int,
    links: Mapping[str, Links],
) -> tuple[Measures, ImpliedGeneralized]:
    """The same with what is left of the quasi-sensitive attributes."""
    _check_same_people(original.quasi_sensitive, original.rows, published, suppressed_rows)
    columns = [*parts.quasi_identifiers, *parts.sensitive]
    coverages: dict[str, Coverage | TermCoverage] = {**parts.coverages}
    terms = {}
    for column in original.quasi_sensitive:
        cells = _occurring(published[column.name])
        columns.append(cells)
        coverages[column.name] = term_coverage(column, cells)
        terms[column.name] = measure_terms(column, cells, published.classes, links.get(column.name))
    implied = ImpliedGeneralized(columns, coverages, published.rows, suppressed_rows)
    return replace(parts.measures, terms=terms), implied


@dataclass(frozen=True, eq=False)
class MeasuredTable:
    """The measures of one generalized table, and what they were made from."""

    measures: Measures
    implied: ImpliedGeneralized
    coverages: Mapping[str, Coverage]  # of all measured columns
    quasi_identifiers: Sequence[Column]  # as published, with dictionaries of what occurs
    sensitive: Sequence[Column]


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
    coverages: dict[str, Coverage] = {}
    loss: dict[str, float] = {}
    for column in measured:
        # a sensitive cell is exact, a set or masked: never a label, even if it reads like one
        is_generalized = column.role is Role.QUASI_IDENTIFIER
        hierarchy = hierarchies.get(column.name) if is_generalized else None
        level = (levels or {}).get(column.name)
        cells = records[column.name]
        coverages[column.name] = coverage_of_cells(cells, column, hierarchy, level)
        lost = loss_of_cells(column, cells, coverages[column.name], hierarchy, level)
        loss[column.name] = mean_loss(lost, cells.counts, suppressed_rows)
    quasi_identifiers = [records[column.name] for column in original.quasi_identifiers]
    measures = Measures(
        structure=structure(published.classes, suppressed_rows, levels),
        loss_by_attribute={column.name: loss[column.name] for column in quasi_identifiers},
        loss_by_sensitive={name: loss[name] for name in sensitive},
        entropy=sum(
            entropy(column, coverages[column.name], records[column.name].counts, suppressed_rows)
            for column in original.quasi_identifiers
        ),
        counts=_masked([records[name] for name in sensitive], coverages)
        | counted_rows(suppressed_rows, original.rows),
    )
    return MeasuredTable(
        measures,
        ImpliedGeneralized(list(records.values()), coverages, published.rows, suppressed_rows),
        coverages,
        quasi_identifiers,
        [records[name] for name in sensitive],
    )


def _masked(
    sensitive: Sequence[Column], coverages: Mapping[str, Coverage]
) -> dict[str, int | float]:
    """Return how many sensitive cells leave several values open; nothing where none do."""
    masked = sum(int(c.counts[coverages[c.name].size > 1].sum()) for c in sensitive)
    cells = sum(len(column.codes) for column in sensitive)
    return {"masked_cells": masked, "masked_share": masked / cells} if masked else {}


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
