"""The cohort certificate: bounds on beliefs that need no enumeration, whatever C is.

n persons with the same groups in all releases are exchangeable, so each has a value that occurs c
times in a group with at most c/n. A *blank* appearance, alone in a group with all values equally
often, tells an attacker nothing; as long as it is not followed by another group it is as if the
person had been absent. What the past and C disclose about a blank appearance is bounded by the most
that beliefs of at most c/n can give any one value.
"""

from __future__ import annotations

import numpy as np

from discreet.typing import Bools, Floats, Ints


def cohorts_of(group_of: Ints, start: Ints, count: Ints, values: int) -> tuple[Ints, Ints, Bools]:
    """The cohort of every person, −1 where nothing can be said; their sizes; what is blank.

    (persons,), (cohorts,), (releases, persons).
    """
    present = group_of >= 0
    size = np.bincount(group_of[present], minlength=len(start))
    even = np.zeros(len(start), np.bool_)  # groups of one person with all values equally often
    for group in np.flatnonzero((size[:-1] == 1) & (np.diff(start) == values)):
        counts = count[start[group] : start[group + 1]]
        even[group] = counts.min() == counts.max()
    blank = present & even[group_of]
    known = ~(np.logical_or.accumulate(blank, axis=0) & present & ~blank).any(axis=0)
    past = np.where(blank, -1, group_of)
    _, first, number = np.unique(past, axis=1, return_index=True, return_inverse=True)
    cohort = np.argsort(np.argsort(first))[number.reshape(-1)]  # in the order of their first
    cohort[~known] = -1
    return cohort, np.bincount(cohort[known], minlength=len(first)), blank


def distinct_pasts(group_of: Ints, blank: Bools, cohort: Ints) -> tuple[Ints, Ints]:
    """A person of each kind of past, and the kind of each person."""
    both = np.concatenate((group_of, blank, cohort[None]))
    _, first, number = np.unique(both, axis=1, return_index=True, return_inverse=True)
    return first, number.reshape(-1)


def ahead_bound(
    groups_of_person: Ints,  # (releases,) the groups of a person up to some release
    blank: Bools,  # (releases,)
    size: int,
    start: Ints,
    value: Ints,
    count: Ints,
    matrix: Floats,
) -> float:
    """A bound on the belief about the value after these, if beliefs are at most count/size."""
    last = len(groups_of_person) - 1
    steps = 1
    while last >= 0 and (groups_of_person[last] < 0 or blank[last]):
        steps += int(groups_of_person[last] >= 0)
        last -= 1
    if last < 0:
        return 1.0
    entries = slice(start[groups_of_person[last]], start[groups_of_person[last] + 1])
    moved = matrix[value[entries]]
    for _ in range(1, steps):
        moved = moved @ matrix
    order = np.argsort(-moved, axis=0)
    share = (count[entries] / size)[order]
    room = np.maximum(1.0 - (np.cumsum(share, axis=0) - share), 0.0)
    likely = np.take_along_axis(moved, order, axis=0)
    return float((np.minimum(share, room) * likely).sum(axis=0).max(initial=0.0))


def most_alike(groups_of_person: Ints, blank: Bools, start: Ints, count: Ints) -> int:
    """The greatest count of a value in the groups of a person, the blank ones left out."""
    groups = groups_of_person[(groups_of_person >= 0) & ~blank]
    return max((int(count[start[g] : start[g + 1]].max()) for g in groups), default=0)


def cohort_bounds(group_of: Ints, start: Ints, value: Ints, count: Ints, matrix: Floats) -> Floats:
    """The certificate: a bound on the beliefs about every person, in every release.

    (releases, people), 0 where a person is absent, 1 where nothing is known.
    """
    cohort, sizes, blank = cohorts_of(group_of, start, count, len(matrix))
    first, number = distinct_pasts(group_of, blank, cohort)
    bounds = np.where(group_of[:, first] >= 0, 1.0, 0.0)
    for at, person in enumerate(first):
        if cohort[person] < 0:
            continue
        size = int(sizes[cohort[person]])
        for layer in np.flatnonzero(group_of[:, person] >= 0):
            group = group_of[layer, person]
            if blank[layer, person]:
                bound = ahead_bound(
                    group_of[:layer, person], blank[:layer, person], size,
                    start, value, count, matrix,
                )  # fmt: skip
            else:
                bound = int(count[start[group] : start[group + 1]].max()) / size
            bounds[layer, at] = min(bound, 1.0)
    return bounds[:, number]
