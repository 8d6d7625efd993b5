"""Groups with room for a frequent value, wherever they are on the curve.

The *room* of a group for a value is ``size · part − count · whole``, never negative in a group that
keeps its bounds; a row of that value uses ``whole − part`` of it. The room of a union is the sum.
So a row that fits no group nearby is placed with its *donors*, the nearest groups that have room
for its most frequent value. If the whole table keeps the bounds, every row has a place, at worst in
a union of many groups.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.methods.msa_diversity.diverse_groups import DiverseGroups, Rows, add
from discreet.methods.msa_diversity.unplaced_rows import (
    Limits,
    exchange,
    join,
    merge,
    occurrences,
    place,
)
from discreet.table.graphs import end_of_links
from discreet.table.kernels import kernel
from discreet.typing import Codes, Ints

USED = 4  # groups, at most, that are no longer donors after a row was placed, exchanged or joined


def count_values(values: Codes, start: Ints) -> Ints:
    """Return how often sensitive values occur in some rows; those of bound j from ``start[j]``."""
    return np.bincount((values + start[:-1])[values >= 0], minlength=start[-1])


# Compiled: each unplaced row changes the donors that the next one finds.
@kernel
def place_with_donors(
    rows: Rows,
    groups: DiverseGroups,
    unplaced: NDArray[np.int64],  # rows with the same most frequent value
    j: int,
    around: NDArray[np.int64],  # groups with a place at most ``limits.reach`` from one of the rows
    places: NDArray[np.int64],  # (groups around,) on the curve, ascending
    near: NDArray[np.int64],  # for the donors that are considered for one row
    limits: Limits,
) -> NDArray[np.int64]:
    """Place, exchange or join with the nearest donors; how many rows each step took.

    Where donors farther away could be among the nearest of a row, nothing is done and −1 returned.
    """
    # Find the groups around that have room for the value.
    took = np.zeros(3, np.int64)
    value = rows.values[unplaced[0], j]
    has_room = np.zeros(len(around), np.bool_)
    for number in range(len(around)):
        size = groups.size[around[number]]
        if size < limits.most:
            held = occurrences(rows, groups, around[number], j, value) * rows.whole[j]
            has_room[number] = size * rows.part[j] > held
    donors, places = around[has_room], places[has_room]
    count = len(donors)
    if limits.reach < len(rows.values):
        for row in unplaced:
            within = np.searchsorted(places, row + limits.reach + 1)
            within -= np.searchsorted(places, row - limits.reach)
            if within < len(near) + USED * len(unplaced):
                took[0] = -1
                return took
    # Links pass over donors that have no room any more.
    after = np.arange(count + 1)  # the next donor at or after; ``count`` is none
    before = np.arange(count + 1)  # the next one before a place; 0 is none
    for row in unplaced:
        # Collect the nearest donors to both sides, then place the row with them.
        middle = np.searchsorted(places, row)
        considered = 0
        right = end_of_links(after, middle)
        left = end_of_links(before, middle)
        while considered < len(near) and (right < count or left > 0):
            to_right = left == 0 or (right < count and places[right] - row < row - places[left - 1])
            number = right if to_right else left - 1
            donor = donors[number]
            held = occurrences(rows, groups, donor, j, value) * rows.whole[j]
            if (
                not 0 < groups.size[donor] < limits.most
                or groups.size[donor] * rows.part[j] <= held
            ):
                after[number] = number + 1
                before[number + 1] = number
            else:
                near[considered] = donor
                considered += 1
            if to_right:
                right = end_of_links(after, number + 1)
            else:
                left = end_of_links(before, number)
        if considered == 0:
            break
        if place(rows, groups, row, near, considered, limits):
            took[0] += 1
        elif exchange(rows, groups, row, near, considered, limits):
            took[1] += 1
        elif join(rows, groups, row, near, considered, limits):
            took[2] += 1
    return took


def must_go(rows: Rows, unplaced: Ints, start: Ints, counts: Ints) -> NDArray[np.bool_]:
    """Choose unplaced rows to suppress so that all other rows together keep the bounds.

    Rows with the most values that are too frequent go first. ``counts`` has how often each value
    occurs, and after that how often in the rows that stay.
    """
    size = len(rows.values)
    gone = np.zeros(len(unplaced), np.bool_)
    values = rows.values[unplaced] + start[:-1]
    sensitive = rows.values[unplaced] >= 0
    level = rows.values.shape[1]
    while level > 0:
        dropped = 0
        for i in np.flatnonzero(~gone):
            covered = np.flatnonzero(sensitive[i])
            number = values[i, covered]
            over = counts[number] * rows.whole[covered] > size * rows.part[covered]
            if over.sum() >= level:
                gone[i] = True
                dropped += 1
                size -= 1
                counts[number] -= 1
        if dropped == 0 or level > 1:
            level -= 1
    return gone


# Compiled: each union changes the donors of the next.
@kernel
def unite_remaining(
    rows: Rows,
    groups: DiverseGroups,
    unplaced: NDArray[np.int64],
    ordered: NDArray[np.int64],  # groups along the curve
    start: NDArray[np.int64],  # (bounds + 1,) where each begins in a list of all values
    bundle: int,
    count: int,
    placed: NDArray[np.int64],  # how often each value occurs in groups
) -> int:
    """Form groups of ``bundle`` or more unplaced rows and the donors that they need.

    Rows for which all groups together have no room wait for the next bundle. If unplaced and placed
    rows together keep the bounds, every row finds a group. Returns the number of groups.
    """
    # how often each value occurs in the bundle and its donors, and the next donor of each value;
    # the last place is that of all harmless values, which nothing bounds
    held = np.zeros(start[-1] + 1, np.int64)
    cursor = np.zeros(start[-1] + 1, np.int64)
    donors = np.empty(len(ordered) + len(unplaced), np.int64)
    donors[: len(ordered)] = ordered
    known = len(ordered)
    size = (groups.group_of_row >= 0).sum()
    begin = 0
    wanted = bundle
    # Collect rows until a bundle is large enough, and all groups together have room for it.
    for end in range(1, len(unplaced) + 1):
        for j in range(rows.values.shape[1]):
            if rows.values[unplaced[end - 1], j] >= 0:
                placed[start[j] + rows.values[unplaced[end - 1], j]] += 1
                held[start[j] + rows.values[unplaced[end - 1], j]] += 1
        if end < len(unplaced) and end - begin < wanted:
            continue
        total = size + end - begin
        fits = total >= rows.least
        for i in range(begin, end):
            for j in range(rows.values.shape[1]):
                if rows.values[unplaced[i], j] < 0:  # harmless
                    continue
                count_of = placed[start[j] + rows.values[unplaced[i], j]]
                fits = fits and count_of * rows.whole[j] <= total * rows.part[j]
        if not fits:
            wanted *= 2  # seldom tried, so that the work stays linear
            continue
        # Make the bundle a group, and merge the donors that it needs.
        for i in range(begin, end):
            add(groups, count, unplaced[i])
        bundled = unplaced[begin:end]
        _add_donors(rows, groups, bundled, donors[:known], start, cursor, held, count)
        member = groups.first[count]
        while member >= 0:
            for j in range(rows.values.shape[1]):
                if rows.values[member, j] >= 0:
                    held[start[j] + rows.values[member, j]] = 0
            member = groups.next_row[member]
        donors[known] = count
        known += 1
        size, begin, wanted = total, end, bundle
        count += 1
    return count


# Compiled: walks through the donors for every bundle of rows.
@kernel
def _add_donors(
    rows: Rows,
    groups: DiverseGroups,
    bundle: NDArray[np.int64],
    donors: NDArray[np.int64],
    start: NDArray[np.int64],
    cursor: NDArray[np.int64],
    held: NDArray[np.int64],
    union: int,
) -> None:
    """Merge donors into the group of a bundle until it keeps its bounds."""
    for row in bundle:
        for j in range(rows.values.shape[1]):
            value = start[j] + rows.values[row, j] if rows.values[row, j] >= 0 else start[-1]
            # Merge donors of each value, from where the last search for it ended.
            wrapped = False
            while (
                held[value] * rows.whole[j] > groups.size[union] * rows.part[j]
                or groups.size[union] < rows.least
            ):
                if cursor[value] == len(donors):
                    if wrapped:
                        break
                    wrapped = True
                    cursor[value] = 0
                group = donors[cursor[value]]
                cursor[value] += 1
                if group == union or groups.size[group] == 0:
                    continue
                short = groups.size[union] < rows.least
                used = occurrences(rows, groups, group, j, rows.values[row, j]) * rows.whole[j]
                if short or groups.size[group] * rows.part[j] > used:
                    member = groups.first[group]
                    while member >= 0:
                        for k in range(rows.values.shape[1]):
                            if rows.values[member, k] >= 0:
                                held[start[k] + rows.values[member, k]] += 1
                        member = groups.next_row[member]
                    merge(groups, union, group)
