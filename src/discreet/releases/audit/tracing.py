"""Check that published rows represent rows of the original that they may represent.

The pipeline that makes a release knows which source row each published row represents. With that as
a witness the check is direct: every published cell must cover the value of its own source row, and
no source row may be used twice. The witness only names rows; cells and values are read from the
written files and the original, so a wrong witness can make the check fail and never make it pass.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.hierarchies.cells import SUPPRESSED
from discreet.hierarchies.coverage import Coverage, coverage_of_cells
from discreet.knowledge.terms import terms_of
from discreet.methods.base import Task
from discreet.table.code_maps import code_of_text
from discreet.table.coded_table import CodedTable, Column
from discreet.table.kernels import kernel
from discreet.table.roles import Role
from discreet.typing import Codes, Ints32

TABLE_LIMIT = 2**20  # cells × values that are looked up in a table, which stays in the cache


def coverage_of(published: Column, task: Task, levels: Mapping[str, int]) -> Coverage:
    """Return which values of the original each cell of a published column covers."""
    source = task.table[published.name]
    if published.role is not Role.QUASI_IDENTIFIER:
        return _exact(published, source)
    hierarchy, level = task.hierarchies.get(published.name), levels.get(published.name)
    return coverage_of_cells(published, source, hierarchy, level)


def _exact(published: Column, source: Column) -> Coverage:
    """The coverage of a column that is published unchanged; an unknown value covers none.

    Every cell has a run; that of an unknown value is empty, and so is that of a number in another
    spelling than the source's, in a file that keeps spellings. A masked sensitive cell covers all.
    """
    low = code_of_text(source.text, published.text)
    spelled = published.values.dtype == pl.String and source.values.dtype == pl.String
    if spelled and published.type is source.type:
        known = source.values.gather(np.maximum(low, 0))
        low[published.values.ne_missing(known).to_numpy()] = -1
    high = low + (low >= 0)
    if published.role is Role.SENSITIVE:
        masked = (published.text == SUPPRESSED).fill_null(False).to_numpy() & (low < 0)
        low[masked], high[masked] = 0, source.cardinality
    numbers = np.arange(published.cardinality)
    return Coverage(published.cardinality, source.cardinality, numbers, low, high)


def untraced_rows(
    records: CodedTable, task: Task, levels: Mapping[str, int], source_row: Ints32
) -> int:
    """Return how many published rows don't represent their own source row."""
    if len(source_row) != records.rows:
        return records.rows

    def uncovered(column: Column) -> NDArray[np.bool_]:
        if column.role is Role.QUASI_SENSITIVE:
            return _with_added_terms(column, task.table[column.name], source_row)
        coverage = coverage_of(column, task, levels)
        if coverage.cells * coverage.cardinality <= TABLE_LIMIT:
            return _outside(
                column.codes, _narrow(task.table[column.name]), source_row, coverage.matrix()
            )
        first_run = np.searchsorted(coverage.cell_of_run, np.arange(coverage.cells + 1))
        return _uncovered(
            column.codes,
            _narrow(task.table[column.name]),
            source_row,
            first_run,
            coverage.low.astype(np.int32),
            coverage.high.astype(np.int32),
        )

    wrong = _used_before(source_row, task.table.rows)
    source_row = np.clip(source_row, 0, task.table.rows - 1)
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        columns = [column for column in records if column.role is not Role.STRUCTURE]
        for found in pool.map(uncovered, columns):
            wrong |= found
    return int(np.count_nonzero(wrong))


def _with_added_terms(published: Column, source: Column, source_row: Ints32) -> NDArray[np.bool_]:
    """Return which rows have a term that their source row lacks, or lost a cell of no terms."""
    terms, held = terms_of(published), terms_of(source)
    of_source = terms.codes_in(held.names.to_list())
    missing = published.text.is_null().to_numpy()  # empty, not ``*``
    return _added_terms(
        published.codes,
        source.codes,
        source_row,
        terms.start,
        of_source,
        missing,
        held.start,
        held.term,
    )


@kernel
def _added_terms(
    cell: Codes,
    value: Codes,
    source_row: Ints32,
    start: NDArray[np.int64],
    term: Codes,
    missing: NDArray[np.bool_],
    source_start: NDArray[np.int64],
    source_term: Codes,
) -> NDArray[np.bool_]:
    """Return which rows have added terms: both lists ascend, so one pass compares them."""
    wrong = np.zeros(len(cell), np.bool_)
    for row in range(len(cell)):
        held = value[source_row[row]]
        place, end = source_start[held], source_start[held + 1]
        if missing[cell[row]]:
            wrong[row] = end > place
        for entry in range(start[cell[row]], start[cell[row] + 1]):
            while place < end and source_term[place] < term[entry]:
                place += 1
            if place == end or source_term[place] != term[entry]:
                wrong[row] = True
                break
    return wrong


def _narrow(column: Column) -> NDArray[np.integer]:
    """The codes in the narrowest type: gathering them in random order misses the cache."""
    dtype = np.min_scalar_type(max(column.cardinality - 1, 0))
    return column.codes.astype(dtype)


@kernel
def _outside(
    cell: Codes,  # (rows,)
    value: NDArray[np.integer],  # (source rows,)
    source_row: Ints32,  # (rows,)
    covers: NDArray[np.bool_],  # (cells, values)
) -> NDArray[np.bool_]:
    """Return which cells don't cover the value of their source row, by a table."""
    wrong = np.empty(len(cell), np.bool_)
    for row in range(len(cell)):
        wrong[row] = not covers[cell[row], value[source_row[row]]]
    return wrong


@kernel
def _uncovered(
    cell: Codes,  # (rows,)
    value: NDArray[np.integer],  # (source rows,)
    source_row: Ints32,  # (rows,)
    first_run: NDArray[np.int64],  # (cells + 1,)
    low: Codes,  # (runs,)
    high: Codes,  # (runs,)
) -> NDArray[np.bool_]:
    """Return which cells don't cover the value of their source row, by the runs of codes."""
    wrong = np.zeros(len(cell), np.bool_)
    for row in range(len(cell)):
        held = value[source_row[row]]
        covered = False
        for run in range(first_run[cell[row]], first_run[cell[row] + 1]):
            covered |= low[run] <= held < high[run]
        wrong[row] = not covered
    return wrong


@kernel
def _used_before(source_row: Ints32, source_rows: int) -> NDArray[np.bool_]:
    """Return which rows name a source row that does not exist or that an earlier row has named."""
    used = np.zeros(source_rows, np.bool_)
    wrong = np.zeros(len(source_row), np.bool_)
    for row in range(len(source_row)):
        if source_row[row] < 0 or source_row[row] >= source_rows or used[source_row[row]]:
            wrong[row] = True
        else:
            used[source_row[row]] = True
    return wrong
