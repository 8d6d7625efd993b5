"""What analysts lose, in their terms: errors of counts, shares and means by one quasi-identifier.

All follow from two-way tables of a quasi-identifier and a sensitive attribute, as the release
implies them and as the original has them:

- *counts*: median of |estimate − count|/count over cells with at least ``FEW`` rows;
- *shares*: mean difference, in percentage points, between the estimated and the true share of a
  value among the rows with a value of the quasi-identifier, weighted by these rows;
- *means*: median relative error of a numeric attribute's mean by value of the quasi-identifier.

Beside each, the same for tables without any link (shares of the whole table everywhere). Where
rows have sampling weights, counts, shares and means are weighted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from discreet.statements import Statement
from discreet.table.budgets import AT_ONCE
from discreet.table.coded_table import CodedTable, Column
from discreet.typing import Floats
from discreet.utility.implied import Implied

ROUNDING = 1e-6  # relative
FEW = 10  # rows of a cell, or of a quasi-identifier's value, that are judged


@dataclass(frozen=True)
class AnalystError:
    """The error of one kind of figure, in a release and without any link."""

    release: float
    unlinked: float

    @property
    def smaller(self) -> bool:
        """Whether the error is smaller than without any link, beyond rounding."""
        return self.release < self.unlinked * (1 - ROUNDING)

    @property
    def worse_counts(self) -> list[Statement]:
        """A sentence where this is the error of counts, and worse than without any link."""
        if self.release <= self.unlinked * (1 + ROUNDING):
            return []
        return [Statement("verdict.counts-worse", release=self.release, unlinked=self.unlinked)]


@dataclass(frozen=True)
class AnalystErrors:
    """The errors of counts, shares and means; None where nothing could be compared."""

    counts: AnalystError | None
    shares: AnalystError | None
    means: AnalystError | None

    @property
    def no_better_than_unlinked(self) -> bool:
        """Whether analysts gain nothing over two tables without any link, which have errors."""
        compared = [error for error in (self.counts, self.shares, self.means) if error is not None]
        return any(error.unlinked > 0 for error in compared) and all(
            not error.smaller for error in compared
        )

    def to_dict(self) -> dict[str, Any]:
        """The errors as plain data."""
        return {name: error for name, error in asdict(self).items() if error is not None}


def analyst_errors(
    original: CodedTable, implied: Implied, weights: Floats | None = None
) -> AnalystErrors:
    """Compare the two-way tables of a release with those of the original.

    ``weights`` are those of the original's rows, where the release is read with weights too.
    """
    mass = np.ones(original.rows) if weights is None else weights
    errors = [_TwoWayErrors.of(mass, implied, *pair) for pair in _pairs(original)]
    weight = sum(float(error.rows.sum()) for error in errors)
    shares = None
    if weight:
        off = [sum(float(error.shares[side] @ error.rows) for error in errors) for side in (0, 1)]
        shares = AnalystError(off[0] / weight, off[1] / weight)
    return AnalystErrors(
        _medians([e.counts for e in errors]), shares, _medians([e.means for e in errors])
    )


@dataclass(frozen=True, eq=False)
class _TwoWayErrors:
    """The errors in one two-way table, of the release and without any link."""

    counts: tuple[Floats, Floats]  # of cells with enough rows
    shares: tuple[Floats, Floats]  # of the quasi-identifier's values with enough rows
    means: tuple[Floats, Floats]
    rows: Floats  # with these values

    @classmethod
    def of(cls, mass: Floats, implied: Implied, quasi: Column, sensitive: Column) -> _TwoWayErrors:
        shape = (quasi.cardinality, sensitive.cardinality)
        cell = quasi.codes.astype(np.int64) * shape[1] + sensitive.codes
        # The two-way table of the original, and the same without any link.
        truth = np.bincount(cell, mass, shape[0] * shape[1]).reshape(shape).astype(np.float64)
        counts = np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)
        rows = truth.sum(axis=1)
        unlinked = np.outer(rows, truth.sum(axis=0)) / max(float(mass.sum()), 1e-300)
        both = implied.pair_table(quasi, sensitive), unlinked
        # Only cells and values with enough rows are judged.
        cells, values = counts >= FEW, counts.sum(axis=1) >= FEW
        share = _shares(truth)[values]
        numbers = sensitive.numbers
        mean = np.zeros(0)
        if numbers is not None and not np.isnan(numbers).any():
            mean = share @ numbers
        known = np.abs(mean) > 1e-12

        def off(table: Floats) -> tuple[Floats, Floats, Floats]:
            of_value = _shares(table)[values]
            counts = np.abs(table - truth)[cells] / truth[cells]
            means = np.zeros(0)
            if len(mean):
                means = np.abs(of_value @ numbers - mean)[known] / np.abs(mean[known])
            return counts, np.abs(of_value - share).mean(axis=1), means

        release, base = off(both[0]), off(both[1])
        return cls(
            (release[0], base[0]), (release[1], base[1]), (release[2], base[2]), rows[values]
        )


def _pairs(original: CodedTable) -> Iterator[tuple[Column, Column]]:
    for quasi in original.quasi_identifiers:
        for sensitive in original.sensitive:
            if quasi.cardinality * sensitive.cardinality <= AT_ONCE:
                yield quasi, sensitive


def _shares(table: Floats) -> Floats:
    rows = table.sum(axis=1, keepdims=True)
    shares: Floats = np.divide(table, rows, out=np.zeros_like(table), where=rows > 0)
    return shares


def _medians(pairs: list[tuple[Floats, Floats]]) -> AnalystError | None:
    if not sum(len(errors) for errors, _ in pairs):
        return None
    release = np.concatenate([errors for errors, _ in pairs])
    unlinked = np.concatenate([errors for _, errors in pairs])
    return AnalystError(float(np.median(release)), float(np.median(unlinked)))
