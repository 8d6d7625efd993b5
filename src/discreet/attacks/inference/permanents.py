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
from discreet.typing import Floats, Ints, StopFlag

EXACT_STATES = 4096
SCALING_ROUNDS = 200


def matching_beliefs(weight: Floats, count: NDArray[np.int64]) -> tuple[Floats, bool]:
    """P(person has value) over all weighted worlds; whether it is exact.

    ``weight`` is (people, values); ``count`` the rows of each value, as many as people in all.
    Zeros where no world is possible.
    """
    return matching_beliefs_within(weight, count, EXACT_STATES)


# Compiled: a sum over the states of each person in turn, in thousands of small groups.
@kernel
def matching_beliefs_within(
    weight: Floats, count: NDArray[np.int64], most_states: int
) -> tuple[Floats, bool]:
    """The same with another limit on the states of the exact way."""
    people, values = weight.shape
    step = np.empty(values, np.int64)  # the mixed radix of the states
    states = 1
    for value in range(values):
        step[value] = states
        states *= count[value] + 1
        if states > most_states:
            break
    if states > most_states:
        belief = weight.copy()
        factor, held = np.ones(values), np.empty(values)
        change = 1.0
        for turn in range(SCALING_ROUNDS + 1):
            held[:] = 0.0
            for person in range(people):
                total = 0.0
                for value in range(values):
                    belief[person, value] *= factor[value]
                    total += belief[person, value]
                for value in range(values if total > 0 else 0):
                    belief[person, value] /= total
                    held[value] += belief[person, value]
            if change < 1e-8 or turn == SCALING_ROUNDS:
                break
            change = 0.0
            for value in range(values):
                factor[value] = 1.0
                if held[value] > 0:
                    change = max(change, abs(held[value] / count[value] - 1))
                    factor[value] = count[value] / held[value]
        return belief, False
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
        greatest = forward[person + 1].max()  # kept within the range of floats: ratios matter
        if greatest > 0:
            forward[person + 1] /= greatest
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
        greatest = before.max()
        if greatest > 0:
            before /= greatest
        backward = before
    return belief, True


# Compiled: thousands of small groups, each with the kernel above.
@kernel(work=20)
def matching_beliefs_of_groups(
    start: Ints,  # (groups + 1,) of the people
    value_start: Ints,  # (groups + 1,)
    count: Ints,  # (values of all groups,)
    entry: Ints,  # (groups + 1,) of the pairs of a person and a value of the person's group
    weight: Floats,  # (pairs,)
    most_states: int,
    belief: Floats,  # (pairs,) written
    stop: StopFlag,
) -> None:
    """P(person has value) for every pair of each group, until the work must end."""
    for group in range(len(start) - 1):
        if stop[0]:
            break
        people = start[group + 1] - start[group]
        low, high = value_start[group], value_start[group + 1]
        pairs = weight[entry[group] : entry[group + 1]].reshape(people, high - low)
        found, _ = matching_beliefs_within(pairs, count[low:high], most_states)
        for person in range(people):
            for value in range(high - low):
                belief[entry[group] + person * (high - low) + value] = found[person, value]
