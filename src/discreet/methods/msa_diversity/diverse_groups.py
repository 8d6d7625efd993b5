"""Groups in which no value of any sensitive attribute fills more than its share: the kernels.

Rows lie in the order of a curve, so near rows have near numbers. Each bound j allows a sensitive
value ``size · part[j] // whole[j]`` times in a group of that size (part/whole = 1/ℓ), and a group
has at least ``least`` rows. Values that are not sensitive are HARMLESS: nothing bounds them. Groups
are lists through ``next_row``, short ones, so that everything about a group is found by walking it.

A row *fits* a group if the group with it keeps every bound. Joining groups that keep the bounds
keeps them, because ⌊·⌋ is superadditive.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.table.kernels import kernel

RANGE, SET, TREE = 0, 1, 2  # what the loss of a quasi-identifier in a group is

NONE = -1
HARMLESS = -1  # a value that is not sensitive


class Rows(NamedTuple):
    """What the kernels know of the rows, in curve order."""

    values: NDArray[np.int32]  # (rows, bounds) HARMLESS where the bound does not cover the value
    part: NDArray[np.int64]  # (bounds,)
    whole: NDArray[np.int64]  # (bounds,)
    least: int  # rows of the smallest group
    codes: NDArray[np.int32]  # (rows, quasi-identifiers)
    kind: NDArray[np.int64]  # (quasi-identifiers,) RANGE, SET or TREE
    cardinality: NDArray[np.int64]  # (quasi-identifiers,)
    start: NDArray[np.int64]  # (quasi-identifiers,) where each begins in ``place``
    place: NDArray[np.float64]  # of every value in [0, 1], columns one after the other
    pair_start: NDArray[np.int64]  # (quasi-identifiers,) where each tree begins in ``pair``
    pair: NDArray[np.float64]  # loss of the lowest common ancestor of every two values of a tree


class DiverseGroups(NamedTuple):
    """Disjoint lists of rows."""

    group_of_row: NDArray[np.int32]  # (rows,) NONE for a row that remains
    next_row: NDArray[np.int32]  # (rows,)
    first: NDArray[np.int32]  # (rows,) of each group; there are never more groups than rows
    size: NDArray[np.int32]  # (rows,)
    stamp: NDArray[np.int64]  # (rows,) the last search that came across each group


def empty_groups(rows: int) -> DiverseGroups:
    """No group at all."""
    return DiverseGroups(
        np.full(rows, NONE, np.int32),
        np.full(rows, NONE, np.int32),
        np.full(rows, NONE, np.int32),
        np.zeros(rows, np.int32),
        np.full(rows, NONE, np.int64),
    )


# Compiled: called for every row that joins a group.
@kernel
def add(groups: DiverseGroups, group: int, row: int) -> None:
    groups.next_row[row] = groups.first[group]
    groups.first[group] = row
    groups.size[group] += 1
    groups.group_of_row[row] = group


# Compiled: called for every row that leaves a group.
@kernel
def remove(groups: DiverseGroups, group: int, row: int) -> None:
    before = groups.first[group]
    if before == row:
        groups.first[group] = groups.next_row[row]
    else:
        while groups.next_row[before] != row:
            before = groups.next_row[before]
        groups.next_row[before] = groups.next_row[row]
    groups.size[group] -= 1
    groups.group_of_row[row] = NONE


# Compiled: called for every group that a row is compared with.
@kernel
def excess(rows: Rows, groups: DiverseGroups, group: int, row: int, without: int) -> int:
    """By how many places a row is too much for a group, over all bounds; 0 where it fits.

    ``without`` is a member that makes room, or NONE.
    """
    size = groups.size[group] + 1 - (1 if without >= 0 else 0)
    total = 0
    for j in range(rows.values.shape[1]):
        if rows.values[row, j] < 0:  # HARMLESS
            continue
        count = 1
        member = groups.first[group]
        while member >= 0:
            if member != without and rows.values[member, j] == rows.values[row, j]:
                count += 1
            member = groups.next_row[member]
        allowed = size * rows.part[j] // rows.whole[j]
        if count > allowed:
            total += count - allowed
    return total


# Compiled: called for every exchange that is tried.
@kernel
def loss_with(rows: Rows, groups: DiverseGroups, group: int, added: int, without: int) -> float:
    """The loss of a group's cells, summed over quasi-identifiers, after a change."""
    total = 0.0
    for q in range(rows.codes.shape[1]):
        # A range costs its length.
        if rows.kind[q] == RANGE:
            start = rows.start[q]
            low, high = np.inf, -np.inf
            if added >= 0:
                low = high = rows.place[start + rows.codes[added, q]]
            member = groups.first[group]
            while member >= 0:
                if member != without:
                    place = rows.place[start + rows.codes[member, q]]
                    low = min(low, place)
                    high = max(high, place)
                member = groups.next_row[member]
            total += max(high - low, 0.0)
        # A set costs its further members.
        elif rows.kind[q] == SET:
            further = 0 if added >= 0 else -1  # further values than one
            member = groups.first[group]
            while member >= 0:
                fresh = member != without
                fresh = fresh and (added < 0 or rows.codes[member, q] != rows.codes[added, q])
                other = groups.first[group]
                while fresh and other != member:
                    if other != without and rows.codes[other, q] == rows.codes[member, q]:
                        fresh = False
                    other = groups.next_row[other]
                further += fresh
                member = groups.next_row[member]
            total += further / max(rows.cardinality[q] - 1, 1)
        else:  # of the lowest common ancestor: the greatest of all with one member
            pivot, loss = added, 0.0
            member = groups.first[group]
            while member >= 0:
                if member != without:
                    if pivot < 0:
                        pivot = member
                    pair = rows.codes[pivot, q] * rows.cardinality[q] + rows.codes[member, q]
                    loss = max(loss, rows.pair[rows.pair_start[q] + pair])
                member = groups.next_row[member]
            total += loss
    return total
