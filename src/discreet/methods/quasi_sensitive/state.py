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


class State(NamedTuple):
    """The belief of a group, label by label."""

    belief: NDArray[np.float64]  # (labels,) β
    rows: NDArray[np.int64]  # (labels,) how many rows link to each
    active: NDArray[np.int32]  # (labels,) the labels with rows, in the order they came
    figures: NDArray[np.float64]  # active labels, Σ(β − α)², Σ|β − α|
    top: NDArray[np.float64]  # room for the ℓ − 1 greatest beliefs


@kernel
def new_state(principles: Principles) -> State:
    """Room for a state."""
    labels = len(principles.prior)
    return State(
        np.zeros(labels),
        np.zeros(labels, np.int64),
        np.zeros(labels, np.int32),
        np.zeros(3),
        np.zeros(max(1, principles.ell.max())),
    )


@kernel
def clear(state: State, principles: Principles) -> None:
    """No row at all."""
    state.belief[:] = 0.0
    state.rows[:] = 0
    state.figures[0] = 0
    state.figures[1] = (principles.prior**2).sum()
    state.figures[2] = principles.prior.sum()


@kernel
def add(state: State, principles: Principles, labels: NDArray[np.int32], share: float) -> None:
    """Let a row link to some labels, each with its share of the weight."""
    square, absolute = state.figures[1], state.figures[2]
    active = np.int64(state.figures[0])
    for label in labels:
        old = state.belief[label] - principles.prior[label]
        new = old + share * principles.weight[label]
        square += new * new - old * old
        absolute += abs(new) - abs(old)
        state.belief[label] += share * principles.weight[label]
        if state.rows[label] == 0:
            state.active[active] = label
            active += 1
        state.rows[label] += 1
    state.figures[0], state.figures[1], state.figures[2] = active, square, absolute


@kernel
def undo(state: State, principles: Principles, labels: NDArray[np.int32], share: float) -> None:
    """Take back the last row that was added."""
    square, absolute = state.figures[1], state.figures[2]
    for label in labels:
        old = state.belief[label] - principles.prior[label]
        new = old - share * principles.weight[label]
        square += new * new - old * old
        absolute += abs(new) - abs(old)
        state.rows[label] -= 1
        if state.rows[label] == 0:
            state.figures[0] -= 1
            state.belief[label] = 0.0
        else:
            state.belief[label] -= share * principles.weight[label]
    state.figures[1], state.figures[2] = square, absolute


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
