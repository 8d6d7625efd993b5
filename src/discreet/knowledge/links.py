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
from discreet.table.kernels.lists import starts_of, stretches

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
        every_label(len(knowledge.labels)),
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


def _label_sets(
    start: NDArray[np.int64],
    term: NDArray[np.int32],  # codes in the knowledge table, −1 for a term that it lacks
    labels_of_term: NDArray[np.uint64],
    everything: NDArray[np.uint64],
) -> tuple[NDArray[np.int32], NDArray[np.uint64]]:
    """The number of each value's label set, and the distinct sets as bit rows."""
    nothing = np.zeros((1, len(everything)), np.uint64)
    labels_of_term = np.concatenate((labels_of_term, nothing))  # the last for the code −1
    set_of_value = np.empty(len(start) - 1, np.int32)
    number_of_row: dict[bytes, int] = {nothing.tobytes(): UNLINKED}
    for part in stretches(np.diff(start) * len(everything)):
        within = term[start[part.start] : start[part.stop]]
        bits = np.tile(everything, (part.stop - part.start, 1))
        filled = np.flatnonzero(np.diff(start)[part])
        if len(filled):
            first = start[part.start + filled] - start[part.start]
            bits[filled] = np.bitwise_and.reduceat(labels_of_term[within], first, axis=0)
        packed, width = bits.tobytes(), bits.itemsize * bits.shape[1]
        rows = (packed[at : at + width] for at in range(0, len(packed), width))
        set_of_value[part] = [number_of_row.setdefault(row, len(number_of_row) - 1) for row in rows]
    sets = np.frombuffer(b"".join(list(number_of_row)[1:]), np.uint64)
    return set_of_value, sets.reshape(-1, len(everything))


def _members(bits: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Bit rows as lists of the places that are set."""
    by_byte = bits.astype("<u8").view(np.uint8)  # the first bit of a row is the first of a byte
    row, member = np.nonzero(np.unpackbits(by_byte, axis=1, bitorder="little"))
    return starts_of(np.bincount(row, minlength=len(bits))), member.astype(np.int32)
