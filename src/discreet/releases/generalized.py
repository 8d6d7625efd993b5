"""Generalized releases: one table ``records`` with coarser quasi-identifiers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.algorithms.method import CellColumn, Generalized, Task
from discreet.data.classes import classes_of
from discreet.data.counts import count_classes
from discreet.data.published import PublishedColumn, PublishedTable
from discreet.data.roles import Role
from discreet.data.table import CodedTable, Column
from discreet.hierarchies.coverage import cover
from discreet.models.requirement import Domains
from discreet.releases.comparison import code_of_value, excess
from discreet.releases.kind import Kind, View
from discreet.releases.manifest import Manifest

RECORDS = "records"


class GeneralizedKind(Kind):
    """One table, a row for each published person."""

    name: ClassVar[str] = "generalized"

    def tables(self, task: Task, outcome: Generalized) -> dict[str, PublishedTable]:
        kept = np.flatnonzero(outcome.class_of_row >= 0)
        whole = len(kept) == task.table.rows
        class_of_row = outcome.class_of_row if whole else outcome.class_of_row[kept]
        columns = []
        for column in task.table:
            if column.role is Role.QUASI_IDENTIFIER:
                cells = outcome.cells[column.name]
                columns.append(_recoded(column, cells, class_of_row))
            else:
                codes = column.codes if whole else column.codes[kept]
                columns.append(PublishedColumn(column.name, column.role, codes, column.values))
        return {RECORDS: PublishedTable(RECORDS, columns, len(kept))}

    def suppressed(self, outcome: Generalized) -> int:
        return int((outcome.class_of_row < 0).sum())

    def views(
        self, tables: Mapping[str, CodedTable], domains: Domains, *, refined: bool
    ) -> list[View]:
        records = tables[RECORDS]
        classes = classes_of(records.quasi_identifiers, records.rows)
        return [View(count_classes(classes, records.sensitive, refined=refined), domains)]

    def inconsistencies(self, tables: Mapping[str, CodedTable], manifest: Manifest) -> list[str]:
        rows = tables[RECORDS].rows
        problems = []
        if rows != manifest.published_rows:
            problems.append(
                f"the manifest says {manifest.published_rows} published rows; "
                f"'{RECORDS}' has {rows}"
            )
        if manifest.published_rows + manifest.suppressed_rows != manifest.source_rows:
            problems.append(
                f"published and suppressed rows ({manifest.published_rows} + "
                f"{manifest.suppressed_rows}) are not the {manifest.source_rows} source rows"
            )
        return problems

    def changes(
        self, tables: Mapping[str, CodedTable], task: Task, manifest: Manifest
    ) -> list[str]:
        records = tables[RECORDS]
        lost = task.table.rows - records.rows - manifest.suppressed_rows
        problems = []
        if lost:
            problems.append(
                f"the original has {task.table.rows} rows, the release accounts for "
                f"{records.rows + manifest.suppressed_rows}"
            )
        levels = getattr(manifest.method, "levels", {})
        excess = _invented_rows(records, task, levels)
        if excess:
            problems.append(
                f"{excess} of {records.rows} published rows stand for no row of the original"
            )
        return problems


def _recoded(column: Column, cells: CellColumn, class_of_row: NDArray[np.int32]) -> PublishedColumn:
    dictionary = pl.Series(column.name, list(cells.labels), dtype=pl.String)
    return PublishedColumn(column.name, column.role, cells.cell_of_class[class_of_row], dictionary)


def _invented_rows(records: CodedTable, task: Task, levels: Mapping[str, int]) -> int:
    """How many published rows exceed what the original, recoded to the same cells, holds.

    Every original row is recoded to the published cells that cover its values; then each
    combination of published cells may occur at most as often as among the recoded rows. A column
    whose cells overlap (local recoding) is left out of the comparison of combinations; its cells
    are still checked to cover some value each.
    """
    published, original, cardinalities = [], [], []
    for column in records:
        source = task.table[column.name]
        if column.role is Role.QUASI_IDENTIFIER:
            hierarchy = task.hierarchies.get(column.name)
            cells = column.text.to_list()
            cell_of_value = cover(source, cells, hierarchy, levels.get(column.name)).sole_cell()
            if cell_of_value is None:
                continue
        else:
            cell_of_value = code_of_value(column, source)
        absent = np.int64(column.cardinality)
        recoded = np.where(cell_of_value < 0, absent, cell_of_value).astype(np.int32)
        published.append(column.codes)
        original.append(recoded[source.codes])
        cardinalities.append(column.cardinality + 1)
    return excess(published, original, cardinalities)
