"""The cuts of Mondrian: each sorts the range of a part by one attribute, so pieces are ranges too.

An ordered attribute is cut in two, one with a hierarchy at the children of the lowest common
ancestor. All parts of a round are cut at once, in arrays that lay out their units one part after
the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.methods.mondrian.regions import Attributes, Regions, places_of_parts, ranges_of
from discreet.table.kernels.lists import entries_of, stable_order, starts_of
from discreet.typing import Bools, Codes, Ints


class Pieces(NamedTuple):
    """Ranges of units that a cut would make, those of one part after another."""

    first: Ints  # (parts + 1,) where the pieces of each part start
    start: Ints  # (pieces,)
    end: Ints
    size: Ints  # in rows


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
    of_part, starts, ends, sizes = ([np.zeros(0, np.int64)] for _ in range(4))
    open_ = np.flatnonzero(parts.size >= 2 * least)
    while True:
        open_ = open_[parts.attempt[open_] < 2 * len(attributes.key)]
        attribute = parts.by_width[open_, parts.attempt[open_] // 2]
        open_, attribute = open_[attribute >= 0], attribute[attribute >= 0]
        if not len(open_):
            break
        split = attributes.levels[attribute] > 0
        in_two, by_node = open_[~split], open_[split & (parts.attempt[open_] % 2 == 0)]
        proposed = np.zeros(len(parts.start), bool)
        for chosen, cut in ((in_two, _halves), (by_node, _children)):
            if len(chosen):
                laid_out = _lay_out(order, parts, chosen, attributes)
                made = cut(order, laid_out, parts, chosen, attributes, weight, least, split_ties)
                part, start, end, size = made
                proposed[part] = True
                of_part.append(part)
                starts.append(start)
                ends.append(end)
                sizes.append(size)
        open_ = open_[~proposed[open_]]
        parts.attempt[open_] += 1
    part = np.concatenate(of_part)
    by_part = stable_order(part, len(parts.start))
    return Pieces(
        starts_of(np.bincount(part, minlength=len(parts.start))),
        np.concatenate(starts)[by_part],
        np.concatenate(ends)[by_part],
        np.concatenate(sizes)[by_part],
    )


class _Units(NamedTuple):
    """The units of some parts, one part after the other."""

    place: slice | Ints  # in the order of all units
    number: Codes  # (units,)
    at: Ints  # (parts + 1,) where the units of each part start
    part: Ints  # (units,) the place of the part among those that were chosen
    key: Codes  # (units,) of the attribute that the part tries next
    keys: int  # a bound above every key


class _Sorted(NamedTuple):
    """Units of some parts, those of each part by its attribute."""

    at: Ints  # (parts + 1,) where the units of each part start
    part: Ints  # (units,)
    key: Codes  # (units,)
    rows_before: Ints  # (units + 1,) of all parts


def _lay_out(order: Codes, parts: Regions, chosen: Ints, attributes: Attributes) -> _Units:
    """Return the units of some parts with their keys of the attribute that each tries next."""
    start, end = parts.start[chosen], parts.end[chosen]
    place, at = places_of_parts(start, end)
    number = order[place]
    part = np.repeat(np.arange(len(chosen)), end - start)
    attribute = parts.by_width[chosen, parts.attempt[chosen] // 2]
    first = np.multiply(attribute, attributes.key.shape[1], dtype=np.int64)
    key = attributes.key.ravel().take(np.repeat(first, end - start) + number)
    if attributes.levels[attribute[0]]:
        level = attributes.level_at[attribute] + parts.level[chosen, attribute] - 1
        key = attributes.node_of_leaf[attributes.node_at[level][part] + key]
    return _Units(place, number, at, part, key, int(key.max()) + 1)


def _sorted(order: Codes, of: _Units, weight: Ints) -> _Sorted:
    """Sort the units of each part by their keys."""
    sorting = stable_order(of.part * of.keys + of.key, (len(of.at) - 1) * of.keys)
    number = of.number.take(sorting)
    order[of.place] = number
    return _Sorted(of.at, of.part, of.key.take(sorting), starts_of(weight.take(number)))


def _halves(
    order: Codes,
    of: _Units,
    parts: Regions,
    chosen: Ints,
    attributes: Attributes,
    weight: Ints,
    least: int,
    split_ties: bool,
) -> tuple[Ints, Ints, Ints, Ints]:
    """The two pieces of each part that can be cut: its number, start, end and rows."""
    attribute = parts.by_width[chosen, parts.attempt[chosen] // 2]
    nulls = parts.level[chosen, attribute] > 0
    first_try = parts.attempt[chosen] % 2 == 0
    other_side = ~first_try & ~nulls
    apart = np.flatnonzero(nulls & first_try)  # missing values, which have the last key
    length, size = np.diff(of.at), parts.size[chosen]
    by_key = _sorted(order, of, weight)
    cut = np.where(other_side, 0, length // 2)
    if not split_ties:
        cut = _boundary(by_key, size, other_side)
    if len(apart):
        known = by_key.key < attributes.null_key[attribute][of.part]
        cut[apart] = np.add.reduceat(known.astype(np.int64), of.at[:-1])[apart]
    rows = by_key.rows_before[of.at[:-1] + cut] - by_key.rows_before[of.at[:-1]]
    made = np.flatnonzero((cut > 0) & (rows >= least) & (size - rows >= least))
    part = chosen[made]
    low, high, rows = parts.start[part], parts.end[part], rows[made]
    middle = low + cut[made]
    return (
        np.repeat(part, 2),
        np.column_stack((low, middle)).ravel(),
        np.column_stack((middle, high)).ravel(),
        np.column_stack((rows, size[made] - rows)).ravel(),
    )


def _boundary(of: _Sorted, size: Ints, other_side: Bools) -> Ints:
    """Where to cut each part in two: the number of units before the cut, 0 for nowhere.

    It is the boundary between two values that is nearest to the median, or the one on the median's
    other side.
    """
    boundary = 1 + np.flatnonzero((of.key[1:] != of.key[:-1]) & (of.part[1:] == of.part[:-1]))
    part = of.part[boundary]
    rows = of.rows_before[boundary] - of.rows_before[of.at[part]]
    in_part = starts_of(np.bincount(part, minlength=len(size)))
    low = 2 * rows <= size[part]
    above = in_part[:-1] + np.bincount(part[low], minlength=len(size))  # the first beyond the half
    below = above - 1
    has_below, has_above = below >= in_part[:-1], above < in_part[1:]
    rows, boundary = np.append(rows, 0), np.append(boundary, 0)  # of a part without boundaries
    nearer_below = size - 2 * rows[below] <= 2 * rows[above] - size
    chosen = np.where(has_below & (~has_above | (nearer_below != other_side)), below, above)
    nowhere = ~(has_below | has_above) | (other_side & ~(has_below & has_above))
    return np.where(nowhere, 0, boundary[chosen] - of.at[:-1])


def _children(
    order: Codes,
    units: _Units,
    parts: Regions,
    chosen: Ints,
    attributes: Attributes,
    weight: Ints,
    least: int,
    split_ties: bool,
) -> tuple[Ints, Ints, Ints, Ints]:
    """A piece for each child of the common ancestor; none where all have too few rows."""
    of = _sorted(order, units, weight)
    changes = (of.key[1:] != of.key[:-1]) | (of.part[1:] != of.part[:-1])
    first = np.concatenate(([0], 1 + np.flatnonzero(changes), [len(of.key)]))
    part = of.part[first[:-1]]
    size = np.diff(of.rows_before[first])
    largest = np.maximum.reduceat(size, starts_of(np.bincount(part))[:-1])
    made = np.flatnonzero(largest[part] >= least)
    shift = parts.start[chosen] - of.at[:-1]
    part = part[made]
    return chosen[part], first[made] + shift[part], first[made + 1] + shift[part], size[made]


def put_failing_last(order: Codes, pieces: Pieces, parts: Ints, passes: Bools) -> Ints:
    """Order the pieces of some parts: passing ones by falling size, then the rest.

    Returned is where in each part's pieces the failing ones start.
    """
    piece, part = entries_of(pieces.first, parts)
    good = passes[piece]
    ranked = piece[np.lexsort((np.where(good, -pieces.size[piece], 0), ~good, part))]
    start, end, size = pieces.start[ranked], pieces.end[ranked], pieces.size[ranked]
    moved, at = ranges_of(start, end)
    new_place, _ = ranges_of(
        pieces.start[pieces.first[parts]], pieces.end[pieces.first[parts + 1] - 1]
    )
    order[new_place] = order[moved]
    pieces.start[piece] = new_place[at[:-1]]
    pieces.end[piece] = pieces.start[piece] + (end - start)
    pieces.size[piece] = size
    return pieces.first[parts] + np.bincount(part[good], minlength=len(parts))
