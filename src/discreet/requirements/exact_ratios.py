"""Comparing ratios of counts with a bound without rounding.

A bound such as 0.3 is meant as three tenths, not as the nearest binary fraction: it is read from
its shortest decimal form, and both sides of the comparison are whole numbers.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.table.counts import ValueCounts
from discreet.typing import Ints

INT64_LIMIT = int(np.iinfo(np.int64).max)


def exact(bound: float) -> Fraction:
    """The number that the job wrote."""
    return Fraction(str(bound))


def scaled(part: Ints, whole: Ints, bound: Fraction) -> tuple[NDArray[Any], NDArray[Any]]:
    """Two integer arrays that compare as ``part`` and ``bound · whole`` do."""
    return _times(part, bound.denominator), _times(whole, bound.numerator)


def product(first: Ints, second: Ints | np.int64) -> NDArray[Any]:
    """The product of counts, which the weights of persons can take beyond 64 bits."""
    if int(first.max(initial=0)) * int(np.max(second, initial=0)) < INT64_LIMIT:
        small: NDArray[Any] = first * second
        return small
    large: NDArray[Any] = first.astype(object) * np.asarray(second).astype(object)
    return large


def _times(counts: Ints, factor: int) -> NDArray[Any]:
    if int(counts.max(initial=0)) * factor < INT64_LIMIT:
        return counts * factor
    return counts.astype(object) * factor  # Python's own integers: slow, and never wrong


def by_class(ufunc: np.ufunc, entries: NDArray[Any], values: ValueCounts) -> NDArray[Any]:
    """Reduce what belongs to the entries to the classes; a class has at least one entry."""
    if not values.classes:
        return entries[:0]
    reduced: NDArray[Any] = ufunc.reduceat(entries, values.start[:-1])
    return reduced
