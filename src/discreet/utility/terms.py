"""Utility of quasi-sensitive attributes: removed terms, their cost, and what an attacker learns.

*Cost* of the whole column: Σ over rows of 1/w + 1/(w − 1) + … for each removed term, over the same
for removing everything; rows that were suppressed have lost all. It needs no link between
published and original rows, as the sum over rows of what remains decides it.

*Belief change*: |β − α| over labels and groups, β the belief that a published group leaves (labels
of a row equally likely), α the prior.

p2 of quasi-sensitive attributes: what published sets say about the terms of the original.

A published set says that its terms are there. Of the removed terms an attacker knows the number
alone, so each row may have lost as many as the mean, any of the domain: a predicate that asks for
some of the D terms and finds none of them holds with h = 1 − (1 − asked/D)^mean.

Sets hardly repeat, so sums over them are the most expensive of all queries. What a query gives the
other attributes is the same for all sets beside them; over these the sum is h · rows + (1 − h) ·
(rows that show an asked term), and only the latter are counted set by set. A byte is enough for a
query, so eight of them are a word, and one operation serves all eight.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.hierarchies.cells import SUPPRESSED
from discreet.knowledge.table import Links, Terms, link_terms, terms_of
from discreet.requirements.quasi_sensitive import LabelPosteriors
from discreet.table.classes import Classes
from discreet.table.coded_table import Column
from discreet.table.counts import count_values
from discreet.table.kernels import kernel
from discreet.table.kernels.lists import starts_of, stretches
from discreet.typing import Bools, Codes, Floats, Ints, Words


@dataclass(frozen=True)
class BeliefChange:
    """How far an attacker's belief moves from the prior."""

    mean: float  # over labels and groups
    greatest: float


@dataclass(frozen=True)
class TermMeasures:
    """What was removed from one quasi-sensitive attribute."""

    attribute: str
    suppressed_terms: int  # of published and of suppressed rows
    suppressed_share: float  # of all term occurrences
    emptied_rows: int  # published rows of which all terms were removed
    cost: float  # 0 nothing removed, 1 everything
    belief_change: BeliefChange | None  # where there is a knowledge table
    by_term: Mapping[str, int]  # how often each was removed; not for publication
    by_row: Mapping[str, Mapping[int, int]]  # rows by number of terms, "original" and "published"

    def __str__(self) -> str:
        change = self.belief_change
        headline = (
            f"{self.suppressed_terms:,} removed ({self.suppressed_share:.1%}), cost {self.cost:.4f}"
        )
        lines = [f"terms of {self.attribute}: {headline}"]
        if change is not None:
            lines.append(
                f"belief in its labels moves by {change.mean:.6f} on average, by "
                f"{change.greatest:.4f} at most"
            )
        return "\n".join(lines)

    def to_dict(self, *, private: bool) -> dict[str, Any]:
        """For the manifest, or with what must not be published: which terms were removed."""
        change = self.belief_change
        result: dict[str, Any] = {
            "suppressed_terms": self.suppressed_terms,
            "suppressed_share": self.suppressed_share,
            "emptied_rows": self.emptied_rows,
            "cost": self.cost,
        }
        if change is not None:
            result["belief_change"] = {"mean": change.mean, "greatest": change.greatest}
        if private:
            result["by_term"] = dict(self.by_term)
            result["by_row"] = {name: dict(rows) for name, rows in self.by_row.items()}
        return result


def measure_terms(
    original: Column, published: Column, classes: Classes, links: Links | None
) -> TermMeasures:
    """Compare a published quasi-sensitive column with the original's."""
    # How often each term was removed.
    before, after = terms_of(original), terms_of(published)
    counts = before.counts(original.counts)
    left = dict(zip(after.names.to_list(), after.counts(published.counts).tolist(), strict=True))
    removed = {
        name: count - left.get(name, 0)
        for name, count in zip(before.names.to_list(), counts.tolist(), strict=True)
    }
    # Summed up, and what it cost.
    total, gone = int(counts.sum()), sum(removed.values())
    starred = (published.text == SUPPRESSED).fill_null(False).to_numpy()
    whole = _harmonic_sum(before, original.counts)
    return TermMeasures(
        attribute=original.name,
        suppressed_terms=gone,
        suppressed_share=gone / total if total else 0.0,
        emptied_rows=int(published.counts[starred].sum()),
        cost=1 - _harmonic_sum(after, published.counts) / whole if whole else 0.0,
        belief_change=None if links is None else _change(published, after, classes, links),
        by_term={name: count for name, count in removed.items() if count},
        by_row={
            "original": _by_length(before, original.counts),
            "published": _by_length(after, published.counts),
        },
    )


def _harmonic_sum(terms: Terms, count_of_value: Ints) -> float:
    lengths = terms.length
    sums = np.concatenate(([0.0], np.cumsum(1 / np.arange(1, lengths.max(initial=0) + 1))))
    return float(count_of_value @ sums[lengths])


def _by_length(terms: Terms, count_of_value: Ints) -> dict[int, int]:
    rows = np.bincount(terms.length, count_of_value).astype(np.int64)
    return {length: int(count) for length, count in enumerate(rows) if count}


def _change(column: Column, terms: Terms, classes: Classes, links: Links) -> BeliefChange | None:
    """The belief of the published groups against the prior of the original."""
    if not classes.count:
        return None
    published = link_terms(terms, links.knowledge).with_prior(links.prior)
    mean, greatest = LabelPosteriors(count_values(classes, column), published, "equal").changes()
    return BeliefChange(float(mean.mean()), float(greatest.max()))


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

    def share_of_hidden(self, asked: Bools) -> Floats:
        """How likely a row that shows no asked term has lost one; ``asked`` is (terms, queries)."""
        share: Floats = asked.sum(axis=0) / max(self.domain, 1)
        return np.asarray(1 - (1 - share) ** self.removed, np.float64)

    def shares(self, asked: Bools) -> Floats:
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
        asked: Bools,
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


def share_of_sets(terms: Terms, asked: Bools) -> Floats:
    """(queries,) The share of the different sets that have any asked term."""
    sets = len(terms.start) - 1
    every, once = np.arange(sets, dtype=np.int32), np.ones(sets, np.int64)
    whole = np.array([0, sets])
    showing = _rows_showing(whole, every, once, terms.start, terms.term, _words(asked))[0]
    return np.asarray(showing[: asked.shape[1]] / max(sets, 1), np.float64)


def _words(asked: Bools) -> Words:
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
            # Which queries ask for a term of this set.
            for word in range(words):
                shown[word] = 0
            for place in range(start[cells[entry]], start[cells[entry] + 1]):
                code = term[place]  # read once, else the loop is not done many words at a time
                if code >= 0:
                    for word in range(words):
                        shown[word] |= asked[code, word]
            # Add its rows, in bytes that are emptied before they overflow.
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
