"""The distribution p2 over quasi-identifiers and sensitive attributes that a release implies.

p2 is the one thing that the measures beyond structure read. A kind of release says what it is by a
subclass of ``Implied``, which answers four questions:

- ``estimate``: the mass of a predicate, for queries;
- ``mass_of_people``: the mass of real people's values, for the divergence of the whole
  distribution and for what an attacker believes;
- ``pair_table``: all masses of two attributes, for associations;
- ``draw``: a table drawn from it, for learning.

Every published row carries mass 1/n; here masses are multiplied by n, so they add up to the rows.

==================  ===============================================================
kind                p2
==================  ===============================================================
generalized         ``implied_generalized``: evenly over the values that a cell covers
term-suppressed     the same, with ``term_coverage.TermCoverage``
bucketized          ``implied_groups``: a group's people share its sensitive rows
decomposed          the same with raked rows; ``uniform_sets`` as the paper reads it
projected           ``projected``: one table, and what the others say given its class
unlinked            ``implied_generalized``: all rows in one bucket, the baseline
==================  ===============================================================

Suppressed rows lie evenly over the whole domain: the values of each attribute that occur.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from discreet.table.coded_table import CodedTable, Column
from discreet.table.roles import Role
from discreet.typing import Codes, Floats

PAIR_CELLS = 2**22  # of a two-way table that is kept for queries


@dataclass(frozen=True, eq=False)
class AskedTerms:
    """The terms that queries ask of a multi-valued attribute: a set with any of them is counted."""

    asked: NDArray[np.bool_]  # (terms, queries), in the order of the original's sorted terms
    share_of_domain: Floats  # (queries,) of the original's different sets


@dataclass(frozen=True, eq=False)
class QueryBatch:
    """COUNT queries that ask for the same attributes."""

    number: NDArray[np.int64]  # (queries,) the place of each in the workload
    members: Mapping[str, NDArray[np.bool_]]  # by attribute: (values, queries), original's codes
    terms: Mapping[str, AskedTerms] = field(default_factory=dict)  # by multi-valued attribute

    def only(self, attributes: Collection[str]) -> QueryBatch:
        """The same queries without what they ask of other attributes."""
        members = {name: member for name, member in self.members.items() if name in attributes}
        terms = {name: asked for name, asked in self.terms.items() if name in attributes}
        return QueryBatch(self.number, members, terms)

    def share_of_domain(self) -> Floats:
        """(queries,) What each query's predicate holds of the whole domain."""
        share = np.ones(len(self.number))
        for member in self.members.values():
            share *= member.mean(axis=0)
        for terms in self.terms.values():
            share *= terms.share_of_domain
        return share


class Implied(ABC):
    """What a release lets its reader estimate."""

    answers_sets: bool = False  # whether it can be asked for quasi-sensitive terms

    @abstractmethod
    def estimate(self, batch: QueryBatch) -> Floats:
        """(queries,) n · p2 of each query's predicate."""

    @abstractmethod
    def mass_of_people(
        self, people: CodedTable, sensitive: Sequence[str]
    ) -> NDArray[np.float64] | None:
        """(people,) n · p2 of each one's quasi-identifiers and values of some sensitive attributes.

        ``people`` are rows in the original's codes. None where cells overlap so much that it would
        take too long.
        """

    @abstractmethod
    def pair_table(self, first: Column, second: Column) -> Floats:
        """(values, values) n · p2 of all pairs of values, in the original's codes.

        The second attribute is sensitive, the first is either.
        """

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> dict[str, Codes]:
        """As many people as the original has, by attribute, in the original's codes."""


class PairAnswers:
    """Queries on two attributes, answered by a sum over their two-way table, which is made once."""

    def __init__(self, original: CodedTable, release: Implied) -> None:
        self._original = original
        self._release = release
        self._last: tuple[tuple[str, ...], Floats] | None = None

    def estimate(self, batch: QueryBatch) -> Floats | None:
        """n · p2 of each query's predicate; None for queries that no such table answers."""
        names = tuple(batch.members)
        columns = [self._original[name] for name in names]
        if len(names) != 2 or columns[1].role is not Role.SENSITIVE or batch.terms:
            return None
        if columns[0].cardinality * columns[1].cardinality > PAIR_CELLS:
            return None
        if self._last is None or self._last[0] != names:  # batches of a kind follow each other
            self._last = names, self._release.pair_table(columns[0], columns[1])
        first, second = (batch.members[name].astype(np.float64) for name in names)
        return np.asarray(((first.T @ self._last[1]) * second.T).sum(axis=1), np.float64)


def even_draw(
    cardinality: Mapping[str, int], rows: int, rng: np.random.Generator
) -> dict[str, Codes]:
    """Rows that lie evenly over the domain, as suppressed ones do."""
    return {
        name: rng.integers(0, values, rows).astype(np.int32) for name, values in cardinality.items()
    }


def below(*parts: Mapping[str, Codes]) -> dict[str, Codes]:
    """Rows with the same attributes, one part below the other."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
