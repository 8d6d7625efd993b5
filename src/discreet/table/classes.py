"""Equivalence classes: rows that share a combination of codes.

Combinations are packed into one int64 key, mixed radix. Where the product of the cardinalities
would pass 2⁶², the columns packed so far are first numbered by the combinations that do occur, so
no key ever overflows. Many keys that fit a small table are counted by direct address, others are
hashed. Both number the classes in order of first appearance, so the result does not depend on which
one ran.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.table.budgets import BEYOND, IN_CACHE, TABLE_CELLS
from discreet.table.coded_table import Column, count_codes
from discreet.typing import AnyInts, Codes, Ints, Ints32

HASH_FACTOR = 0x9E3779B97F4A7C15


@dataclass(frozen=True, eq=False)
class Classes:
    """A partition of rows."""

    class_of_row: Ints32  # (rows,)
    first_row: Ints  # (classes,) a row of each class, the first
    size: Ints  # (classes,)

    @property
    def count(self) -> int:
        return len(self.size)

    @classmethod
    def of_numbers(cls, number: Ints32) -> Classes:
        """The classes of rows with the same number, from 0 without a gap."""
        _, first, size = np.unique(number, return_index=True, return_counts=True)
        return cls(number, first, size)


def classes_of(columns: Sequence[Column], rows: int, weights: Ints | None = None) -> Classes:
    """The classes of rows that agree in all the given columns (one class if there are none)."""
    codes, cardinalities = [c.codes for c in columns], [c.cardinality for c in columns]
    return group_codes(codes, cardinalities, rows, weights)


def group_codes(
    codes: Sequence[AnyInts], cardinalities: Sequence[int], rows: int, weights: Ints | None = None
) -> Classes:
    """Group rows by the combination of their codes; with weights, sizes are sums of weights."""
    keys, bound = pack_keys(codes, cardinalities, rows)
    classes = _group_keys(keys, bound)
    if weights is None:
        return classes
    size = np.bincount(classes.class_of_row, weights, classes.count).astype(np.int64)
    return replace(classes, size=size)


def group_lists(start: Ints, value: Codes, cardinality: int) -> Classes:
    """Group lists of codes: together are those with the same codes in the same order.

    List i is ``value[start[i]:start[i + 1]]``; codes are below the cardinality.
    """
    length = np.diff(start)
    longest_first = np.argsort(-length, kind="stable")
    beyond = len(length) - np.cumsum(np.bincount(length, minlength=1))  # place: lists with more
    number = np.zeros(len(length), np.int32)  # of a list's codes up to a place
    numbers = 1
    for place in range(len(beyond) - 1):
        rest = longest_first[: beyond[place]]
        codes = [number[rest], value[start[rest] + place]]
        classes = group_codes(codes, [numbers, cardinality], len(rest))
        number[rest] = classes.class_of_row
        numbers = classes.count
    return group_codes([number, length.astype(np.int32)], [len(length), len(beyond)], len(length))


def pack_keys(
    codes: Sequence[AnyInts], cardinalities: Sequence[int], rows: int
) -> tuple[Ints, int]:
    """One int64 key a row, equal exactly where all codes are, and a bound above every key."""
    keys, bound = np.zeros(rows, np.int64), 1
    for column, cardinality in zip(codes, cardinalities, strict=True):
        if bound * max(cardinality, 1) > BEYOND:
            packed = _group_keys(keys, bound)
            keys, bound = packed.class_of_row.astype(np.int64), packed.count
        for begin in range(0, rows, IN_CACHE):
            part = keys[begin : begin + IN_CACHE]
            part *= cardinality
            part += column[begin : begin + IN_CACHE]
        bound *= max(cardinality, 1)
    return keys, bound


def _group_keys(keys: Ints, bound: int) -> Classes:
    if bound > min(TABLE_CELLS, 64 * len(keys)):
        return _numbered(_first_by_hash(keys))
    # Part by part, so that no array but the result has an entry for each row.
    of_key = np.empty(bound, np.int32)
    begins = range(0, len(keys), IN_CACHE)
    for begin in reversed(begins):
        part = keys[begin : begin + IN_CACHE][::-1].copy()
        of_key[part] = np.arange(begin + len(part) - 1, begin - 1, -1)  # the last one remains
    first_rows = [np.zeros(0, np.int64)]
    for begin in begins:
        part = keys[begin : begin + IN_CACHE]
        is_first = of_key.take(part) == np.arange(begin, begin + len(part))
        first_rows.append(begin + np.flatnonzero(is_first))
    first = np.concatenate(first_rows)
    of_key[keys[first]] = np.arange(len(first), dtype=np.int32)
    numbers = np.empty(len(keys), np.int32)
    for begin in begins:
        within = slice(begin, begin + IN_CACHE)
        of_key.take(keys[within], out=numbers[within], mode="clip")
    return Classes(numbers, first, count_codes(numbers, len(first)))


def _numbered(first: Codes) -> Classes:
    """Number classes by first appearance, from the first row of each row's class."""
    begins = first == np.arange(len(first), dtype=np.int32)
    class_of_row = (np.cumsum(begins, dtype=np.int32) - np.int32(1)).take(first)
    return Classes(class_of_row, np.flatnonzero(begins), np.bincount(class_of_row))


def _first_by_hash(keys: Ints) -> Codes:
    """Return for each row the first row with the same key.

    Each round hashes the remaining keys anew; the first row in a slot settles all rows of its key.
    A compiled hash table, which settles one row after the other, takes as long or up to three times
    as long.
    """
    rest = np.arange(len(keys), dtype=np.int32)
    first = np.empty_like(rest)
    bits = (2 * len(keys)).bit_length()
    first_in_slot = np.empty(1 << bits, np.int32)
    remaining = keys.view(np.uint64)
    factor = 1
    while len(rest):
        factor = factor * HASH_FACTOR % 2**64
        slot = (remaining * np.uint64(factor) >> np.uint64(64 - bits)).view(np.int64)
        first_in_slot[slot[::-1]] = rest[::-1]  # the last assignment remains
        candidate = first_in_slot.take(slot)
        first[rest] = candidate
        unsettled = keys.take(candidate).view(np.uint64) != remaining
        rest, remaining = rest[unsettled], remaining[unsettled]
    return first
