"""Prices of rows, and the lower bound on the loss that they prove.

Choosing what to publish is facility location in which a facility must serve at least k: candidate
g serves rows that it covers at c(g) each. Give every row of unit i a price u_i. A candidate's
regret is the least Σ (c(g) − u) over sets of rows that it covers and that have what every group
needs: all rows whose price is above c(g), the most expensive row of each value that is lacking
then, and the most expensive others up to k rows. Where several attributes need values, only the one
that needs most is looked at: a regret that is too small leaves the bound valid. For any prices

    L(u) = Σ u + Σ over candidates min(0, regret(g))

is at most the cost of every release, because each class pays at least its rows' prices and the
regret of its tuple. Candidates above the ceiling are never more expensive to leave out as long as
no price is above it. Maximizing L is a concave problem without constraints; L / rows is the bound
that is reported.

The first prices are the cheapest candidate over each unit: then no regret is negative and L = Σ u.
Subgradient steps make them better. A unit's derivative is its rows less what all candidates with
negative regret would take of it; divided by its rows, which keeps frequent tuples from deciding
the step, and with a memory of the last steps. Steps are Polyak's, against the cost of a release
that is to be expected.
"""

from __future__ import annotations

import numpy as np

from discreet.methods.local_recoding.candidates import Candidates
from discreet.methods.local_recoding.group_needs import Needs
from discreet.table.kernels import kernel
from discreet.typing import Floats, Ints, Ints32

MEMORY = 0.7  # of the last steps' direction
PATIENCE = 4  # steps without a better bound before they get shorter
SHORTER = 0.5


def improve_prices(
    candidates: Candidates, rows: Ints, needs: Needs, price: Floats, target: float, steps: int
) -> tuple[float, Floats]:
    """The best bound on the summed cost that some subgradient steps find, and its prices."""
    best, best_price = float((rows * price).sum()), price
    direction = np.zeros(len(rows))
    usage = np.empty(len(rows), np.int64)
    length, stalled = 1.0, 0
    for _ in range(steps):
        bound = _negative_regrets(candidates, rows, needs, price, usage) + float(
            (rows * price).sum()
        )
        if bound > best:
            best, best_price = bound, price
            stalled = 0
        else:
            stalled += 1
            if stalled == PATIENCE:  # back to the best, with shorter steps
                length *= SHORTER
                stalled = 0
                price = best_price
                direction = np.zeros(len(rows))
                continue
        gradient = (rows - usage).astype(np.float64)
        slope = float((gradient * gradient / rows).sum())
        if slope == 0.0:
            break
        direction = MEMORY * direction + gradient / rows
        step = length * max(target - bound, 1e-3 * target) / slope
        price = np.minimum(price + step * direction, candidates.ceiling)
    return best, best_price


# Compiled: looks through the members of all candidates at every step.
@kernel(work=8)
def _negative_regrets(
    candidates: Candidates, rows: Ints, needs: Needs, price: Floats, usage: Ints
) -> float:
    """Σ min(0, regret), and in ``usage`` what the candidates with negative regret take."""
    usage[:] = 0
    total = 0.0
    free = rows.copy()  # less what brings values to the candidate that is looked at
    costliest = np.empty(needs.rows + 1, np.int64)  # of the units at or below the cost
    values = needs.values[0] if len(needs.values) else 0
    stamp = np.full(needs.cardinality, -1, np.int64)
    bringing = np.empty(values, np.int64)
    for g in range(len(candidates.cost)):
        cost = candidates.cost[g]
        member = candidates.member[candidates.start[g] : candidates.start[g + 1]]
        taken = 0
        regret = 0.0
        lacking = values
        for unit in member:
            if price[unit] > cost:
                taken += rows[unit]
                regret += rows[unit] * (cost - price[unit])
                if values and stamp[needs.value[unit, 0]] != g:
                    stamp[needs.value[unit, 0]] = g
                    lacking -= 1
        if taken == 0:
            continue  # all prices are at most the cost: the regret is not negative
        brought = 0
        if lacking > 0:
            brought = _bringing(member, needs, price, cost, stamp, g, bringing[:lacking])
            for unit in bringing[:brought]:
                regret += cost - price[unit]
                free[unit] -= 1
        needed = needs.rows - taken - brought
        filled = 0
        if needed > 0:
            filled = _dearest(member, free, price, cost, needed, costliest)
            left = needed
            for unit in costliest[:filled]:
                share = min(left, free[unit])
                regret += share * (cost - price[unit])
                left -= share
        if regret < 0:
            total += regret
            for unit in member:
                if price[unit] > cost:
                    usage[unit] += rows[unit]
            for unit in bringing[:brought]:
                usage[unit] += 1
            for unit in costliest[:filled]:
                share = min(needed, free[unit])
                usage[unit] += share
                needed -= share
        for unit in bringing[:brought]:
            free[unit] += 1
    return total


# Compiled: called for every candidate at every step.
@kernel
def _bringing(
    member: Ints32,
    needs: Needs,
    price: Floats,
    cost: float,
    stamp: Ints,
    g: int,
    bringing: Ints,
) -> int:
    """Highest-priced units below a cost, one for each sensitive value; return how many.

    Values that are stamped are there already.
    """
    filled = 0
    for unit in member:
        value = needs.value[unit, 0]
        if price[unit] > cost or stamp[value] == g:
            continue
        if filled == len(bringing) and price[unit] <= price[bringing[filled - 1]]:
            continue
        place = 0
        while place < filled and needs.value[bringing[place], 0] != value:
            place += 1
        if place < filled and price[bringing[place]] >= price[unit]:
            continue
        if place == filled:
            if filled < len(bringing):
                filled += 1
            else:
                place -= 1
        while place > 0 and price[bringing[place - 1]] < price[unit]:
            bringing[place] = bringing[place - 1]
            place -= 1
        bringing[place] = unit
    return filled


# Compiled: called for every candidate at every step.
@kernel
def _dearest(
    member: Ints32, free: Ints, price: Floats, cost: float, needed: int, costliest: Ints
) -> int:
    """Highest-priced units below a cost that have the needed rows; return how many."""
    filled = 0
    held = 0
    for unit in member:
        if price[unit] > cost or free[unit] == 0:
            continue
        if held >= needed and price[unit] <= price[costliest[filled - 1]]:
            continue
        place = filled
        while place > 0 and price[costliest[place - 1]] < price[unit]:
            costliest[place] = costliest[place - 1]
            place -= 1
        costliest[place] = unit
        filled += 1
        held += free[unit]
        while held - free[costliest[filled - 1]] >= needed:
            filled -= 1
            held -= free[costliest[filled]]
    return filled
