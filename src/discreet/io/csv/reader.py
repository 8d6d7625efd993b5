"""Reading delimited text: every cell as a code.

The file is read in pieces. Polars numbers the distinct cells of each column, across pieces; memory
holds the codes, the distinct values and one piece, never the text of the file. A piece that Polars
might read differently from ``records`` is read by ``records``, which also names the line of an
error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.io.column_dictionary import recode, sort_dictionary
from discreet.io.csv.file_pieces import FilePiece, cut_file, read_piece
from discreet.io.csv.layout import Layout, nul_bytes, open_layout
from discreet.io.csv.records import Fault, FaultyRecordError, records
from discreet.io.csv.text_stream import open_utf8, wrong_encoding
from discreet.io.source import Source, Tell, ignore_progress
from discreet.table.coded_table import CodedTable, Column
from discreet.table.column_spec import ColumnSpec
from discreet.typing import Codes, Ints

FEW = 1 << 14
EMPTY = (1 << 32) - 1  # the number of an empty cell; beyond all others


def read_delimited(
    source: Source, specs: Mapping[str, ColumnSpec], tell: Tell = ignore_progress
) -> CodedTable:
    """Code every column of a text file that may be published."""
    with open_utf8(source) as file:
        layout, ahead, lines = open_layout(file, source)
        coded = {name: _Cells() for name in layout.names if specs[name].role.published}
        whole, done, rows = source.path.stat().st_size, 0, 0
        for piece in cut_file(file, layout, ahead, lines + 1):
            rows += _add(piece, source, coded)
            done += len(piece.data)
            tell(min(done / max(whole, 1), 1.0))  # a file that unzips or transcodes is longer
    if rows == 0:
        raise InputError(
            f"{source.path}: the file has a header but no rows. Nothing can be published."
        )
    columns = {
        name: _code_column(name, specs[name], cells, source) for name, cells in coded.items()
    }
    left_out = tuple(name for name in layout.names if name not in columns)
    return CodedTable(columns, rows, left_out)


class _Cells:
    """The cells of one column: their distinct texts, numbered, and the number of each row's."""

    def __init__(self) -> None:
        self._categories = pl.Categorical(pl.Categories.random())
        self.in_doubt = False  # whether a text that never occurs may have a number
        self._numbers: list[NDArray[np.uint32]] = []  # of each piece
        self._known = 0
        self._texts: list[pl.Series] = []  # that came up first in some piece
        self._has_empty = False

    @property
    def dtype(self) -> pl.DataType:
        """The type to read cells as: many distinct ones are numbered faster once they are read."""
        return self._categories if self._known < FEW else pl.String()

    def add(self, cells: pl.Series) -> None:
        """Take the cells of a piece."""
        cells = cells.cast(self._categories)
        numbers = cells.to_physical()
        top = numbers.max()
        if isinstance(top, int) and (top >= self._known or self.in_doubt):
            known = 0 if self.in_doubt else self._known
            self._texts.append(cells.filter(numbers >= known).unique())
            self._known = max(top + 1, self._known)
        self._has_empty |= cells.null_count() > 0
        self._numbers.append(numbers.fill_null(EMPTY).to_numpy())

    def distinct(self) -> tuple[Ints, pl.Series]:
        """Return the number of each distinct cell, and the cells."""
        found = pl.concat([pl.Series([], dtype=self._categories), *self._texts]).unique()
        numbers, texts = found.to_physical().cast(pl.Int64), found.cast(pl.String)
        if self._has_empty:
            numbers.append(pl.Series([EMPTY]))
            texts.append(pl.Series([""]))
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


def _add(piece: FilePiece, source: Source, coded: Mapping[str, _Cells]) -> int:
    """Take the cells of a piece; return its number of rows."""
    names = piece.layout.names
    schema = {name: coded[name].dtype if name in coded else pl.String() for name in names}
    frame = read_piece(piece, schema)
    if frame is not None:
        for name, cells in coded.items():
            cells.add(frame[name])
        return frame.height
    rows = [row for _, row in _records(piece, source)]
    for place, name in enumerate(names):
        if name in coded:
            try:
                texts = [row[place].decode() or None for row in rows]
            except UnicodeDecodeError:
                raise wrong_encoding(source) from None
            cells = coded[name]
            cells.in_doubt = True
            cells.add(pl.Series(texts, dtype=pl.String))
    return len(rows)


def _code_column(name: str, spec: ColumnSpec, cells: _Cells, source: Source) -> Column:
    numbers, raw = cells.distinct()
    if raw.str.contains("\0", literal=True).any():
        raise nul_bytes(source)

    def locate(bad: Ints) -> str:
        return f"{source.path}, line {_line_of_row(source, cells.first_row(numbers[bad]))}"

    dictionary = sort_dictionary(name, spec, raw.alias(name), source.missing, locate)
    codes = cells.recoded(numbers, dictionary.code_of_raw)
    return dictionary.column(name, spec, codes)


def _line_of_row(source: Source, row: int) -> int:
    """Return the line on which a row begins, found by reading the file again."""
    with open_utf8(source) as file:
        layout, ahead, lines = open_layout(file, source)
        schema = {name: pl.String() for name in layout.names}
        for piece in cut_file(file, layout, ahead, lines + 1):
            frame = read_piece(piece, schema)
            if frame is not None and frame.height <= row:
                row -= frame.height
                continue
            for place, _ in _records(piece, source):
                if row == 0:
                    return piece.line_at(place)
                row -= 1
    raise InputError(f"{source.path}: the file changed while it was read. Run again.")


def _records(piece: FilePiece, source: Source) -> Iterator[tuple[int, list[bytes]]]:
    """Yield where each record of a piece begins, and its cells; raise where one is faulty."""
    try:
        yield from records(piece.records, piece.layout)
    except FaultyRecordError as error:
        place = f"{source.path}, line {piece.line_at(error.place)}"
        raise InputError(f"{place}: {_said(error, piece.layout)}") from None


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
