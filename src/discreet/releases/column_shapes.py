"""Histograms of columns and associations of pairs, in the original and in a release.

Numbers are cut at the deciles of the original. The association of two columns is
2·I(a, b)/(H(a) + H(b)): 0 for independent columns, 1 where each determines the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.table.coded_table import CodedTable, Column
from discreet.typing import Codes, Floats, Ints
from discreet.utility.implied import Implied

BINS = 10  # of numbers
MOST_VALUES = 50  # of a column that is compared value by value; rarer ones are one value
SHAPED, STRETCHES, SHAPE_SEED = 10, 16, 0  # columns and bins of a report; seed of its drawn rows


@dataclass(frozen=True)
class ColumnShapes:
    """Histograms of columns and associations of pairs, in the original and in a release."""

    names: tuple[str, ...]
    before: tuple[tuple[float, ...], ...]  # (columns, columns) associations in the original
    after: tuple[tuple[float, ...], ...]
    histograms: Mapping[str, tuple[Floats, Floats]]  # by column: shares before and after

    @classmethod
    def of(cls, original: CodedTable, implied: Implied) -> ColumnShapes:
        """Return the shapes of the columns with the strongest associations in the original.

        A release is read as rows drawn from the distribution that it implies. What independent
        columns would share in so many rows by chance is subtracted (Miller, 1955).
        """
        drawn = implied.draw(np.random.default_rng(SHAPE_SEED))
        columns = [*original.quasi_identifiers, *original.sensitive]
        columns = [column for column in columns if column.name in drawn]
        bins = {column.name: bins_of(column) for column in columns}
        old = {column.name: bins[column.name][column.codes] for column in columns}
        strengths = np.array(associations_of(old, tuple(old), exact=True)) - np.eye(len(old))
        strongest = np.argsort(-strengths.sum(axis=0), kind="stable")[:SHAPED]
        names = tuple(columns[place].name for place in np.sort(strongest))
        new = {name: bins[name][drawn[name]] for name in names}
        return cls(
            names, associations_of(old, names, exact=True), associations_of(new, names, exact=True),
            {name: _histograms(original[name], drawn[name]) for name in names},
        )  # fmt: skip


def _histograms(column: Column, drawn: Codes) -> tuple[Floats, Floats]:
    """Return the shares of equal stretches of numbers, or of frequent values and all others."""
    numbers = column.numbers
    if numbers is not None and column.cardinality > STRETCHES and not np.isnan(numbers).all():
        low, high = np.nanmin(numbers), np.nanmax(numbers)
        stretch = np.nan_to_num((numbers - low) / (high - low) * STRETCHES, nan=STRETCHES)
        bins = np.minimum(stretch.astype(np.int64), STRETCHES - 1)
    else:
        order = np.argsort(-column.counts, kind="stable")
        bins = np.empty(column.cardinality, np.int64)
        bins[order] = np.minimum(np.arange(column.cardinality), STRETCHES - 1)
    before, after = (
        np.bincount(bins[codes], minlength=bins.max() + 1) / max(len(codes), 1)
        for codes in (column.codes, drawn)
    )
    return before, after


def bins_of(column: Column) -> Codes:
    """(values,) The bin of each value: by deciles of numbers; the most frequent of others."""
    if column.numbers is not None and column.cardinality > BINS:
        numbers = column.numbers[column.codes]
        present = numbers[~np.isnan(numbers)]
        ends = np.unique(np.quantile(present, np.linspace(0, 1, BINS + 1)[1:-1]))
        bins = np.searchsorted(ends, column.numbers, "left")
        return np.where(np.isnan(column.numbers), BINS, bins).astype(np.int32)
    bins = np.full(column.cardinality, MOST_VALUES)
    frequent = np.argsort(-column.counts, kind="stable")[:MOST_VALUES]
    bins[frequent] = np.arange(len(frequent))
    return bins.astype(np.int32)


def associations_of(
    columns: Mapping[str, Codes], names: Sequence[str], *, exact: bool = False
) -> tuple[tuple[float, ...], ...]:
    """(columns, columns) The association of each pair; of a column with itself 1.

    ``exact`` subtracts what independent columns share by chance.
    """
    size = {name: int(columns[name].max(initial=0)) + 1 for name in names}
    entropy = {name: _entropy(np.bincount(columns[name])) for name in names}
    free = {name: len(np.unique(columns[name])) - 1 for name in names} if exact else {}
    associations = np.eye(len(names))
    for i, first in enumerate(names):
        for j in range(i):
            second = names[j]
            pair = columns[first].astype(np.int64) * size[second] + columns[second]
            joint = _entropy(np.bincount(pair))
            both = entropy[first] + entropy[second]
            by_chance = free[first] * free[second] / (2 * len(pair)) if exact else 0.0
            shared = max(both - joint - by_chance, 0.0)
            associations[i, j] = associations[j, i] = 2 * shared / both if both > 1e-12 else 0.0
    return tuple(tuple(float(value) for value in row) for row in associations)


def _entropy(counts: Ints) -> float:
    share: Floats = counts[counts > 0] / counts.sum()
    return float(-(share * np.log(share)).sum())
