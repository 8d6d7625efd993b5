"""The kernels of Mondrian: ranges of units are measured, cut into pieces and counted.

A *unit* is what is never torn apart: a distinct tuple of quasi-identifiers, or a row where ties
may be split. ``order`` is a permutation of the units in which every *part* is a range ``[start,
end)``; a cut sorts the range by one attribute, so that each piece is a range again.

Attributes are of two sorts. An *ordered* one has keys with positions on a line; it is cut in two.
One with a *hierarchy* has the hierarchy's leaves as keys; it is cut at the children of the lowest
common ancestor, which is at the lowest level where all units of the part share a node. A part that
spans several nodes of the top level is at the root above it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.data.table import Codes
from discreet.kernels import kernel

Numbers = NDArray[np.int64]
NO_KEY = 2**31  # above every key
NULL_WIDTH = 2.0  # of an ordered attribute in a part that has missing values and others


class Attributes(NamedTuple):
    """The quasi-identifiers, flattened for the kernels."""

    key: Codes  # (attributes, units)
    levels: Numbers  # (attributes,) of the hierarchy; 0 for an ordered attribute
    null_key: Numbers  # (attributes,) of an ordered attribute; −1 where nothing is missing
    position_at: Numbers  # (attributes,) where an ordered attribute's positions start
    position: NDArray[np.float64]  # by key, in [0, 1]
    level_at: Numbers  # (attributes,) where a hierarchy's levels start in the next two
    node_at: Numbers  # (levels,) where a level's nodes by leaf start
    loss_at: Numbers  # (levels,) where a level's losses start
    single_top: NDArray[np.bool_]  # (attributes,) whether the top level has one node
    node_of_leaf: Codes
    loss: NDArray[np.float64]


class Pieces(NamedTuple):
    """Ranges of units that a cut would make, those of one part after another."""

    first: Numbers  # (parts + 1,) where the pieces of each part start
    start: Numbers  # (pieces,)
    end: Numbers
    size: Numbers  # in rows


@kernel
def measure_parts(
    order: Codes,
    start: Numbers,
    end: Numbers,
    weight: Numbers,
    attributes: Attributes,
    least: int,
) -> tuple[Numbers, Codes, Codes]:
    """Each part's rows, its attributes by width (widest first, −1 after), and their levels.

    The level is that of the lowest common ancestor; for an ordered attribute it is 1 where the
    part has missing values beside others, else 0. A part of fewer than twice ``least`` rows can't
    be cut, so its attributes are not looked at.
    """
    count = len(attributes.key)
    size = np.zeros(len(start), np.int64)
    by_width = np.full((len(start), count), -1, np.int32)
    level = np.zeros((len(start), count), np.int32)
    width = np.empty(count)
    position_at, position = attributes.position_at, attributes.position
    node_of_leaf, loss = attributes.node_of_leaf, attributes.loss
    for part in range(len(start)):
        for i in range(start[part], end[part]):
            size[part] += weight[order[i]]
        if size[part] < 2 * least:
            continue
        members = order[start[part] : end[part]]
        for a in range(count):
            levels, level_at = attributes.levels[a], attributes.level_at[a]
            key = attributes.key[a]
            if levels == 0:
                nulls, low, high = _extent(members, key, attributes.null_key[a])
                level[part, a] = 1 if nulls and low <= high else 0
                if level[part, a]:
                    width[a] = NULL_WIDTH
                elif low >= high:
                    width[a] = -1.0
                else:
                    place = position_at[a]
                    width[a] = position[place + high] - position[place + low]
                continue
            node_at = attributes.node_at[level_at : level_at + levels]
            found = _common_level(members, key, node_at, node_of_leaf, attributes.single_top[a])
            level[part, a] = found
            if found == 0:
                width[a] = -1.0
            elif found == levels:
                width[a] = 1.0
            else:
                node = node_of_leaf[node_at[found] + key[members[0]]]
                width[a] = loss[attributes.loss_at[level_at + found] + node]
        _rank(width, by_width[part])
    return size, by_width, level


@kernel
def _extent(members: Codes, key: Codes, null_key: int) -> tuple[bool, int, int]:
    """Whether a key is missing, the least of the others and the greatest (none: least above)."""
    nulls = False
    low, high = NO_KEY, -1
    for unit in members:
        k = int(key[unit])
        if k == null_key:
            nulls = True
        else:
            low = min(low, k)
            high = max(high, k)
    return nulls, low, high


@kernel
def _common_level(
    members: Codes, key: Codes, node_at: Numbers, node_of_leaf: Codes, single_top: bool
) -> int:
    """The lowest level at which all members share a node; the number of levels if there is none."""
    top = len(node_at) - 1 if single_top else len(node_at)
    level = 0
    first = key[members[0]]
    for unit in members:
        leaf = key[unit]
        if leaf == first:
            continue
        while level < top:
            at = node_at[level]
            if node_of_leaf[at + leaf] == node_of_leaf[at + first]:
                break
            level += 1
        if level == top:
            break
    return level


@kernel
def _rank(width: NDArray[np.float64], ranked: Codes) -> None:
    """The attributes that can be cut, the widest first, the earlier of equals first."""
    filled = 0
    for a in range(len(width)):
        if width[a] < 0:
            continue
        place = filled
        while place > 0 and width[ranked[place - 1]] < width[a]:
            ranked[place] = ranked[place - 1]
            place -= 1
        ranked[place] = a
        filled += 1


@kernel
def propose_cuts(
    order: Codes,
    start: Numbers,
    end: Numbers,
    size: Numbers,
    by_width: Codes,
    level: Codes,
    attempt: Numbers,
    weight: Numbers,
    attributes: Attributes,
    least: int,
    split_ties: bool,
) -> Pieces:
    """The pieces of each part's next cut; none where no attempt is left.

    An attribute is tried twice: an ordered one at the boundary next to the median and at the one
    on the median's other side, one with a hierarchy once. A cut in two with a side of fewer than
    ``least`` rows is passed over at once. ``attempt`` is left at the cut that is proposed.
    """
    units = 0
    longest = 0
    for part in range(len(start)):
        units += end[part] - start[part]
        longest = max(longest, end[part] - start[part])
    first = np.zeros(len(start) + 1, np.int64)
    piece_start = np.empty(units, np.int64)
    piece_end = np.empty(units, np.int64)
    piece_size = np.empty(units, np.int64)
    key = np.empty(longest, np.int32)
    other_key = np.empty(longest, np.int32)
    other = np.empty(longest, np.int32)
    count = len(attributes.key)
    pieces = 0
    for part in range(len(start)):
        low, length = start[part], end[part] - start[part]
        made = 0
        while size[part] >= 2 * least and attempt[part] < 2 * count:
            a = by_width[part, attempt[part] // 2]
            if a < 0:
                attempt[part] = 2 * count
                break
            second_try = attempt[part] % 2 == 1
            ordered = attributes.levels[a] == 0
            if second_try and not ordered:
                attempt[part] += 1
                continue
            if ordered:
                _take_keys(order, low, length, attributes.key[a], key)
            else:
                at = attributes.node_at[attributes.level_at[a] + level[part, a] - 1]
                nodes = attributes.node_of_leaf[at:]
                _take_nodes(order, low, length, attributes.key[a], nodes, key)
            _sort_by_key(order, low, length, key, other_key, other)
            if ordered:
                null_key = attributes.null_key[a] if level[part, a] else -1
                cut = _boundary(
                    order, low, length, key, weight, size[part], null_key, second_try, split_ties
                )
                made = _halves(order, low, length, cut, weight, size[part], least, pieces,
                               piece_start, piece_end, piece_size)  # fmt: skip
            else:
                made = _children(order, low, length, key, weight, least, pieces,
                                 piece_start, piece_end, piece_size)  # fmt: skip
            if made:
                break
            attempt[part] += 1
        pieces += made
        first[part + 1] = pieces
    return Pieces(
        first, piece_start[:pieces].copy(), piece_end[:pieces].copy(), piece_size[:pieces].copy()
    )


@kernel
def _take_keys(order: Codes, low: int, length: int, of_unit: Codes, key: Codes) -> None:
    for i in range(length):
        key[i] = of_unit[order[low + i]]


@kernel
def _take_nodes(
    order: Codes, low: int, length: int, of_unit: Codes, node_of_leaf: Codes, key: Codes
) -> None:
    for i in range(length):
        key[i] = node_of_leaf[of_unit[order[low + i]]]


@kernel
def _sort_by_key(
    order: Codes, low: int, length: int, key: Codes, other_key: Codes, other: Codes
) -> None:
    """Sort a range of units, and their keys with them, stably."""
    if length <= 24:
        for i in range(1, length):
            moved_key, moved = key[i], order[low + i]
            place = i
            while place > 0 and key[place - 1] > moved_key:
                key[place] = key[place - 1]
                order[low + place] = order[low + place - 1]
                place -= 1
            key[place] = moved_key
            order[low + place] = moved
        return
    least, greatest = key[0], key[0]
    for i in range(length):
        other_key[i] = key[i]
        other[i] = order[low + i]
        least = min(least, key[i])
        greatest = max(greatest, key[i])
    span = np.int64(greatest) - least + 1
    if span <= 4 * length + 64:
        place_of_key = np.zeros(span + 1, np.int64)
        for i in range(length):
            place_of_key[other_key[i] - least + 1] += 1
        for k in range(span):
            place_of_key[k + 1] += place_of_key[k]
        for i in range(length):
            k = other_key[i] - least
            key[place_of_key[k]] = other_key[i]
            order[low + place_of_key[k]] = other[i]
            place_of_key[k] += 1
    else:
        sorting = np.argsort(other_key[:length], kind="mergesort")
        for i in range(length):
            key[i] = other_key[sorting[i]]
            order[low + i] = other[sorting[i]]


@kernel
def _boundary(
    order: Codes,
    low: int,
    length: int,
    key: Codes,
    weight: Numbers,
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


@kernel
def _halves(
    order: Codes,
    low: int,
    length: int,
    cut: int,
    weight: Numbers,
    size: int,
    least: int,
    pieces: int,
    piece_start: Numbers,
    piece_end: Numbers,
    piece_size: Numbers,
) -> int:
    if cut == 0:
        return 0
    rows = 0
    for i in range(cut):
        rows += weight[order[low + i]]
    if rows < least or size - rows < least:
        return 0
    piece_start[pieces], piece_end[pieces], piece_size[pieces] = low, low + cut, rows
    piece_start[pieces + 1], piece_end[pieces + 1] = low + cut, low + length
    piece_size[pieces + 1] = size - rows
    return 2


@kernel
def _children(
    order: Codes,
    low: int,
    length: int,
    key: Codes,
    weight: Numbers,
    least: int,
    pieces: int,
    piece_start: Numbers,
    piece_end: Numbers,
    piece_size: Numbers,
) -> int:
    """A piece for each child; none where no child has enough rows."""
    made = 0
    largest = 0
    for i in range(length):
        if i == 0 or key[i] != key[i - 1]:
            piece_start[pieces + made] = low + i
            piece_size[pieces + made] = 0
            made += 1
        piece_end[pieces + made - 1] = low + i + 1
        piece_size[pieces + made - 1] += weight[order[low + i]]
        largest = max(largest, piece_size[pieces + made - 1])
    return made if largest >= least else 0


@kernel
def put_failing_last(
    order: Codes, pieces: Pieces, parts: Numbers, passes: NDArray[np.bool_]
) -> Numbers:
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
        _rearrange(order, pieces, first, rank)
    return failing


@kernel
def _rearrange(order: Codes, pieces: Pieces, first: int, rank: Numbers) -> None:
    """Put neighbouring pieces, and their units, in another order."""
    last = first + len(rank)
    low = pieces.start[first]
    units = order[low : pieces.end[last - 1]].copy()
    start, end = pieces.start[first:last].copy(), pieces.end[first:last].copy()
    size = pieces.size[first:last].copy()
    place = low
    for i in range(len(rank)):
        old = rank[i] - first
        pieces.start[first + i] = place
        for j in range(start[old], end[old]):
            order[place] = units[j - low]
            place += 1
        pieces.end[first + i] = place
        pieces.size[first + i] = size[old]


@kernel
def count_pieces(
    order: Codes,
    start: Numbers,
    end: Numbers,
    unit_start: Numbers,
    unit_value: Codes,
    unit_count: Numbers,
    cardinality: int,
) -> tuple[Numbers, Codes, Numbers]:
    """How often each value occurs in each piece, from its counts by unit; sparse, ascending."""
    entries = 0
    for piece in range(len(start)):
        inside = 0
        for i in range(start[piece], end[piece]):
            inside += unit_start[order[i] + 1] - unit_start[order[i]]
        entries += min(inside, cardinality)
    first = np.zeros(len(start) + 1, np.int64)
    value = np.empty(entries, np.int32)
    count = np.empty(entries, np.int64)
    held = np.zeros(cardinality, np.int64)
    touched = np.empty(cardinality, np.int32)
    filled = 0
    for piece in range(len(start)):
        found = 0
        for i in range(start[piece], end[piece]):
            for e in range(unit_start[order[i]], unit_start[order[i] + 1]):
                if held[unit_value[e]] == 0:
                    touched[found] = unit_value[e]
                    found += 1
                held[unit_value[e]] += unit_count[e]
        if 8 * found >= cardinality:
            for v in range(cardinality):
                if held[v]:
                    value[filled], count[filled] = v, held[v]
                    held[v] = 0
                    filled += 1
        else:
            for v in np.sort(touched[:found]):
                value[filled], count[filled] = v, held[v]
                held[v] = 0
                filled += 1
        first[piece + 1] = filled
    return first, value[:filled].copy(), count[:filled].copy()
