"""Do groups and T^S agree on the primary attribute?

In a group with as many people as primary values each value is one person's. A merged group has more
people than values: each value is somebody's, and how often is not published. The counts agree if
they can be chosen so that each value occurs in all groups together as often as in T^S: a flow from
the groups' further people to the rows of T^S that are left when each value was counted once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


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
    sets = [value[start[group] : start[group + 1]].tolist() for group in crowded]
    return _assign(sets, further[crowded].tolist(), left.tolist())


def _assign(sets: list[list[int]], further: list[int], left: list[int]) -> bool:
    """Whether all further people find a row: augmenting paths between groups and values."""
    flow: list[dict[int, int]] = [dict.fromkeys(values, 0) for values in sets]
    groups_of: dict[int, list[int]] = {}
    for group, values in enumerate(sets):
        for one in values:
            groups_of.setdefault(one, []).append(group)
    for group in range(len(sets)):
        for _ in range(further[group]):
            if not _augment(group, flow, groups_of, left):
                return False
    return True


def _augment(
    group: int, flow: list[dict[int, int]], groups_of: dict[int, list[int]], left: list[int]
) -> bool:
    """Find one more row for a group, moving others' people to other values where needed."""
    came_from: dict[int, tuple[int, int | None]] = {}  # value: group, and the value it gave up
    queue: list[tuple[int, int | None]] = [(group, None)]
    seen = {group}
    while queue:
        here, gave = queue.pop(0)
        for one in flow[here]:
            if one in came_from:
                continue
            came_from[one] = here, gave
            if left[one] > 0:
                left[one] -= 1
                step: int | None = one
                while step is not None:
                    holder, given = came_from[step]
                    flow[holder][step] += 1
                    if given is not None:
                        flow[holder][given] -= 1
                    step = given
                return True
            for other in groups_of[one]:
                if other not in seen and flow[other][one] > 0:
                    seen.add(other)
                    queue.append((other, one))
    return False
