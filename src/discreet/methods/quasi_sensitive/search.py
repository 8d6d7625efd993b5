"""The search over whole rows: which outcome each row of a failing group takes.

First a greedy: of all outcomes of all rows, take the one that lowers the violation most for its
cost, until the group passes; then make single rows cheaper as long as it still passes. Then a
branch and bound over the rows, depth first, cheap outcomes first, until it is proved that nothing
is cheaper or the budget of nodes ends; ``term_bounds`` says what cuts it short.
Rows with the same terms are interchangeable and take their outcomes in ascending order.
"""

from __future__ import annotations

import numpy as np

from discreet.methods.quasi_sensitive.bounds import (
    NEVER,
    hopeless_below,
    hopeless_sum,
    lagrange,
    least_shares,
)
from discreet.methods.quasi_sensitive.outcomes import Outcomes, labels_of
from discreet.methods.quasi_sensitive.state import (
    SLACK,
    Principles,
    State,
    add,
    clear,
    passes,
    undo,
    violation,
)
from discreet.table.kernels import kernel
from discreet.typing import Ints, StopFlag


@kernel
def form(state: State, principles: Principles, outcomes: Outcomes, chosen: Ints, but: int) -> None:
    """Set the state to the outcome chosen for each row, without row ``but`` (−1: all rows)."""
    clear(state, principles)
    for row in range(len(chosen)):
        if row != but:
            o = chosen[row]
            add(state, principles, labels_of(outcomes, o), outcomes.share[o])


@kernel
def chosen_passes(state: State, principles: Principles, outcomes: Outcomes, chosen: Ints) -> bool:
    """Return whether chosen outcomes pass, computed anew."""
    form(state, principles, outcomes, chosen, -1)
    return passes(state, principles)


@kernel
def cost_of(outcomes: Outcomes, chosen: Ints) -> float:
    """Return what chosen outcomes cost, not normalized."""
    total = 0.0
    for row in range(len(chosen)):
        total += outcomes.cost[chosen[row]]
    return total


@kernel
def greedy(
    state: State, principles: Principles, outcomes: Outcomes, stop: StopFlag
) -> tuple[bool, Ints]:
    """A first solution; whether there is one, and the outcome of each row."""
    rows = len(outcomes.start) - 1
    chosen = outcomes.start[:-1].copy()
    best = chosen.copy()
    best_cost = NEVER
    form(state, principles, outcomes, chosen, -1)
    now = violation(state, principles)
    while True:
        top_score, top_row, top_outcome, top_violation = 0.0, -1, -1, now
        end_cost, end_row, end_outcome = NEVER, -1, -1
        spent = cost_of(outcomes, chosen)
        for row in range(rows):
            if stop[0]:
                break
            form(state, principles, outcomes, chosen, row)
            rest = spent - outcomes.cost[chosen[row]]
            for o in range(chosen[row] + 1, outcomes.start[row + 1]):
                extra = outcomes.cost[o] - outcomes.cost[chosen[row]]
                if rest + outcomes.cost[o] >= best_cost:
                    continue
                add(state, principles, labels_of(outcomes, o), outcomes.share[o])
                then = violation(state, principles)
                undo(state, principles, labels_of(outcomes, o), outcomes.share[o])
                if then <= SLACK and rest + outcomes.cost[o] < end_cost:
                    end_cost, end_row, end_outcome = rest + outcomes.cost[o], row, o
                score = (now - max(then, 0.0)) / max(extra, SLACK)
                if score > top_score and now - then > SLACK:
                    top_score, top_row, top_outcome, top_violation = score, row, o, then
        if end_row >= 0:
            ended = chosen.copy()
            ended[end_row] = end_outcome
            if chosen_passes(state, principles, outcomes, ended):
                ended = cheapened(state, principles, outcomes, ended, stop)
                if cost_of(outcomes, ended) < best_cost:
                    best_cost = cost_of(outcomes, ended)
                    best = ended
        if top_row < 0 or top_violation <= SLACK or stop[0]:
            break
        chosen[top_row] = top_outcome
        now = top_violation
    if best_cost < NEVER:
        return True, best
    for row in range(rows):  # nothing lowers the violation any more: try with no terms at all
        best[row] = outcomes.start[row + 1] - 1
    if chosen_passes(state, principles, outcomes, best):
        return True, cheapened(state, principles, outcomes, best, stop)
    return False, best


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
            form(state, principles, outcomes, chosen, row)
            for o in range(outcomes.start[row], chosen[row]):
                saving = outcomes.cost[chosen[row]] - outcomes.cost[o]
                if saving <= top_saving + SLACK:
                    break
                add(state, principles, labels_of(outcomes, o), outcomes.share[o])
                good = violation(state, principles) <= SLACK and passes(state, principles)
                undo(state, principles, labels_of(outcomes, o), outcomes.share[o])
                if good:
                    top_saving, top_row, top_outcome = saving, row, o
                    break
        if top_row < 0:
            return chosen
        chosen[top_row] = top_outcome


