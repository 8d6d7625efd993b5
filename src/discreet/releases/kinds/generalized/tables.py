"""Generalized releases: one table ``records`` with coarser quasi-identifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.hierarchies.cells import SUPPRESSED
from discreet.knowledge.terms import terms_of
from discreet.methods.base import CellColumn, Generalized, Task
from discreet.releases.audit.matching import excess_problems, unmatched_rows
from discreet.releases.audit.tracing import untraced_rows
from discreet.releases.kinds.base import Kind, View
from discreet.releases.manifest import Manifest
from discreet.releases.table_forms import Form
from discreet.requirements.base import Domains
from discreet.table.coded_table import CodedTable, Column, gather
from discreet.table.counts import count_classes
from discreet.table.published import PublishedColumn, PublishedTable
from discreet.table.roles import Role

RECORDS = "records"
ATTRIBUTES = tuple(role for role in Role if role.published and role is not Role.STRUCTURE)


class GeneralizedKind(Kind):
    """One table, a row for each published person."""

    name: ClassVar[str] = "generalized"
    outcome: ClassVar[type] = Generalized
    has_records: ClassVar[bool] = True

    def tables(self, task: Task, outcome: Generalized) -> dict[str, PublishedTable]:
        return {RECORDS: recoded_table(RECORDS, list(task.table), outcome)}

    def forms(self, tables: int) -> Mapping[str, Form]:
        return {RECORDS: Form(ATTRIBUTES)}

    def suppressed(self, outcome: Generalized) -> int:
        return int((outcome.class_of_row < 0).sum())

    def views(
        self, tables: Mapping[str, CodedTable], domains: Domains, *, refined: bool
    ) -> list[View]:
        records = tables[RECORDS]
        linked = [column for column in records.quasi_sensitive if column.name in domains]
        counts = count_classes(
            records.classes, records.sensitive, refined=refined, quasi_sensitive=linked
        )
        return [View(counts, domains)]

    def sizes(self, tables: Mapping[str, CodedTable]) -> dict[str, NDArray[np.int64]]:
        return {"": tables[RECORDS].classes.size}

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
        return problems + mask_problems(tables[RECORDS])

    def changes(
        self, tables: Mapping[str, CodedTable], task: Task, manifest: Manifest
    ) -> list[str]:
        excess = unmatched_rows(tables[RECORDS], task, manifest.method.levels_of(RECORDS) or {})
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
        excess = untraced_rows(
            records, task, manifest.method.levels_of(RECORDS) or {}, source_rows[RECORDS]
        )
        return _said(records, task, manifest, excess)


def mask_problems(table: CodedTable) -> list[str]:
    """Sensitive cells ``*`` beside others of their class, where they would pass for one more value.

    A mask may be any value, so it proves no diversity; methods mask all of a class or nothing.
    """
    problems = []
    for column in table.sensitive:
        mask = (column.text == SUPPRESSED).fill_null(False).to_numpy()
        if not mask.any():  # a value '*' of the source would have a backslash before it
            continue
        counts = count_classes(table.classes, [column]).values[column.name]
        masked = np.flatnonzero(mask[counts.value])
        partly = int((np.diff(counts.start)[counts.class_of_entry[masked]] > 1).sum())
        if partly:
            problems.append(f"'{column.name}' is masked in part of {partly} classes")
    return problems


def _said(records: CodedTable, task: Task, manifest: Manifest, excess: int | None) -> list[str]:
    problems = []
    if task.table.rows - records.rows - manifest.suppressed_rows:
        problems.append(
            f"the original has {task.table.rows} rows, the release accounts for "
            f"{records.rows + manifest.suppressed_rows}"
        )
    return problems + excess_problems(excess, records.rows, RECORDS)


def recoded_table(name: str, columns: Sequence[Column], outcome: Generalized) -> PublishedTable:
    """Some columns of the task's table, quasi-identifiers recoded, without suppressed rows."""
    kept = np.flatnonzero(outcome.class_of_row >= 0)
    whole = len(kept) == len(outcome.class_of_row)
    class_of_row = outcome.class_of_row if whole else outcome.class_of_row[kept]
    published = []
    for column in columns:
        if column.role is Role.QUASI_IDENTIFIER:
            published.append(_recoded(column, outcome.cells[column.name], class_of_row))
        elif column.name in outcome.masked:
            masked = outcome.masked[column.name][class_of_row]
            published.append(_masked(column, masked, kept))
        else:
            changed = outcome.row_cells.get(column.name)
            codes = column.codes if changed is None else changed.codes
            values = column.values if changed is None else changed.cells
            codes = codes if whole else codes[kept]
            published.append(PublishedColumn(column.name, column.role, codes, values))
    source_row = None if whole else kept.astype(np.int32)
    return PublishedTable(name, published, len(kept), source_row=source_row)


def _recoded(column: Column, cells: CellColumn, class_of_row: NDArray[np.int32]) -> PublishedColumn:
    dictionary = pl.Series(column.name, list(cells.labels), dtype=pl.String)
    return PublishedColumn(
        column.name, column.role, gather(cells.cell_of_class, class_of_row), dictionary
    )


def _masked(
    column: Column, is_masked: NDArray[np.bool_], kept: NDArray[np.int64]
) -> PublishedColumn:
    codes = np.where(is_masked, column.cardinality, column.codes[kept]).astype(np.int32)
    dictionary = pl.concat([column.text, pl.Series([SUPPRESSED])])
    return PublishedColumn(column.name, column.role, codes, dictionary)


def _added_terms(records: CodedTable, task: Task) -> list[str]:
    """Terms that are published more often than the original has them."""
    problems = []
    for column in records.quasi_sensitive:
        published, source = terms_of(column), terms_of(task.table[column.name])
        occurring = source.counts(task.table[column.name].counts)
        held = dict(zip(source.names.to_list(), occurring, strict=True))
        seen = zip(published.names.to_list(), published.counts(column.counts), strict=True)
        added = sum(count > held.get(name, 0) for name, count in seen)
        if added:
            problems.append(
                f"{added} terms of '{column.name}' are published more often than they occur"
            )
    return problems
