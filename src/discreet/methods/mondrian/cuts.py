"""The cuts of Mondrian: each sorts the range of a part by one attribute, so pieces are ranges too.

An ordered attribute is cut in two, one with a hierarchy at the children of the lowest common
ancestor.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.methods.mondrian.regions import Attributes, Regions
from discreet.methods.shared.list_orders import sort_by_key
from discreet.table.kernels import kernel
from discreet.typing import Codes, Ints


class Pieces(NamedTuple):
    """Ranges of units that a cut would make, those of one part after another."""

    first: Ints  # (parts + 1,) where the pieces of each part start
    start: Ints  # (pieces,)
    end: Ints
    size: Ints  # in rows


# Compiled: one call for all parts of a level; NumPy would lay out each part.
@kernel
def propose_cuts(
    order: Codes,
    parts: Regions,
    weight: Ints,
    attributes: Attributes,
    least: int,
    split_ties: bool,
) -> Pieces:
    """The pieces of each part's next cut; none where no attempt is left.

    An attribute is tried twice: an ordered one at the boundary next to the median and at the one
    on the median's other side, one with a hierarchy once. A cut in two with a side of fewer than
    ``least`` rows is passed over at once. ``attempt`` is left at the cut that is proposed.
    """
    count = len(parts.start)
    units = (parts.end - parts.start).sum()
    longest = (parts.end - parts.start).max() if count else 0
    found = Pieces(
        np.zeros(count + 1, np.int64),
        np.empty(units, np.int64),
        np.empty(units, np.int64),
        np.empty(units, np.int64),
    )
    room = np.empty((3, longest), np.int32)
    made = 0
    for part in range(count):
        if parts.size[part] >= 2 * least:
            made += _next_cut(
                order, parts, part, weight, attributes, least, split_ties, found, made, room
            )
        found.first[part + 1] = made
    return Pieces(
        found.first, found.start[:made].copy(), found.end[:made].copy(), found.size[:made].copy()
    )


# Compiled: called for every part.
@kernel
def _next_cut(
    order: Codes,
    parts: Regions,
    part: int,
    weight: Ints,
    attributes: Attributes,
    least: int,
    split_ties: bool,
    found: Pieces,
    at: int,
    room: Codes,
) -> int:
    """Put the pieces of a part's next cut in their place; how many there are."""
    low, length = parts.start[part], parts.end[part] - parts.start[part]
    size, attempt = parts.size[part], parts.attempt
    key = room[0]
    made = 0
    while made == 0 and attempt[part] < 2 * len(attributes.key):
        a = parts.by_width[part, attempt[part] // 2]
        if a < 0:
            break
        level = parts.level[part, a]
        second_try = attempt[part] % 2 == 1
        if attributes.levels[a] == 0:
            for i in range(length):
                key[i] = attributes.key[a, order[low + i]]
            sort_by_key(order, low, length, key, room[1], room[2])
            null_key = attributes.null_key[a] if level else -1
            cut = _boundary(order, low, length, key, weight, size, null_key, second_try, split_ties)
            rows = 0
            for i in range(cut):
                rows += weight[order[low + i]]
            if cut > 0 and rows >= least and size - rows >= least:
                found.start[at], found.end[at], found.size[at] = low, low + cut, rows
                found.start[at + 1], found.end[at + 1] = low + cut, low + length
                found.size[at + 1] = size - rows
                made = 2
        elif not second_try:
            nodes = attributes.node_at[attributes.level_at[a] + level - 1]
            for i in range(length):
                key[i] = attributes.node_of_leaf[nodes + attributes.key[a, order[low + i]]]
            sort_by_key(order, low, length, key, room[1], room[2])
            largest = 0
            for i in range(length):  # a piece for each child; none where all have too few rows
                if i == 0 or key[i] != key[i - 1]:
                    found.start[at + made] = low + i
                    found.size[at + made] = 0
                    made += 1
                found.end[at + made - 1] = low + i + 1
                found.size[at + made - 1] += weight[order[low + i]]
                largest = max(largest, found.size[at + made - 1])
            if largest < least:
                made = 0
        if made == 0:
            attempt[part] += 1
    return made


# Compiled: called for every cut that is tried.
@kernel
def _boundary(
    order: Codes,
    low: int,
    length: int,
    key: Codes,
    weight: Ints,
    size: int,
    null_key: int,
    second_try: bool,
    split_ties: bool,
) -> int:
    """Where to cut a sorted range in two: the number of units before the cut, 0 for nowhere.

    The first try sets missing values apart, where there are some beside others; else it is the
    boundary between two values that is nearest to the median. The second try is the boundary on
    the median's other side, or the nearest one where the first set missing values apart.
    """
    if null_key >= 0 and not second_try:
        cut = length
        while key[cut - 1] == null_key:
            cut -= 1
        return cut
    if split_ties:
        return 0 if second_try and null_key < 0 else length // 2
    below, rows_below = 0, 0  # the last boundary with at most half of the rows before it
    above, rows_above = 0, 0  # the first one with more
    rows = weight[order[low]]
    for i in range(1, length):
        if key[i] != key[i - 1]:
            if 2 * rows <= size:
                below, rows_below = i, rows
            else:
                above, rows_above = i, rows
                break
        rows += weight[order[low + i]]
    if not below or not above:
        return 0 if second_try and null_key < 0 else max(below, above)
    nearer_below = size - 2 * rows_below <= 2 * rows_above - size
    return below if nearer_below != (second_try and null_key < 0) else above


# Compiled: one call for all parts of a level.
@kernel
def put_failing_last(order: Codes, pieces: Pieces, parts: Ints, passes: NDArray[np.bool_]) -> Ints:
    """Order the pieces of some parts: passing ones by falling size, then the rest.

    Returned is where in each part's pieces the failing ones start.
    """
    failing = np.empty(len(parts), np.int64)
    for p in range(len(parts)):
        first, last = pieces.first[parts[p]], pieces.first[parts[p] + 1]
        rank = np.empty(last - first, np.int64)
        passing = 0
        for piece in range(first, last):
            if passes[piece]:
                place = passing
                while place > 0 and pieces.size[rank[place - 1]] < pieces.size[piece]:
                    rank[place] = rank[place - 1]
                    place -= 1
                rank[place] = piece
                passing += 1
        failing[p] = first + passing
        for piece in range(first, last):
            if not passes[piece]:
                rank[passing] = piece
                passing += 1
        low, place = pieces.start[first], pieces.start[first]
        units = order[low : pieces.end[last - 1]].copy()
        start, end = pieces.start[first:last].copy(), pieces.end[first:last].copy()
        size = pieces.size[first:last].copy()
        for i in range(len(rank)):  # the pieces, and their units, in the new order
            old = rank[i] - first
            pieces.start[first + i] = place
            for j in range(start[old], end[old]):
                order[place] = units[j - low]
                place += 1
            pieces.end[first + i] = place
            pieces.size[first + i] = size[old]
    return failing
