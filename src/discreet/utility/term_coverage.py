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

from discreet.knowledge.terms import Terms, terms_of
from discreet.table.coded_table import Column
from discreet.table.kernels import kernel
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
        shown = _showing(self.start, self.term, _words(asked))[:, : asked.shape[1]]
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
        return _sum_of_products(
            place,
            shares,
            first,
            cells,
            rows,
            self.start,
            self.term,
            _words(asked),
            self.share_of_hidden(asked),
        )


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
    kept = after.counts(published.counts).sum() / max(rows, 1)
    return TermCoverage(
        after.start, after.codes_in(names), len(names), max(float(lost - kept), 0.0)
    )


def share_of_sets(terms: Terms, asked: NDArray[np.bool_]) -> Floats:
    """(queries,) The share of the different sets that have any asked term."""
    sets = len(terms.start) - 1
    every, once = np.arange(sets, dtype=np.int32), np.ones(sets, np.int64)
    found = _rows_showing(every, once, 0, sets, terms.start, terms.term, _words(asked))
    return found[: asked.shape[1]] / max(sets, 1)


def _words(asked: NDArray[np.bool_]) -> Words:
    """(terms, words) Which queries ask for each term, a byte each, 0 or 1."""
    terms, queries = asked.shape
    words = -(-queries // QUERIES_OF_WORD)
    padded = np.zeros((terms, words * QUERIES_OF_WORD), np.uint8)
    padded[:, :queries] = asked
    return padded.view(np.uint64)


@kernel
def _rows_showing(
    cells: Codes, rows: Ints, first: int, end: int, start: Ints, term: Codes, asked: Words
) -> Floats:
    """By query (and to the end of the last word) the rows of some entries that show a term."""
    words = asked.shape[1]
    shown = np.empty(words, np.uint64)
    counted = np.zeros(words, np.uint64)  # of at most as many rows as a byte can count
    by_query = counted.view(np.uint8)
    total = np.zeros(len(by_query))
    room = BYTE
    for entry in range(first, end):
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
                total += by_query
                counted[:] = 0
                room = BYTE
    return total + by_query


@kernel
def _showing(start: Ints, term: Codes, asked: Words) -> Floats:
    """(cells, queries, to the end of the last word) 1 where a cell shows a term."""
    cells = len(start) - 1
    every, once = np.arange(cells).astype(np.int32), np.ones(cells, np.int64)
    result = np.empty((cells, asked.shape[1] * QUERIES_OF_WORD))
    for cell in range(cells):
        result[cell] = _rows_showing(every, once, cell, cell + 1, start, term, asked)
    return result


@kernel
def _sum_of_products(
    place: Ints,
    shares: Floats,
    first: Ints,
    cells: Codes,
    rows: Ints,
    start: Ints,
    term: Codes,
    asked: Words,
    hidden: Floats,  # (queries,)
) -> Floats:
    queries = len(hidden)
    total = np.zeros(queries)
    product = np.empty(queries)
    for combination in range(len(first) - 1):
        begin, end = first[combination], first[combination + 1]
        showing = _rows_showing(cells, rows, begin, end, start, term, asked)
        every = rows[begin:end].sum()
        for query in range(queries):
            product[query] = hidden[query] * every + (1.0 - hidden[query]) * showing[query]
        for attribute in range(place.shape[1]):
            for query in range(queries):
                product[query] *= shares[place[combination, attribute], query]
        total += product
    return total
