"""The cells of delimited text as numbers, piece by piece, by the fastest way that is sure.

Polars numbers the distinct cells of each column, across pieces; memory holds the numbers, the
distinct values and one piece, never the text of a file. A piece that Polars might read differently
from ``records`` is read by ``records``, which also names the line of an error.

A large file is read by a compiled loop over its bytes, which takes eight at a time and keeps to
``records``. Without it, publishing 10 million rows of Adult by mondrian takes 14 % more processor
time (20.9, 21.5 and 20.4 s against 19.2, 17.7 and 18.2 s, alternating), beyond the 10 % for which
Polars alone would do; a million rows take as long either way. The loop
declines a piece with a carriage return, a doubled quote or a faulty record, and every piece with a
new text once a file has many: their table would not stay in the processor's cache.

Whole numbers in plain form, such as those of groups, number themselves; without that, a million
groups in 10 million rows take twice the time or more. Polars also reads ``007`` as a number, so a
piece is read in this way only if its cells are as long as their plain forms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.io.column_dictionary import recode
from discreet.io.csv.file_pieces import (
    LINE_FEED,
    Fault,
    FaultyRecordError,
    FilePiece,
    read_piece,
    records,
)
from discreet.io.csv.layout import Layout
from discreet.table.kernels.tiers import is_worthwhile, kernel
from discreet.typing import Bools, Bytes, CellNumbers, Codes, Ints, Ints32, Words

SAVED = 4e-9  # processor seconds a byte, compared with Polars
MOST_TEXTS = 1 << 15  # in all columns
MOST_WORDS = 1 << 20  # of eight bytes, in all texts
EMPTY = (1 << 32) - 1  # the number of an empty cell; beyond all others
GREATEST = 1 << 24  # whole numbers below it number themselves

_NONE, _ONE = np.uint64(0), np.uint64(1)
_ONES = np.uint64(0x0101010101010101)
_TOPS = np.uint64(0x8080808080808080)
_ODD = np.uint64(0x9E3779B97F4A7C15)
_ZEROS = np.uint64(0x3030303030303030)  # the digit
_SIXES = np.uint64(0x0606060606060606)
_ZERO = 48
_UPPER = np.uint64(0xF0F0F0F0F0F0F0F0)


class TextTable(NamedTuple):
    """The distinct texts of all columns, in the order of their numbers."""

    slots: Ints32  # the number of a text by its hash, −1 where there is none
    hashes: Words
    column: Ints32
    place: Ints  # in the piece in which the text came first
    length: Ints
    start: Ints  # in the words
    words: Words
    used: Ints  # (2,) numbers, words


class CompiledReader:
    """Numbers the cells of pieces; a column's texts have the same numbers in all of them."""

    def __init__(self) -> None:
        self._table = TextTable(
            np.full(4 * MOST_TEXTS, -1, np.int32),
            np.empty(MOST_TEXTS, np.uint64),
            np.empty(MOST_TEXTS, np.int32),
            np.empty(MOST_TEXTS, np.int64),
            np.empty(MOST_TEXTS, np.int64),
            np.empty(MOST_TEXTS, np.int64),
            np.empty(MOST_WORDS, np.uint64),
            np.zeros(2, np.int64),
        )
        self._named = 0
        self._cells = np.empty((0, 0), np.uint32)

    def read(self, piece: FilePiece, columns: Ints, whole: Bools) -> CellNumbers | None:
        """Return the number of each cell, column by column; None if the piece is declined.

        Given are the column of each field, −1 if it is passed over, and whether its cells are
        whole numbers in plain form, which number themselves. The next piece overwrites the result.
        """
        delimiter, quote = piece.layout.delimiter, piece.layout.quote
        if delimiter == quote or b"\r" in piece.data:
            return None
        data = np.frombuffer(piece.data, np.uint8)
        words = np.ndarray(max(len(data) - 7, 0), "<u8", piece.data, 0, (1,))
        rows = piece.line_feeds - 1
        if self._cells.shape[1] < rows:  # kept, as memory would fall into ever more pieces
            self._cells = np.empty((columns.max(initial=-1) + 1, rows + rows // 4), np.uint32)
        marks = delimiter[0], quote[0] if quote else -1
        rows = _number_cells(data, words, marks, columns, whole, self._table, self._cells)
        return None if rows < 0 else self._cells[:, :rows]

    def new_texts(self, piece: FilePiece) -> dict[int, tuple[Ints, list[str]]]:
        """Return the new numbers and their texts, by column, after the piece that has them."""
        table = self._table
        new = np.arange(self._named, table.used[0])
        self._named = int(table.used[0])
        texts_by_column: dict[int, tuple[Ints, list[str]]] = {}
        for column in set(table.column[new].tolist()):
            numbers = new[table.column[new] == column]
            places = zip(table.place[numbers].tolist(), table.length[numbers].tolist(), strict=True)
            texts_by_column[column] = (
                numbers,
                [piece.data[at : at + size].decode() for at, size in places],
            )
        return texts_by_column


def is_faster(size: int) -> bool:
    """Return whether the compiled loop pays for a file of this many bytes."""
    return is_worthwhile(_number_cells, SAVED * size)


# Compiled: a loop over bytes.
@kernel(wraps=True)
def _number_cells(
    data: Bytes,
    words: Words,
    marks: tuple[int, int],
    columns: Ints,
    whole: Bools,
    table: TextTable,
    cells: CellNumbers,
) -> int:
    """Number the cells behind the empty record; return the rows, or −1."""
    slots, hashes, column_of, first, lengths, starts, texts, used = table
    delimiter, quote = marks
    mask, fields, place, row = len(slots) - 1, len(columns), len(columns), 0
    delimiters, line_feeds = np.uint64(delimiter) * _ONES, np.uint64(LINE_FEED) * _ONES
    quotes = np.uint64(max(quote, 0)) * _ONES
    while place < len(data):
        if fields > 1 and data[place] == LINE_FEED:
            place += 1
            continue
        for field in range(fields):
            first_mark, second_mark, quoted = delimiters, line_feeds, data[place] == quote
            if quoted:
                first_mark, second_mark = quotes, quotes
                place += 1
            start, column = place, columns[field]
            code = np.uint64(column + 1) * _ODD
            while True:
                word = words[place] if place < len(words) else _last_word(data, place)
                first_differs, second_differs = word ^ first_mark, word ^ second_mark
                # The lowest bit of each is that of the lowest byte that does not differ.
                marked = (first_differs - _ONES) & ~first_differs
                marked = (marked | ((second_differs - _ONES) & ~second_differs)) & _TOPS
                if marked != _NONE:
                    break
                code = (code ^ word) * _ODD
                code ^= code >> np.uint64(32)
                place += 8
                if place >= len(data):
                    return -1
            below = ((marked & (~marked + _ONE)) >> np.uint64(7)) - _ONE
            place += int(((below & _ONES) * _ONES) >> np.uint64(56))
            word &= below
            length = place - start
            place += quoted
            if place >= len(data) or data[place] != (
                LINE_FEED if field == fields - 1 else delimiter
            ):
                return -1
            place += 1
            if column < 0:
                continue
            if length == 0:
                cells[column, row] = EMPTY
            elif whole[field]:
                if length > 8 or (length > 1 and data[start] == _ZERO):
                    return -1
                word = words[start] if start < len(words) else _last_word(data, start)
                number = _whole_number(word, length)
                if number < 0:
                    return -1
                cells[column, row] = number
            else:
                code = (code ^ word) * _ODD
                code ^= code >> np.uint64(32)
                slot = np.int64(code) & mask
                full = length >> 3
                while slots[slot] >= 0:
                    number = slots[slot]
                    if hashes[number] == code and lengths[number] == length:
                        begin = starts[number]
                        same = texts[begin + full] == word and column_of[number] == column
                        for at in range(full):
                            same &= texts[begin + at] == words[start + 8 * at]
                        if same:
                            break
                    slot = (slot + 1) & mask
                if slots[slot] < 0:
                    number, begin = used
                    if number == len(hashes) or begin + full + 1 > len(texts):
                        return -1
                    slots[slot] = number
                    hashes[number] = code
                    column_of[number] = column
                    first[number] = start
                    lengths[number] = length
                    starts[number] = begin
                    for at in range(full):
                        texts[begin + at] = words[start + 8 * at]
                    texts[begin + full] = word
                    used[0] += 1
                    used[1] += full + 1
                cells[column, row] = slots[slot]
        row += 1
    return row


# Compiled: called for each cell.
@kernel(wraps=True)
def _last_word(data: Bytes, place: int) -> np.uint64:
    """Return the bytes from a place, the first lowest; zeros are behind the end."""
    word = _NONE
    for at in range(place, len(data)):
        word |= np.uint64(data[at]) << np.uint64(8 * (at - place))
    return word


# Compiled: called for each cell.
@kernel(wraps=True)
def _whole_number(word: np.uint64, length: int) -> int:
    """Return the whole number of one to eight digits that a word begins with, or −1."""
    digits = word << np.uint64(64 - 8 * length)
    if length < 8:
        digits |= _ZEROS >> np.uint64(8 * length)
    if (digits & _UPPER) != _ZEROS or ((digits + _SIXES) & _UPPER) != _ZEROS:
        return -1
    # Neighbours become numbers of two, four and eight digits.
    digits = ((digits & np.uint64(0x0F0F0F0F0F0F0F0F)) * np.uint64(10 * 2**8 + 1)) >> np.uint64(8)
    digits = (digits & np.uint64(0x00FF00FF00FF00FF)) * np.uint64(100 * 2**16 + 1)
    digits = (digits >> np.uint64(16)) & np.uint64(0x0000FFFF0000FFFF)
    number = int((digits * np.uint64(10_000 * 2**32 + 1)) >> np.uint64(32))
    return number if number < GREATEST else -1


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
            if not cells.whole:
                recode(column_numbers, self._number_of_text, column_numbers)
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
