"""By what chance T^S agrees with the people's groups as well as it does if it was shuffled.

If T^S had not been shuffled, its row i would belong to the person in row i, and so fit the sets of
that person's group. Count the misfits: places whose row of T^S does not fit. The returned chance is
an upper bound of the probability that a random order has as few: no sound release is refused.

1. Let K places be looked at, whichever, and let b(i, j) = 1 if the row of T^S at the j-th of them
   does not fit the group at the i-th. A sound release has a uniformly random order of T^S,
   independent of that of the people. Given which rows are at these places on both sides, the
   misfits are Σ b(i, π(i)) for a uniformly random permutation π of K.
2. No misfit: the number of permutations without one is the permanent of 1 − b. Of few rows it is
   computed; otherwise it is at most Π (r_i!)^(1/r_i), where r_i is the number of rows that fit
   place i (Brègman, 1973, proof of Minc's conjecture). The chance is that over K!.
3. Some misfits, below their mean m = Σ b(i, j) / K by x: Chatterjee's bound
   2 exp(−x² / (4m + 2x)), as in ``orders``. It finds rows that were shuffled only in part.
"""

from __future__ import annotations

from math import exp, factorial

import numpy as np
from numpy.typing import NDArray

from discreet.releases.kinds.decomposed.sensitive_sets import SensitiveSignatures
from discreet.table.assignments import Sets
from discreet.typing import Codes

SAMPLE = 4096  # places that are looked at
FEW = 20  # rows; below, all orders are counted


def chance_of_order(sets: Sets, signatures: SensitiveSignatures, group_of_row: Codes) -> float:
    """Bound the chance that a random order has as few misfits as this one."""
    rows = len(group_of_row)
    if not rows or len(signatures.of_row) != rows:
        return 1.0
    places = np.linspace(0, rows - 1, min(rows, SAMPLE)).astype(np.int64)
    fits = _fits(sets, signatures, group_of_row[places], signatures.of_row[places])
    misfits = len(places) - int(np.trace(fits))
    if misfits and rows < FEW:
        return 1.0
    if misfits:
        mean = len(places) - fits.sum() / len(places)
        below = mean - misfits
        return min(1.0, 2 * exp(-(below**2) / (4 * mean + 2 * below))) if below > 0 else 1.0
    if rows < FEW:
        return float(_fitting_orders(fits) / factorial(rows))
    fitting = fits.sum(axis=1)
    log_factorial = np.cumsum(np.log(np.maximum(np.arange(len(places) + 1), 1)))
    log_orders = float((log_factorial[fitting] / fitting).sum())
    return min(1.0, exp(log_orders - float(log_factorial[-1])))


def _fitting_orders(fits: NDArray[np.bool_]) -> float:
    """How many orders give each place i a row that fits it: the permanent, over sets of rows."""
    rows = len(fits)
    subsets = np.arange(1 << rows)
    used_rows = sum((subsets >> row) & 1 for row in range(rows))
    ways = np.zeros(1 << rows)
    ways[0] = 1.0
    for place in range(rows):
        used = subsets[(used_rows == place) & (ways > 0)]
        for row in np.flatnonzero(fits[place]):
            free = used[(used >> row) & 1 == 0]
            ways[free | (1 << row)] += ways[free]  # no subset occurs twice here
    return float(ways[-1])


def _fits(
    sets: Sets, signatures: SensitiveSignatures, group: Codes, signature: Codes
) -> NDArray[np.bool_]:
    """Return whether the sets of group i hold every value of the j-th row of T^S."""
    fits = np.ones((len(group), len(signature)), np.bool_)
    for attribute in range(signatures.codes.shape[1]):
        values, value_of_row = np.unique(
            signatures.codes[signature, attribute], return_inverse=True
        )
        start, value = sets.of(attribute)
        length = np.diff(start)[group]
        place = np.repeat(np.arange(len(group)), length)
        before = np.cumsum(length) - length
        entry = np.arange(len(place)) + np.repeat(start[group] - before, length)
        found = np.searchsorted(values, value[entry])
        found[found == len(values)] = 0
        known = values[found] == value[entry]
        listed = np.zeros((len(group), len(values)), np.bool_)
        listed[place[known], found[known]] = True
        fits &= listed.take(value_of_row, axis=1)
    return fits
