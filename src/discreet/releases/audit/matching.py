"""How many published rows remain unmatched, however they are matched to rows of the original.

Where cells of a column overlap (local recoding, pooled classes, relaxed cuts) an original row may
be published in several ways, and whether nothing was invented is a question of matching: every
published row needs a row of the original of its own that all its cells cover. Both sides are
compressed to their distinct combinations, and ``covering_classes`` finds the published ones that
cover an original one. The matching is a greatest flow from one side to the other, so the answer is
exact. The search stops after so many pairs; the answer is then unknown.

Check that published rows represent rows of the original that they may represent.

The pipeline that makes a release knows which source row each published row represents. With that as
a witness the check is direct: every published cell must cover the value of its own source row, and
no source row may be used twice. The witness only names rows; cells and values are read from the
written files and the original, so a wrong witness can make the check fail and never make it pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import polars as pl

from discreet.hierarchies.cells import SUPPRESSED
from discreet.hierarchies.coverage import Coverage, coverage_of_cells
from discreet.hierarchies.covering_classes import fitting_groups
from discreet.knowledge.table import terms_of
from discreet.methods.base import Task
from discreet.table.budgets import AT_ONCE, IN_CACHE
from discreet.table.classes import group_codes
from discreet.table.code_maps import code_of_text
from discreet.table.coded_table import CodedTable, Column
from discreet.table.graphs import greatest_flow
from discreet.table.kernels.lists import entries_of, places_of
from discreet.table.roles import Role
from discreet.typing import Bools, Codes, Ints, Ints32


class Side(NamedTuple):
    """Distinct combinations of one side."""

    codes: list[Codes]  # by column: (combinations,)
    rows: Ints  # (combinations,) how many have each


def unmatched_rows(records: CodedTable, task: Task, levels: Mapping[str, int]) -> int | None:
    """The least number of published rows that match no row of the original; None if unknown."""
    unmatched = (Role.QUASI_SENSITIVE, Role.STRUCTURE)
    columns = [column for column in records if column.role not in unmatched]
    if not columns:  # sets may have lost terms, which is checked elsewhere
        return max(records.rows - task.table.rows, 0)
    # Where cells do not overlap, an original row counts by the cell in which it can be published.
    coverages, original = [], []
    for column in columns:
        coverage, codes = coverage_of(column, task, levels), task.table[column.name].codes
        sole = coverage.sole_cell()
        if sole is not None:
            absent = column.cardinality  # a value that no cell covers
            codes = np.where(sole < 0, absent, sole).astype(np.int32).take(codes)
            cells = np.arange(absent)
            coverage = Coverage(absent, absent + 1, cells, cells, cells + 1)
        coverages.append(coverage)
        original.append(codes)
    # Equal rows of one side are one combination; match each to those that cover it.
    ours = _distinct([c.codes for c in columns], [c.cells for c in coverages], records.rows)
    theirs = _distinct(original, [c.cardinality for c in coverages], task.table.rows)
    if not len(ours.rows):
        return 0
    fitting = fitting_groups(coverages, theirs.codes, ours.codes)
    if fitting is None:
        return None
    flow = greatest_flow(ours.rows, theirs.rows, *fitting)
    return int(ours.rows.sum() - flow.sum())


def unexplained_rows(
    records: CodedTable,
    table: str,
    task: Task,
    levels: Mapping[str, int],
    source_row: Ints32 | None,  # (rows,) where the publisher knows it
) -> list[str]:
    """Return the problem of rows of a table that correspond to no row of the original."""
    rows = records.rows
    unmatched = (
        unmatched_rows(records, task, levels)
        if source_row is None
        else untraced_rows(records, task, levels, source_row)
    )
    if unmatched is None:
        return [
            f"cells of '{table}' overlap so much that its rows can't be matched to the original"
        ]
    if not unmatched:
        return []
    return [f"{unmatched} of {rows} rows of '{table}' correspond to no row of the original"]


def _distinct(codes: list[Codes], cardinalities: list[int], rows: int) -> Side:
    combinations = group_codes(codes, cardinalities, rows)
    return Side([column[combinations.first_row] for column in codes], combinations.size)


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
    for column in columns:
        source = task.table[column.name]
        if column.role is Role.QUASI_SENSITIVE:
            wrong |= _with_added_terms(column, source, source_row)
        else:
            wrong |= _uncovered(column, coverage_of(column, task, levels), source, source_row)
    return int(np.count_nonzero(wrong))


def _uncovered(column: Column, coverage: Coverage, source: Column, source_row: Ints32) -> Bools:
    """Return which rows have a cell that does not cover the value of their source row."""
    # Gathering in random order misses the cache, so the codes are as narrow as they can be.
    value = source.codes.astype(np.min_scalar_type(max(source.cardinality - 1, 0)))
    wrong = np.empty(len(source_row), np.bool_)
    table = None
    if coverage.cells * coverage.cardinality <= AT_ONCE:
        table = ~coverage.matrix().ravel()
    for begin in range(0, len(source_row), IN_CACHE):
        part = slice(begin, begin + IN_CACHE)
        held = value.take(source_row[part])
        if table is not None:
            wrong[part] = table.take(column.codes[part] * coverage.cardinality + held)
        else:
            wrong[part] = ~coverage.covers(column.codes[part], held)
    return wrong


def _with_added_terms(published: Column, source: Column, source_row: Ints32) -> Bools:
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
    place = places_of(of_value * domain + held.term, wanted)
    wrong[pair[(place < 0) | (of_source[entry] < 0)]] = True
    return np.asarray(wrong[both.class_of_row])


def _used_before(source_row: Ints32, source_rows: int) -> Bools:
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
