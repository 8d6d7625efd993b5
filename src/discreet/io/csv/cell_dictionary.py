"""The distinct cells of a whole text file, gathered block by block."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.io.csv.tokenizer import Block
from discreet.table.kernels import kernel
from discreet.typing import Bytes

_FIRST_SLOTS = 1 << 12


class CellDictionary:
    """Every distinct (column, cell), numbered in order of first appearance."""

    def __init__(self) -> None:
        self.count = 0
        self._start = np.zeros(_FIRST_SLOTS, np.int64)  # (entries + 1,) in the text
        self._text = np.empty(_FIRST_SLOTS, np.uint8)
        self._column = np.empty(_FIRST_SLOTS, np.int32)
        self._hashes = np.empty(_FIRST_SLOTS, np.uint64)
        self._slots = np.full(_FIRST_SLOTS, -1, np.int32)

    def merge(self, block: Block) -> NDArray[np.int32]:
        """Take in the entries of a block; the number here of each entry there."""
        new = len(block.column)
        self._start = _with_room(self._start, self.count + new + 1)
        self._column = _with_room(self._column, self.count + new)
        self._hashes = _with_room(self._hashes, self.count + new)
        self._text = _with_room(self._text, int(self._start[self.count]) + len(block.text))
        if 2 * (self.count + new) > len(self._slots):
            size = 1 << int(2 * (self.count + new)).bit_length()
            self._slots = _fill_slots(self._hashes, self._column, self.count, size)
        number = np.empty(new, np.int32)
        self.count = _merge(
            (block.start, block.text, block.column, block.hashes),
            (self._start, self._text, self._column, self._hashes),
            self._slots,
            self.count,
            number,
        )
        return number

    def of_column(self, column: int) -> tuple[NDArray[np.int64], Any]:
        """The entries of one column, and their text (not yet known to be UTF-8)."""
        chosen = np.flatnonzero(self._column[: self.count] == column)
        text, begins = _choose_text(self._text, self._start, chosen)
        array = pa.LargeStringArray.from_buffers(
            len(chosen), pa.py_buffer(begins.data), pa.py_buffer(text.data)
        )
        return chosen, array


def _with_room(array: NDArray[np.generic], size: int):  # type: ignore[no-untyped-def]
    if size <= len(array):
        return array
    larger = np.zeros(max(size, 2 * len(array)), array.dtype)
    larger[: len(array)] = array
    return larger


@kernel(wraps=True)
def _slot(key: np.uint64, column: int) -> np.uint64:
    return key + np.uint64(column) * np.uint64(0xD6E8FEB86659FD93)


@kernel
def _fill_slots(
    hashes: NDArray[np.uint64], column: NDArray[np.int32], count: int, size: int
) -> NDArray[np.int32]:
    slots = np.full(size, -1, np.int32)
    for entry in range(count):
        at = np.int64(_slot(hashes[entry], column[entry]) & np.uint64(size - 1))
        while slots[at] >= 0:
            at = (at + 1) & (size - 1)
        slots[at] = entry
    return slots


@kernel
def _merge(  # type: ignore[no-untyped-def]
    block, known, slots: NDArray[np.int32], count: int, number: NDArray[np.int32]
) -> int:
    starts, texts, columns, keys = block
    start, text, column, hashes = known
    mask = len(slots) - 1
    for new in range(len(keys)):
        begin = starts[new]
        length = starts[new + 1] - begin
        at = np.int64(_slot(keys[new], columns[new]) & np.uint64(mask))
        while slots[at] >= 0:
            old = slots[at]
            if (
                hashes[old] == keys[new]
                and column[old] == columns[new]
                and start[old + 1] - start[old] == length
                and _same_text(text, start[old], texts, begin, length)
            ):
                break
            at = (at + 1) & mask
        if slots[at] < 0:
            slots[at] = count
            hashes[count] = keys[new]
            column[count] = columns[new]
            for i in range(length):
                text[start[count] + i] = texts[begin + i]
            start[count + 1] = start[count] + length
            count += 1
        number[new] = slots[at]
    return count


@kernel
def _same_text(one: Bytes, here: int, other: Bytes, there: int, length: int) -> bool:
    for i in range(length):
        if one[here + i] != other[there + i]:
            return False
    return True


@kernel
def _choose_text(
    text: Bytes, start: NDArray[np.int64], chosen: NDArray[np.int64]
) -> tuple[Bytes, NDArray[np.int64]]:
    begins = np.zeros(len(chosen) + 1, np.int64)
    for i in range(len(chosen)):
        begins[i + 1] = begins[i] + start[chosen[i] + 1] - start[chosen[i]]
    result = np.empty(begins[-1], np.uint8)
    for i in range(len(chosen)):
        for k in range(begins[i + 1] - begins[i]):
            result[begins[i] + k] = text[start[chosen[i]] + k]
    return result, begins
