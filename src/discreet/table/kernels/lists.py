"""Operations on lists of entries by NumPy alone, where a kernel would loop over both.

Lists lie one after the other: list i has the entries ``start[i]`` to ``start[i + 1]``. Sums over
them are ``np.bincount`` with weights, which adds in order, as a loop does.

Lengthening an array within a kernel that does not know how much it will find.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.table.budgets import AT_ONCE
from discreet.table.kernels.tiers import kernel
from discreet.typing import AnyInts, Bools, Bytes, Floats, Ints, Words


def starts_of(length: AnyInts) -> Ints:
    """Return where lists of such lengths start, and the end of the last."""
    start = np.zeros(len(length) + 1, np.int64)
    np.cumsum(length, out=start[1:])
    return start


def stable_order(key: AnyInts, bound: int) -> Ints:
    """Return the order that sorts keys from 0 to a bound; NumPy sorts 16 bits in linear time."""
    order = np.argsort(key.astype(np.uint16), kind="stable")  # by the last 16 bits
    for shift in range(16, max(bound - 1, 1).bit_length(), 16):
        order = order[np.argsort((key >> shift).astype(np.uint16)[order], kind="stable")]
    return order


def entries_of(start: Ints, lists: AnyInts) -> tuple[Ints, Ints]:
    """Return the entries of some lists in turn, and the place of each one's list among these."""
    length = start[lists + 1] - start[lists]
    place = np.repeat(np.arange(len(lists)), length)
    before = np.cumsum(length) - length
    return np.arange(len(place)) + np.repeat(start[lists] - before, length), place


def stretches(length: AnyInts, most: int = AT_ONCE) -> Iterator[slice]:
    """Cut lists into stretches with at most so many entries each, at least one list."""
    end = np.cumsum(length)
    first = 0
    while first < len(length):
        before = int(end[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(end, before + most, side="right")))
        yield slice(first, last)
        first = last


def places_of(keys: Ints, wanted: Ints) -> Ints:
    """Return the place of each wanted key among ascending keys, −1 where it is missing."""
    if not len(keys):
        return np.full(len(wanted), -1)
    place = np.searchsorted(keys, wanted)
    place[place == len(keys)] = 0
    return np.where(keys[place] == wanted, place, -1)


def sums_of(start: Ints, rows: Floats) -> Floats:
    """Return the sums over the lines of ``rows`` (entries, columns) that each list has."""
    sums = np.zeros((len(start) - 1, rows.shape[1]))
    filled = np.flatnonzero(np.diff(start))
    if len(filled):
        sums[filled] = np.add.reduceat(rows, start[filled], axis=0)
    return sums


def distinct_values(values: AnyInts) -> Ints:
    """Return the distinct values, ascending. Of many, ``np.unique`` hashes, which takes longer."""
    ascending = np.sort(values).astype(np.int64, copy=False)
    first = np.ones(len(ascending), np.bool_)
    first[1:] = ascending[1:] != ascending[:-1]
    return ascending[first]


def count_bits(words: Words) -> Bytes:
    """Return how many bits of each word are set."""
    if hasattr(np, "bitwise_count"):  # NumPy 2
        counted: Bytes = np.bitwise_count(words)
        return counted
    bits = np.array([number.bit_count() for number in range(256)], np.uint8)
    return np.asarray(bits[words.view(np.uint8).reshape(-1, 8)].sum(axis=1, dtype=np.uint8))


def are_in(start: Ints, value: AnyInts, lists: AnyInts, wanted: AnyInts) -> Bools:
    """Return for pairs of a list and a value whether the list has the value; lists are short."""
    held = np.zeros(len(lists), np.bool_)
    pair, entry, end = np.arange(len(lists)), start[lists], start[lists + 1]
    while len(pair):
        held[pair[entry < end]] = value[entry[entry < end]] == wanted[pair[entry < end]]
        left = np.flatnonzero((entry + 1 < end) & ~held[pair])
        pair, entry, end = pair[left], entry[left] + 1, end[left]
    return held


Number = TypeVar("Number", bound=np.generic)


# Compiled: called by kernels. To compile a copy into a slice takes two seconds, a loop hardly any.
@kernel
def lengthened(array: NDArray[Number], length: int) -> NDArray[Number]:
    """Return an array of so many elements that begins with those of another."""
    longer = np.empty(length, array.dtype)
    for place in range(len(array)):
        longer[place] = array[place]
    return longer
