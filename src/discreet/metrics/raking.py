"""The masses that a decomposed release implies: rows of T^S raked into the groups' sets.

Somebody in a group has a row of T^S whose values are all in the group's sets. Starting from the
rows' counts, masses are scaled in turn until each primary value of a group has the mass of its one
person (a merged group as a whole that of its people) and each row of T^S its count: iterative
proportional fitting, which finds the distribution nearest to "any row of T^S" that agrees with all
that is published.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels import kernel
from discreet.releases.sensitive_sets import Sets, Signatures, supporting_rows

Ints = NDArray[np.int64]
Small = NDArray[np.int32]
Floats = NDArray[np.float64]

ROUNDS = 200
CLOSE = 1e-6  # how far a mass may be off, relatively
ENTRIES = 2**26  # more are not raked


def rake(
    sets: Sets, signatures: Signatures, primary: int, size: Ints
) -> tuple[Ints, Small, Floats] | None:
    """Where each group's rows begin, the rows, and their masses; None where they are too many."""
    cell_start, _ = sets.of(primary)
    begin, signature = supporting_rows(sets, signatures, primary, ENTRIES)
    if signature is None:
        return None
    entry_start = begin[cell_start]  # of groups
    single = np.diff(cell_start) == size
    cells = np.repeat(single, np.diff(cell_start))  # one a primary value, or one a merged group
    cell_of_pair = np.cumsum(cells | np.isin(np.arange(len(cells)), cell_start[:-1])) - 1
    cell = np.repeat(cell_of_pair, np.diff(begin))
    first_pair = np.flatnonzero(np.diff(cell_of_pair, prepend=-1))
    group_of_pair = np.repeat(np.arange(sets.groups), np.diff(cell_start))
    target = np.where(single, 1, size)[group_of_pair[first_pair]].astype(np.float64)
    mass = _fit(cell, signature, target, signatures.count.astype(np.float64))
    return entry_start, signature, mass


@kernel
def _fit(cell: Ints, signature: Small, target: Floats, count: Floats) -> Floats:
    mass = np.empty(len(cell))
    for entry in range(len(cell)):
        mass[entry] = count[signature[entry]]
    for round_ in range(ROUNDS):
        total = np.zeros(len(target))
        for entry in range(len(cell)):
            total[cell[entry]] += mass[entry]
        for entry in range(len(cell)):
            mass[entry] *= target[cell[entry]] / total[cell[entry]]
        total = np.zeros(len(count))
        for entry in range(len(cell)):
            total[signature[entry]] += mass[entry]
        away = 0.0
        for row in range(len(count)):
            if total[row] > 0:
                away = max(away, abs(total[row] / count[row] - 1))
        if away < CLOSE or round_ == ROUNDS - 1:  # people's masses are exact in any case
            break
        for entry in range(len(cell)):
            mass[entry] *= count[signature[entry]] / total[signature[entry]]
    return mass
