"""Generalized releases: one table ``records`` with coarser quasi-identifiers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.algorithms.method import CellColumn, Generalized, Task
from discreet.data.classes import classes_of, group_codes
from discreet.data.counts import count_classes
from discreet.data.published import PublishedColumn, PublishedTable
from discreet.data.roles import Role
from discreet.data.table import CodedTable, Column
from discreet.hierarchies.coverage import cover
from discreet.knowledge.terms import terms_of
from discreet.models.requirement import Domains
from discreet.releases.kind import Kind, View
from discreet.releases.manifest import Manifest
from discreet.releases.tracing import untraced_rows

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
                changed = outcome.row_cells.get(column.name)
                codes = column.codes if changed is None else changed.codes
                values = column.values if changed is None else changed.cells
                codes = codes if whole else codes[kept]
                columns.append(PublishedColumn(column.name, column.role, codes, values))
        source_row = None if whole else kept.astype(np.int32)
        return {RECORDS: PublishedTable(RECORDS, columns, len(kept), source_row)}

    def suppressed(self, outcome: Generalized) -> int:
        return int((outcome.class_of_row < 0).sum())

    def views(
        self, tables: Mapping[str, CodedTable], domains: Domains, *, refined: bool
    ) -> list[View]:
        records = tables[RECORDS]
        classes = classes_of(records.quasi_identifiers, records.rows)
        linked = [column for column in records.quasi_sensitive if column.name in domains]
        counts = count_classes(classes, records.sensitive, refined=refined, quasi_sensitive=linked)
        return [View(counts, domains)]

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
        excess = _invented_rows(tables[RECORDS], task, _levels(manifest))
        return [
            *_said(tables[RECORDS], task, manifest, excess),
            *_added_terms(tables[RECORDS], task),
        ]

    def traced_changes(
        self,
        tables: Mapping[str, CodedTable],
        task: Task,
        manifest: Manifest,
        source_rows: Mapping[str, NDArray[np.int32]],
    ) -> list[str]:
        records = tables[RECORDS]
        excess = untraced_rows(records, task, _levels(manifest), source_rows[RECORDS])
        return _said(records, task, manifest, excess)


def _levels(manifest: Manifest) -> Mapping[str, int]:
    """The levels of a full-domain recoding."""
    levels: Mapping[str, int] = getattr(manifest.method, "levels", {})
    return levels


def _said(records: CodedTable, task: Task, manifest: Manifest, excess: int) -> list[str]:
    problems = []
    if task.table.rows - records.rows - manifest.suppressed_rows:
        problems.append(
            f"the original has {task.table.rows} rows, the release accounts for "
            f"{records.rows + manifest.suppressed_rows}"
        )
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
    are still checked to cover some value each. So are quasi-sensitive columns, which may have lost
    terms (``_added_terms``).
    """
    published, original, cardinalities = [], [], []
    for column in records:
        source = task.table[column.name]
        if column.role is Role.QUASI_SENSITIVE:
            continue
        if column.role is Role.QUASI_IDENTIFIER:
            hierarchy = task.hierarchies.get(column.name)
            cells = column.text.to_list()
            cell_of_value = cover(source, cells, hierarchy, levels.get(column.name)).sole_cell()
            if cell_of_value is None:
                continue
        else:
            cell_of_value = _code_of_value(column, source)
        absent = np.int64(column.cardinality)
        recoded = np.where(cell_of_value < 0, absent, cell_of_value).astype(np.int32)
        published.append(column.codes)
        original.append(recoded[source.codes])
        cardinalities.append(column.cardinality + 1)
    if not published:
        return max(records.rows - task.table.rows, 0)
    both = [np.concatenate(pair) for pair in zip(published, original, strict=True)]
    classes = group_codes(both, cardinalities, records.rows + task.table.rows)
    seen = np.bincount(classes.class_of_row[: records.rows], minlength=classes.count)
    held = np.bincount(classes.class_of_row[records.rows :], minlength=classes.count)
    return int(np.maximum(seen - held, 0).sum())


def _added_terms(records: CodedTable, task: Task) -> list[str]:
    """Terms that are published more often than the original has them."""
    problems = []
    for column in records.quasi_sensitive:
        published, source = terms_of(column), terms_of(task.table[column.name])
        held = dict(
            zip(source.names.to_list(), source.counts(task.table[column.name].counts), strict=True)
        )
        seen = zip(published.names.to_list(), published.counts(column.counts), strict=True)
        added = sum(count > held.get(name, 0) for name, count in seen)
        if added:
            problems.append(
                f"{added} terms of '{column.name}' are published more often than they occur"
            )
    return problems


def _code_of_value(published: Column, source: Column) -> NDArray[np.int64]:
    """For each value of the source column, its code in the published one, −1 where absent."""
    code = {text: number for number, text in enumerate(published.text.to_list())}
    return np.array([code.get(text, -1) for text in source.text.to_list()], np.int64)
