"""Parts of a table as Mondrian sees them: ranges of units, and how wide each attribute is there.

A *unit* is what is never torn apart: a distinct tuple of quasi-identifiers, or a row where ties
may be split. A permutation holds the units of every part in a range ``[start, end)``.

Attributes are of two sorts. An *ordered* one has keys with positions on a line. One with a
*hierarchy* has the hierarchy's leaves as keys; its width in a part is the loss of the lowest common
ancestor, which is at the lowest level where all units of the part share a node. A part that spans
several nodes of the top level is at the root above it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.hierarchies.hierarchy import Hierarchy, Level
from discreet.table.coded_table import Column
from discreet.table.kernels import kernel
from discreet.typing import Codes, Ints

NO_KEY = 2**31  # above every key
NULL_WIDTH = 2.0  # of an ordered attribute in a part that has missing values and others


class Attributes(NamedTuple):
    """The quasi-identifiers, flattened for the kernels."""

    key: Codes  # (attributes, units)
    levels: Ints  # (attributes,) of the hierarchy; 0 for an ordered attribute
    null_key: Ints  # (attributes,) of an ordered attribute; −1 where nothing is missing
    position_at: Ints  # (attributes,) where an ordered attribute's positions start
    position: NDArray[np.float64]  # by key, in [0, 1]
    level_at: Ints  # (attributes,) where a hierarchy's levels start in the next two
    node_at: Ints  # (levels,) where a level's nodes by leaf start
    loss_at: Ints  # (levels,) where a level's losses start
    single_top: NDArray[np.bool_]  # (attributes,) whether the top level has one node
    node_of_leaf: Codes
    loss: NDArray[np.float64]


class Regions(NamedTuple):
    """Parts, and what is known for cutting them."""

    start: Ints  # (parts,)
    end: Ints  # (parts,)
    size: Ints  # (parts,) in rows
    by_width: Codes  # (parts, attributes) the widest first; −1 after those that can be cut
    level: Codes  # (parts, attributes) of the lowest common ancestor; see ``measure_parts``
    attempt: Ints  # (parts,) the next cut to try: two for each attribute

    def take(self, chosen: NDArray[np.bool_]) -> Regions:
        """Some of the parts."""
        return Regions(
            self.start[chosen],
            self.end[chosen],
            self.size[chosen],
            self.by_width[chosen],
            self.level[chosen],
            self.attempt[chosen],
        )

    def and_others(self, others: Regions) -> Regions:
        """These parts, then others."""
        return Regions(
            np.concatenate((self.start, others.start)),
            np.concatenate((self.end, others.end)),
            np.concatenate((self.size, others.size)),
            np.concatenate((self.by_width, others.by_width)),
            np.concatenate((self.level, others.level)),
            np.concatenate((self.attempt, others.attempt)),
        )


def flattened(
    columns: Sequence[Column], hierarchies: Mapping[str, Hierarchy], codes: Codes
) -> Attributes:
    """The quasi-identifiers as the kernels read them."""
    key = codes
    levels, null_key, position_at, level_at = (np.zeros(len(columns), np.int64) for _ in range(4))
    null_key -= 1
    single_top = np.zeros(len(columns), bool)
    positions = [np.zeros(0)]
    of_level: list[Level] = []
    for number, column in enumerate(columns):
        position_at[number] = sum(len(part) for part in positions)
        level_at[number] = len(of_level)
        hierarchy = hierarchies.get(column.name)
        if hierarchy is not None:
            levels[number] = len(hierarchy.levels)
            single_top[number] = hierarchy.levels[-1].nodes == 1
            of_level += hierarchy.levels
            continue
        rank_of_code, position = _line(column)
        positions.append(position)
        if column.numbers is not None and column.has_null:
            null_key[number] = len(position) - 1
        if len(position) < column.cardinality:  # numbers written in several ways
            key = key.copy() if key is codes else key
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
        single_top,
        np.concatenate([np.zeros(0, np.int32), *(level.node_of_leaf for level in of_level)]),
        np.concatenate([np.zeros(0), *(level.loss for level in of_level)]),
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


# Compiled: one pass over the units of each part for each attribute, in every level of cuts.
@kernel
def measure_parts(
    order: Codes,
    start: Ints,
    end: Ints,
    weight: Ints,
    attributes: Attributes,
    least: int,
) -> Regions:
    """Each part's rows, its attributes by width, and their levels.

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
                nulls = False
                low, high = NO_KEY, -1  # of the keys that are not missing
                for unit in members:
                    k = int(key[unit])
                    if k == attributes.null_key[a]:
                        nulls = True
                    else:
                        low = min(low, k)
                        high = max(high, k)
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
        filled = 0
        for a in range(count):  # those that can be cut, the widest first, of equals the earlier
            if width[a] < 0:
                continue
            place = filled
            while place > 0 and width[by_width[part, place - 1]] < width[a]:
                by_width[part, place] = by_width[part, place - 1]
                place -= 1
            by_width[part, place] = a
            filled += 1
    return Regions(start, end, size, by_width, level, np.zeros(len(start), np.int64))


# Compiled: called for every part and attribute with a hierarchy.
@kernel
def _common_level(
    members: Codes, key: Codes, node_at: Ints, node_of_leaf: Codes, single_top: bool
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
