"""The state of a search in one group: the belief that its rows' outcomes add up to.

A principle fails by a *violation*: p1 − c·(p_l + …) for (c,l)-diversity, the squared distance less
t² or half the absolute distance less t for closeness; a group passes where none is above 0. The
distances are sums over labels and follow every move; for diversity the labels that occur are
looked through. Sums that follow moves drift by less than 10⁻¹², so a search that finds a solution
checks it with ``passes``, which computes everything anew.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.table.kernels import kernel
from discreet.typing import Floats, Ints

DIVERSITY, EUCLIDEAN, ABSOLUTE = 0, 1, 2  # the kinds of principle
SLACK = 1e-12  # of a violation, before it is computed anew
TOLERANCE = 5e-10  # half of what the audit allows


class Principles(NamedTuple):
    """What every group must satisfy, and what an attacker holds for likely."""

    kind: NDArray[np.int64]  # (principles,)
    bound: NDArray[np.float64]  # (principles,) c or t
    ell: NDArray[np.int64]  # (principles,) 0 for closeness
    prior: NDArray[np.float64]  # (labels,) α
    weight: NDArray[np.float64]  # (labels,) 1, or α


class Linked(NamedTuple):
    """What outcomes link to: label v of outcome o has the belief ``share[o] · weight[v]``."""

    share: Floats  # (outcomes,)
    start: Ints  # (outcomes + 1,)
    label: NDArray[np.int32]


class State(NamedTuple):
    """The belief of a group, label by label."""

    belief: NDArray[np.float64]  # (labels,) β
    rows: NDArray[np.int64]  # (labels,) how many rows link to each
    active: NDArray[np.int32]  # (labels,) the labels with rows, in the order they came
    figures: NDArray[np.float64]  # active labels, Σ(β − α)², Σ|β − α|
    top: NDArray[np.float64]  # room for the ℓ − 1 greatest beliefs


def new_state(principles: Principles) -> State:
    """Room for a state."""
    labels = len(principles.prior)
    return State(
        np.zeros(labels),
        np.zeros(labels, np.int64),
        np.zeros(labels, np.int32),
        np.zeros(3),
        np.zeros(max(1, int(principles.ell.max()))),
    )


# Compiled: called by the searches at every node.
@kernel
def form(state: State, principles: Principles, linked: Linked, chosen: Ints, but: int) -> None:
    """Set the state to the outcome chosen for each row, without row ``but`` (−1: all rows)."""
    state.belief[:] = 0.0
    state.rows[:] = 0
    state.figures[0] = 0
    state.figures[1] = (principles.prior**2).sum()
    state.figures[2] = principles.prior.sum()
    for row in range(len(chosen)):
        if row != but:
            move(state, principles, linked, chosen[row], linked.share[chosen[row]], 1)


# Compiled: called by the searches at every node.
@kernel
def move(
    state: State, principles: Principles, linked: Linked, outcome: int, share: float, step: int
) -> None:
    """Let a row link to an outcome's labels with a share of the weight, or (−1) take it back.

    Only the last row that was added can be taken back.
    """
    active = np.int64(state.figures[0])
    square, absolute = state.figures[1], state.figures[2]
    for label in linked.label[linked.start[outcome] : linked.start[outcome + 1]]:
        change = step * share * principles.weight[label]
        old = state.belief[label] - principles.prior[label]
        new = old + change
        square += new * new - old * old
        absolute += abs(new) - abs(old)
        if state.rows[label] == 0:
            state.active[active] = label
            active += 1
        state.rows[label] += step
        if state.rows[label] == 0:
            active -= 1
            state.belief[label] = 0.0
        else:
            state.belief[label] += change
    state.figures[0], state.figures[1], state.figures[2] = active, square, absolute


# Compiled: called for every principle at every node of the searches.
@kernel
def head_and_top(state: State, ell: int) -> tuple[float, float]:
    """p1, and the sum of the ℓ − 1 greatest beliefs."""
    head, total, filled, most = 0.0, 0.0, 0, ell - 1
    top = state.top
    for place in range(np.int64(state.figures[0])):
        belief = state.belief[state.active[place]]
        head = max(head, belief)
        if filled == most and (most == 0 or belief <= top[most - 1]):
            continue
        if filled < most:
            filled += 1
        else:
            total -= top[most - 1]
        total += belief
        slot = filled - 1  # sorted, the greatest first
        while slot > 0 and top[slot - 1] < belief:
            top[slot] = top[slot - 1]
            slot -= 1
        top[slot] = belief
    return head, total


# Compiled: called at every node of the searches.
@kernel
def violation(state: State, principles: Principles) -> float:
    """Σ over the principles of what each fails by; of a single one also how well it passes."""
    total = 0.0
    several = len(principles.kind) > 1
    for number in range(len(principles.kind)):
        kind, bound = principles.kind[number], principles.bound[number]
        if kind == DIVERSITY:
            head, top = head_and_top(state, principles.ell[number])
            failed = head - bound * max(0.0, 1 - top)
        elif kind == EUCLIDEAN:
            failed = state.figures[1] - bound * bound
        else:
            failed = state.figures[2] / 2 - bound
        total += max(failed, 0.0) if several else failed
    return total


# Compiled: called at every node of the searches.
@kernel
def passes(state: State, principles: Principles) -> bool:
    """Return whether a state that was just formed passes; the distances are computed anew."""
    for number in range(len(principles.kind)):
        kind, bound = principles.kind[number], principles.bound[number]
        if kind == DIVERSITY:
            head, top = head_and_top(state, principles.ell[number])
            failed = head - bound * max(0.0, 1 - top)
        else:
            failed = 0.0
            for label in range(len(principles.prior)):
                off = abs(state.belief[label] - principles.prior[label])
                failed += off * off if kind == EUCLIDEAN else off / 2
            failed = (np.sqrt(failed) if kind == EUCLIDEAN else failed) - bound
        if failed > TOLERANCE:
            return False
    return True
