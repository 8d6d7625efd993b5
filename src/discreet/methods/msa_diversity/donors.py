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
from discreet.methods.msa_diversity.unplaced_rows import Limits, merge, settle_one
from discreet.table.graphs import end_of_links
from discreet.table.kernels import kernel


@kernel
def room_for(rows: Rows, groups: DiverseGroups, group: int, j: int, value: int) -> int:
    """Return the room of a group for one value of attribute j."""
    count = 0
    member = groups.first[group]
    while member >= 0:
        if rows.values[member, j] == value:
            count += 1
        member = groups.next_row[member]
    room: int = groups.size[group] * rows.part[j] - count * rows.whole[j]
    return room


@kernel
def has_room(
    rows: Rows, groups: DiverseGroups, ordered: NDArray[np.int64], j: int, value: int, most: int
) -> NDArray[np.bool_]:
    """Return which groups have fewer than ``most`` rows and room for a value."""
    room = np.zeros(len(ordered), np.bool_)
    for i in range(len(ordered)):
        small = 0 < groups.size[ordered[i]] < most
        room[i] = small and room_for(rows, groups, ordered[i], j, value) > 0
    return room


@kernel
def place_with_donors(
    rows: Rows,
    groups: DiverseGroups,
    unplaced: NDArray[np.int64],  # rows with the same most frequent value
    j: int,
    donors: NDArray[np.int64],
    places: NDArray[np.int64],  # (donors,) on the curve, ascending
    near: NDArray[np.int64],  # for the donors that are considered for one row
    limits: Limits,
) -> NDArray[np.int64]:
    """Place, exchange or join with the nearest donors; how many rows each step took."""
    took = np.zeros(3, np.int64)
    count = len(donors)
    after = np.arange(count + 1)  # the next donor at or after; ``count`` is none
    before = np.arange(count + 1)  # the next one before a place; 0 is none
    for row in unplaced:
        value = rows.values[row, j]
        middle = np.searchsorted(places, row)
        found = 0
        right = end_of_links(after, middle)
        left = end_of_links(before, middle)
        while found < len(near) and (right < count or left > 0):
            to_right = left == 0 or (right < count and places[right] - row < row - places[left - 1])
            number = right if to_right else left - 1
            donor = donors[number]
            if (
                not 0 < groups.size[donor] < limits.most
                or room_for(rows, groups, donor, j, value) <= 0
            ):
                after[number] = number + 1
                before[number + 1] = number
            else:
                near[found] = donor
                found += 1
            if to_right:
                right = end_of_links(after, number + 1)
            else:
                left = end_of_links(before, number)
        if found == 0:
            break
        step = settle_one(rows, groups, row, near, found, limits)
        if step >= 0:
            took[step] += 1
    return took


@kernel
def must_go(rows: Rows, unplaced: NDArray[np.int64], start: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Choose unplaced rows to suppress so that all other rows together keep the bounds.

    Rows with the most values that are too frequent go first.
    """
    attributes = rows.values.shape[1]
    size = len(rows.values)
    counts = np.zeros(start[-1], np.int64)
    gone = np.zeros(len(unplaced), np.bool_)
    for row in range(len(rows.values)):
        _count_row(rows, row, start, counts)
    level = attributes
    while level > 0:
        dropped = 0
        for i in range(len(unplaced)):
            if gone[i]:
                continue
            over = 0
            for j in range(attributes):
                count = counts[start[j] + rows.values[unplaced[i], j]]
                if count * rows.whole[j] > size * rows.part[j]:
                    over += 1
            if over >= level:
                gone[i] = True
                dropped += 1
                size -= 1
                for j in range(attributes):
                    counts[start[j] + rows.values[unplaced[i], j]] -= 1
        if dropped == 0 or level > 1:
            level -= 1
    return gone


@kernel
def unite_remaining(
    rows: Rows,
    groups: DiverseGroups,
    unplaced: NDArray[np.int64],
    ordered: NDArray[np.int64],  # groups along the curve
    start: NDArray[np.int64],  # (attributes + 1,) where each begins in a list of all values
    bundle: int,
    count: int,
) -> int:
    """Form groups of ``bundle`` or more unplaced rows and the donors that they need.

    Rows for which all groups together have no room wait for the next bundle. If unplaced and placed
    rows together keep the bounds, every row finds a group. Returns the number of groups.
    """
    placed = np.zeros(start[-1], np.int64)  # how often each value occurs in groups
    held = np.zeros(start[-1], np.int64)  # how often it occurs in the bundle and its donors
    cursor = np.zeros(start[-1], np.int64)  # the next donor of each value
    donors = np.empty(len(ordered) + len(unplaced), np.int64)
    donors[: len(ordered)] = ordered
    known = len(ordered)
    size = 0
    for row in range(len(rows.values)):
        if groups.group_of_row[row] >= 0:
            size += 1
            _count_row(rows, row, start, placed)
    begin = 0
    wanted = bundle
    for end in range(1, len(unplaced) + 1):
        _count_row(rows, unplaced[end - 1], start, placed)
        _count_row(rows, unplaced[end - 1], start, held)
        if end < len(unplaced) and end - begin < wanted:
            continue
        total = size + end - begin
        fits = total >= rows.least
        for i in range(begin, end):
            for j in range(rows.values.shape[1]):
                count_of = placed[start[j] + rows.values[unplaced[i], j]]
                fits = fits and count_of * rows.whole[j] <= total * rows.part[j]
        if not fits:
            wanted *= 2  # seldom tried, so that the work stays linear
            continue
        for i in range(begin, end):
            add(groups, count, unplaced[i])
        bundled = unplaced[begin:end]
        _add_donors(rows, groups, bundled, donors[:known], start, cursor, held, count)
        member = groups.first[count]
        while member >= 0:
            for j in range(rows.values.shape[1]):
                held[start[j] + rows.values[member, j]] = 0
            member = groups.next_row[member]
        donors[known] = count
        known += 1
        size, begin, wanted = total, end, bundle
        count += 1
    return count


@kernel
def _count_row(rows: Rows, row: int, start: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
    for j in range(rows.values.shape[1]):
        counts[start[j] + rows.values[row, j]] += 1


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
            value = start[j] + rows.values[row, j]
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
                if short or room_for(rows, groups, group, j, rows.values[row, j]) > 0:
                    member = groups.first[group]
                    while member >= 0:
                        _count_row(rows, member, start, held)
                        member = groups.next_row[member]
                    merge(groups, union, group)
