"""The cells of delimited text as numbers, piece by piece.

Polars numbers the distinct cells of each column, across pieces; memory holds the numbers, the
distinct values and one piece, never the text of a file. A piece that Polars might read differently
from ``records`` is read by ``records``, which also names the line of an error.

Whole numbers in plain form, such as those of groups, number themselves. Polars also reads ``007``
as a number, so a piece is read in this way only if its cells are as long as their plain forms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

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
GREATEST = 1 << 24  # whole numbers below it number themselves
POWERS = np.array([10**digits for digits in range(1, 8)], np.uint32)


class NumberedCells:
    """The cells of one column: their distinct texts, numbered, and the number of each row's."""

    def __init__(self) -> None:
        self._categories = pl.Categorical(pl.Categories.random())
        self.in_doubt = False  # whether a text that never occurs may have a number
        # Of each piece, in the narrowest type: numbers wait until the last text is known.
        self._numbers: list[NDArray[np.unsignedinteger[Any]]] = []
        self._known = 0
        self._texts: list[pl.Series] = []  # that came up first in some piece
        self._has_empty = False
        self.whole = False  # whether all cells are whole numbers in plain form, and so numbered

    @property
    def started(self) -> bool:
        """Whether a piece was taken."""
        return bool(self._numbers)

    @property
    def text_type(self) -> pl.DataType:
        """The type to read cells as: many distinct ones are numbered faster once they are read."""
        return self._categories if self._known < FEW and not self.whole else pl.String()

    def add(self, cells: pl.Series) -> None:
        """Take the cells of a piece."""
        self._has_empty |= cells.null_count() > 0
        if self.whole and cells.dtype == pl.UInt32:
            top = cells.max()
            self._known = max(top + 1 if isinstance(top, int) else 0, self._known)
            self._numbers.append(_narrow(cells, top))
            return
        if self.whole:
            plain = _plain_numbers(cells)
            if plain is not None:
                self.add(plain)
                return
            self.name_numbers()
        cells = cells.cast(self._categories)
        numbers = cells.to_physical()
        top = numbers.max()
        if isinstance(top, int) and (top >= self._known or self.in_doubt):
            known = 0 if self.in_doubt else self._known
            self._texts.append(cells.filter(numbers >= known).unique())
            self._known = max(top + 1, self._known)
        self._numbers.append(_narrow(numbers, top))

    def name_numbers(self) -> None:
        """Number the cells by their texts from now on."""
        parts, self._numbers, self._known, self.whole = self._numbers, [], 0, False
        for part in parts:
            numbers = pl.Series(part).cast(pl.UInt32)
            self.add(numbers.set(numbers == EMPTY, None).cast(pl.String))

    def distinct(self, empty: str | None = "") -> tuple[Ints, pl.Series]:
        """Return the number of each distinct cell, and the cells; ``empty`` is an empty one."""
        if self.whole:
            occurs = np.zeros(self._known + 1, np.bool_)  # the last for an empty cell
            for part in self._numbers:
                occurs[np.minimum(part, np.uint32(self._known))] = True
            numbers = pl.Series(np.flatnonzero(occurs[:-1]))
            texts = numbers.cast(pl.String)
        else:
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
    if not any(cells.started for cells in coded.values()):
        _expect_numbers(piece, coded)
    frame = _with_numbers(piece, coded)
    if frame is None:
        frame = read_piece(piece, _text_types(names, coded))
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


def _expect_numbers(piece: FilePiece, coded: Mapping[str, NumberedCells]) -> None:
    """Expect whole numbers in the columns whose first cell is one in plain form."""
    begin, layout = piece.layout.fields, piece.layout
    found = piece.data[begin : piece.data.find(b"\n", begin)].split(layout.delimiter)
    if len(found) != layout.fields:
        return
    for name, cell in zip(layout.names, found, strict=True):
        if name in coded and cell.isdigit() and len(cell) < 9:
            number = int(cell)
            coded[name].whole = number < GREATEST and str(number).encode() == cell


def _with_numbers(piece: FilePiece, coded: Mapping[str, NumberedCells]) -> pl.DataFrame | None:
    """Return the cells with whole numbers read as such; None unless all are in plain form."""
    whole = [name for name, cells in coded.items() if cells.whole]
    quote, fields = piece.layout.quote, piece.layout.fields
    if whole and (b"\r" in piece.data or (quote and quote in piece.data)):
        for name in whole:  # the length of a text is not that of its cell
            coded[name].name_numbers()
        return None
    types = _text_types(piece.layout.names, coded) | dict.fromkeys(whole, pl.UInt32())
    frame = read_piece(piece, types) if whole else None
    if frame is None:
        return None
    length = 0
    for cells in frame:
        if cells.dtype == pl.String:
            length += int(cells.str.len_bytes().sum())
        elif cells.dtype != pl.UInt32:
            length += int(cells.cat.len_bytes().sum())
        elif cells.len() > cells.null_count():
            numbers = cells.drop_nulls().to_numpy()
            if numbers.max() >= GREATEST:
                return None
            length += len(numbers) + sum(int(np.count_nonzero(numbers >= p)) for p in POWERS)
    return frame if length == len(piece.data) - (frame.height + 1) * fields else None


def _text_types(names: Iterable[str], coded: Mapping[str, NumberedCells]) -> dict[str, pl.DataType]:
    """Return the type to read each column's texts as."""
    return {name: coded[name].text_type if name in coded else pl.String() for name in names}


def _narrow(numbers: pl.Series, top: object) -> NDArray[np.unsignedinteger[Any]]:
    """Return the numbers of a piece, none above ``top``; an empty cell needs the widest type."""
    if numbers.null_count() or not isinstance(top, int):
        return numbers.fill_null(EMPTY).to_numpy()
    narrow = pl.UInt8 if top < 1 << 8 else pl.UInt16 if top < 1 << 16 else pl.UInt32
    return numbers.cast(narrow).to_numpy()


def _plain_numbers(cells: pl.Series) -> pl.Series | None:
    """Return texts as whole numbers; None unless all are, in plain form and not too great."""
    texts = cells.cast(pl.String)
    numbers = texts.cast(pl.UInt32, strict=False)
    plain = numbers.cast(pl.String).equals(texts, null_equal=True)
    return numbers if plain and not (numbers >= GREATEST).any() else None


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
