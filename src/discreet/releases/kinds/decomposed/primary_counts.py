"""Do groups and T^S agree on the primary attribute?

In a group with as many people as primary values each value is one person's. A merged group has more
people than values: each value belongs to a person, and how often is not published. The counts agree
if they can be chosen so that each value occurs in all groups together as often as in T^S: a flow
from the groups' further people to the rows of T^S that are left when each value was counted once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.table.graphs import greatest_flow


@dataclass(frozen=True, eq=False)
class PrimaryCounts:
    """What some groups say of the primary values; what all say is compared with T^S."""

    listed: NDArray[np.int64]  # (values,) the groups that list each
    rows_of_value: NDArray[np.int64]  # (values,) rows of T^S, the same for all groups
    further: NDArray[np.int64]  # (crowded groups,) people beyond one for each value
    start: NDArray[np.int64]  # (crowded groups + 1,)
    value: NDArray[np.int32]  # the primary sets of these groups
    short: bool  # whether some group has fewer people than values

    @classmethod
    def of(
        cls,
        start: NDArray[np.int64],
        value: NDArray[np.int32],
        size: NDArray[np.int64],
        rows_of_value: NDArray[np.int64],
    ) -> PrimaryCounts:
        """``start`` and ``value`` are the primary sets of the groups, ``size`` their people."""
        further = size - np.diff(start)
        crowded = np.flatnonzero(further > 0)
        length = np.diff(start)[crowded]
        first = np.concatenate(([0], np.cumsum(length)))
        edges = np.arange(first[-1]) + np.repeat(start[crowded] - first[:-1], length)
        listed = np.bincount(value, minlength=len(rows_of_value)).astype(np.int64)
        short = bool((further < 0).any())
        return cls(listed, rows_of_value, further[crowded], first, value[edges], short)


def counts_agree(parts: Sequence[PrimaryCounts]) -> bool:
    """Whether all groups and T^S agree."""
    left = parts[0].rows_of_value - sum(part.listed for part in parts)
    further = np.concatenate([part.further for part in parts])
    if any(part.short for part in parts) or (left < 0).any() or further.sum() != left.sum():
        return False
    if not len(further):
        return True
    length = np.concatenate([np.diff(part.start) for part in parts])
    start = np.concatenate(([0], np.cumsum(length)))
    flow = greatest_flow(left, further, start, np.concatenate([part.value for part in parts]))
    return bool(flow.sum() == left.sum())
