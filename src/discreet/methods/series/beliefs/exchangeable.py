"""Persons of a component with the same past, and the states that tell them apart in vain.

Persons who were in the same groups in every release are *twins*: an attacker knows the same about
all of them. States that differ only in which of them has which entry are alike, so what is summed
for the first of them, whose twins have their entries in order, holds for all. Four persons who were
always together have 24 states in a release without counterfeits, and all are alike.
"""

from __future__ import annotations

import numpy as np

from discreet.table.kernels import kernel
from discreet.typing import Ints, Ints32


# Compiled: a search for each of as many as thousands of states.
@kernel
def first_alike(group_of: Ints, states: Ints32, begin: Ints) -> Ints:
    """(states,) the first state that each is alike to, itself if there is none before it.

    The states of a release are in the order of their entries: exchanging two entries of twins
    that are not in order leads to an earlier one.
    """
    layers, people = group_of.shape
    twin = np.full(people, -1, np.int64)  # the last twin before each person
    for person in range(people):
        for other in range(person):
            layer = 0
            while layer < layers and group_of[layer, other] == group_of[layer, person]:
                layer += 1
            if layer == layers:
                twin[person] = other
    first = np.empty(begin[-1], np.int64)
    exchanged = np.empty(len(twin), np.int32)
    for layer in range(len(begin) - 1):
        for state in range(begin[layer], begin[layer + 1]):
            first[state] = state
            for person in range(len(twin)):
                other = twin[person]
                if other >= 0 and states[state, other] > states[state, person]:
                    exchanged[:] = states[state]
                    exchanged[person] = states[state, other]
                    exchanged[other] = states[state, person]
                    low, high = begin[layer], state
                    while high - low > 1:  # find it among the states before this one
                        middle = (low + high) // 2
                        at = 0
                        while at < people and states[middle, at] == exchanged[at]:
                            at += 1
                        if at < people and states[middle, at] > exchanged[at]:
                            high = middle
                        else:
                            low = middle
                    first[state] = first[low]
                    break
    return first
