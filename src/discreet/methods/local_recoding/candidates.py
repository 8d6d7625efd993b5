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

from discreet.methods.local_recoding.hulls import Space, cell_cost
from discreet.methods.local_recoding.requirement_check import Needs
from discreet.methods.shared.list_orders import sort_by_key
from discreet.table.kernels import kernel
from discreet.table.kernels.lists import lengthened
from discreet.typing import Floats, Ints, Ints32

LOWERED = 0.7  # the next ceiling, where candidates are too many
MOST_PAIRS = 4_000_000  # of candidates and units in memory


class Candidates(NamedTuple):
    """Generalized tuples with the units that each covers."""

    start: Ints  # (candidates + 1,)
    member: Ints32  # (pairs,) the units of candidate g are member[start[g]:start[g + 1]]
    cost: Floats  # (candidates,) what a row pays
    ceiling: float  # candidates that cost more than this are not there
    cheapest: Floats  # (units,) the cost of the cheapest over each; the ceiling where there is none


def find_candidates(space: Space, needs: Needs, ceiling: float) -> Candidates:
    """All candidates up to a ceiling, which is lowered until they fit in memory.

    At a ceiling of 0 only exact tuples are left, which always fit.
    """
    limit = max(MOST_PAIRS, len(space.rows))
    arguments = space, needs, _cheapest_of_levels(space)
    while True:
        cheapest = np.full(len(space.rows), ceiling)
        fits, start, member, cost = enumerate_candidates(
            *arguments, ceiling + 1e-12, limit, cheapest
        )
        if fits:
            break
        ceiling = ceiling * LOWERED if ceiling > 1e-3 else 0.0
    return Candidates(start, member, cost, ceiling, cheapest)


# Compiled: walks through all hulls in depth; most stretches are of a few units.
@kernel(work=28)
def enumerate_candidates(
    space: Space,
    needs: Needs,
    of_levels: Floats,
    ceiling: float,
    limit: int,
    cheapest: Floats,
) -> tuple[bool, Ints, Ints32, Floats]:
    """Walk the attributes in depth, lower what is ``cheapest``; False if pairs pass the limit."""
    units, attributes = space.rank.shape
    buffer = np.empty((attributes, units), np.int32)  # the units at each depth, sorted by rank
    key = np.empty((attributes, units), np.int32)  # their ranks
    held = np.empty((attributes, units), np.int64)  # their rows
    count = np.zeros(attributes, np.int64)  # of units at each depth
    level = np.zeros(attributes, np.int64)  # the level, or for a range the end of the stretch
    place = np.zeros(attributes, np.int64)  # where the next stretch begins
    low = np.zeros(attributes, np.int32)  # the ranks at the ends of the stretch
    high = np.zeros(attributes, np.int32)
    spent = np.zeros(attributes + 1)
    room = np.empty((2, units), np.int32)  # for sorting
    seen = np.zeros((len(needs.values), needs.cardinality), np.int64)  # by which stretch last
    stretches = 0
    start, cost = np.empty(1 << 12, np.int64), np.empty(1 << 12, np.float64)
    member = np.empty(1 << 14, np.int32)
    pairs = candidates = 0
    depth, total = 0, 0.0
    begin, end = 0, units
    descends = True  # into the units of a stretch, which are sorted by the next attribute
    while depth >= 0:
        if descends:
            count[depth], level[depth], place[depth], spent[depth] = end - begin, 0, 0, total
            for p in range(end - begin):
                unit = buffer[depth - 1, begin + p] if depth else p
                buffer[depth, p] = unit
                key[depth, p] = space.rank[unit, depth]
            descends = False
            sort_by_key(buffer[depth], 0, count[depth], key[depth], room[0], room[1])
            for p in range(count[depth]):
                held[depth, p] = space.rows[buffer[depth, p]]
        # Take the next stretch of neighbours at this depth, or go back up.
        left = ceiling - spent[depth]
        ranks = key[depth, : count[depth]]
        begin, end = _next_stretch(
            space, ranks, held[depth], depth, level, place, of_levels, left, needs.rows
        )
        if begin < 0:
            depth -= 1
            continue
        low[depth], high[depth] = ranks[begin], ranks[end - 1]
        if space.levels[depth] > 0:
            base = space.first[depth] + level[depth] * space.values[depth]
            total = spent[depth] + space.loss[base + low[depth]]
        else:
            total = spent[depth] + cell_cost(space, depth, low[depth], high[depth])
        if total > ceiling:
            if space.levels[depth] == 0:  # longer ranges are more expensive
                _next_range(ranks, depth, level, place)
            continue
        # Drop stretches that lack rows or values, or whose hull is smaller than what was chosen.
        rows = 0
        for p in range(begin, end):
            rows += held[depth, p]
        if rows < needs.rows:
            continue
        stretches += 1
        if not _has_values(needs, buffer[depth], begin, end, seen, stretches):
            continue
        if not _closed(space, buffer[depth], begin, end, depth, level, low, high):
            continue
        size = end - begin
        if depth + 1 < attributes:
            depth += 1
            descends = True
            continue
        # All attributes are chosen: store the candidate and its units.
        if pairs + size > limit:
            return False, start, member, cost
        if candidates == len(cost):
            start, cost = lengthened(start, 2 * candidates), lengthened(cost, 2 * candidates)
        while pairs + size > len(member):
            member = lengthened(member, 2 * len(member))
        start[candidates], cost[candidates] = pairs, total
        for p in range(begin, end):
            unit = buffer[depth, p]
            member[pairs] = unit
            cheapest[unit] = min(cheapest[unit], total)
            pairs += 1
        candidates += 1
    start = lengthened(
        start[:candidates], candidates + 1
    )  # a copy of a slice takes seconds to compile
    start[candidates] = pairs
    return True, start, member[:pairs].copy(), cost[:candidates].copy()


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
    ranks: Ints32,
    rows: Ints,
    depth: int,
    level: Ints,
    place: Ints,
    of_levels: Floats,
    left: float,
    least: int,
) -> tuple[int, int]:
    """The next stretch of units below one node, or within one range; (−1, −1) if none is left.

    Nodes with too few rows are passed over, and levels whose cheapest node costs more than what is
    left to spend are not looked at, nor those above a node that has all units below it.
    """
    if space.levels[depth] == 0:
        return _next_within_range(ranks, space.missing[depth], depth, level, place)
    node, count = space.node, len(ranks)
    at_level, begin = level[depth], place[depth]
    base = space.first[depth] + at_level * space.values[depth]
    while True:
        if begin == count:
            if node[base + ranks[0]] == node[base + ranks[count - 1]]:
                return -1, -1
            at_level += 1
            base += space.values[depth]
            begin = 0
        if at_level == space.levels[depth] or of_levels[depth, at_level] > left:
            return -1, -1
        while begin < count:
            stretch_rows = rows[begin]
            of = node[base + ranks[begin]]
            end = begin + 1
            while end < count and node[base + ranks[end]] == of:
                stretch_rows += rows[end]
                end += 1
            if stretch_rows >= least:
                level[depth], place[depth] = at_level, end
                return begin, end
            begin = end


