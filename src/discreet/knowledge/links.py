"""Which labels each cell links to: K(tp), the labels whose set holds every term of the cell.

A cell without terms links to all labels; a cell with a term that no label has, or with terms that
no label has together, links to nothing. K is an intersection of bit rows; cells with the same K
share one label set, so that a million cells need a few thousand sets.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.knowledge.table import Knowledge, every_label
from discreet.knowledge.terms import Terms, terms_of
from discreet.table.coded_table import Column
from discreet.table.kernels import kernel

UNLINKED = -1


@dataclass(frozen=True, eq=False)
class Links:
    """The label set of every value of a quasi-sensitive column, and the prior over the labels."""

    knowledge: Knowledge
    set_of_value: NDArray[np.int32]  # (values,) UNLINKED where a value links to nothing
    start: NDArray[np.int64]  # (sets + 1,)
    label: NDArray[np.int32]  # (Σ sizes,) the labels of each set, ascending
    prior: NDArray[np.float64] | None = None  # (labels,) α, where it is known

    @property
    def size(self) -> NDArray[np.int64]:
        """The number of labels in each set."""
        return np.diff(self.start)

    def rows_of_set(self, count_of_value: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many rows link to each set, from the number of rows with each value."""
        linked = self.set_of_value >= 0
        return np.bincount(
            self.set_of_value[linked], count_of_value[linked], len(self.start) - 1
        ).astype(np.int64)

    def unlinked_rows(self, count_of_value: NDArray[np.int64]) -> int:
        """Return how many rows link to nothing."""
        return int(count_of_value[self.set_of_value < 0].sum())

    def with_prior(self, prior: NDArray[np.float64] | None) -> Links:
        """The same links with a prior that was found elsewhere."""
        return replace(self, prior=prior)


def link(column: Column, knowledge: Knowledge) -> Links:
    """Link the values of a column; the prior is the table's own, if it has one."""
    return link_terms(terms_of(column), knowledge)


def link_terms(terms: Terms, knowledge: Knowledge) -> Links:
    """The same from the terms of the values."""
    set_of_value, bits = _label_sets(
        terms.start,
        terms.codes_in(knowledge.terms),
        knowledge.labels_of_term,
        len(knowledge.labels),
    )
    start, label = _members(bits)
    return Links(knowledge, set_of_value, start, label, knowledge.weight)


def estimated_prior(links: Links, count_of_value: NDArray[np.int64]) -> NDArray[np.float64]:
    """α(L): the mean over the linked rows of 1/|K| for the labels of K (the paper's α̂).

    Where no row is linked nothing is known, and all labels are as likely.
    """
    rows = links.rows_of_set(count_of_value)
    labels = len(links.knowledge.labels)
    linked = int(rows.sum())
    if not linked:
        return np.full(labels, 1 / max(labels, 1))
    share = np.repeat(rows / links.size, links.size)
    return np.asarray(np.bincount(links.label, share, labels) / linked, np.float64)


@kernel
def _label_sets(
    start: NDArray[np.int64],
    term: NDArray[np.int32],  # codes in the knowledge table, −1 for a term that it lacks
    labels_of_term: NDArray[np.uint64],
    labels: int,
) -> tuple[NDArray[np.int32], NDArray[np.uint64]]:
    """The number of each value's label set, and the distinct sets as bit rows."""
    values, words = len(start) - 1, labels_of_term.shape[1]
    set_of_value = np.empty(values, np.int32)
    capacity, count = 1024, 0
    slots = np.full(capacity, -1, np.int32)
    hashes = np.empty(capacity, np.uint64)
    sets = np.empty((capacity, words), np.uint64)
    row = np.empty(words, np.uint64)
    everything = every_label(labels)
    for value in range(values):
        row[:] = everything
        for occurrence in range(start[value], start[value + 1]):
            if term[occurrence] < 0:
                row[:] = np.uint64(0)
                break
            for word in range(words):
                row[word] &= labels_of_term[term[occurrence], word]
        some = np.uint64(0)
        for word in range(words):
            some |= row[word]
        if some == np.uint64(0):
            set_of_value[value] = -1
            continue
        if 2 * count >= capacity:
            capacity *= 2
            grown = np.empty((capacity, words), np.uint64)
            grown[:count] = sets[:count]
            sets = grown
            longer = np.empty(capacity, np.uint64)
            longer[:count] = hashes[:count]
            hashes = longer
            slots = np.full(capacity, -1, np.int32)
            for known in range(count):
                slot = np.int64(hashes[known] & np.uint64(capacity - 1))
                while slots[slot] >= 0:
                    slot = (slot + 1) & (capacity - 1)
                slots[slot] = known
        code = hash_row(row)
        slot = np.int64(code & np.uint64(capacity - 1))
        while slots[slot] >= 0 and not _equal(sets[slots[slot]], row):
            slot = (slot + 1) & (capacity - 1)
        if slots[slot] < 0:
            slots[slot] = count
            hashes[count] = code
            sets[count] = row
            count += 1
        set_of_value[value] = slots[slot]
    return set_of_value, sets[:count].copy()


@kernel(wraps=True)
def hash_row(row: NDArray[np.uint64]) -> np.uint64:
    """A hash of a bit row."""
    code = np.uint64(0)
    for word in range(len(row)):
        code = (code ^ row[word]) * np.uint64(0x9E3779B97F4A7C15)
        code ^= code >> np.uint64(29)
    return code


@kernel
def _equal(first: NDArray[np.uint64], second: NDArray[np.uint64]) -> bool:
    for word in range(len(first)):
        if first[word] != second[word]:
            return False
    return True


@kernel
def _members(bits: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Bit rows as lists of the places that are set."""
    start = np.zeros(len(bits) + 1, np.int64)
    for row in range(len(bits)):
        size = 0
        for word in range(bits.shape[1]):
            rest = bits[row, word]
            while rest:
                rest &= rest - np.uint64(1)
                size += 1
        start[row + 1] = start[row] + size
    member = np.empty(start[-1], np.int32)
    place = 0
    for row in range(len(bits)):
        for word in range(bits.shape[1]):
            rest = bits[row, word]
            bit = word * 64
            while rest:
                if rest & np.uint64(1):
                    member[place] = bit
                    place += 1
                rest >>= np.uint64(1)
                bit += 1
    return start, member
