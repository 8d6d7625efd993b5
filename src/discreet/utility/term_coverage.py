"""p2 of quasi-sensitive attributes: what published sets say about the terms of the original.

A published set says that its terms are there. Of the removed terms an attacker knows the number
alone, so each row may have lost as many as the mean, any of the domain: a predicate that asks for
some of the D terms and finds none of them holds with h = 1 − (1 − asked/D)^mean.

Sets hardly repeat, so sums over them are the most expensive of all queries. What a query gives the
other attributes is the same for all sets beside them; over these the sum is h · rows + (1 − h) ·
(rows that show an asked term), and only the latter are counted set by set. A byte is enough for a
query, so eight of them are a word, and one operation serves all eight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.knowledge.table import Terms, terms_of
from discreet.table.coded_table import Column
from discreet.table.kernels import kernel
from discreet.table.kernels.lists import starts_of, stretches
from discreet.typing import Codes, Floats, Ints, Words

QUERIES_OF_WORD = 8
BYTE = 255


@dataclass(frozen=True, eq=False)
class TermCoverage:
    """What published sets say about the terms of the original."""

    start: Ints  # (cells + 1,)
    term: Codes  # codes of the original's terms, −1: one that it lacks
    domain: int  # terms of the original
    removed: float  # of a row, on average

    @property
    def cells(self) -> int:
        return len(self.start) - 1

    def share_of_hidden(self, asked: NDArray[np.bool_]) -> Floats:
        """How likely a row that shows no asked term has lost one; ``asked`` is (terms, queries)."""
        share: Floats = asked.sum(axis=0) / max(self.domain, 1)
        return np.asarray(1 - (1 - share) ** self.removed, np.float64)

    def shares(self, asked: NDArray[np.bool_]) -> Floats:
        """(cells, queries) How likely each cell has an asked term."""
        every, once = np.arange(self.cells, dtype=np.int32), np.ones(self.cells, np.int64)
        each = np.arange(self.cells + 1)
        shown = _rows_showing(each, every, once, self.start, self.term, _words(asked))
        shown = shown[:, : asked.shape[1]]
        return np.where(shown > 0, 1.0, self.share_of_hidden(asked))

    def sum_of_products(
        self,
        place: Ints,  # (combinations, other attributes) of lines of ``shares``
        shares: Floats,  # (cells of all other attributes, queries)
        first: Ints,  # (combinations + 1,) where the sets beside each begin
        cells: Codes,  # (entries,) these sets
        rows: Ints,  # (entries,)
        asked: NDArray[np.bool_],
    ) -> Floats:
        """(queries,) Over rows, the product of all attributes' shares."""
        hidden, words = self.share_of_hidden(asked), _words(asked)
        every = np.diff(starts_of(rows)[first])
        total = np.zeros(len(hidden))
        width = np.full(len(every), max(len(hidden), 1))
        for part in stretches(width):
            starts = first[part.start : part.stop + 1]
            showing = _rows_showing(starts, cells, rows, self.start, self.term, words)
            product = hidden * every[part, None] + (1.0 - hidden) * showing[:, : len(hidden)]
            for attribute in range(place.shape[1]):
                product *= shares[place[part, attribute]]
            total += product.sum(axis=0)
        return total


def exact_terms(column: Column) -> TermCoverage:
    """How the original's own cells are read: they show all that there is."""
    terms = terms_of(column)
    return TermCoverage(terms.start, terms.term, len(terms.names), 0.0)


def term_coverage(original: Column, published: Column) -> TermCoverage:
    """How the cells of a published quasi-sensitive column are read."""
    before, after = terms_of(original), terms_of(published)
    names = before.names.to_list()
    rows = len(published.codes)
    # the original's terms of suppressed rows are not known to be removed from published ones
    lost = before.counts(original.counts).sum() / max(len(original.codes), 1)
    remaining = after.counts(published.counts).sum() / max(rows, 1)
    return TermCoverage(
        after.start, after.codes_in(names), len(names), max(float(lost - remaining), 0.0)
    )


def share_of_sets(terms: Terms, asked: NDArray[np.bool_]) -> Floats:
    """(queries,) The share of the different sets that have any asked term."""
    sets = len(terms.start) - 1
    every, once = np.arange(sets, dtype=np.int32), np.ones(sets, np.int64)
    whole = np.array([0, sets])
    showing = _rows_showing(whole, every, once, terms.start, terms.term, _words(asked))[0]
    return np.asarray(showing[: asked.shape[1]] / max(sets, 1), np.float64)


def _words(asked: NDArray[np.bool_]) -> Words:
    """(terms, words) Which queries ask for each term, a byte each, 0 or 1."""
    terms, queries = asked.shape
    words = -(-queries // QUERIES_OF_WORD)
    padded = np.zeros((terms, words * QUERIES_OF_WORD), np.uint8)
    padded[:, :queries] = asked
    return padded.view(np.uint64)


# Compiled: bits of eight queries at a time, three times as fast as NumPy, which lays them out.
@kernel
def _rows_showing(
    first: Ints, cells: Codes, rows: Ints, start: Ints, term: Codes, asked: Words
) -> Floats:
    """By list of entries and query (to the end of the last word) the rows that show a term."""
    words = asked.shape[1]
    shown = np.empty(words, np.uint64)
    counted = np.zeros(words, np.uint64)  # of at most as many rows as a byte can count
    by_query = counted.view(np.uint8)
    total = np.zeros((len(first) - 1, len(by_query)))
    for number in range(len(first) - 1):
        room = BYTE
        for entry in range(first[number], first[number + 1]):
            for word in range(words):
                shown[word] = 0
            for place in range(start[cells[entry]], start[cells[entry] + 1]):
                code = term[place]  # read once, else the loop is not done many words at a time
                if code >= 0:
                    for word in range(words):
                        shown[word] |= asked[code, word]
            left = rows[entry]
            while left > 0:
                more = min(left, room)
                for word in range(words):
                    counted[word] += np.uint64(more) * shown[word]
                left -= more
                room -= more
                if room == 0:
                    total[number] += by_query
                    counted[:] = 0
                    room = BYTE
        total[number] += by_query
        counted[:] = 0
    return total
