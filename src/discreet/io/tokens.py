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

import numpy as np
from numpy.typing import NDArray

from discreet.kernels import kernel

Bytes = NDArray[np.uint8]

LINE_FEED = 10
CARRIAGE_RETURN = 13
NO_QUOTE = -1  # equals no byte

SOUND = 0
RAGGED = 1
TEXT_AFTER_QUOTE = 2

_FIRST_ENTRIES = 1024


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


def tokenize(
    data: Bytes, delimiter: int, quote: int, slot_of_field: NDArray[np.int32], coded: int
) -> Block:
    """Number the cells of whole records; the last byte is a line feed. Overwrites the bytes."""
    codes = np.empty((coded, count_lines(data)), np.int32)
    rows, start, length, column, hashes, fault, fields = _tokenize(
        data, delimiter, quote, slot_of_field, codes
    )
    text, begins = _gather_text(data, start, length)
    return Block(codes[:, :rows], begins, text, column, hashes, fault, fields)


@kernel
def count_lines(data: Bytes) -> int:
    """The number of line feeds."""
    count = 0
    for place in range(len(data)):
        count += data[place] == LINE_FEED
    return count


@kernel
def last_record_end(data: Bytes, delimiter: int, quote: int) -> tuple[int, int]:
    """Where the last whole record ends, and where an unclosed quoted cell begins (or −1)."""
    end = 0
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
def _seed(slot: int) -> np.uint64:
    return np.uint64(0xCBF29CE484222325) + np.uint64(slot) * np.uint64(0x9E3779B97F4A7C15)


@kernel
def _mix(mixed: np.uint64, byte: int) -> np.uint64:
    return (mixed ^ np.uint64(byte)) * np.uint64(0x100000001B3)


@kernel
def _finish(mixed: np.uint64) -> np.uint64:
    mixed ^= mixed >> np.uint64(32)
    mixed *= np.uint64(0xD6E8FEB86659FD93)
    return mixed ^ (mixed >> np.uint64(29))


@kernel
def _unquote(data: Bytes, quote: int, place: int) -> tuple[int, int]:
    """Undouble, in place, the quotes of a cell whose text begins here; its end, and what follows."""
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
def _is_blank(data: Bytes, place: int) -> bool:
    return data[place] == LINE_FEED or (
        data[place] == CARRIAGE_RETURN and data[place + 1] == LINE_FEED
    )


@kernel
def _same(data: Bytes, one: int, other: int, length: int) -> bool:
    for i in range(length):
        if data[one + i] != data[other + i]:
            return False
    return True


@kernel
def _tokenize(  # type: ignore[no-untyped-def]
    data: Bytes, delimiter: int, quote: int, slot_of_field: NDArray[np.int32], codes
):
    fields = len(slot_of_field)
    columns = len(codes)
    # One region of hash slots a column; a region that is half full moves to the end, larger.
    base = np.arange(columns) * _FIRST_ENTRIES
    capacity = np.full(columns, _FIRST_ENTRIES)
    filled = np.zeros(columns, np.int64)
    slots = np.full(columns * _FIRST_ENTRIES, -1, np.int32)
    start = np.empty(_FIRST_ENTRIES, np.int64)
    length = np.empty(_FIRST_ENTRIES, np.int64)
    column = np.empty(_FIRST_ENTRIES, np.int32)
    hashes = np.empty(_FIRST_ENTRIES, np.uint64)
    entries = 0
    row = 0
    place = 0
    fault = SOUND
    field = 0
    while place < len(data):
        if fields > 1 and _is_blank(data, place):
            place += 1 if data[place] == LINE_FEED else 2
            continue
        field = 0
        last = False
        while not last:
            slot = slot_of_field[field] if field < fields else -1
            mixed = _seed(slot)
            begin = place
            rehash = False
            if data[place] == quote:
                begin = place + 1
                end, place = _unquote(data, quote, begin)
                if data[place] == CARRIAGE_RETURN and data[place + 1] == LINE_FEED:
                    place += 1
                if data[place] != delimiter and data[place] != LINE_FEED:
                    fault = TEXT_AFTER_QUOTE
                    break
                rehash = True
            else:
                byte = data[place]
                while byte != delimiter and byte != LINE_FEED:
                    mixed = _mix(mixed, byte)
                    place += 1
                    byte = data[place]
                end = place
                if byte == LINE_FEED and end > begin and data[end - 1] == CARRIAGE_RETURN:
                    end -= 1
                    rehash = True
            last = data[place] == LINE_FEED
            place += 1
            field += 1
            if slot < 0:
                continue
            if rehash:
                mixed = _seed(slot)
                for i in range(begin, end):
                    mixed = _mix(mixed, data[i])
            key = _finish(mixed)
            mask = capacity[slot] - 1
            at = np.int64(key & np.uint64(mask))
            region = base[slot]
            entry = slots[region + at]
            while entry >= 0 and not (
                hashes[entry] == key
                and length[entry] == end - begin
                and _same(data, start[entry], begin, end - begin)
            ):
                at = (at + 1) & mask
                entry = slots[region + at]
            if entry < 0:
                if entries == len(start):
                    start = _grown(start)
                    length = _grown(length)
                    column = _grown(column)
                    hashes = _grown(hashes)
                entry = entries
                start[entry] = begin
                length[entry] = end - begin
                column[entry] = slot
                hashes[entry] = key
                slots[region + at] = entry
                entries += 1
                filled[slot] += 1
                if 2 * filled[slot] > capacity[slot]:
                    slots = _move_region(slots, base, capacity, slot, hashes)
            codes[slot, row] = entry
        if fault == SOUND and field != fields:
            fault = RAGGED
        if fault != SOUND:
            break
        row += 1
    return (
        row,
        start[:entries],
        length[:entries],
        column[:entries],
        hashes[:entries],
        fault,
        field,
    )


@kernel
def _grown(array):  # type: ignore[no-untyped-def]
    larger = np.empty(2 * len(array), array.dtype)
    larger[: len(array)] = array
    return larger


@kernel
def _move_region(
    slots: NDArray[np.int32],
    base: NDArray[np.int64],
    capacity: NDArray[np.int64],
    slot: int,
    hashes: NDArray[np.uint64],
) -> NDArray[np.int32]:
    size = 4 * capacity[slot]
    moved = np.full(len(slots) + size, -1, np.int32)
    moved[: len(slots)] = slots
    for old in range(base[slot], base[slot] + capacity[slot]):
        if slots[old] >= 0:
            at = np.int64(hashes[slots[old]] & np.uint64(size - 1))
            while moved[len(slots) + at] >= 0:
                at = (at + 1) & (size - 1)
            moved[len(slots) + at] = slots[old]
    base[slot] = len(slots)
    capacity[slot] = size
    return moved


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
