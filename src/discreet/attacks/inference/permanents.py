"""Exact beliefs in a group where some people can't have some values.

The worlds of a group are the ways to give each person one of its rows; with a weight for each
person and value, a belief is a share of weighted worlds. Rows with equal values are exchangeable,
so the dynamic program runs over people and its state is how many rows of each value are left:
Π(count + 1) states, not n!. A forward and a backward pass give all beliefs at once. Beyond
``EXACT_STATES`` states the beliefs are those of alternating scaling, an approximation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.table.kernels import kernel
from discreet.typing import Floats

EXACT_STATES = 4096
SCALING_ROUNDS = 200


def matching_beliefs(weight: Floats, count: NDArray[np.int64]) -> tuple[Floats, bool]:
    """P(person has value) over all weighted worlds; whether it is exact.

    ``weight`` is (people, values); ``count`` the rows of each value, as many as people in all.
    Zeros where no world is possible.
    """
    return matching_beliefs_within(weight, count, EXACT_STATES)


@kernel
def matching_beliefs_within(
    weight: Floats, count: NDArray[np.int64], most_states: int
) -> tuple[Floats, bool]:
    """The same with another limit on the states of the exact way."""
    states = 1
    for value in range(len(count)):
        states *= count[value] + 1
        if states > most_states:
            return _scaled(weight, count), False
    return _counted(weight, count, states), True


@kernel
def _counted(weight: Floats, count: NDArray[np.int64], states: int) -> Floats:
    people, values = weight.shape
    step = np.empty(values, np.int64)  # the mixed radix of the states
    radix = 1
    for value in range(values):
        step[value] = radix
        radix *= count[value] + 1
    left = np.empty((states, values), np.int64)  # rows of each value that a state has left
    for state in range(states):
        for value in range(values):
            left[state, value] = count[value] - (state // step[value]) % (count[value] + 1)
    forward = np.zeros((people + 1, states))  # mass of having used so many rows of each value
    forward[0, 0] = 1.0
    for person in range(people):
        for state in range(states):
            if forward[person, state] == 0:
                continue
            for value in range(values):
                if left[state, value] > 0:  # each of the rows left with the value is one way
                    ways = weight[person, value] * left[state, value]
                    forward[person + 1, state + step[value]] += forward[person, state] * ways
        _rescale(forward[person + 1])
    backward = np.zeros(states)
    backward[states - 1] = 1.0
    belief = np.zeros((people, values))
    for person in range(people - 1, -1, -1):
        before = np.zeros(states)
        total = 0.0
        for state in range(states):
            if forward[person, state] == 0:
                continue
            for value in range(values):
                if left[state, value] > 0:
                    ways = weight[person, value] * left[state, value]
                    ways *= backward[state + step[value]]
                    before[state] += ways
                    belief[person, value] += forward[person, state] * ways
                    total += forward[person, state] * ways
        for value in range(values):
            belief[person, value] /= total if total > 0 else 1.0
        _rescale(before)
        backward = before
    return belief


@kernel
def _rescale(mass: Floats) -> None:
    """Keep the numbers of worlds within the range of floats; only ratios matter."""
    greatest = mass.max()
    if greatest > 0:
        mass /= greatest


@kernel
def _scaled(weight: Floats, count: NDArray[np.int64]) -> Floats:
    people, values = weight.shape
    belief = weight.copy()
    for _ in range(SCALING_ROUNDS):
        change = 0.0
        for person in range(people):
            total = belief[person].sum()
            if total > 0:
                belief[person] /= total
        for value in range(values):
            total = belief[:, value].sum()
            if total > 0:
                change = max(change, abs(total / count[value] - 1))
                belief[:, value] *= count[value] / total
        if change < 1e-8:
            break
    for person in range(people):
        total = belief[person].sum()
        if total > 0:
            belief[person] /= total
    return belief
