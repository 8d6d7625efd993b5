"""Check that published rows represent rows of the original that they may represent.

The pipeline that makes a release knows which source row each published row represents. With that as
a witness the check is direct: every published cell must cover the value of its own source row, and
no source row may be used twice. The witness only names rows; cells and values are read from the
written files and the original, so a wrong witness can make the check fail and never make it pass.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from math import prod

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.hierarchies.cells import SUPPRESSED
from discreet.hierarchies.coverage import Coverage, coverage_of_cells
from discreet.knowledge.terms import terms_of
from discreet.methods.base import Task
from discreet.table.classes import group_codes
from discreet.table.code_maps import code_of_text
from discreet.table.coded_table import CodedTable, Column
from discreet.table.kernels.lists import entries_of, places_of
from discreet.table.roles import Role
from discreet.typing import Ints32

AT_ONCE = 2**16  # rows, so that what is laid out for them stays in the cache
TABLE_LIMIT = 2**20  # cells × values that are looked up in a table, which stays in the cache
KEYS = 2**32  # combinations of values that one key tells apart
CoveredColumn = tuple[Column, Coverage]


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
    wrong = _used_before(source_row, task.table.rows)
    if wrong.any():
        source_row = np.clip(source_row, 0, task.table.rows - 1)
    columns = [column for column in records if column.role is not Role.STRUCTURE]
    terms = [column for column in columns if column.role is Role.QUASI_SENSITIVE]
    covered = [(c, coverage_of(c, task, levels)) for c in columns if c not in terms]
    exact = [(column, coverage) for column, coverage in covered if coverage.is_exact]
    checks = [
        *(partial(_with_added_terms, column, task.table[column.name]) for column in terms),
        *(partial(_uncovered, *one, task.table) for one in covered if one not in exact),
        *(partial(_unequal, pack, task.table) for pack in _packs(exact)),
    ]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for found in pool.map(lambda check: check(source_row), checks):
            wrong |= found
    return int(np.count_nonzero(wrong))


def _uncovered(
    column: Column, coverage: Coverage, original: CodedTable, source_row: Ints32
) -> NDArray[np.bool_]:
    """Return which rows have a cell that does not cover the value of their source row."""
    value = _narrow(original[column.name])
    wrong = np.empty(len(source_row), np.bool_)
    table = None
    if coverage.cells * coverage.cardinality <= TABLE_LIMIT:
        table = ~coverage.matrix().ravel()
    for begin in range(0, len(source_row), AT_ONCE):
        part = slice(begin, begin + AT_ONCE)
        held = value.take(source_row[part])
        if table is not None:
            wrong[part] = table.take(column.codes[part] * coverage.cardinality + held)
        else:
            wrong[part] = ~coverage.covers(column.codes[part], held)
    return wrong


def _packs(exact: Sequence[CoveredColumn]) -> list[list[CoveredColumn]]:
    """Return columns together whose values fit one key."""
    packs: list[list[CoveredColumn]] = []
    keys = 0
    for column, coverage in exact:
        values = coverage.cardinality + 1  # one for a cell that covers none
        if not packs or keys * values > KEYS:
            packs.append([])
            keys = 1
        packs[-1].append((column, coverage))
        keys *= values
    return packs


def _unequal(
    pack: Sequence[CoveredColumn], original: CodedTable, source_row: Ints32
) -> NDArray[np.bool_]:
    """Return which rows have cells, each of one value at most, that are not their source row's.

    All values of a row are one key, so that gathering them in random order misses the cache once.
    """
    keys = prod(coverage.cardinality + 1 for _, coverage in pack)
    narrow = np.min_scalar_type(keys - 1)
    held = np.zeros(original.rows, narrow)
    value_of_cell = [
        np.where(coverage.low < coverage.high, coverage.low, coverage.cardinality).astype(narrow)
        for _, coverage in pack
    ]
    for begin in range(0, original.rows, AT_ONCE):
        key = held[begin : begin + AT_ONCE]
        for column, coverage in pack:
            key *= narrow.type(coverage.cardinality + 1)
            key += original[column.name].codes[begin : begin + AT_ONCE].astype(narrow)
    wrong = np.empty(len(source_row), np.bool_)
    for begin in range(0, len(source_row), AT_ONCE):
        part = slice(begin, begin + AT_ONCE)
        key = np.zeros(len(wrong[part]), narrow)
        for (column, coverage), value in zip(pack, value_of_cell, strict=True):
            key *= narrow.type(coverage.cardinality + 1)
            key += value.take(column.codes[part])
        np.not_equal(held.take(source_row[part]), key, out=wrong[part])
    return wrong


def _with_added_terms(published: Column, source: Column, source_row: Ints32) -> NDArray[np.bool_]:
    """Return which rows have a term that their source row lacks, or lost a cell of no terms."""
    terms, held = terms_of(published), terms_of(source)
    of_source = terms.codes_in(held.names.to_list())
    missing = published.text.is_null().to_numpy()  # empty, not ``*``
    both = group_codes(
        [published.codes, source.codes[source_row]],
        [published.cardinality, source.cardinality],
        len(source_row),
    )
    cell = published.codes[both.first_row]
    value = source.codes[source_row[both.first_row]]
    wrong = missing[cell] & (np.diff(held.start)[value] > 0)
    entry, pair = entries_of(terms.start, cell)
    domain = len(held.names) + 1  # a term that the source lacks has the code −1
    of_value = np.repeat(np.arange(source.cardinality), np.diff(held.start))
    wanted = value[pair].astype(np.int64) * domain + of_source[entry]
    found = places_of(of_value * domain + held.term, wanted)
    wrong[pair[(found < 0) | (of_source[entry] < 0)]] = True
    return np.asarray(wrong[both.class_of_row])


def _narrow(column: Column) -> NDArray[np.integer]:
    """The codes in the narrowest type: gathering them in random order misses the cache."""
    dtype = np.min_scalar_type(max(column.cardinality - 1, 0))
    return column.codes.astype(dtype)


def _used_before(source_row: Ints32, source_rows: int) -> NDArray[np.bool_]:
    """Return which rows name a source row that does not exist or that an earlier row has named."""
    if source_row.min(initial=0) >= 0 and source_row.max(initial=-1) < source_rows:
        used = np.zeros(source_rows, np.bool_)
        used[source_row] = True
        if np.count_nonzero(used) == len(source_row):
            return np.zeros(len(source_row), np.bool_)
    wrong = (source_row < 0) | (source_row >= source_rows)
    known = np.flatnonzero(~wrong)[::-1]
    first = np.empty(source_rows, np.int64)
    first[source_row[known]] = known  # of rows that name the same one the first is written last
    wrong[known] = first[source_row[known]] != known
    return np.asarray(wrong)
