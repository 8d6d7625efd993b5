"""Parts of a table as Mondrian sees them: ranges of units, how wide they are, and how they are cut.

A *unit* is what is never torn apart: a distinct tuple of quasi-identifiers, or a row where ties
may be split. A permutation holds the units of every part in a range ``[start, end)``.

Attributes are of two sorts. An *ordered* one has keys with positions on a line. One with a
*hierarchy* has the hierarchy's leaves as keys, numbered so that the leaves of every node are
neighbours; so all units of a part have the lowest common ancestor of its least and its greatest
leaf, whose loss is the width. A part that spans several nodes of the top level is at the root above
it.

A cut sorts the range of a part by one attribute, so its pieces are ranges too. An ordered attribute
is cut in two, one with a hierarchy at the children of the lowest common ancestor. All parts of a
round are cut at once, in arrays that lay out their units one part after the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.hierarchies.hierarchy import Hierarchy, Level
from discreet.methods.shared.hilbert import leaf_order
from discreet.table.coded_table import Column
from discreet.table.kernels.lists import entries_of, stable_order, starts_of
from discreet.typing import Bools, Codes, Floats, Ints

NULL_WIDTH = 2.0  # of an ordered attribute in a part that has missing values and others


class Attributes(NamedTuple):
    """The quasi-identifiers, one after the other in each array."""

    key: Codes  # (attributes, units)
    levels: Ints  # (attributes,) of the hierarchy; 0 for an ordered attribute
    null_key: Ints  # (attributes,) of an ordered attribute; −1 where nothing is missing
    position_at: Ints  # (attributes,) where an ordered attribute's positions start
    position: NDArray[np.float64]  # by key, in [0, 1]
    level_at: Ints  # (attributes,) where a hierarchy's levels start in the next two
    node_at: Ints  # (levels,) where a level's nodes by leaf start
    loss_at: Ints  # (levels,) where a level's losses start
    node_of_leaf: Codes
    loss: NDArray[np.float64]
    importance: NDArray[np.float64]  # (attributes,) by which a width is multiplied


class Regions(NamedTuple):
    """Parts, and what is known for cutting them."""

    start: Ints  # (parts,)
    end: Ints  # (parts,)
    size: Ints  # (parts,) in rows
    by_width: Codes  # (parts, attributes) the widest first; −1 after those that can be cut
    level: Codes  # (parts, attributes) of the lowest common ancestor; see ``measure_parts``
    attempt: Ints  # (parts,) the next cut to try: two for each attribute

    def take(self, chosen: Bools | Ints) -> Regions:
        """Some of the parts."""
        fields: list[Any] = [field[chosen] for field in self]
        return Regions(*fields)

    def and_others(self, others: Regions) -> Regions:
        """These parts, then others."""
        fields: Any = zip(self, others, strict=True)
        return Regions(*(np.concatenate(both) for both in fields))


def flattened(
    columns: Sequence[Column], hierarchies: Mapping[str, Hierarchy], codes: Codes
) -> Attributes:
    """The quasi-identifiers with the keys of their units."""
    key = codes.copy()
    levels, null_key, position_at, level_at = (np.zeros(len(columns), np.int64) for _ in range(4))
    null_key -= 1
    positions = [np.zeros(0)]
    of_level: list[Level] = []
    nodes = [np.zeros(0, np.int32)]
    for number, column in enumerate(columns):
        position_at[number] = sum(len(part) for part in positions)
        level_at[number] = len(of_level)
        # Number the leaves of a hierarchy so that those of every node are neighbours.
        hierarchy = hierarchies.get(column.name)
        if hierarchy is not None:
            levels[number] = len(hierarchy.levels)
            leaves = leaf_order(column, hierarchy)
            nodes += [level.node_of_leaf[leaves] for level in hierarchy.levels]
            of_level += hierarchy.levels
            rank_of_code = np.empty(len(leaves), np.int32)
            rank_of_code[leaves] = np.arange(len(leaves))
            key[number] = rank_of_code[codes[number]]
            continue
        # Without one, values lie on a line; equal numbers share a place.
        rank_of_code, position = _line(column)
        positions.append(position)
        if column.numbers is not None and column.has_null:
            null_key[number] = len(position) - 1
        if len(position) < column.cardinality:  # numbers written in several ways
            key[number] = rank_of_code[codes[number]]
    return Attributes(
        key,
        levels,
        null_key,
        position_at,
        np.concatenate(positions),
        level_at,
        _offsets([len(level.node_of_leaf) for level in of_level]),
        _offsets([level.nodes for level in of_level]),
        np.concatenate(nodes),
        np.concatenate([np.zeros(0), *(level.loss for level in of_level)]),
        np.array([column.importance for column in columns]),
    )


def _offsets(lengths: Sequence[int]) -> Ints:
    return np.cumsum([0, *lengths])[:-1].astype(np.int64)


def _line(column: Column) -> tuple[Codes, NDArray[np.float64]]:
    """The rank of each code, equal for equal numbers, and the position of each rank in [0, 1].

    A missing value has the last rank and no place on the line.
    """
    if column.numbers is None:
        codes = np.arange(column.cardinality, dtype=np.int32)
        return codes, codes / max(column.cardinality - 1, 1)
    numbers = column.numbers
    starts = np.diff(numbers, prepend=np.nan) != 0  # a missing number equals none
    distinct = numbers[starts]
    known = distinct[~np.isnan(distinct)]
    position = np.zeros(len(distinct))
    if len(known) > 1:
        position[: len(known)] = (known - known[0]) / (known[-1] - known[0])
    return (np.cumsum(starts) - 1).astype(np.int32), position


def measure_parts(
    order: Codes, start: Ints, end: Ints, size: Ints, attributes: Attributes, least: int
) -> Regions:
    """The attributes of parts by width, and their levels.

    The level is that of the lowest common ancestor; for an ordered attribute it is 1 where the
    part has missing values beside others, else 0. A part of fewer than twice ``least`` rows can't
    be cut, so its attributes are not looked at.
    """
    count = len(attributes.key)
    by_width = np.full((len(start), count), -1, np.int32)
    level = np.zeros((len(start), count), np.int32)
    attempt = np.zeros(len(start), np.int64)
    wide = np.flatnonzero((size >= 2 * least) & (size > 0))
    if len(wide):
        place, at = ranges_of(start[wide], end[wide])
        unit = order[place]
        width = np.empty((len(wide), count))
        for a in range(count):
            level[wide, a], width[:, a] = _widths(
                attributes, a, attributes.key[a].take(unit), at[:-1]
            )
            width[:, a] *= attributes.importance[a]
        widest = np.argsort(-width, axis=1, kind="stable")  # of equals the earlier
        width = np.take_along_axis(width, widest, axis=1)
        by_width[wide] = np.where(width < 0, -1, widest)
    return Regions(start, end, size, by_width, level, attempt)


def _widths(attributes: Attributes, a: int, key: Codes, at: Ints) -> tuple[Codes, Floats]:
    """The level and the width of an attribute in parts whose keys start at ``at``."""
    low, high = np.minimum.reduceat(key, at), np.maximum.reduceat(key, at)
    if attributes.levels[a] == 0:
        null_key = attributes.null_key[a]
        has_null = (high == null_key) & (low < null_key)
        position = attributes.position[attributes.position_at[a] :]
        width = np.where(low < high, position[high] - position[low], -1.0)
        return has_null.astype(np.int32), np.where(has_null, NULL_WIDTH, width)
    levels = slice(attributes.level_at[a], attributes.level_at[a] + attributes.levels[a])
    level = np.zeros(len(at), np.int32)
    for node_at in attributes.node_at[levels]:  # groups of leaves only join from level to level
        node = attributes.node_of_leaf[node_at:]
        level += node[low] != node[high]
    width = np.where(level > 0, 1.0, -1.0)
    below_root = np.flatnonzero((level > 0) & (level < attributes.levels[a]))
    number = attributes.level_at[a] + level[below_root]
    node = attributes.node_of_leaf[attributes.node_at[number] + low[below_root]]
    width[below_root] = attributes.loss[attributes.loss_at[number] + node]
    return level, width


def ranges_of(start: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Return the numbers of all ranges in turn, and where each range starts among them."""
    at = starts_of(end - start)
    return np.arange(at[-1]) + np.repeat(start - at[:-1], end - start), at


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
    # Each part proposes the cut of its next attribute; those that have none go on to the one after.
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
                proposal = cut(
                    order, laid_out, parts, chosen, attributes, weight, least, split_ties
                )
                part, start, end, size = proposal
                proposed[part] = True
                of_part.append(part)
                starts.append(start)
                ends.append(end)
                sizes.append(size)
        open_ = open_[~proposed[open_]]
        parts.attempt[open_] += 1
    # Order the pieces by the part that they cut.
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

    place: Ints  # in the order of all units
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
    place, at = ranges_of(start, end)
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
    divided = np.flatnonzero((cut > 0) & (rows >= least) & (size - rows >= least))
    part = chosen[divided]
    low, high, rows = parts.start[part], parts.end[part], rows[divided]
    middle = low + cut[divided]
    return (
        np.repeat(part, 2),
        np.column_stack((low, middle)).ravel(),
        np.column_stack((middle, high)).ravel(),
        np.column_stack((rows, size[divided] - rows)).ravel(),
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
    large = np.flatnonzero(largest[part] >= least)
    shift = parts.start[chosen] - of.at[:-1]
    part = part[large]
    return chosen[part], first[large] + shift[part], first[large + 1] + shift[part], size[large]


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
