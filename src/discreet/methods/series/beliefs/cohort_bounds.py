"""The cohort certificate: bounds on beliefs that need no enumeration, whatever C is.

n persons with the same groups in all releases are exchangeable, so each has a value that occurs c
times in a group with at most c/n. A *blank* appearance, alone in a group with all values equally
often, tells an attacker nothing; as long as it is not followed by another group it is as if the
person had been absent. What the past and C disclose about a blank appearance is bounded by the most
that beliefs of at most c/n can give any one value.
"""

from __future__ import annotations

import numpy as np

from discreet.methods.series.beliefs.equal_runs import distinct_runs
from discreet.table.kernels import kernel
from discreet.typing import Bools, Floats, Ints


@kernel
def cohorts_of(group_of: Ints, start: Ints, count: Ints, values: int) -> tuple[Ints, Ints, Bools]:
    """The cohort of every person, −1 where nothing can be said; their sizes; what is blank.

    (persons,), (cohorts,), (releases, persons).
    """
    layers, people = group_of.shape
    size = np.zeros(len(start), np.int64)
    for layer in range(layers):
        for person in range(people):
            if group_of[layer, person] >= 0:
                size[group_of[layer, person]] += 1
    blank = np.zeros((layers, people), np.bool_)
    past = np.empty(people * layers, np.int32)
    known = np.ones(people, np.bool_)
    for person in range(people):
        for layer in range(layers):
            group = group_of[layer, person]
            past[person * layers + layer] = group
            if group < 0:
                continue
            own = count[start[group] : start[group + 1]]
            if size[group] == 1 and len(own) == values and own.min() == own.max():
                blank[layer, person] = True
                past[person * layers + layer] = -1
            elif blank[:layer, person].any():
                known[person] = False
    number, first = distinct_runs(np.arange(people + 1) * layers, past)
    sizes = np.zeros(len(first), np.int64)
    for person in range(people):
        if not known[person]:
            number[person] = -1
        else:
            sizes[number[person]] += 1
    return number, sizes, blank


@kernel
def ahead_bound(
    own: Ints,  # (releases,) the groups of a person up to some release
    blank: Bools,  # (releases,)
    size: int,
    start: Ints,
    value: Ints,
    count: Ints,
    matrix: Floats,
) -> float:
    """A bound on the belief about the value after these, if beliefs are at most count/size."""
    last = len(own) - 1
    steps = 1
    while last >= 0 and (own[last] < 0 or blank[last]):
        steps += own[last] >= 0
        last -= 1
    if last < 0:
        return 1.0
    begin, end = start[own[last]], start[own[last] + 1]
    moved = np.zeros((end - begin, len(matrix)))
    for entry in range(begin, end):
        moved[entry - begin] = matrix[value[entry]]
    for _ in range(1, steps):
        after = np.zeros(moved.shape)
        for entry in range(end - begin):
            for old in range(len(matrix)):
                after[entry] += moved[entry, old] * matrix[old]
        moved = after
    greatest = 0.0
    for new in range(len(matrix)):
        room, total = 1.0, 0.0
        for at in np.argsort(-moved[:, new]):
            share = min(room, count[begin + at] / size)
            total += share * moved[at, new]
            room -= share
        greatest = max(greatest, total)
    return greatest


@kernel
def most_alike(own: Ints, blank: Bools, start: Ints, count: Ints) -> int:
    """The greatest count of a value in the groups of a person, the blank ones left out."""
    most = 0
    for layer in range(len(own)):
        if own[layer] >= 0 and not blank[layer]:
            most = max(most, count[start[own[layer]] : start[own[layer] + 1]].max())
    return most


@kernel
def cohort_bounds(group_of: Ints, start: Ints, value: Ints, count: Ints, matrix: Floats) -> Floats:
    """The certificate: a bound on the beliefs about every person, in every release.

    (releases, people), 0 where a person is absent, 1 where nothing is known.
    """
    layers, people = group_of.shape
    cohort, sizes, blank = cohorts_of(group_of, start, count, len(matrix))
    bounds = np.zeros((layers, people))
    for person in range(people):
        for layer in range(layers):
            group = group_of[layer, person]
            if group < 0:
                continue
            bounds[layer, person] = 1.0
            if cohort[person] < 0:
                continue
            size = sizes[cohort[person]]
            if blank[layer, person]:
                bound = ahead_bound(
                    group_of[:layer, person], blank[:layer, person], size,
                    start, value, count, matrix,
                )  # fmt: skip
            else:
                bound = count[start[group] : start[group + 1]].max() / size
            bounds[layer, person] = min(bound, 1.0)
    return bounds
