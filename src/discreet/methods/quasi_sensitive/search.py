"""The search over whole rows: which outcome each row of a failing group takes.

First a greedy: of all outcomes of all rows, take the one that lowers the violation most for its
cost, until the group passes; then make single rows cheaper as long as it still passes. Then a
branch and bound over the rows, depth first, cheap outcomes first, until it is proved that nothing
is cheaper or the budget of nodes ends. Rows with the same terms are interchangeable and take their
outcomes in ascending order.

Bounds that cut it short say what the undecided rows cost at least:

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
    form,
    head_and_top,
    move,
    passes,
    violation,
)
from discreet.table.kernels import kernel
from discreet.typing import Ints, StopFlag

MULTIPLIERS = 16  # values of λ
NEVER = np.inf


# Compiled: a search of its own for every group.
@kernel
def greedy(
    state: State, principles: Principles, outcomes: Outcomes, stop: StopFlag
) -> tuple[bool, Ints]:
    """A first solution; whether there is one, and the outcome of each row."""
    rows = len(outcomes.start) - 1
    chosen = outcomes.start[:-1].copy()
    best = chosen.copy()
    best_cost = NEVER
    form(state, principles, outcomes.linked, chosen, -1)
    now = violation(state, principles)
    while True:
        top_score, top_row, top_outcome, top_violation = 0.0, -1, -1, now
        end_cost, end_row, end_outcome = NEVER, -1, -1
        spent = 0.0
        for o in chosen:
            spent += outcomes.cost[o]
        # Try each outcome of each row: the best step, and the cheapest that ends the search.
        for row in range(rows):
            if stop[0]:
                break
            form(state, principles, outcomes.linked, chosen, row)
            rest = spent - outcomes.cost[chosen[row]]
            for o in range(chosen[row] + 1, outcomes.start[row + 1]):
                extra = outcomes.cost[o] - outcomes.cost[chosen[row]]
                if rest + outcomes.cost[o] >= best_cost:
                    continue
                move(state, principles, outcomes.linked, o, outcomes.linked.share[o], 1)
                then = violation(state, principles)
                move(state, principles, outcomes.linked, o, outcomes.linked.share[o], -1)
                if then <= SLACK and rest + outcomes.cost[o] < end_cost:
                    end_cost, end_row, end_outcome = rest + outcomes.cost[o], row, o
                score = (now - max(then, 0.0)) / max(extra, SLACK)
                if score > top_score and now - then > SLACK:
                    top_score, top_row, top_outcome, top_violation = score, row, o, then
        # A step lets the group pass: make single rows cheaper, and keep the cheapest solution.
        if end_row >= 0:
            ended = chosen.copy()
            ended[end_row] = end_outcome
            form(state, principles, outcomes.linked, ended, -1)
            if passes(state, principles):
                ended = cheapened(state, principles, outcomes, ended, stop)
                end_cost = 0.0
                for o in ended:
                    end_cost += outcomes.cost[o]
                if end_cost < best_cost:
                    best_cost = end_cost
                    best = ended
        if top_row < 0 or top_violation <= SLACK or stop[0]:
            break
        chosen[top_row] = top_outcome
        now = top_violation
    if best_cost < NEVER:
        return True, best
    for row in range(rows):  # nothing lowers the violation any more: try with no terms at all
        best[row] = outcomes.start[row + 1] - 1
    form(state, principles, outcomes.linked, best, -1)
    if passes(state, principles):
        return True, cheapened(state, principles, outcomes, best, stop)
    return False, best


# Compiled: a search of its own for every group.
@kernel
def cheapened(
    state: State, principles: Principles, outcomes: Outcomes, chosen: Ints, stop: StopFlag
) -> Ints:
    """A solution made cheaper row by row, the greatest saving first, as long as it passes."""
    chosen = chosen.copy()
    while True:
        top_saving, top_row, top_outcome = 0.0, -1, -1
        for row in range(len(chosen)):
            if stop[0]:
                return chosen
            form(state, principles, outcomes.linked, chosen, row)
            for o in range(outcomes.start[row], chosen[row]):
                saving = outcomes.cost[chosen[row]] - outcomes.cost[o]
                if saving <= top_saving + SLACK:
                    break
                move(state, principles, outcomes.linked, o, outcomes.linked.share[o], 1)
                good = violation(state, principles) <= SLACK and passes(state, principles)
                move(state, principles, outcomes.linked, o, outcomes.linked.share[o], -1)
                if good:
                    top_saving, top_row, top_outcome = saving, row, o
                    break
        if top_row < 0:
            return chosen
        chosen[top_row] = top_outcome


# Compiled: a search of its own for every group.
@kernel
def branch_and_bound(
    state: State,
    spare: State,  # to check solutions with
    principles: Principles,
    outcomes: Outcomes,
    solved: bool,
    best: Ints,
    budget: int,
    stop: StopFlag,
) -> tuple[bool, Ints, bool, int]:
    """Improve a solution, or find one: whether there is one, it, whether proved, and the nodes."""
    rows = len(best)
    best = best.copy()
    best_cost = 0.0 if solved else NEVER
    for o in best:
        best_cost += outcomes.cost[o]
    multiplier, floor, added = lagrange(principles, outcomes)
    chosen = outcomes.start[:-1].copy()
    spent = np.zeros(rows + 1)
    distance = np.zeros((rows + 1, len(principles.kind)))
    nodes, row = 0, 0
    form(state, principles, outcomes.linked, best[:0], -1)
    while row >= 0:
        o = chosen[row]
        # Go back where no outcome is left, or the next is too expensive.
        if o >= outcomes.start[row + 1] or spent[row] + outcomes.cost[o] >= best_cost - SLACK:
            row -= 1
            if row >= 0:
                o = chosen[row]
                move(state, principles, outcomes.linked, o, outcomes.linked.share[o], -1)
                chosen[row] += 1
            continue
        if nodes >= budget or stop[0]:
            return solved, best, False, nodes
        nodes += 1
        # Leave out what the distances so far make too expensive.
        cost = spent[row] + outcomes.cost[o]
        for number in range(len(principles.kind)):
            distance[row + 1, number] = distance[row, number] + added[number, o]
        hopeless, left = False, best_cost - cost  # by Lagrange, the rows from here on cost more
        for number in range(len(principles.kind)):
            kind, bound = principles.kind[number], principles.bound[number]
            if kind == DIVERSITY:
                continue
            room = (
                (bound * bound if kind == EUCLIDEAN else bound) - distance[row + 1, number] + 1e-9
            )
            hopeless = hopeless or room < 0
            for which in range(MULTIPLIERS):
                least = floor[number, which, row + 1] - multiplier[number, which] * room
                hopeless = hopeless or least >= left - SLACK
        if hopeless:
            chosen[row] += 1
            continue
        move(state, principles, outcomes.linked, o, outcomes.linked.share[o], 1)
        # All rows are decided: keep a cheaper solution that passes.
        if row == rows - 1:
            if violation(state, principles) <= SLACK:
                form(spare, principles, outcomes.linked, chosen, -1)
                if passes(spare, principles):
                    solved, best_cost = True, cost
                    best[:] = chosen
        elif not hopeless_below(state, principles, outcomes, row + 1, best_cost - cost):
            row += 1
            spent[row] = cost
            chosen[row] = outcomes.start[row]
            if outcomes.like_last[row]:
                chosen[row] += chosen[row - 1] - outcomes.start[row - 1]
            continue
        move(state, principles, outcomes.linked, o, outcomes.linked.share[o], -1)
        chosen[row] += 1
    return solved, best, outcomes.complete, nodes


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
        # Sum from the last row on what each adds at least.
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
        # The most diffuse outcome that what is left can pay for.
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
    # Whether these least beliefs alone violate a principle.
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
    # Whether the rows together must pay more than what is left.
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
