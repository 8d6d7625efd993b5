"""Exact beliefs in a group where some people can't have some values.

The worlds of a group are the ways to give each person one of its rows; with a weight for each
person and value, a belief is a share of weighted worlds. Rows with equal values are exchangeable,
so the dynamic program runs over people and its state is how many rows of each value are left:
Π(count + 1) states, not n!. A forward and a backward pass give all beliefs at once. Beyond
``EXACT_STATES`` states the beliefs are those of alternating scaling, an approximation.
"""

from __future__ import annotations

import numpy as np

from discreet.table.kernels import kernel
from discreet.typing import Floats, Ints, StopFlag

EXACT_STATES = 4096
SCALING_ROUNDS = 200


def matching_beliefs(weight: Floats, count: Ints) -> tuple[Floats, bool]:
    """P(person has value) over all weighted worlds; whether it is exact.

    ``weight`` is (people, values); ``count`` the rows of each value, as many as people in all.
    Zeros where no world is possible.
    """
    return matching_beliefs_within(weight, count, EXACT_STATES)


# Compiled: a sum over the states of each person in turn, in thousands of small groups.
@kernel
def matching_beliefs_within(weight: Floats, count: Ints, most_states: int) -> tuple[Floats, bool]:
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
        # Too many states: scale rows and columns in turn.
        belief = weight.copy()
        factor, held = np.ones(values), np.empty(values)
        change = 1.0
        for turn in range(SCALING_ROUNDS + 1):
            held[:] = 0.0
            for person in range(people):
                whole = 0.0
                for value in range(values):
                    belief[person, value] *= factor[value]
                    whole += belief[person, value]
                for value in range(values if whole > 0 else 0):
                    belief[person, value] /= whole
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
    belief = np.zeros((people, values))
    if count.sum() != people:
        return belief, True
    # List the states, and order them by how many rows are used.
    left = np.empty((states, values), np.int64)  # rows of each value that a state has left
    left[0] = count
    used = np.zeros(states, np.int64)  # rows of all values: how many people have one
    first = np.zeros(people + 2, np.int64)  # of the states that have used so many
    first[1] = 1
    for state in range(1, states):  # count down, the first value as the last digit
        used[state] = used[state - 1] + 1
        value = 0
        while left[state - 1, value] == 0:
            left[state, value] = count[value]
            used[state] -= count[value]
            value += 1
        left[state, value] = left[state - 1, value] - 1
        for rest in range(value + 1, values):
            left[state, rest] = left[state - 1, rest]
        first[used[state] + 1] += 1
    for person in range(people + 1):
        first[person + 1] += first[person]
    at, order = first.copy(), np.empty(states, np.int64)
    for state in range(states):
        order[at[used[state]]] = state
        at[used[state]] += 1
    # The mass of reaching each state, person by person.
    forward = np.zeros(states)  # mass of having used so many rows of each value
    forward[0] = 1.0
    for person in range(people):
        for i in range(first[person], first[person + 1]):
            state = order[i]
            for value in range(values if forward[state] > 0 else 0):
                if left[state, value] > 0:  # each of the rows left with the value is one way
                    ways = weight[person, value] * left[state, value]
                    forward[state + step[value]] += forward[state] * ways
        _normalize(forward, order[first[person + 1] : first[person + 2]])
    # The mass of ending from each state; both give the beliefs.
    backward = np.zeros(states)
    backward[states - 1] = 1.0
    for person in range(people - 1, -1, -1):
        total = 0.0
        for i in range(first[person], first[person + 1]):
            state = order[i]
            for value in range(values if forward[state] > 0 else 0):
                if left[state, value] > 0:
                    ways = weight[person, value] * left[state, value]
                    ways *= backward[state + step[value]]
                    backward[state] += ways
                    belief[person, value] += forward[state] * ways
                    total += forward[state] * ways
        for value in range(values):
            belief[person, value] /= total if total > 0 else 1.0
        _normalize(backward, order[first[person] : first[person + 1]])
    return belief, True


# Compiled: called for every person.
@kernel
def _normalize(mass: Floats, states: Ints) -> None:
    """Keep the masses of some states within the range of floats: ratios matter."""
    greatest = 0.0
    for state in states:
        greatest = max(greatest, mass[state])
    if greatest > 0:
        for state in states:
            mass[state] /= greatest


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
        of_group, _ = matching_beliefs_within(pairs, count[low:high], most_states)
        for person in range(people):
            for value in range(high - low):
                belief[entry[group] + person * (high - low) + value] = of_group[person, value]
