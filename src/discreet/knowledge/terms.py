"""The terms of multi-valued cells, as codes.

A missing cell has no terms, and neither has ``*``, the cell of which all terms were removed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.hierarchies.cells import SUPPRESSED
from discreet.table.coded_table import Column


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
        found = np.array([place.get(name, -1) for name in self.names.to_list()], np.int32)
        return found[self.term] if len(self.term) else np.zeros(0, np.int32)


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