@kernel
def branch_and_bound(
    state: State,
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
    best_cost = cost_of(outcomes, best) if solved else NEVER
    least_share = least_shares(outcomes)
    multiplier, floor, added = lagrange(principles, outcomes)
    chosen = outcomes.start[:-1].copy()
    spent = np.zeros(rows + 1)
    distance = np.zeros((rows + 1, len(principles.kind)))
    nodes, row = 0, 0
    clear(state, principles)
    while row >= 0:
        o = chosen[row]
        if o >= outcomes.start[row + 1] or spent[row] + outcomes.cost[o] >= best_cost - SLACK:
            row -= 1
            if row >= 0:
                o = chosen[row]
                undo(state, principles, labels_of(outcomes, o), outcomes.share[o])
                chosen[row] += 1
            continue
        if nodes >= budget or stop[0]:
            return solved, best, False, nodes
        nodes += 1
        cost = spent[row] + outcomes.cost[o]
        for number in range(len(principles.kind)):
            distance[row + 1, number] = distance[row, number] + added[number, o]
        if hopeless_sum(principles, multiplier, floor, distance, row + 1, best_cost - cost):
            chosen[row] += 1
            continue
        add(state, principles, labels_of(outcomes, o), outcomes.share[o])
        if row == rows - 1:
            if violation(state, principles) <= SLACK and chosen_passes(
                _copy(state), principles, outcomes, chosen
            ):
                solved, best_cost = True, cost
                best[:] = chosen
        elif not hopeless_below(
            state, principles, outcomes, least_share, row + 1, best_cost - cost
        ):
            row += 1
            spent[row] = cost
            chosen[row] = outcomes.start[row]
            if _same_outcomes(outcomes, row):
                chosen[row] += chosen[row - 1] - outcomes.start[row - 1]
            continue
        undo(state, principles, labels_of(outcomes, o), outcomes.share[o])
        chosen[row] += 1
    return solved, best, outcomes.complete, nodes


@kernel
def _copy(state: State) -> State:
    return State(
        state.belief.copy(),
        state.rows.copy(),
        state.active.copy(),
        state.figures.copy(),
        state.top.copy(),
    )


@kernel
def _same_outcomes(outcomes: Outcomes, row: int) -> bool:
    """Whether a row has the outcomes of the row before it, as rows with the same terms do."""
    low, middle, high = outcomes.start[row - 1], outcomes.start[row], outcomes.start[row + 1]
    if middle - low != high - middle:
        return False
    for place in range(middle - low):
        if outcomes.remaining[low + place] != outcomes.remaining[middle + place]:
            return False
        for word in range(outcomes.bits.shape[1]):
            if outcomes.bits[low + place, word] != outcomes.bits[middle + place, word]:
                return False
    return True
