"""The terms of multi-valued cells, as codes.

A missing cell has no terms, and neither has ``*``, the cell of which all terms were removed.
A person with several rows has the union of the terms of their rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.hierarchies.cells import SUPPRESSED
from discreet.table.coded_table import Column
from discreet.table.persons import Persons


@dataclass(frozen=True, eq=False)
class Terms:
    """The terms of every value of a column: those of value v are ``term[start[v]:start[v + 1]]``.

    They ascend within a value, so that values with the same terms have the same codes.
    """

    start: NDArray[np.int64]  # (values + 1,)
    term: NDArray[np.int32]  # (occurrences in the dictionary,) codes of ``names``
    names: pl.Series  # (terms,) sorted

    @property
    def length(self) -> NDArray[np.int64]:
        """The number of terms of every value."""
        return np.diff(self.start)

    def counts(self, count_of_value: NDArray[np.int64]) -> NDArray[np.int64]:
        """In how many rows each term occurs, from the number of rows with each value."""
        rows = np.repeat(count_of_value, self.length)
        return np.bincount(self.term, rows, len(self.names)).astype(np.int64)

    def codes_in(self, dictionary: Sequence[str]) -> NDArray[np.int32]:
        """For each occurrence the place of its term in another dictionary, −1 where absent."""
        place = {name: number for number, name in enumerate(dictionary)}
        code_of_name = np.array([place.get(name, -1) for name in self.names.to_list()], np.int32)
        return code_of_name[self.term] if len(self.term) else np.zeros(0, np.int32)


def terms_of(column: Column) -> Terms:
    """The values of a column split at its separator; once for the same column."""
    known = _split.get(column)
    if known is None:
        known = _split[column] = _split_cells(column)
    return known


_split: WeakKeyDictionary[Column, Terms] = WeakKeyDictionary()


def _split_cells(column: Column) -> Terms:
    """A column without a separator has a term a cell."""
    text = column.text
    has_terms = (text.is_not_null() & (text != SUPPRESSED)).fill_null(False)
    cells = text.filter(has_terms)
    length = np.zeros(len(text), np.int64)
    if column.separator is None:
        length[has_terms.to_numpy()] = 1
        flat = cells
    else:
        lists = cells.str.split(column.separator)
        length[has_terms.to_numpy()] = lists.list.len().to_numpy()
        flat = lists.explode() if len(lists) else cells
    names = flat.unique().sort()
    codes = flat.cast(pl.Enum(names)).to_physical().cast(pl.Int32).to_numpy()
    start = np.concatenate(([0], np.cumsum(length))).astype(np.int64)
    return Terms(start, np.ascontiguousarray(codes), names)


BETWEEN = "\x1f"  # terms of a person, where each cell of the column has one


def term_rows(column: Column) -> pl.DataFrame:
    """The row and the term of each occurrence of a term."""
    listed = terms_of(column)
    length = listed.length[column.codes]
    start = np.repeat(listed.start[column.codes], length)
    within = np.arange(len(start)) - np.repeat(np.cumsum(length) - length, length)
    term = listed.names.gather(pl.Series(listed.term[start + within], dtype=pl.Int64))
    return pl.DataFrame({"row": np.repeat(np.arange(len(column.codes)), length), "term": term})


def union_of_rows(column: Column, persons: Persons) -> Column:
    """A cell for each person with the terms of all their rows.

    It is ``*`` where rows lost all their terms, and empty where no row ever had any.
    """
    separator = column.separator or BETWEEN
    occurring = term_rows(column)
    person = pl.Series("person", persons.number[occurring["row"].to_numpy()])
    joined = _joined(occurring.select(person.alias("row"), "term").unique(), separator)
    emptied = (column.text == SUPPRESSED).fill_null(False).to_numpy()[column.codes]
    cells: list[str | None] = [None] * persons.count
    for of_person in np.unique(persons.number[emptied]):
        cells[of_person] = SUPPRESSED
    for of_person, text in joined.iter_rows():
        cells[of_person] = text
    return _coded(replace(column, separator=separator), pl.Series(column.name, cells, pl.String))


def rows_within(column: Column, persons: Persons, union: Column) -> Column:
    """The cells of rows, with the terms that the cell of their person still has."""
    occurring = term_rows(column).with_columns(
        pl.Series("person", persons.number[term_rows(column)["row"].to_numpy()])
    )
    left = term_rows(union).rename({"row": "person"})
    remaining = occurring.join(left, on=["person", "term"], how="semi")
    if remaining.height == occurring.height:
        return column
    cells = column.text.gather(pl.Series(column.codes)).to_list()
    for row in occurring["row"].unique().to_list():
        cells[row] = SUPPRESSED
    for row, text in _joined(
        remaining.select("row", "term"), column.separator or BETWEEN
    ).iter_rows():
        cells[row] = text
    return _coded(column, pl.Series(column.name, cells, pl.String))


def _joined(terms: pl.DataFrame, separator: str) -> pl.DataFrame:
    """The cell of each row that has terms."""
    ordered = terms.sort("row", "term")
    return ordered.group_by("row", maintain_order=True).agg(pl.col("term").str.join(separator))


def _coded(column: Column, cells: pl.Series) -> Column:
    """A column of the same name and role with other cells."""
    distinct = cells.unique().sort(nulls_last=True)
    place = {cell: code for code, cell in enumerate(distinct.to_list())}
    codes = np.array([place[cell] for cell in cells.to_list()], np.int32)
    return replace(column, codes=codes, text=distinct, values=distinct, weights=None, total=None)
