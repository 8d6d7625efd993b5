"""The distribution p2 over quasi-identifiers and sensitive attributes that a release implies.

p2 is the one thing that the measures beyond structure read, so a kind of release needs only to say
what mass it gives to a predicate: ``Implied.estimate``. Every published row carries mass 1/n. Here
stand the generalized kind, the original itself (``exact``: every cell covers one value) and the
baseline ``Unlinked``.

- *Generalized*: a row lies evenly over the values that its cells cover, attributes independent,
  so it gives a predicate Π over attributes |cell ∩ predicate| / |cell|.
- *Term-suppressed*: as ``terms.TermCoverage`` says.
- *Suppressed rows*: evenly over the whole domain.
- *Unlinked*: all rows in one bucket. Quasi-identifiers are jointly as they were, sensitive
  attributes too, and nothing links the two.

Rows are compressed to their distinct combinations once, and for every batch of queries once more
to the combinations of the attributes it asks for, so the number of rows matters little.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from discreet.data.classes import group_codes
from discreet.data.table import Codes, Column
from discreet.hierarchies.coverage import Coverage, identity
from discreet.kernels import kernel
from discreet.metrics.terms import TermCoverage


@dataclass(frozen=True, eq=False)
class QueryBatch:
    """COUNT queries that ask for the same attributes."""

    number: NDArray[np.int64]  # (queries,) the place of each in the workload
    members: Mapping[str, NDArray[np.bool_]]  # by attribute: (values, queries), original's codes
    # by multi-valued attribute: (terms, queries), in the order of the original's sorted terms
    terms: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)

    def only(self, attributes: Collection[str]) -> QueryBatch:
        """The same queries without what they ask of other attributes."""
        kept = {name: member for name, member in self.members.items() if name in attributes}
        terms = {name: asked for name, asked in self.terms.items() if name in attributes}
        return QueryBatch(self.number, kept, terms)


class Implied(ABC):
    """What a release lets its reader estimate."""

    answers_sets: bool = False  # whether it can be asked for quasi-sensitive terms

    @abstractmethod
    def estimate(self, batch: QueryBatch) -> NDArray[np.float64]:
        """n · p2 of each query's predicate."""


class ImpliedGeneralized(Implied):
    """p2 of a generalized release."""

    def __init__(
        self,
        columns: Sequence[Column],
        coverages: Mapping[str, Coverage | TermCoverage],
        rows: int,
        suppressed_rows: int = 0,
    ) -> None:
        distinct = group_codes([c.codes for c in columns], [c.cardinality for c in columns], rows)
        self._count = distinct.size
        self._cells = {c.name: c.codes[distinct.first_row] for c in columns}
        self._coverages = coverages
        self.answers_sets = any(isinstance(c, TermCoverage) for c in coverages.values())
        self._suppressed_rows = suppressed_rows
        self._last_roll_up: tuple[list[str], list[Codes], NDArray[np.int64]] | None = None

    def estimate(self, batch: QueryBatch) -> NDArray[np.float64]:
        names = list(batch.members)
        cells, count = self._roll_up(names)
        shares = [self._shares(batch, name) for name in names]
        first = np.cumsum([0, *(len(share) for share in shares)])
        place = np.empty((len(count), len(names)), np.int64)  # of each cell in the stacked shares
        for attribute, cell in enumerate(cells):
            place[:, attribute] = cell + first[attribute]
        stacked = np.concatenate(shares) if shares else np.zeros((0, len(batch.number)))
        estimate = _sum_of_products(count.astype(np.float64), place, stacked)
        return estimate + self._suppressed_rows * self._share_of_domain(batch)

    def _shares(self, batch: QueryBatch, name: str) -> NDArray[np.float64]:
        coverage = self._coverages[name]
        asked = batch.terms if isinstance(coverage, TermCoverage) else batch.members
        return coverage.shares(asked[name])

    def _roll_up(self, names: Sequence[str]) -> tuple[list[Codes], NDArray[np.int64]]:
        """The distinct combinations of some attributes' cells, and the rows that have each."""
        if self._last_roll_up is not None and self._last_roll_up[0] == names:
            return self._last_roll_up[1:]  # batches with the same attributes follow each other
        codes = [self._cells[name] for name in names]
        cardinalities = [self._coverages[name].cells for name in names]
        grouped = group_codes(codes, cardinalities, len(self._count))
        count = np.bincount(grouped.class_of_row, self._count, grouped.count).astype(np.int64)
        cells = [column[grouped.first_row] for column in codes]
        self._last_roll_up = (list(names), cells, count)
        return cells, count

    def _share_of_domain(self, batch: QueryBatch) -> NDArray[np.float64]:
        share = np.ones(len(batch.number))
        for member in batch.members.values():
            share *= member.mean(axis=0)
        return share


def exact(columns: Sequence[Column], rows: int) -> ImpliedGeneralized:
    """p1, the distribution of the original: its estimates are the true counts."""
    return ImpliedGeneralized(columns, {c.name: identity(c) for c in columns}, rows)


class Unlinked(Implied):
    """The baseline: the original with its quasi-identifiers torn from its sensitive attributes."""

    def __init__(self, sides: Sequence[Sequence[Column]], rows: int) -> None:
        self._sides = [({c.name for c in side}, exact(side, rows)) for side in sides]
        self._rows = rows

    def estimate(self, batch: QueryBatch) -> NDArray[np.float64]:
        estimate = np.full(len(batch.number), float(self._rows))
        for names, side in self._sides:
            estimate *= side.estimate(batch.only(names)) / max(self._rows, 1)
        return estimate


@kernel
def _sum_of_products(
    count: NDArray[np.float64],  # (combinations,)
    place: NDArray[np.int64],  # (combinations, attributes)
    shares: NDArray[np.float64],  # (cells of all attributes, queries)
) -> NDArray[np.float64]:
    queries = shares.shape[1]
    total = np.zeros(queries)
    product = np.empty(queries)
    for combination in range(len(count)):
        product[:] = count[combination]
        for attribute in range(place.shape[1]):
            share = shares[place[combination, attribute]]
            for query in range(queries):
                product[query] *= share[query]
        for query in range(queries):
            total[query] += product[query]
    return total
