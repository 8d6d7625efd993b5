"""Place rows that found no group in the groups near them on the curve.

In this order, for each row: *placed* in the near group that loses least by it, among those where
it fits; *exchanged* for a member that fits another near group; near groups *joined* until the row
fits their union.
"""

from __future__ import annotations

from typing import Any, NamedTuple

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
from discreet.methods.msa_diversity.group_forming import shuffle
from discreet.table.kernels import kernel


class Limits(NamedTuple):
    """How far the search for one row goes."""

    reach: int  # rows of the curve to either side
    tries: int  # of exchanges
    most: int  # rows of a group that still takes others in
    compared: int  # groups of which the least loss is taken; 1 for the first without a look


@kernel
def near_groups(
    groups: DiverseGroups, row: int, reach: int, search: int, found: NDArray[np.int64]
) -> int:
    """The groups nearest to a row on the curve, nearest first, into ``found``; how many."""
    rows = len(groups.group_of_row)
    count = 0
    for distance in range(1, reach + 1):
        for side in range(2):
            other = row - distance if side == 0 else row + distance
            if other < 0 or other >= rows:
                continue
            group = groups.group_of_row[other]
            if group < 0 or groups.stamp[group] == search:
                continue
            groups.stamp[group] = search
            found[count] = group
            count += 1
            if count == len(found):
                return count
    return count


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


@kernel
def join(
    rows: Rows, groups: DiverseGroups, row: int, near: NDArray[np.int64], count: int, limits: Limits
) -> bool:
    """Join near groups, at most four, until a row fits their union."""
    attributes = rows.values.shape[1]
    taken = np.empty(4, np.int64)
    held = np.zeros(attributes, np.int64)  # how often the union has the row's own values
    size = 0
    for step in range(4):
        best = -1
        least = 2**62
        for i in range(count):
            group = near[i]
            if groups.size[group] == 0:  # joined to another before
                continue
            if size + groups.size[group] >= limits.most or _among(taken, step, group):
                continue
            over = 0
            for j in range(attributes):
                total = held[j] + _occurrences(rows, groups, group, j, rows.values[row, j]) + 1
                room = (size + groups.size[group] + 1) * rows.part[j] // rows.whole[j]
                over += max(total - room, 0)
            if over < least:  # the nearest of equals
                best, least = group, over
        if best < 0:
            return False
        for j in range(attributes):
            held[j] += _occurrences(rows, groups, best, j, rows.values[row, j])
        size += groups.size[best]
        taken[step] = best
        if least == 0:
            for i in range(1, step + 1):
                merge(groups, taken[0], taken[i])
            add(groups, taken[0], row)
            return True
    return False


@kernel
def _among(taken: NDArray[np.int64], count: int, group: int) -> bool:
    for i in range(count):
        if taken[i] == group:
            return True
    return False


@kernel
def _occurrences(rows: Rows, groups: DiverseGroups, group: int, j: int, value: int) -> int:
    count = 0
    member = groups.first[group]
    while member >= 0:
        if rows.values[member, j] == value:
            count += 1
        member = groups.next_row[member]
    return count


@kernel
def merge(groups: DiverseGroups, into: int, group: int) -> None:
    member = groups.first[group]
    while member >= 0:
        after = groups.next_row[member]
        add(groups, into, member)
        member = after
    groups.first[group] = -1
    groups.size[group] = 0


@kernel
def settle(
    rows: Rows,
    groups: DiverseGroups,
    left: NDArray[np.int64],
    near: NDArray[np.int64],
    limits: Limits,
) -> NDArray[np.int64]:
    """Place, exchange or join each remaining row in turn; return how many rows each step took.

    ``near`` is room for the groups that are looked at for one row.
    """
    took = np.zeros(3, np.int64)
    search = groups.stamp.max() + 1 if len(groups.stamp) else 0
    for i in range(len(left)):
        count = near_groups(groups, left[i], limits.reach, search + i, near)
        step = settle_one(rows, groups, left[i], near, count, limits)
        if step >= 0:
            took[step] += 1
    return took


@kernel
def settle_in_blocks(
    rows: Rows,
    groups: DiverseGroups,
    cuts: NDArray[np.int64],  # (blocks + 1,) rows
    first_group: NDArray[np.int64],  # (blocks + 1,)
    rng: np.random.Generator,
    limits: Limits,
) -> NDArray[np.int64]:
    """The same with the groups of a row's own block alone, in an order of chance."""
    took = np.zeros(3, np.int64)
    for block in range(len(cuts) - 1):
        count = first_group[block + 1] - first_group[block]
        shuffled = np.arange(first_group[block], first_group[block + 1])
        shuffle(rng, shuffled)
        for row in range(cuts[block], cuts[block + 1]):
            if groups.group_of_row[row] >= 0:
                continue
            step = settle_one(rows, groups, row, shuffled, count, limits)
            if step >= 0:
                took[step] += 1
    return took


@kernel
def settle_one(
    rows: Rows, groups: DiverseGroups, row: int, near: NDArray[np.int64], count: int, limits: Limits
) -> int:
    if place(rows, groups, row, near, count, limits):
        return 0
    if exchange(rows, groups, row, near, count, limits):
        return 1
    if join(rows, groups, row, near, count, limits):
        return 2
    return -1


@kernel(work=200)
def improve(rows: Rows, groups: DiverseGroups, reach: int, most: int) -> int:
    """Exchange members of near groups where that loses less; how many times.

    Groups of more than ``most`` rows stay as they are: an exchange costs much and gains little.
    """
    swaps = 0
    count = len(rows.values)
    loss = np.empty(count)
    for group in range(count):
        if groups.size[group]:
            loss[group] = groups.size[group] * loss_with(rows, groups, group, -1, -1)
    for row in range(count):
        here: Any = np.int64(groups.group_of_row[row])  # one type: compiled once
        if here < 0 or groups.size[here] > most:
            continue
        for other in range(row + 1, min(row + 1 + reach, count)):
            here = np.int64(groups.group_of_row[row])
            there: Any = np.int64(groups.group_of_row[other])
            if there < 0 or here == there or loss[here] + loss[there] < 1e-9:
                continue
            if groups.size[there] > most:
                continue
            new_here = groups.size[here] * loss_with(rows, groups, here, other, row)
            if new_here >= loss[here] + loss[there] - 1e-9:
                continue
            new_there = groups.size[there] * loss_with(rows, groups, there, row, other)
            if new_here + new_there >= loss[here] + loss[there] - 1e-9:
                continue
            if excess(rows, groups, here, other, row) or excess(rows, groups, there, row, other):
                continue
            remove(groups, here, row)
            remove(groups, there, other)
            add(groups, here, other)
            add(groups, there, row)
            loss[here], loss[there] = new_here, new_there
            swaps += 1
    return swaps


@kernel
def total_loss(rows: Rows, groups: DiverseGroups) -> float:
    """Σ over rows and quasi-identifiers of the loss of the row's cell; 1 for a suppressed one."""
    total = 0.0
    for group in range(len(groups.size)):
        if groups.size[group]:
            total += groups.size[group] * loss_with(rows, groups, group, -1, -1)
    for row in range(len(groups.group_of_row)):
        if groups.group_of_row[row] < 0:
            total += rows.codes.shape[1]
    return total
