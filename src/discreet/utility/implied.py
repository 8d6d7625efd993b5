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
generalized         ``ImpliedGeneralized``: evenly over the values that a cell covers
term-suppressed     the same, with ``terms.TermCoverage``
bucketized          ``ImpliedGroups``: a group's people share its sensitive rows
decomposed          the same with raked rows; as the paper reads it, with a value of each set
projected           ``projected``: one table, and what the others say given its class
unlinked            ``ImpliedGeneralized``: all rows in one bucket, the baseline
==================  ===============================================================

Suppressed rows lie evenly over the whole domain: the values of each attribute that occur.

p2 of a generalized release, of the original itself, and of the baseline.

- *Generalized*: a row lies evenly over the values that its cells cover, attributes independent,
  so it gives a predicate Π over attributes |cell ∩ predicate| / |cell|.
- *The original* (``exact``): every cell covers one value.
- *ImpliedUnlinked*: all rows in one bucket. Quasi-identifiers are jointly as they were, sensitive
  attributes too, and nothing links the two.

Rows are compressed to their distinct combinations once, and for every batch of queries once more
to the combinations of the attributes it asks for, so the number of rows matters little.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.hierarchies.coverage import Coverage, identity
from discreet.hierarchies.covering_classes import fitting_groups
from discreet.table.budgets import IN_CACHE
from discreet.table.classes import group_codes
from discreet.table.coded_table import CodedTable, Column
from discreet.table.counts import order_by_class
from discreet.table.roles import Role
from discreet.typing import Bools, Codes, Floats, Ints
from discreet.utility.terms import TermCoverage, exact_terms


@dataclass(frozen=True, eq=False)
class AskedTerms:
    """The terms that queries ask of a multi-valued attribute: a set with any of them is counted."""

    asked: Bools  # (terms, queries), in the order of the original's sorted terms
    share_of_domain: Floats  # (queries,) of the original's different sets


@dataclass(frozen=True, eq=False)
class QueryBatch:
    """COUNT queries that ask for the same attributes."""

    number: Ints  # (queries,) the place of each in the workload
    members: Mapping[str, Bools]  # by attribute: (values, queries), original's codes
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
    def mass_of_people(self, people: CodedTable, sensitive: Sequence[str]) -> Floats | None:
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


class ImpliedGeneralized(Implied):
    """p2 of a generalized release."""

    def __init__(
        self,
        columns: Sequence[Column],
        coverages: Mapping[str, Coverage | TermCoverage],
        rows: int,
        suppressed_rows: int = 0,
        mass: Floats | None = None,  # (rows,) where a row does not weigh 1
    ) -> None:
        distinct = group_codes([c.codes for c in columns], [c.cardinality for c in columns], rows)
        self._count: NDArray[Any] = distinct.size  # whole numbers, unless masses are given
        if mass is not None:
            self._count = np.bincount(distinct.class_of_row, mass, distinct.count)
        self._cells = {c.name: c.codes[distinct.first_row] for c in columns}
        self._quasi = [c.name for c in columns if c.role is Role.QUASI_IDENTIFIER]
        self._coverages = {n: c for n, c in coverages.items() if isinstance(c, Coverage)}
        self._term_coverages = {n: c for n, c in coverages.items() if isinstance(c, TermCoverage)}
        self.answers_sets = bool(self._term_coverages)
        self._suppressed_rows = suppressed_rows
        self._last_roll_up: tuple[list[str], list[Codes], NDArray[Any]] | None = None

    def estimate(self, batch: QueryBatch) -> Floats:
        names = [*batch.members, *batch.terms]
        cells, count = self._roll_up(names)
        shares = [self._coverages[name].shares(asked) for name, asked in batch.members.items()]
        if batch.terms:
            estimate = self._sum_over_sets(batch, cells, count, shares)
        else:
            estimate = _sum_of_products(
                count.astype(np.float64), *_stacked(cells, shares, len(batch.number))
            )
        return estimate + self._suppressed_rows * batch.share_of_domain()

    def _sum_over_sets(
        self, batch: QueryBatch, cells: list[Codes], count: Ints, shares: list[Floats]
    ) -> Floats:
        """By combinations of what the queries ask for beside their last multi-valued attribute."""
        *others, (last, wanted) = batch.terms.items()
        by_set = [self._term_coverages[name].shares(asked.asked) for name, asked in others]
        shares = [*shares, *by_set]
        beside = group_codes(cells[:-1], [len(share) for share in shares], len(count))
        first, order = _by_class(beside.class_of_row, beside.count)
        return self._term_coverages[last].sum_of_products(
            *_stacked([c[beside.first_row] for c in cells[:-1]], shares, len(batch.number)),
            first,
            cells[-1][order],
            count[order],
            wanted.asked,
        )

    def _roll_up(self, names: Sequence[str]) -> tuple[list[Codes], NDArray[Any]]:
        """The distinct combinations of some attributes' cells, and the rows that have each."""
        if self._last_roll_up is not None and self._last_roll_up[0] == names:
            return self._last_roll_up[1:]  # batches with the same attributes follow each other
        codes = [self._cells[name] for name in names]
        grouped = group_codes(codes, [self._cells_of(name) for name in names], len(self._count))
        total = np.bincount(grouped.class_of_row, self._count, grouped.count)
        count = total.astype(self._count.dtype)
        cells = [column[grouped.first_row] for column in codes]
        self._last_roll_up = (list(names), cells, count)
        return cells, count

    def _cells_of(self, name: str) -> int:
        return (self._coverages.get(name) or self._term_coverages[name]).cells

    def mass_of_people(self, people: CodedTable, sensitive: Sequence[str]) -> Floats | None:
        names = [*self._quasi, *sensitive]
        coverages = [self._coverages[name] for name in names]
        codes = [people[name].codes for name in names]
        alike = group_codes(codes, [c.cardinality for c in coverages], people.rows)
        # Each combination of cells lies evenly over the combinations of values that it covers.
        cells, count = self._roll_up(names)
        fits = fitting_groups(coverages, [column[alike.first_row] for column in codes], cells)
        if fits is None:
            return None
        share = count.astype(np.float64)
        for coverage, cell in zip(coverages, cells, strict=True):
            share /= coverage.size[cell]
        start, combination = fits
        kind = np.repeat(np.arange(alike.count), np.diff(start))
        mass = np.bincount(kind, share[combination], alike.count)
        domain = math.prod(float(coverage.cardinality) for coverage in coverages)
        of_people = mass[alike.class_of_row] + self._suppressed_rows / domain
        return np.asarray(of_people, np.float64)

    def pair_table(self, first: Column, second: Column) -> Floats:
        (first_code, second_code), count = self._roll_up([first.name, second.name])
        coverages = self._coverages[first.name], self._coverages[second.name]
        cells = coverages[1].cells
        half = coverages[0].spread(first_code, second_code, count.astype(np.float64), cells)
        value, cell = np.nonzero(half)
        table = coverages[1].spread(cell, value, half[value, cell], first.cardinality).T
        return table + self._suppressed_rows / table.size

    def draw(self, rng: np.random.Generator) -> dict[str, Codes]:
        row = np.repeat(np.arange(len(self._count)), self._whole(rng))
        drawn = {n: c.pick(self._cells[n][row], rng) for n, c in self._coverages.items()}
        if not self._suppressed_rows:
            return drawn
        domain = {name: coverage.cardinality for name, coverage in self._coverages.items()}
        return below(drawn, even_draw(domain, self._suppressed_rows, rng))

    def _whole(self, rng: np.random.Generator) -> Ints:
        """Return how many rows a drawn table has of each combination."""
        if self._count.dtype.kind == "i":
            return self._count.astype(np.int64)
        total = float(self._count.sum())
        return rng.multinomial(round(total), self._count / max(total, 1e-9)).astype(np.int64)


