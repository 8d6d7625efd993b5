"""The last rows of a table, too few for a group of their own, go where they cost least.

Two ways are tried and the cheaper one is taken. *Apart*: each unit joins a group, or founds one
with rows that it borrows from a piece of a group that can spare them. *Together*: all of them found
one group with borrowed rows, each time those that the group's hull grows least by.
"""

from __future__ import annotations

import numpy as np

from discreet.methods.local_recoding.group_needs import (
    Needs,
    add_unit,
    brings,
    new_tally,
    start_set,
)
from discreet.methods.local_recoding.hulls import Space, hull_cost, joined_cost
from discreet.methods.local_recoding.unit_groups import hulls_of
from discreet.table.kernels import kernel
from discreet.typing import Floats, Ints, Ints32

Pieces = tuple[Ints, Ints, Ints]  # unit, group and rows of each


def place_left(
    space: Space, needs: Needs, unit: Ints, group: Ints, rows: Ints, left: Ints
) -> Pieces:
    """All pieces, with those in which the rows that were left found a place.

    Where there is no group at all, they are one. Group numbers may be new.
    """
    units = np.flatnonzero(left)
    if not len(group):
        return units, np.zeros(len(units), np.int64), left[units]
    number = np.unique(group, return_inverse=True)[1]
    apart = _apart(space, needs.rows, unit, number, rows, units, left)
    together = _together(space, needs, unit, number, rows, units, left)
    if together is None or _total(space, apart) <= _total(space, together):
        return apart
    return together


def _total(space: Space, pieces: Pieces) -> float:
    unit, number, rows = pieces
    _, _, size, cost = hulls_of(space, unit, number, rows, int(number.max()) + 1)
    return float(size @ cost)


def _together(
    space: Space,
    needs: Needs,
    unit: Ints,
    number: Ints,
    rows: Ints,
    units: Ints,
    left: Ints,
) -> Pieces | None:
    """The last rows as one group; None if no group can spare what it needs."""
    groups = int(number.max()) + 1
    _, _, size, cost = hulls_of(space, unit, number, rows, groups)
    lent = _lent(space, needs, unit, number, rows, size, cost, units, left)
    if lent is None:
        return None
    some = lent > 0
    kept = rows > lent
    new = np.full(int(some.sum()) + len(units), groups, np.int64)
    return (
        np.concatenate((unit[kept], unit[some], units)),
        np.concatenate((number[kept], new)),
        np.concatenate(((rows - lent)[kept], lent[some], left[units])),
    )


@kernel
def _lent(
    space: Space,
    needs: Needs,
    unit: Ints,
    number: Ints,
    rows: Ints,
    size: Ints,
    cost: Floats,
    units: Ints,
    left: Ints,
) -> Ints | None:
    """Return what each piece lends to a group of some units until that has what it needs."""
    lent = np.zeros(len(unit), np.int64)
    spare = size - needs.rows
    tally = new_tally(needs)
    lacking = start_set(tally, needs)
    low, high = space.rank[units[0]].copy(), space.rank[units[0]].copy()
    taken = 0
    for u in units:
        lacking -= add_unit(tally, needs, u)
        taken += left[u]
        low, high = np.minimum(low, space.rank[u]), np.maximum(high, space.rank[u])
    while taken < needs.rows or lacking > 0:
        best, cheapest = -1, np.inf
        for piece in range(len(unit)):
            if lent[piece] == rows[piece] or spare[number[piece]] <= 0:
                continue
            if lacking > 0 and not brings(tally, needs, unit[piece]):
                continue
            rank = space.rank[unit[piece]]
            pays = joined_cost(space, low, high, rank, rank) * max(needs.rows, taken + 1)
            if pays - cost[number[piece]] < cheapest:
                best, cheapest = piece, pays - cost[number[piece]]
        if best < 0:
            return None
        share = 1
        if lacking == 0:
            share = min(rows[best] - lent[best], spare[number[best]], needs.rows - taken)
        lacking -= add_unit(tally, needs, unit[best])
        lent[best] += share
        spare[number[best]] -= share
        taken += share
        rank = space.rank[unit[best]]
        low, high = np.minimum(low, rank), np.maximum(high, rank)
    return lent


def _apart(
    space: Space,
    least: int,
    unit: Ints,
    number: Ints,
    rows: Ints,
    units: Ints,
    left: Ints,
) -> Pieces:
    """The last rows unit by unit."""
    low, high, size, cost = hulls_of(space, unit, number, rows, int(number.max()) + 1)
    for u in units:
        needed = max(least - int(left[u]), 0)
        g, joins = _cheapest_join(space, low, high, size, cost, int(u), int(left[u]))
        piece, founds = _cheapest_loan(
            space, unit, number, rows, size, cost, int(u), int(left[u]), needed, least
        )
        if founds < joins:
            g = len(size)
            size[number[piece]] -= needed
            rows = rows.copy()
            rows[piece] -= needed
            unit, number = np.append(unit, unit[piece]), np.append(number, g)
            rows = np.append(rows, needed)
            low = np.concatenate((low, np.minimum(space.rank[unit[piece]], space.rank[u])[None]))
            high = np.concatenate((high, np.maximum(space.rank[unit[piece]], space.rank[u])[None]))
            size = np.append(size, least)
            cost = np.append(cost, hull_cost(space, low[g], high[g]))
        else:
            size[g] += left[u]
            low[g] = np.minimum(low[g], space.rank[u])
            high[g] = np.maximum(high[g], space.rank[u])
            cost[g] = hull_cost(space, low[g], high[g])
        unit, number = np.append(unit, u), np.append(number, g)
        rows = np.append(rows, left[u])
    kept = rows > 0
    return unit[kept], number[kept], rows[kept]


@kernel
def _cheapest_join(
    space: Space, low: Ints32, high: Ints32, size: Ints, cost: Floats, unit: int, rows: int
) -> tuple[int, float]:
    """The group to which rows of a unit add least, and what they add."""
    best, least = -1, np.inf
    rank = space.rank[unit]
    for g in range(len(size)):
        joined = joined_cost(space, low[g], high[g], rank, rank)
        added = joined * (size[g] + rows) - cost[g] * size[g]
        if added < least:
            best, least = g, added
    return best, least


@kernel
def _cheapest_loan(
    space: Space,
    units: Ints,
    group: Ints,
    rows: Ints,
    size: Ints,
    cost: Floats,
    unit: int,
    own: int,
    needed: int,
    least: int,
) -> tuple[int, float]:
    """The piece of which a unit borrows the needed rows, and what their group adds."""
    best, cheapest = -1, np.inf
    rank = space.rank[unit]
    for piece in range(len(units)):
        g = group[piece]
        if rows[piece] < needed or size[g] - needed < least:
            continue
        other = space.rank[units[piece]]
        joined = joined_cost(space, rank, rank, other, other)
        added = joined * (own + needed) - cost[g] * needed
        if added < cheapest:
            best, cheapest = piece, added
    return best, cheapest
