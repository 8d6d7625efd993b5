"""Protected columns that reveal a quasi-identifier.

An attacker knows the quasi-identifiers of a person exactly, however coarse they are published. A
year of birth beside an age, a price per unit beside an amount, the body-mass index and the weight
beside the height: an attacker who knows the one finds the other, and with it the person's row, in
every group and in tables without a link. No guarantee covers this: it takes sensitive values as
unknown. So such a column is refused, as a direct identifier is.

A column reveals a quasi-identifier where

1. its values determine those of the quasi-identifier, exactly or nearly (``find_dependencies``);
2. both order the rows alike (``are_versions``);
3. it is the quasi-identifier in ranges: each of its values has a range of numbers of its own;
4. up to three numbers of a row give the quasi-identifier as a sum or a product (least squares on
   the numbers, and on their logarithms).

Each rule looks at repeated values alone, or needs many rows for each number that it fits, so that
columns of nearly distinct values reveal nothing. A quasi-identifier of fewer than 20 values, such
as a sex that follows from some diagnoses, points to no row. Rules 2 and 4 decide on at most 5,000
rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from discreet.table.budgets import LOOKED_AT
from discreet.table.coded_table import Column
from discreet.table.secrets import (
    LEAST_RANKS,
    LEAST_ROWS,
    are_versions,
    find_dependencies,
)
from discreet.typing import Floats

MOST_TERMS = 3  # columns that give a quasi-identifier together
EXPLAINED = 0.99  # the least share of its variance that they explain
CLOSE = 0.1  # of its interquartile range: the greatest error of a close row
MOST_CLOSE = 0.9  # the least share of close rows
ROWS_OF_RANGE = 10  # the least rows of each value of a column of ranges
LEAST_RANGE = 3  # the least numbers in each of its ranges


class Revealed(NamedTuple):
    """A quasi-identifier, and the published columns that reveal it."""

    quasi_identifier: str
    columns: tuple[str, ...]

    def sentence(self) -> str:
        """Return why the columns may not be published; no value is named."""
        first = self.columns[0]
        beside = "".join(f" and '{name}'" for name in self.columns[1:])
        known = f"'{self.quasi_identifier}'"
        return (
            f"this column{beside and f' with{beside[4:]}'} reveals the quasi-identifier {known}, "
            f"which attackers know exactly: they find a person's row by '{first}', however coarse "
            f"{known} is. Give '{first}' the role 'drop' or 'quasi-identifier', or {known} the "
            "role 'drop'; if attackers cannot compute one from the other, add "
            "'allow_identifying: true'."
        )


def revealed_quasi_identifiers(
    quasi: Sequence[Column], protected: Sequence[Column]
) -> list[Revealed]:
    """Return the quasi-identifiers that protected columns reveal, each by one set of columns.

    The columns have a row for each person.
    """
    if not protected or not quasi or len(quasi[0].codes) < LEAST_ROWS:
        return []
    revealed = []
    for known in quasi:
        if np.count_nonzero(known.counts) < LEAST_RANKS:
            continue
        revealed += [
            Revealed(known.name, (column.name,))
            for column in protected
            if _determines(column, known)
            or are_versions(column, known)
            or _has_ranges_of(column, known)
        ]
        if not any(known.name == one.quasi_identifier for one in revealed):
            revealed += _computed(known, protected)
    return revealed


def _determines(column: Column, known: Column) -> bool:
    """Whether values of a column determine those of a quasi-identifier, or nearly."""
    return any(pair.first == column.name for pair in find_dependencies([column, known]))


def _has_ranges_of(column: Column, known: Column) -> bool:
    """Whether each value of a column has a range of the quasi-identifier's numbers of its own."""
    # Numbers that do not repeat are no evidence that equal ones have equal values.
    if known.numbers is None or len(known.codes) < 2 * np.count_nonzero(known.counts):
        return False
    if min(column.counts[column.counts > 0]) < ROWS_OF_RANGE:
        return False
    # Some rows show it of most columns that have none.
    step = -(-len(known.codes) // LOOKED_AT)
    steps = sorted({step, 1}, reverse=True)
    return all(_ranges(column, known, known.numbers, each) for each in steps)


def _ranges(column: Column, known: Column, numbers: Floats, step: int) -> bool:
    """Whether every so many rows have one value for each number, and ranges of equal values."""
    pair = known.codes[::step].astype(np.int64) * column.cardinality + column.codes[::step]
    number, value = np.divmod(np.unique(pair), column.cardinality)
    if len(np.unique(number)) < len(number) or np.isnan(numbers[number]).any():
        return False
    value = value[np.argsort(numbers[number])]
    ranges = 1 + np.count_nonzero(np.diff(value))
    lengths = np.bincount(value)[np.unique(value)]
    return bool(1 < ranges == len(lengths) and (step > 1 or lengths.min() >= LEAST_RANGE))


def _computed(known: Column, protected: Sequence[Column]) -> Iterator[Revealed]:
    """Yield the numbers of which the quasi-identifier is nearly a sum or a product."""
    numbers = {column.name: _numbers(column) for column in protected if column.numbers is not None}
    target = None if known.numbers is None else _numbers(known)
    if target is None:
        return
    for transformed in (_as_they_are, _logarithms):
        terms = {name: transformed(values) for name, values in numbers.items()}
        columns = _fitting(transformed(target), terms)
        if columns:
            yield Revealed(known.name, columns)
            return


def _fitting(target: Floats, terms: dict[str, Floats]) -> tuple[str, ...]:
    """Return the terms that explain the target by least squares, added one by one; () for none."""
    chosen: list[str] = []
    while len(chosen) < min(MOST_TERMS, len(terms)):
        errors = {
            name: _residuals(target, [terms[one] for one in (*chosen, name)])
            for name in terms
            if name not in chosen
        }
        # The term that leaves the least variance of the rows that have all numbers.
        usable = {name: error for name, error in errors.items() if _enough(error)}
        if not usable:
            return ()
        best = min(usable, key=lambda name: float(np.nanvar(usable[name])))
        chosen.append(best)
        if _explains(usable[best], target):
            return tuple(chosen)
    return ()


def _residuals(target: Floats, terms: list[Floats]) -> Floats:
    """(rows,) What a sum of multiples of the terms leaves of the target; NaN for missing ones."""
    matrix = np.column_stack([*terms, np.ones(len(target))])
    known = np.isfinite(matrix).all(axis=1) & np.isfinite(target)
    residuals = np.full(len(target), np.nan)
    if known.sum() >= LEAST_ROWS:
        multiples = np.linalg.lstsq(matrix[known], target[known], rcond=None)[0]
        residuals[known] = target[known] - matrix[known] @ multiples
    return residuals


def _enough(residuals: Floats) -> bool:
    """Whether at least half of the rows have all numbers, and enough rows do."""
    known = np.isfinite(residuals).sum()
    return bool(known >= max(LEAST_ROWS, len(residuals) / 2))


def _explains(residuals: Floats, target: Floats) -> bool:
    """Whether the residuals are small, in the variance and in most rows."""
    known = np.isfinite(residuals)
    low, high = np.quantile(target[known], [0.25, 0.75])
    if high <= low:
        return False
    explained = 1 - residuals[known].var() / target[known].var()
    close = np.mean(np.abs(residuals[known]) <= CLOSE * (high - low))
    return bool(explained >= EXPLAINED and close >= MOST_CLOSE)


def _numbers(column: Column) -> Floats:
    """(rows,) The numbers of some rows; NaN where they are missing."""
    assert column.numbers is not None
    return column.numbers[column.codes[:: -(-len(column.codes) // LOOKED_AT)]]


def _as_they_are(numbers: Floats) -> Floats:
    return numbers


def _logarithms(numbers: Floats) -> Floats:
    """(rows,) The logarithms; NaN where there is none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithms = np.log(numbers)
    return np.where(np.isfinite(logarithms), logarithms, np.nan)
