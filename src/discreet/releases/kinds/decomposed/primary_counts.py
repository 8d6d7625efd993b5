"""Do groups and T^S agree on the primary attribute?

In a group with as many people as primary values each value is one person's. A merged group has more
people than values: each value belongs to a person, and how often is not published. The counts agree
if they can be chosen so that each value occurs in all groups together as often as in T^S: a flow
from the groups' further people to the rows of T^S that are left when each value was counted once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.table.graphs import greatest_flow


def primary_counts_agree(
    start: NDArray[np.int64],
    value: NDArray[np.int32],
    size: NDArray[np.int64],
    rows_of_value: NDArray[np.int64],
) -> bool:
    """``start`` and ``value`` are the primary sets of the groups, ``size`` the people in each."""
    further = size - np.diff(start)
    left = rows_of_value - np.bincount(value, minlength=len(rows_of_value))
    if (further < 0).any() or (left < 0).any() or further.sum() != left.sum():
        return False
    crowded = np.flatnonzero(further)
    if not len(crowded):
        return True
    length = np.diff(start)[crowded]
    first = np.concatenate(([0], np.cumsum(length)))
    edges = np.arange(first[-1]) + np.repeat(start[crowded] - first[:-1], length)
    flow = greatest_flow(left, further[crowded], first, value[edges])
    return bool(flow.sum() == left.sum())
