"""All generalized tuples that could be published: closed, with enough rows, not too expensive.

A candidate is a generalized tuple g, one node or range for each attribute. It is worth a look only
if it covers the rows and values that every group needs, if a row pays no more than a ceiling for
it, and if it is closed (the hull of what it covers is g itself; else something cheaper covers the
same rows).

They are enumerated attribute by attribute, each by splitting what the earlier attributes left:
sorted by rank, the units below every node, or within every range, are a stretch of neighbours. A
stretch with too few rows or values, too expensive or no longer closed in an earlier attribute is
dropped with all that it could become. So no tuple is ever generalized to values that no rows share,
and nothing is sorted but short stretches. Cost: the units of all stretches that are not dropped.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.methods.local_recoding.group_needs import (
    Needs,
    ValueTally,
    add_unit,
    new_tally,
)
from discreet.methods.local_recoding.hulls import Space, cell_cost
from discreet.methods.shared.list_orders import sort_by_key
from discreet.table.kernels import kernel
from discreet.table.kernels.lengthening import lengthened
from discreet.typing import Floats, Ints, Ints32


class Candidates(NamedTuple):
    """Generalized tuples with the units that each covers."""

    start: Ints  # (candidates + 1,)
    member: Ints32  # (pairs,) the units of candidate g are member[start[g]:start[g + 1]]
    cost: Floats  # (candidates,) what a row pays
    ceiling: float  # candidates that cost more than this are not there


def find_candidates(space: Space, needs: Needs, ceiling: float, limit: int) -> Candidates:
    """All candidates up to a ceiling, which is lowered until they fit in a limit of pairs.

    At a ceiling of 0 only exact tuples are left, which always fit.
    """
    limit = max(limit, len(space.rows))
    given = space, needs, new_tally(needs), _cheapest_of_levels(space)
    while True:
        fits, start, member, cost = enumerate_candidates(*given, ceiling + 1e-12, limit)
        if fits:
            return Candidates(start, member, cost, ceiling)
        ceiling = ceiling * 0.7 if ceiling > 1e-3 else 0.0


# Compiled: walks through all hulls in depth; most stretches are of a few units.
@kernel(work=4)
def enumerate_candidates(
    space: Space, needs: Needs, tally: ValueTally, cheapest: Floats, ceiling: float, limit: int
) -> tuple[bool, Ints, Ints32, Floats]:
    """Walk the attributes in depth; False if the pairs pass the limit."""
    units, attributes = space.rank.shape
    buffer = np.empty((attributes, units), np.int32)  # the units at each depth, sorted by rank
    count = np.zeros(attributes, np.int64)  # of units at each depth
    level = np.zeros(attributes, np.int64)  # the level, or for a range the end of the stretch
    place = np.zeros(attributes, np.int64)  # where the next stretch begins
    low = np.zeros(attributes, np.int32)  # the ranks at the ends of the stretch
    high = np.zeros(attributes, np.int32)
    spent = np.zeros(attributes + 1)
    room = np.empty((3, units), np.int32)  # for sorting
    start, cost = np.empty(1 << 12, np.int64), np.empty(1 << 12, np.float64)
    member = np.empty(1 << 14, np.int32)
    pairs = found = 0
    buffer[0] = np.arange(units, dtype=np.int32)
    count[0] = units
    for p in range(units):
        room[0, p] = space.rank[buffer[0, p], 0]
    sort_by_key(buffer[0], 0, units, room[0], room[1], room[2])
    depth = 0
    while depth >= 0:
        left = ceiling - spent[depth]
        begin, end = _next_stretch(
            space, buffer[depth], count[depth], depth, level, place, cheapest, left, needs.rows
        )
        if begin < 0:
            depth -= 1
            continue
        rows = 0
        for p in range(begin, end):
            rows += space.rows[buffer[depth, p]]
        low[depth] = space.rank[buffer[depth, begin], depth]
        high[depth] = space.rank[buffer[depth, end - 1], depth]
        if space.levels[depth] > 0:
            base = space.first[depth] + level[depth] * space.values[depth]
            total = spent[depth] + space.loss[base + low[depth]]
        else:
            total = spent[depth] + cell_cost(space, depth, low[depth], high[depth])
        if total > ceiling:
            if space.levels[depth] == 0:  # longer ranges are more expensive
                _next_range(space, buffer[depth], count[depth], depth, level, place)
            continue
        if rows < needs.rows:
            continue
        tally.number[0] += 1  # an empty set
        lacking, p = 0, begin  # of the values that a group needs
        for j in range(len(needs.values)):
            tally.lacking[j] = needs.values[j]
            lacking += needs.values[j]
        while p < end and lacking > 0:
            lacking -= add_unit(tally, needs, buffer[depth, p])
            p += 1
        if lacking > 0:
            continue
        if not _closed(space, buffer[depth], begin, end, depth, level, low, high):
            continue
        size = end - begin
        if depth + 1 < attributes:
            buffer[depth + 1, :size] = buffer[depth, begin:end]
            depth += 1
            count[depth], level[depth], place[depth], spent[depth] = size, 0, 0, total
            for p in range(size):
                room[0, p] = space.rank[buffer[depth, p], depth]
            sort_by_key(buffer[depth], 0, size, room[0], room[1], room[2])
            continue
        if pairs + size > limit:
            return False, start, member, cost
        if found == len(cost):
            start, cost = lengthened(start, 2 * found), lengthened(cost, 2 * found)
        while pairs + size > len(member):
            member = lengthened(member, 2 * len(member))
        start[found], cost[found] = pairs, total
        member[pairs : pairs + size] = buffer[depth, begin:end]
        pairs += size
        found += 1
    ends = np.empty(found + 1, np.int64)
    ends[:found] = start[:found]
    ends[found] = pairs
    return True, ends, member[:pairs].copy(), cost[:found].copy()


def _cheapest_of_levels(space: Space) -> Floats:
    """The least loss of a node at each level of each attribute; it rises with the level."""
    cheapest = np.full((len(space.first), max(int(space.levels.max(initial=0)), 1)), np.inf)
    for j, (first, values) in enumerate(zip(space.first, space.values, strict=True)):
        for level in range(space.levels[j]):
            of_level = space.loss[first + level * values : first + (level + 1) * values]
            cheapest[j, level] = of_level.min(initial=np.inf)
    return cheapest


# Compiled: called for every step of the walk.
@kernel
def _next_stretch(
    space: Space,
    buffer: Ints32,
    count: int,
    depth: int,
    level: Ints,
    place: Ints,
    cheapest: Floats,
    left: float,
    least: int,
) -> tuple[int, int]:
    """The next stretch of units below one node, or within one range; (−1, −1) if none is left.

    Nodes with too few rows are passed over, and levels whose cheapest node costs more than what is
    left to spend are not looked at.
    """
    if space.levels[depth] == 0:
        return _next_within_range(space, buffer, count, depth, level, place)
    rank, node, rows = space.rank, space.node, space.rows
    at_level, begin = level[depth], place[depth]
    while True:
        if begin == count:
            at_level += 1
            begin = 0
        if at_level == space.levels[depth] or cheapest[depth, at_level] > left:
            return -1, -1
        base = space.first[depth] + at_level * space.values[depth]
        while begin < count:
            found = rows[buffer[begin]]
            of = node[base + rank[buffer[begin], depth]]
            end = begin + 1
            while end < count and node[base + rank[buffer[end], depth]] == of:
                found += rows[buffer[end]]
                end += 1
            if found >= least:
                level[depth], place[depth] = at_level, end
                return begin, end
            begin = end


# Compiled: called for every step of the walk through a free range.
@kernel
def _next_within_range(
    space: Space, buffer: Ints32, count: int, depth: int, level: Ints, place: Ints
) -> tuple[int, int]:
    """The same of a free range: ``place`` is its begin, ``level`` the end of the last one, 0 first.

    A range and a missing value have only the whole domain in common, which is at the very end.
    """
    rank = space.rank
    missing = space.missing[depth]
    if place[depth] < count and level[depth] == count:
        _next_range(space, buffer, count, depth, level, place)
    begin, end = place[depth], level[depth]
    if begin < count:
        value = rank[buffer[end], depth]
        if end > begin and value == missing:
            _next_range(space, buffer, count, depth, level, place)
            begin, end = place[depth], level[depth]
            value = rank[buffer[end], depth]
        end += 1
        while end < count and rank[buffer[end], depth] == value:
            end += 1
        level[depth] = end
        return begin, end
    if begin == count:  # all ranges are done: the whole domain, if a missing value asks for it
        place[depth] += 1
        last = rank[buffer[count - 1], depth]
        if last == missing and rank[buffer[0], depth] != missing:
            return 0, count
    return -1, -1


# Compiled: called for every step of the walk through a free range.
@kernel
def _next_range(
    space: Space, buffer: Ints32, count: int, depth: int, level: Ints, place: Ints
) -> None:
    """Go on to the ranges that begin at the next value."""
    if place[depth] >= count:
        return
    value = space.rank[buffer[place[depth]], depth]
    while place[depth] < count and space.rank[buffer[place[depth]], depth] == value:
        place[depth] += 1
    level[depth] = place[depth]


# Compiled: called for every stretch of the walk.
@kernel
def _closed(
    space: Space,
    buffer: Ints32,
    begin: int,
    end: int,
    depth: int,
    level: Ints,
    low: Ints32,
    high: Ints32,
) -> bool:
    """Whether the hull of a stretch still is what was chosen in this and every earlier attribute.

    Below a node it is if two units have different nodes one level lower; in a range if both ends
    occur.
    """
    for attribute in range(depth + 1):
        if space.levels[attribute] == 0:
            has_low = has_high = False
            for p in range(begin, end):
                rank = space.rank[buffer[p], attribute]
                has_low |= rank == low[attribute]
                has_high |= rank == high[attribute]
                if has_low and has_high:
                    break
            if not (has_low and has_high):
                return False
        elif level[attribute] > 0:
            base = space.first[attribute] + (level[attribute] - 1) * space.values[attribute]
            one = space.node[base + space.rank[buffer[begin], attribute]]
            split = False
            for p in range(end - 1, begin, -1):
                if space.node[base + space.rank[buffer[p], attribute]] != one:
                    split = True
                    break
            if not split:
                return False
    return True
