"""How many people of each group have each row of T^S, on average over all worlds.

A world is a complete assignment of people to rows (``data.assignments``). Rows that no world uses
are left out first; what remains falls into components. Small ones are counted, within the limits of
``placement``; the others are estimated by alternating scaling, and the finding says so.
"""

from __future__ import annotations

import numpy as np

from discreet.releases.kinds.decomposed.sensitive_sets import SensitiveSignatures
from discreet.releases.placement import count_components, scale
from discreet.table.assignments import PossibleRows, Sets, rows_by_value
from discreet.typing import Floats, Ints


def expected_rows(
    sets: Sets, signatures: SensitiveSignatures, primary: int, size: Ints, possible: PossibleRows
) -> tuple[Floats, bool]:
    """The expected number of people for each possible row of each group; whether it is exact."""
    begin, order = rows_by_value(sets, signatures.codes, primary, possible)
    start, _ = sets.of(primary)
    # In a group of as many people as primary values each of these is one person's, by itself.
    single = np.diff(start) == size
    opens = np.repeat(single, np.diff(start))
    opens[start[:-1]] = True
    first = np.append(begin[:-1][opens], begin[-1])
    group = np.repeat(np.arange(sets.groups), np.diff(start))[opens]
    people = np.where(single, 1, size)[group]
    row = possible.row[order]
    counts = signatures.count.astype(np.float64)
    weight = scale(first, row, people.astype(np.float64), counts, supported=True)
    of_primary = signatures.codes[:, primary]
    exact = count_components(first, row, people, signatures.count, weight, of_primary)
    mass = np.empty(len(row))
    mass[order] = weight * np.repeat(people, np.diff(first))
    return mass, exact
