"""The cells of a large text file as numbers, by a compiled loop over its bytes.

The loop takes eight bytes at a time and keeps to ``records``, in half of Polars' time. It declines
a piece with a carriage return, a doubled quote or a faulty record, and every piece with a new text
once a file has many: their table would not stay in the processor's cache.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.io.csv.file_pieces import LINE_FEED, FilePiece
from discreet.table.kernels.tiers import is_worthwhile, kernel
from discreet.typing import AnyInts, Bools, Bytes, CellNumbers, Ints, Ints32, Words

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


# Compiled: a loop over rows; NumPy widens every number before it takes its code.
@kernel
def put_codes(numbers: AnyInts, code_of_number: AnyInts, codes: AnyInts) -> None:
    """Put the code of each number; one beyond the last has the last code."""
    last = len(code_of_number) - 1
    for row in range(len(numbers)):
        codes[row] = code_of_number[min(numbers[row], last)]
