"""The last rows of a table, too few for a group of their own, go where they cost least.

Two ways are tried and the cheaper one is taken. *Apart*: each unit joins a group, or founds one
with rows that it borrows from a piece of a group that can spare them. *Together*: all of them found
one group with borrowed rows, each time those that the group's hull grows least by.
"""

from __future__ import annotations

import numpy as np

from discreet.methods.local_recoding.group_needs import Needs
from discreet.methods.local_recoding.hulls import Space, hull_cost, hull_costs
from discreet.methods.local_recoding.unit_groups import hulls_of
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
    known = np.zeros((len(needs.values), needs.cardinality), np.bool_)  # values that it has
    known[np.arange(len(needs.values)), needs.value[units]] = True
    low, high = space.rank[units].min(axis=0), space.rank[units].max(axis=0)
    taken = int(left[units].sum())
    while True:
        lacking = known.sum(axis=1) < needs.values
        if taken >= needs.rows and not lacking.any():
            return lent
        may = (lent < rows) & (spare[number] > 0)
        if lacking.any():
            fresh = ~known[np.arange(len(needs.values)), needs.value[unit]]
            may &= (fresh & lacking).any(axis=1)
        lenders = np.flatnonzero(may)
        if not len(lenders):
            return None
        rank = space.rank[unit[lenders]]
        pays = hull_costs(space, np.minimum(low, rank), np.maximum(high, rank))
        best = lenders[(pays * max(needs.rows, taken + 1) - cost[number[lenders]]).argmin()]
        share = 1
        if not lacking.any():
            share = min(rows[best] - lent[best], spare[number[best]], needs.rows - taken)
        known[np.arange(len(needs.values)), needs.value[unit[best]]] = True
        lent[best] += share
        spare[number[best]] -= share
        taken += int(share)
        low = np.minimum(low, space.rank[unit[best]])
        high = np.maximum(high, space.rank[unit[best]])


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


def _cheapest_join(
    space: Space, low: Ints32, high: Ints32, size: Ints, cost: Floats, unit: int, rows: int
) -> tuple[int, float]:
    """The group to which rows of a unit add least, and what they add."""
    rank = space.rank[unit]
    joined = hull_costs(space, np.minimum(low, rank), np.maximum(high, rank))
    added = joined * (size + rows) - cost * size
    best = int(added.argmin())
    return best, float(added[best])


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
    lenders = np.flatnonzero((rows >= needed) & (size[group] - needed >= least))
    if not len(lenders):
        return -1, np.inf
    rank, other = space.rank[unit], space.rank[units[lenders]]
    joined = hull_costs(space, np.minimum(rank, other), np.maximum(rank, other))
    added = joined * (own + needed) - cost[group[lenders]] * needed
    best = int(added.argmin())
    return int(lenders[best]), float(added[best])
