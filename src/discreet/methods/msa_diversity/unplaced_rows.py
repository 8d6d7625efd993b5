"""Place rows that found no group in the groups near them on the curve.

In this order, for each row: *placed* in the near group that loses least by it, among those where
it fits; *exchanged* for a member that fits another near group; near groups *joined* until the row
fits their union.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.methods.msa_diversity.diverse_groups import (
    DiverseGroups,
    Rows,
    add,
    excess,
    loss_with,
    remove,
)
from discreet.table.kernels import kernel
from discreet.typing import Floats, Ints


class Limits(NamedTuple):
    """How far the search for one row goes."""

    reach: int  # rows of the curve to either side
    tries: int  # of exchanges
    most: int  # rows of a group that still takes others in
    compared: int  # groups of which the least loss is taken; 1 for the first without a look


# Compiled: compares near groups for every unplaced row.
@kernel
def place(
    rows: Rows, groups: DiverseGroups, row: int, near: NDArray[np.int64], count: int, limits: Limits
) -> bool:
    """Put a row into the group that loses least by it, of the first few near ones that it fits."""
    best = -1
    least = np.inf
    tried = 0
    for i in range(count):
        group = near[i]
        if groups.size[group] == 0:  # joined to another before
            continue
        if groups.size[group] >= limits.most or excess(rows, groups, group, row, -1) > 0:
            continue
        if limits.compared == 1:
            best = group
            break
        size = groups.size[group]
        before = size * loss_with(rows, groups, group, -1, -1)
        added = (size + 1) * loss_with(rows, groups, group, row, -1) - before
        if added < least:
            best, least = group, added
        tried += 1
        if tried == limits.compared:
            break
    if best >= 0:
        add(groups, best, row)
    return best >= 0


# Compiled: tries the members of near groups for every unplaced row.
@kernel
def exchange(
    rows: Rows, groups: DiverseGroups, row: int, near: NDArray[np.int64], count: int, limits: Limits
) -> bool:
    """Put a row in the place of a member that fits another of the near groups."""
    tried = 0
    for i in range(count):
        group = near[i]
        member = groups.first[group]
        while member >= 0:
            if excess(rows, groups, group, row, member) == 0:
                for k in range(count):
                    other = near[k]
                    if other == group or not 0 < groups.size[other] < limits.most:
                        continue
                    tried += 1
                    if excess(rows, groups, other, member, -1) == 0:
                        remove(groups, group, member)
                        add(groups, group, row)
                        add(groups, other, member)
                        return True
            tried += 1
            if tried > limits.tries:
                return False
            member = groups.next_row[member]
    return False


# Compiled: compares unions of near groups for every unplaced row.
@kernel
def join(
    rows: Rows, groups: DiverseGroups, row: int, near: NDArray[np.int64], count: int, limits: Limits
) -> bool:
    """Join near groups, at most four, until a row fits their union."""
    bounds = rows.values.shape[1]
    taken = np.empty(4, np.int64)
    held = np.zeros(bounds, np.int64)  # how often the union has the row's own values
    size = 0
    for step in range(4):
        best = -1
        least = 2**62
        # Find the group with which the row exceeds its bounds least.
        for i in range(count):
            group = near[i]
            if groups.size[group] == 0:  # joined to another before
                continue
            again = False
            for other in taken[:step]:
                again |= other == group
            if again or size + groups.size[group] >= limits.most:
                continue
            over = 0
            for j in range(bounds):
                if rows.values[row, j] < 0:  # harmless
                    continue
                total = held[j] + occurrences(rows, groups, group, j, rows.values[row, j]) + 1
                room = (size + groups.size[group] + 1) * rows.part[j] // rows.whole[j]
                over += max(total - room, 0)
            if over < least:  # the nearest of equals
                best, least = group, over
        if best < 0:
            return False
        for j in range(bounds):
            held[j] += occurrences(rows, groups, best, j, rows.values[row, j])
        size += groups.size[best]
        taken[step] = best
        # The row fits the union: merge the groups.
        if least == 0:
            for i in range(1, step + 1):
                merge(groups, taken[0], taken[i])
            add(groups, taken[0], row)
            return True
    return False


# Compiled: called for every group that is considered for a row.
@kernel
def occurrences(rows: Rows, groups: DiverseGroups, group: int, j: int, value: int) -> int:
    """Return how often a group has a value that bound j covers; 0 for a harmless one."""
    count = 0
    member = groups.first[group] if value >= 0 else -1
    while member >= 0:
        if rows.values[member, j] == value:
            count += 1
        member = groups.next_row[member]
    return count


# Compiled: called for every join of groups.
@kernel
def merge(groups: DiverseGroups, into: int, group: int) -> None:
    member = groups.first[group]
    while member >= 0:
        after = groups.next_row[member]
        add(groups, into, member)
        member = after
    groups.first[group] = -1
    groups.size[group] = 0


# Compiled: each unplaced row changes the groups that the next one finds.
@kernel
def settle(
    rows: Rows,
    groups: DiverseGroups,
    unplaced: Ints,
    near: Ints,
    near_of_row: Ints,  # (unplaced rows, 2) which of them each row has; empty: those around it
    limits: Limits,
) -> Ints:
    """Place, exchange or join each unplaced row in turn; return how many rows each step took.

    Without ``near_of_row``, ``near`` is room for the groups that are looked at for one row.
    """
    took = np.zeros(3, np.int64)
    search = 0
    for stamp in groups.stamp:
        search = max(search, stamp + 1)
    for i in range(len(unplaced)):
        room, count = near, 0
        if len(near_of_row):
            room = near[near_of_row[i, 0] : near_of_row[i, 1]]
            count = len(room)
        distance = 0
        while distance < 2 * limits.reach and count < len(room):  # the nearest groups first
            side = distance // 2 + 1
            other = unplaced[i] - side if distance % 2 == 0 else unplaced[i] + side
            distance += 1
            if 0 <= other < len(groups.group_of_row):
                group = groups.group_of_row[other]
                if group >= 0 and groups.stamp[group] != search + i:
                    groups.stamp[group] = search + i
                    room[count] = group
                    count += 1
        if place(rows, groups, unplaced[i], room, count, limits):
            took[0] += 1
        elif exchange(rows, groups, unplaced[i], room, count, limits):
            took[1] += 1
        elif join(rows, groups, unplaced[i], room, count, limits):
            took[2] += 1
    return took


# Compiled: one step for each member of each group.
@kernel
def group_losses(rows: Rows, groups: DiverseGroups) -> Floats:
    """Return for each group its rows × the loss of its cells, summed over quasi-identifiers."""
    count = 0
    for group in groups.group_of_row:
        count = max(count, group + 1)
    loss = np.empty(count)
    for group in range(count):
        loss[group] = groups.size[group] * loss_with(rows, groups, group, -1, -1)
    return loss
