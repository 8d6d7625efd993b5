"""The cells of delimited text as numbers, piece by piece.

Polars numbers the distinct cells of each column, across pieces; memory holds the numbers, the
distinct values and one piece, never the text of a file. A piece that Polars might read differently
from ``records`` is read by ``records``, which also names the line of an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.io.column_dictionary import recode
from discreet.io.csv.file_pieces import FilePiece, read_piece
from discreet.io.csv.layout import Layout
from discreet.io.csv.records import Fault, FaultyRecordError, records
from discreet.typing import Codes, Ints

FEW = 1 << 14
EMPTY = (1 << 32) - 1  # the number of an empty cell; beyond all others
LOOKED_UP = 1 << 22  # integers below are looked up in a table
PROBED = 1 << 12  # cells that show whether an attribute has many distinct ones


class NumberedCells:
    """The cells of one column: their distinct texts, numbered, and the number of each row's.

    ``integers`` says that cells should be integers: many distinct ones are looked up in a table,
    five times as fast as Polars numbers texts.
    """

    def __init__(self, *, integers: bool = False) -> None:
        self._integers = integers
        self._number_of_integer = np.zeros(0, np.int32)  # −1 for one that has none yet
        self._categories = pl.Categorical(pl.Categories.random())
        self.in_doubt = False  # whether a text that never occurs may have a number
        self._numbers: list[NDArray[np.uint32]] = []  # of each piece
        self._known = 0
        self._texts: list[pl.Series] = []  # that came up first in some piece
        self._has_empty = False

    @property
    def dtype(self) -> pl.DataType:
        """The type to read cells as: many distinct ones are numbered faster once they are read."""
        as_text = self._integers or self._known >= FEW
        return pl.String() if as_text else self._categories

    def add(self, cells: pl.Series) -> None:
        """Take the cells of a piece."""
        self._has_empty |= cells.null_count() > 0
        values = self._plain_integers(cells)
        if values is None:
            self._numbers.append(self._number(cells).fill_null(EMPTY).to_numpy())
            return
        numbers = np.full(len(cells), EMPTY, np.uint32)
        numbers[cells.is_not_null().to_numpy()] = self._look_up(values)
        self._numbers.append(numbers)

    def _number(self, cells: pl.Series) -> pl.Series:
        """Number texts, and keep those that come up first."""
        cells = cells.cast(self._categories)
        numbers = cells.to_physical()
        top = numbers.max()
        if isinstance(top, int) and (top >= self._known or self.in_doubt):
            known = 0 if self.in_doubt else self._known
            self._texts.append(cells.filter(numbers >= known).unique())
            self._known = max(top + 1, self._known)
        return numbers

    def _plain_integers(self, cells: pl.Series) -> Ints | None:
        """Return many cells as integers if their texts follow from these; None for others."""
        if not self._integers or cells.dtype != pl.String:
            return None
        if cells.head(PROBED).n_unique() <= PROBED // 4:
            self._integers = False
            return None
        values = cells.cast(pl.Int64, strict=False)
        plain = (
            values.null_count() == cells.null_count() and (values.cast(pl.String) == cells).all()
        )
        found = values.drop_nulls().to_numpy()
        if not plain or not len(found) or found.min() < 0 or found.max() >= LOOKED_UP:
            return None
        return found

    def _look_up(self, values: Ints) -> Codes:
        """Return the numbers of integers; those without one get the number of their text."""
        more = int(values.max()) + 1 - len(self._number_of_integer)
        if more > 0:
            unknown = np.full(more, -1, np.int32)
            self._number_of_integer = np.concatenate((self._number_of_integer, unknown))
        numbers = self._number_of_integer.take(values)
        is_new = np.zeros(len(self._number_of_integer), bool)
        is_new[values[numbers < 0]] = True
        new = np.flatnonzero(is_new)
        if len(new):
            self._number_of_integer[new] = self._number(pl.Series(new).cast(pl.String)).to_numpy()
            numbers = self._number_of_integer.take(values)
        return numbers

    def distinct(self, empty: str | None = "") -> tuple[Ints, pl.Series]:
        """Return the number of each distinct cell, and the cells; ``empty`` is an empty one."""
        found = pl.concat([pl.Series([], dtype=self._categories), *self._texts]).unique()
        numbers, texts = found.to_physical().cast(pl.Int64), found.cast(pl.String)
        if self._has_empty:
            numbers.append(pl.Series([EMPTY]))
            texts.append(pl.Series([empty], dtype=pl.String))
        return numbers.to_numpy(), texts

    def recoded(self, numbers: Ints, code_of_raw: Codes) -> Codes:
        """Return the code of each row, given that of each distinct cell, and forget the cells."""
        code_of_number = np.full(self._known + 1, -1, np.int32)  # the last one of an empty cell
        code_of_number[np.minimum(numbers, self._known)] = code_of_raw
        codes = np.empty(sum(map(len, self._numbers)), np.int32)
        done = 0
        for part in self._numbers:
            recode(part, code_of_number, codes[done : done + len(part)])
            done += len(part)
        if codes.min() < 0:
            raise AssertionError("A cell was numbered and its text not kept.")
        self._numbers.clear()
        return codes

    def first_row(self, wanted: Ints) -> int:
        """Return the first row that has one of these numbers."""
        return int(np.flatnonzero(np.isin(np.concatenate(self._numbers), wanted))[0])


def add_piece(piece: FilePiece, place: str, coded: Mapping[str, NumberedCells]) -> int:
    """Take the cells of a piece; return its number of rows."""
    names = piece.layout.names
    schema = {name: coded[name].dtype if name in coded else pl.String() for name in names}
    frame = read_piece(piece, schema)
    if frame is not None:
        for name, cells in coded.items():
            cells.add(frame[name])
        return frame.height
    rows = [row for _, row in whole_records(piece, place)]
    for number, name in enumerate(names):
        if name in coded:
            texts = [row[number].decode() or None for row in rows]
            cells = coded[name]
            cells.in_doubt = True
            cells.add(pl.Series(texts, dtype=pl.String))
    return len(rows)


def whole_records(piece: FilePiece, place: str) -> Iterator[tuple[int, list[bytes]]]:
    """Yield where each record of a piece begins, and its cells; raise where one is faulty."""
    try:
        yield from records(piece.records, piece.layout)
    except FaultyRecordError as error:
        line = piece.line_at(error.place)
        raise InputError(f"{place}, line {line}: {_said(error, piece.layout)}") from None


def _said(error: FaultyRecordError, layout: Layout) -> str:
    match error.fault:
        case Fault.RAGGED:
            found = "1 cell" if error.fields == 1 else f"{error.fields} cells"
            delimiter = layout.delimiter.decode()
            other = "header" if layout.headed else "first row"
            return (
                f"the row has {found}, the {other} {layout.fields}. Quote a cell that holds "
                f"{delimiter!r}, or add or remove cells; if {delimiter!r} is not what separates "
                "cells, set `delimiter:`."
            )
        case Fault.TEXT_AFTER_QUOTE:
            return (
                "text follows the closing quote of a cell. Double a quote inside a cell, or set "
                "`quote: null` if cells are never quoted."
            )
        case Fault.UNCLOSED:
            return (
                "a quote opens a cell here and nothing closes it. Close it, or set `quote: null` "
                "if cells are never quoted."
            )
