"""Exchanges that save noise: two groups swap their rows of one primary value.

Groups keep their primary values, so all that group forming promised still holds. A swap is made
where it leaves both groups with less noise to add than before.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.methods.decomposition.group_merging import Fill, SignatureGroups
from discreet.table.coded_table import Column

TRIES = 24  # partners for each group, drawn at random


def exchange_rows(
    groups: SignatureGroups,
    noise_of_group: NDArray[np.int64],
    primary: Column,
    fill: Fill,
    rng: np.random.Generator,
) -> None:
    """Swap rows of groups that need noise with those of random others, in place.

    ``noise_of_group`` is the noise that each group needs; it is kept up to date.
    """
    for group in np.flatnonzero(noise_of_group):
        for _ in range(TRIES):
            if not noise_of_group[group]:
                break
            rows = groups.rows_of(int(group))
            mine = int(rng.integers(len(rows)))
            other = int(rng.integers(groups.groups))
            theirs = np.flatnonzero(
                primary.codes[groups.rows_of(other)] == primary.codes[rows[mine]]
            )
            if other == group or not len(theirs):
                continue
            place = int(theirs[0])
            groups.swap(int(group), mine, other, place)
            both = [int(group), other]
            found = groups.needs(both, fill)
            if found.sum() < noise_of_group[both].sum():
                noise_of_group[both] = found
            else:
                groups.swap(int(group), mine, other, place)