def _by_class(of_class: Codes, classes: int) -> tuple[Ints, Ints]:
    return order_by_class(of_class, np.zeros(len(of_class), np.int32), classes, 1)


def exact(columns: Sequence[Column], rows: int, mass: Floats | None = None) -> ImpliedGeneralized:
    """p1, the distribution of the original: its estimates are the true counts.

    ``mass`` has the weight of each row, where these are not alike.
    """
    coverages: dict[str, Coverage | TermCoverage] = {
        c.name: exact_terms(c) if c.role is Role.QUASI_SENSITIVE else identity(c) for c in columns
    }
    return ImpliedGeneralized(columns, coverages, rows, mass=mass)


class ImpliedUnlinked(Implied):
    """The baseline: the original with its quasi-identifiers torn from its sensitive attributes."""

    def __init__(
        self, sides: Sequence[Sequence[Column]], rows: int, mass: Floats | None = None
    ) -> None:
        self._columns = sides
        self._sides = [({c.name for c in side}, exact(side, rows, mass)) for side in sides]
        self._rows = rows
        self._total = float(rows) if mass is None else float(mass.sum())

    def estimate(self, batch: QueryBatch) -> Floats:
        estimate = np.full(len(batch.number), self._total)
        for names, side in self._sides:
            estimate *= side.estimate(batch.only(names)) / max(self._total, 1e-300)
        return estimate

    def mass_of_people(self, people: CodedTable, sensitive: Sequence[str]) -> Floats | None:
        known = self._sides[0][1].mass_of_people(people, ())
        hidden = self._sides[1][1].mass_of_people(people, sensitive)
        return None if known is None or hidden is None else known * hidden / max(self._rows, 1)

    def pair_table(self, first: Column, second: Column) -> Floats:
        if first.name in self._sides[1][0]:
            return self._sides[1][1].pair_table(first, second)
        return np.outer(first.counts, second.counts) / max(self._rows, 1)

    def draw(self, rng: np.random.Generator) -> dict[str, Codes]:
        known, hidden = self._columns
        order = rng.permutation(self._rows)
        return {c.name: c.codes for c in known} | {c.name: c.codes[order] for c in hidden}


def _stacked(cells: Sequence[Codes], shares: Sequence[Floats], queries: int) -> tuple[Ints, Floats]:
    """Where each combination's shares are, and the shares of all attributes below each other."""
    if not cells:
        return np.zeros((0, 0), np.int64), np.zeros((0, queries))
    first = np.cumsum([0, *(len(share) for share in shares)])
    place = [cell + before for cell, before in zip(cells, first, strict=False)]
    return np.stack(place, axis=1), np.concatenate(shares)


def _sum_of_products(
    count: Floats,  # (combinations,)
    place: Ints,  # (combinations, attributes)
    shares: Floats,  # (cells of all attributes, queries)
) -> Floats:
    queries = shares.shape[1]
    total = np.zeros(queries)
    step = max(1, IN_CACHE // max(queries, 1))
    for begin in range(0, len(count), step):
        product = np.tile(count[begin : begin + step, None], queries)
        for attribute in range(place.shape[1]):
            product *= shares[place[begin : begin + step, attribute]]
        total += product.sum(axis=0)
    return total