# Compiled: called for every step of the walk through a free range.
@kernel
def _next_within_range(
    ranks: Ints32, missing: int, depth: int, level: Ints, place: Ints
) -> tuple[int, int]:
    """The same of a free range: ``place`` is its begin, ``level`` the end of the last one, 0 first.

    A range and a missing value have only the whole domain in common, which is at the very end.
    """
    count = len(ranks)
    if place[depth] < count and level[depth] == count:
        _next_range(ranks, depth, level, place)
    begin, end = place[depth], level[depth]
    if begin < count:
        value = ranks[end]
        if end > begin and value == missing:
            _next_range(ranks, depth, level, place)
            begin, end = place[depth], level[depth]
            value = ranks[end]
        end += 1
        while end < count and ranks[end] == value:
            end += 1
        level[depth] = end
        return begin, end
    if begin == count:  # all ranges are done: the whole domain, if a missing value asks for it
        place[depth] += 1
        if ranks[count - 1] == missing and ranks[0] != missing:
            return 0, count
    return -1, -1


# Compiled: called for every step of the walk through a free range.
@kernel
def _next_range(ranks: Ints32, depth: int, level: Ints, place: Ints) -> None:
    """Go on to the ranges that begin at the next value."""
    begin = place[depth]
    while place[depth] < len(ranks) and ranks[place[depth]] == ranks[begin]:
        place[depth] += 1
    level[depth] = place[depth]


# Compiled: called for every stretch of the walk.
@kernel
def _has_values(
    needs: Needs, units: Ints32, begin: int, end: int, seen: Ints, stretch: int
) -> bool:
    """Whether a stretch of units has as many different values as every group needs."""
    for j in range(len(needs.values)):
        lacking = needs.values[j]
        p = begin
        while p < end and lacking > 0:
            value = needs.value[units[p], j]
            if seen[j, value] != stretch:
                seen[j, value] = stretch
                lacking -= 1
            p += 1
        if lacking > 0:
            return False
    return True


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
    for attribute in range(depth, -1, -1):
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
            node = space.node[base + space.rank[buffer[begin], attribute]]
            split = False
            for p in range(end - 1, begin, -1):
                if space.node[base + space.rank[buffer[p], attribute]] != node:
                    split = True
                    break
            if not split:
                return False
    return True
