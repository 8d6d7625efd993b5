"""Bounds that cut the search over whole rows short: what the undecided rows cost at least.

- *Belief*: of a row not yet decided, each label of the untouched row keeps at least the belief that
  the most diffuse outcome within the remaining cost leaves it. Where these least beliefs alone
  violate a principle, nothing below passes.
- *Required cost*: no label may have more belief than c·(1 − the ℓ − 1 greatest least beliefs), or
  than α + t. So each undecided row must at least pay for an outcome as diffuse as that.
- *Lagrange*, for closeness: the squared (or absolute) distance is at least the sum over rows of
  what each adds on the labels of its untouched row, so for every λ ≥ 0 the cost is at least
  Σ min (cost + λ·added) − λ·(t² or t).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.methods.quasi_sensitive.outcomes import Outcomes
from discreet.methods.quasi_sensitive.state import (
    DIVERSITY,
    EUCLIDEAN,
    SLACK,
    Principles,
    State,
    head_and_top,
    move,
)
from discreet.table.kernels import kernel

MULTIPLIERS = 16  # values of λ
NEVER = np.inf


# Compiled: called by the search for every group.
@kernel
def lagrange(
    principles: Principles, outcomes: Outcomes
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """λ; Σ over rows from each on of min (cost + λ·added); and what each outcome adds."""
    rows, count = len(outcomes.start) - 1, len(principles.kind)
    linked = outcomes.linked
    added = np.zeros((count, len(outcomes.cost)))
    multiplier = np.zeros((count, MULTIPLIERS))
    floor = np.zeros((count, MULTIPLIERS, rows + 1))
    for number in range(count):
        kind = principles.kind[number]
        if kind == DIVERSITY:
            continue
        scale = 1.0 * rows * (rows if kind == EUCLIDEAN else 1)
        for which in range(MULTIPLIERS):
            multiplier[number, which] = scale * 2.0 ** (which - 8)
        for row in range(rows - 1, -1, -1):
            first = outcomes.start[row]
            for o in range(first, outcomes.start[row + 1]):
                for label in linked.label[linked.start[first] : linked.start[first + 1]]:
                    over = linked.share[o] * principles.weight[label] - principles.prior[label]
                    if over > 0:
                        added[number, o] += over * over if kind == EUCLIDEAN else over
            for which in range(MULTIPLIERS):
                least = NEVER
                for o in range(first, outcomes.start[row + 1]):
                    least = min(
                        least, outcomes.cost[o] + multiplier[number, which] * added[number, o]
                    )
                floor[number, which, row] = floor[number, which, row + 1] + least
    return multiplier, floor, added


# Compiled: called at every node of the search.
@kernel
def hopeless_below(
    state: State,
    principles: Principles,
    outcomes: Outcomes,
    row: int,
    left: float,
) -> bool:
    """Return whether the rows from one on can't make the group pass for less than what is left."""
    rows = len(outcomes.start) - 1
    share = np.empty(rows)  # of each undecided row: the least within what is left
    for undecided in range(row, rows):
        low, high = outcomes.start[undecided], outcomes.start[undecided + 1]
        while high - low > 1:
            middle = (low + high) // 2
            if outcomes.cost[middle] < left:
                low = middle
            else:
                high = middle
        share[undecided] = outcomes.least_share[low]
        untouched = outcomes.start[undecided]
        move(state, principles, outcomes.linked, untouched, share[undecided], 1)
    hopeless = False
    for number in range(len(principles.kind)):
        kind, bound = principles.kind[number], principles.bound[number]
        if kind == DIVERSITY:
            head, top = head_and_top(state, principles.ell[number])
            limit = bound * max(0.0, 1 - top)
            hopeless = hopeless or head > limit + 1e-9
        else:
            limit = bound
            over = 0.0
            for place in range(np.int64(state.figures[0])):
                label = state.active[place]
                excess = state.belief[label] - principles.prior[label]
                if excess > 0:
                    over += excess * excess if kind == EUCLIDEAN else excess
            if kind == EUCLIDEAN:
                over = np.sqrt(over)
            hopeless = hopeless or over > bound + 1e-9
        if hopeless:
            break
    for undecided in range(rows - 1, row - 1, -1):
        untouched = outcomes.start[undecided]
        move(state, principles, outcomes.linked, untouched, share[undecided], -1)
    if hopeless:
        return True
    needed = 0.0
    for undecided in range(row, rows):
        needed += _required(state, principles, outcomes, undecided, limit)
        if needed >= left - SLACK:
            return True
    return False


# Compiled: called for every undecided row at every node.
@kernel
def _required(
    state: State,
    principles: Principles,
    outcomes: Outcomes,
    row: int,
    limit: float,
) -> float:
    """The least cost at which no label of an untouched row exceeds what a principle allows it."""
    first, end = outcomes.start[row], outcomes.start[row + 1]
    share = NEVER
    diversity = principles.kind[-1] == DIVERSITY
    linked, least_share = outcomes.linked, outcomes.least_share
    for label in linked.label[linked.start[first] : linked.start[first + 1]]:
        room = limit - state.belief[label] + 1e-9
        if not diversity:
            room += principles.prior[label]
        if principles.weight[label] > 0:
            share = min(share, room / principles.weight[label])
    if least_share[end - 1] > share:
        return NEVER
    low, high = first, end - 1  # the first outcome with least_share ≤ share
    while low < high:
        middle = (low + high) // 2
        if least_share[middle] <= share:
            high = middle
        else:
            low = middle + 1
    return float(outcomes.cost[low])
