"""Delimited text into cells and codes, in one pass over the bytes.

A record ends at a line feed outside quotes (a carriage return before it belongs to the line end).
A cell that begins with the quote is quoted: a doubled quote in it is one, and nothing may follow
its end. A quote elsewhere is an ordinary character. A blank line is a missing cell in a table of
one column, and nothing in a wider one.

A block of whole records is numbered on its own: every distinct cell of a column becomes an entry,
and a row's code is its entry's number. The entries of all blocks are then gathered in one table,
in the order of the blocks, so the result does not depend on how threads were scheduled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.table.kernels import kernel
from discreet.typing import Bytes, Words

LINE_FEED = 10
CARRIAGE_RETURN = 13
NO_QUOTE = -1  # equals no byte

SOUND = 0
RAGGED = 1
TEXT_AFTER_QUOTE = 2

PADDING_WORDS = 3  # a kernel may read this far beyond the last byte
_FIRST_SLOTS = 1024


@dataclass(frozen=True, eq=False)
class Block:
    """The cells of some whole records, or where they go wrong."""

    codes: NDArray[np.int32]  # (coded columns, rows) the entry of each cell
    start: NDArray[np.int64]  # (entries + 1,) where the text of each begins
    text: Bytes  # of all entries, one after the other
    column: NDArray[np.int32]  # (entries,)
    hashes: NDArray[np.uint64]  # (entries,)
    fault: int = SOUND  # of the record after the last row
    fields: int = 0  # that the faulty record has


def padded(size: int) -> tuple[Words, Bytes]:
    """Room for that many bytes, as words and as bytes, with the padding that kernels read into."""
    words = np.empty(size // 8 + PADDING_WORDS, np.uint64)
    return words, words.view(np.uint8)


def tokenize(
    words: Words, size: int, dialect: tuple[int, int], slot_of_field: NDArray[np.int32]
) -> Block:
    """Number the cells of whole records, the last of which ends with a line feed.

    Quoted cells are unquoted in place. ``slot_of_field`` is −1 for a column that is not coded.
    """
    data = words.view(np.uint8)
    lines = int(count_lines(data[:size]))
    coded = int(slot_of_field.max(initial=-1)) + 1
    codes = np.empty((coded, lines), np.int32)
    # Room for the worst case; pages that are never touched cost nothing.
    start = np.empty(lines * coded, np.int64)
    length = np.empty(lines * coded, np.int64)
    column = np.empty(lines * coded, np.int32)
    hashes = np.empty(lines * coded, np.uint64)
    slots = np.empty((coded, max(4 << lines.bit_length(), _FIRST_SLOTS)), np.int32)
    rows, entries, fault, fields = _tokenize(
        words, data, size, *dialect, slot_of_field, codes, start, length, column, hashes, slots
    )
    text, begins = _gather_text(data, start[:entries], length[:entries])
    return Block(
        codes[:, :rows],
        begins,
        text,
        column[:entries].copy(),
        hashes[:entries].copy(),
        fault,
        fields,
    )


@kernel
def count_lines(data: Bytes) -> int:
    """The number of line feeds."""
    count = 0
    for place in range(len(data)):
        count += data[place] == LINE_FEED
    return count


@kernel
def _occurs(data: Bytes, byte: int) -> bool:
    count = 0
    for place in range(len(data)):
        count += data[place] == byte
    return count > 0


@kernel
def last_record_end(data: Bytes, delimiter: int, quote: int) -> tuple[int, int]:
    """Where the last whole record ends, and where an unclosed quoted cell begins (or −1)."""
    end = 0
    if not _occurs(data, quote):
        end = len(data)
        while end > 0 and data[end - 1] != LINE_FEED:
            end -= 1
        return end, -1
    opened = -1
    at_start = True
    place = 0
    while place < len(data):
        byte = data[place]
        if opened >= 0:
            if byte == quote:
                if place + 1 < len(data) and data[place + 1] == quote:
                    place += 1
                else:
                    opened = -1
        elif at_start and byte == quote:
            opened = place
            at_start = False
        elif byte == LINE_FEED:
            end = place + 1
            at_start = True
        else:
            at_start = byte == delimiter
        place += 1
    return end, opened


@kernel
def find_record(
    data: Bytes, delimiter: int, quote: int, blanks: bool, record: int
) -> tuple[int, int]:
    """Where the record of that number begins, or −1 and how many records further on.

    Blank lines are records only if ``blanks``.
    """
    begin = 0
    place = 0
    while place < len(data):
        opened = False
        at_start = True
        while opened or data[place] != LINE_FEED:
            byte = data[place]
            if opened:
                if byte == quote:
                    if data[place + 1] == quote:
                        place += 1
                    else:
                        opened = False
            elif at_start and byte == quote:
                opened = True
                at_start = False
            else:
                at_start = byte == delimiter
            place += 1
        blank = place == begin or (place == begin + 1 and data[begin] == CARRIAGE_RETURN)
        if blanks or not blank:
            if record == 0:
                return begin, 0
            record -= 1
        place += 1
        begin = place
    return -1, record


@kernel
def _word(words: Words, place: int) -> Any:
    """The eight bytes that begin here, the first lowest."""
    low = np.uint64(8 * (place & 7))
    low_part = words[place >> 3] >> low
    return low_part | ((words[(place >> 3) + 1] << np.uint64(1)) << (np.uint64(63) - low))


@kernel
def _first_match(word: np.uint64, one: np.uint64, other: np.uint64) -> np.uint64:
    """A mask whose lowest bit is in the first byte that equals one of two (each given 8 times)."""
    ones = np.uint64(0x0101010101010101)
    highs = np.uint64(0x8080808080808080)
    word_one = word ^ one
    word_other = word ^ other
    return (((word_one - ones) & ~word_one) | ((word_other - ones) & ~word_other)) & highs


@kernel(wraps=True)
def _bytes_before(match: np.uint64) -> Any:
    """The number of bytes below the lowest bit of a mask."""
    lowest = (match & (~match + np.uint64(1))) >> np.uint64(7)
    return np.int64((lowest * np.uint64(0x0001020304050607)) >> np.uint64(56))


@kernel
def _low_bytes(word: np.uint64, count: int) -> np.uint64:
    """The first bytes of a word, fewer than eight."""
    return word & ((np.uint64(1) << np.uint64(8 * count)) - np.uint64(1))


@kernel(wraps=True)
def _mix(mixed: np.uint64, word: np.uint64) -> np.uint64:
    mixed = (mixed ^ word) * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ (mixed >> np.uint64(32))


@kernel
def _hash(words: Words, begin: int, end: int) -> np.uint64:
    mixed = np.uint64(0)
    while end - begin >= 8:
        mixed = _mix(mixed, _word(words, begin))
        begin += 8
    return _mix(mixed, _low_bytes(_word(words, begin), end - begin))


@kernel
def _scan(words: Words, begin: int, one: np.uint64, other: np.uint64) -> tuple[int, np.uint64]:
    """Where a cell that is not quoted ends, and its hash."""
    mixed = np.uint64(0)
    place = begin
    while True:
        word = _word(words, place)
        match = _first_match(word, one, other)
        if match != 0:
            count = _bytes_before(match)
            return place + count, _mix(mixed, _low_bytes(word, count))
        mixed = _mix(mixed, word)
        place += 8


@kernel
def _unquote(data: Bytes, quote: int, place: int) -> tuple[int, int]:
    """Undouble in place the quotes of a cell whose text begins here; its end, and what follows."""
    write = place
    while True:
        byte = data[place]
        if byte == quote:
            if data[place + 1] != quote:
                return write, place + 1
            place += 1
        data[write] = byte
        write += 1
        place += 1


@kernel
def _is_blank(data: Bytes, place: int) -> Any:
    return data[place] == LINE_FEED or (
        data[place] == CARRIAGE_RETURN and data[place + 1] == LINE_FEED
    )


@kernel
def _same(words: Words, one: int, other: int, length: int) -> Any:
    while length >= 8:
        if _word(words, one) != _word(words, other):
            return False
        one += 8
        other += 8
        length -= 8
    return _low_bytes(_word(words, one) ^ _word(words, other), length) == 0


@kernel
def _read_cell(
    words: Words, data: Bytes, begin: int, delimiters: np.uint64, quote: int
) -> tuple[int, int, int, np.uint64]:
    """Where the text of a cell begins and ends, what follows the cell, and the text's hash."""
    if data[begin] == quote:
        begin += 1
        end, place = _unquote(data, quote, begin)
        if data[place] == CARRIAGE_RETURN and data[place + 1] == LINE_FEED:
            place += 1
        return begin, end, place, _hash(words, begin, end)
    place, key = _scan(words, begin, delimiters, np.uint64(0x0A0A0A0A0A0A0A0A))
    if data[place] == LINE_FEED and place > begin and data[place - 1] == CARRIAGE_RETURN:
        return begin, place - 1, place, _hash(words, begin, place - 1)
    return begin, place, place, key


