"""Generalized releases: one table ``records`` with coarser quasi-identifiers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.hierarchies.cells import SUPPRESSED
from discreet.methods.base import CellColumn, Generalized
from discreet.table.coded_table import CodedTable, Column
from discreet.table.counts import count_classes
from discreet.table.persons import Persons
from discreet.table.published import PERSON, PublishedColumn, PublishedTable
from discreet.table.roles import Role

RECORDS = "records"


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


def numbered_persons(
    table: PublishedTable, persons: Persons, rng: np.random.Generator
) -> PublishedTable:
    """The table with a number for each person, drawn at random from 1 to their number."""
    own = persons.number if table.source_row is None else persons.number[table.source_row]
    shown, place = np.unique(own, return_inverse=True)
    number = rng.permutation(len(shown))[place].astype(np.int32)
    values = pl.Series(PERSON, np.arange(1, len(shown) + 1))
    column = PublishedColumn(PERSON, Role.STRUCTURE, number, values)
    return replace(table, columns=[column, *table.columns])


def _recoded(column: Column, cells: CellColumn, class_of_row: NDArray[np.int32]) -> PublishedColumn:
    dictionary = pl.Series(column.name, list(cells.labels), dtype=pl.String)
    return PublishedColumn(
        column.name, column.role, cells.cell_of_class.take(class_of_row), dictionary
    )


def _masked(
    column: Column, is_masked: NDArray[np.bool_], kept: NDArray[np.int64]
) -> PublishedColumn:
    codes = np.where(is_masked, column.cardinality, column.codes[kept]).astype(np.int32)
    dictionary = pl.concat([column.text, pl.Series([SUPPRESSED])])
    return PublishedColumn(column.name, column.role, codes, dictionary)
