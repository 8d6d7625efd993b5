"""The cells of delimited text as numbers, piece by piece.

Polars numbers the distinct cells of each column, across pieces; memory holds the numbers, the
distinct values and one piece, never the text of a file. Large files are read by compiled code
(``compiled_cells``) where that is sure to be right, and a piece that Polars might read differently
from ``records`` by ``records``, which also names the line of an error.

Whole numbers in plain form, such as those of groups, number themselves. Polars also reads ``007``
as a number, so a piece is read in this way only if its cells are as long as their plain forms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.io.column_dictionary import recode
from discreet.io.csv.compiled_cells import (
    EMPTY,
    GREATEST,
    MOST_TEXTS,
    CompiledReader,
    is_faster,
    put_codes,
)
from discreet.io.csv.file_pieces import Fault, FaultyRecordError, FilePiece, read_piece, records
from discreet.io.csv.layout import Layout
from discreet.typing import CellNumbers, Codes, Ints

FEW = 1 << 14
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
        self.compiled = False  # whether compiled code is at hand

    @property
    def text_type(self) -> pl.DataType:
        """The type to read cells as: many distinct ones are numbered faster once they are read."""
        return self._categories if self._known < FEW and not self.whole else pl.String()

    def add(self, cells: pl.Series) -> None:
        """Take the cells of a piece."""
        if self.whole and cells.dtype != pl.UInt32:
            plain = _plain_numbers(cells)
            if plain is None:
                self.name_numbers()
            else:
                cells = plain
        if self.whole:
            self.add_numbers(cells.fill_null(EMPTY).to_numpy())
            return
        cells = cells.cast(self._categories)
        numbers = cells.to_physical()
        top = numbers.max()
        if isinstance(top, int) and (top >= self._known or self.in_doubt):
            known = 0 if self.in_doubt else self._known
            self._texts.append(cells.filter(numbers >= known).unique())
        self.add_numbers(numbers.fill_null(EMPTY).to_numpy())

    def add_numbers(self, numbers: CellNumbers) -> None:
        """Take the numbers of a piece's cells, whose texts were given or are the numbers."""
        top = int(numbers.max(initial=0))
        if top < 1 << 16:
            # In Polars' memory: they would lie scattered among the large arrays of NumPy's.
            narrow = pl.Series(numbers).cast(pl.UInt8 if top < 1 << 8 else pl.UInt16)
            self._numbers.append(narrow.to_numpy())
        else:
            self._numbers.append(numbers.copy())
        if top == EMPTY:
            self._has_empty = True
            numbers = numbers[numbers != EMPTY]
        if len(numbers):
            self._known = max(int(numbers.max()) + 1, self._known)

    def numbers_of(self, texts: Sequence[str]) -> CellNumbers:
        """Return the numbers of texts, new ones where need be."""
        named = pl.Series(texts, dtype=pl.String).cast(self._categories)
        self._texts.append(named)
        return named.to_physical().to_numpy()

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
            categories = pl.concat([pl.Series([], dtype=self._categories), *self._texts]).unique()
            numbers, texts = categories.to_physical().cast(pl.Int64), categories.cast(pl.String)
        if self._has_empty:
            numbers.append(pl.Series([EMPTY]))
            texts.append(pl.Series([empty], dtype=pl.String))
        return numbers.to_numpy(), texts

    def recoded(self, numbers: Ints, code_of_raw: Codes) -> Codes:
        """Return the code of each row, given that of each distinct cell, and forget the cells."""
        code_of_number = np.full(self._known + 1, -1, np.int32)  # the last one of an empty cell
        code_of_number[np.minimum(numbers, self._known)] = code_of_raw
        codes = np.empty(sum(map(len, self._numbers)), np.int32)
        done, put = 0, put_codes if self.compiled else recode
        for part in self._numbers:
            put(part, code_of_number, codes[done : done + len(part)])
            done += len(part)
        if codes.min() < 0:
            raise AssertionError("A cell was numbered and its text not kept.")
        self._numbers.clear()
        return codes

    def first_row(self, wanted: Ints) -> int:
        """Return the first row that has one of these numbers."""
        return int(np.flatnonzero(np.isin(np.concatenate(self._numbers), wanted))[0])


class PieceReader:
    """Takes the cells of pieces, by the fastest way that is sure to read them as ``records`` does.

    ``size`` is about how many bytes all pieces have, if that is known.
    """

    def __init__(self, coded: Mapping[str, NumberedCells], size: int = 0) -> None:
        self._coded = coded
        self._bytes = size
        self._taken = 0
        self._compiled: CompiledReader | None = None
        # By the numbers of the compiled reader; the last one is of an empty cell.
        self._number_of_text = np.full(MOST_TEXTS + 1, EMPTY, np.uint32)

    def add(self, piece: FilePiece, place: str) -> int:
        """Take the cells of a piece; return its number of rows."""
        if not self._taken:
            _expect_numbers(piece, self._coded)
        self._taken += len(piece.data)
        if self._compiled is None and is_faster(max(self._bytes, self._taken)):
            self._compiled = CompiledReader()
        if self._compiled is not None:
            rows = self._add_compiled(piece, self._compiled)
            if rows is not None:
                return rows
        frame = _with_numbers(piece, self._coded)
        if frame is None:
            frame = read_piece(piece, _text_types(piece.layout.names, self._coded))
        if frame is not None:
            for name, cells in self._coded.items():
                cells.add(frame[name])
            return frame.height
        exact_records = [row for _, row in whole_records(piece, place)]
        for number, name in enumerate(piece.layout.names):
            if name in self._coded:
                texts = [row[number].decode() or None for row in exact_records]
                cells = self._coded[name]
                cells.in_doubt = True
                cells.add(pl.Series(texts, dtype=pl.String))
        return len(exact_records)

    def _add_compiled(self, piece: FilePiece, reader: CompiledReader) -> int | None:
        """Take the cells of a piece by compiled code; return the rows, None if it declines."""
        names, columns = piece.layout.names, list(self._coded)
        column_of = np.array([columns.index(n) if n in self._coded else -1 for n in names])
        whole = np.array([n in self._coded and self._coded[n].whole for n in names])
        numbers = reader.read(piece, column_of, whole)
        for column, (new, texts) in reader.new_texts(piece).items():
            self._number_of_text[new] = self._coded[columns[column]].numbers_of(texts)
        if numbers is None:
            return None
        for cells, column_numbers in zip(self._coded.values(), numbers, strict=True):
            cells.compiled = True
            if not cells.whole:
                put_codes(column_numbers, self._number_of_text, column_numbers)
            cells.add_numbers(column_numbers)
        return int(numbers.shape[1])


def _expect_numbers(piece: FilePiece, coded: Mapping[str, NumberedCells]) -> None:
    """Expect whole numbers in the columns whose first cell is one in plain form."""
    begin, layout = piece.layout.fields, piece.layout
    first_cells = piece.data[begin : piece.data.find(b"\n", begin)].split(layout.delimiter)
    if len(first_cells) != layout.fields:
        return
    for name, cell in zip(layout.names, first_cells, strict=True):
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
        raise InputError(f"{place}, line {line}: {_fault_message(error, piece.layout)}") from None


def _fault_message(error: FaultyRecordError, layout: Layout) -> str:
    match error.fault:
        case Fault.RAGGED:
            width = "1 cell" if error.fields == 1 else f"{error.fields} cells"
            delimiter = layout.delimiter.decode()
            other = "header" if layout.headed else "first row"
            return (
                f"the row has {width}, the {other} {layout.fields}. Quote a cell that holds "
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