@kernel
def _tokenize(
    words: Words,
    data: Bytes,
    size: int,
    delimiter: int,
    quote: int,
    slot_of_field: NDArray[np.int32],
    codes: NDArray[np.int32],
    start: NDArray[np.int64],
    length: NDArray[np.int64],
    column: NDArray[np.int32],
    hashes: NDArray[np.uint64],
    slots: NDArray[np.int32],
) -> tuple[int, int, int, int]:
    fields = len(slot_of_field)
    delimiters = np.uint64(delimiter) * np.uint64(0x0101010101010101)
    capacity = np.full(len(slots), _FIRST_SLOTS)
    filled = np.zeros(len(slots), np.int64)
    slots[:, :_FIRST_SLOTS] = -1
    entries = 0
    row = 0
    place = 0
    field = 0
    while place < size:
        if fields > 1 and _is_blank(data, place):
            place += 1 if data[place] == LINE_FEED else 2
            continue
        field = 0
        last = False
        while not last:
            begin, end, place, key = _read_cell(words, data, place, delimiters, quote)
            last = data[place] == LINE_FEED
            if not last and data[place] != delimiter:
                return row, entries, TEXT_AFTER_QUOTE, field
            place += 1
            slot = slot_of_field[field] if field < fields else -1
            field += 1
            if slot < 0:
                continue
            at = np.int64(key & np.uint64(capacity[slot] - 1))
            entry = slots[slot, at]
            while entry >= 0 and not (
                hashes[entry] == key
                and length[entry] == end - begin
                and _same(words, start[entry], begin, end - begin)
            ):
                at = (at + 1) & (capacity[slot] - 1)
                entry = slots[slot, at]
            if entry < 0:
                entry = entries
                start[entry], length[entry] = begin, end - begin
                column[entry], hashes[entry] = slot, key
                slots[slot, at] = entry
                entries += 1
                filled[slot] += 1
                if 2 * filled[slot] > capacity[slot]:
                    capacity[slot] *= 4
                    _refill(slots[slot, : capacity[slot]], slot, column[:entries], hashes)
            codes[slot, row] = entry
        if field != fields:
            return row, entries, RAGGED, field
        row += 1
    return row, entries, SOUND, field


@kernel
def _refill(
    slots: NDArray[np.int32],
    slot: int,
    column: NDArray[np.int32],
    hashes: NDArray[np.uint64],
) -> None:
    """Put the entries of a column into its hash slots anew, after they grew."""
    slots[:] = -1
    mask = len(slots) - 1
    for entry in range(len(column)):
        if column[entry] == slot:
            at = np.int64(hashes[entry] & np.uint64(mask))
            while slots[at] >= 0:
                at = (at + 1) & mask
            slots[at] = entry


@kernel
def _gather_text(
    data: Bytes, start: NDArray[np.int64], length: NDArray[np.int64]
) -> tuple[Bytes, NDArray[np.int64]]:
    begins = np.zeros(len(start) + 1, np.int64)
    for entry in range(len(start)):
        begins[entry + 1] = begins[entry] + length[entry]
    text = np.empty(begins[-1], np.uint8)
    for entry in range(len(start)):
        for i in range(length[entry]):
            text[begins[entry] + i] = data[start[entry] + i]
    return text, begins
