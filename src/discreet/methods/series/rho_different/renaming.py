"""Values that C does not tell apart, renamed so that families which differ only in them are one.

Two values are *alike* if exchanging them, as old and as new value, leaves C as it is: all values of
which C states nothing, say, or all of them if each stays with the same probability. Beliefs do not
depend on which of them a family has, only on how often it has each, and where. So the values of a
family are renamed among those alike, in the order of how often they occur in its groups, the first
group first; equal counts everywhere mean that the names may be exchanged as well. What remains is
the same for all families that an attacker reckons with in the same way.
"""

from __future__ import annotations

import numpy as np

from discreet.table.kernels import kernel
from discreet.typing import Floats, Ints, Ints32

CLOSE = 1e-12  # of two probabilities that differ by the order in which they were summed


@kernel
def alike_values(matrix: Floats) -> Ints:
    """(values,) the least value that each is alike to; itself if there is none."""
    values = len(matrix)
    least = np.arange(values)
    for value in range(values):
        for other in range(value):
            if least[other] == other and _alike(matrix, value, other):
                least[value] = other
                break
    return least


@kernel
def _alike(matrix: Floats, one: int, other: int) -> bool:
    if not _close(matrix[one, one], matrix[other, other]):
        return False
    if not _close(matrix[one, other], matrix[other, one]):
        return False
    for value in range(len(matrix)):
        if value in (one, other):
            continue
        if not _close(matrix[one, value], matrix[other, value]):
            return False
        if not _close(matrix[value, one], matrix[value, other]):
            return False
    return True


@kernel
def _close(one: float, other: float) -> bool:
    return abs(one - other) <= CLOSE * max(one, other)


@kernel
def names_of(run: Ints32, layers: int, now: Ints, alike: Ints) -> Ints:
    """(values,) the name of every value, for the family of a run (see ``shapes``).

    ``now`` are values of the family that are not in the run, each as often as it occurs.
    """
    at = 1 + run[0] * (layers + 1)  # the number of members, their groups, who is here
    groups = run[at]
    sizes = run[at + 1 : at + 1 + groups]
    entries = sizes.sum()
    at += 1 + groups
    place = np.full(len(alike), -1, np.int64)  # of a value among those touched
    touched = np.empty(entries + len(now), np.int64)
    number = 0
    for value in now:
        if place[value] < 0:
            place[value] = number
            touched[number] = value
            number += 1
    for entry in range(at, at + entries):
        if place[run[entry]] < 0:
            place[run[entry]] = number
            touched[number] = run[entry]
            number += 1
    counts = np.zeros((number, groups + 1), np.int64)
    for group in range(groups):
        for _ in range(sizes[group]):
            counts[place[run[at]], group] = run[at + entries]
            at += 1
    for value in now:
        counts[place[value], groups] += 1
    return _give_names(touched[:number], counts, alike)


@kernel
def _give_names(touched: Ints, counts: Ints, alike: Ints) -> Ints:
    """The names among those alike: to the most frequent first, to the untouched ones last."""
    values = len(alike)
    following = np.full(values, -1, np.int64)  # the next name among those alike
    last = np.arange(values)
    for value in range(values):
        if alike[value] != value:
            following[last[alike[value]]] = value
            last[alike[value]] = value
    free = np.arange(values)  # the next name to give, of the least among those alike
    name = np.full(values, -1, np.int64)
    order = np.arange(len(touched))
    for i in range(1, len(order)):
        one = order[i]
        j = i
        while j > 0 and _comes_first(counts[one], counts[order[j - 1]]):
            order[j] = order[j - 1]
            j -= 1
        order[j] = one
    for at in order:
        kind = alike[touched[at]]
        name[touched[at]] = free[kind]
        free[kind] = following[free[kind]]
    for value in range(values):
        if name[value] < 0:
            name[value] = free[alike[value]]
            free[alike[value]] = following[free[alike[value]]]
    return name


@kernel
def _comes_first(one: Ints, other: Ints) -> bool:
    """Return whether the first counts that differ are greater."""
    for at in range(len(one)):
        if one[at] != other[at]:
            return bool(one[at] > other[at])
    return False


@kernel
def rename_runs(start: Ints, run: Ints32, layers: int, alike: Ints) -> Ints32:
    """The runs of families with their values renamed, the entries of each group in order."""
    renamed = run.copy()
    nothing = np.empty(0, np.int64)
    for family in range(len(start) - 1):
        own = run[start[family] : start[family + 1]]
        name = names_of(own, layers, nothing, alike)
        at = 1 + own[0] * (layers + 1)
        groups = own[at]
        sizes = own[at + 1 : at + 1 + groups]
        entries = sizes.sum()
        at += 1 + groups
        for group in range(groups):
            first = start[family] + at
            for entry in range(sizes[group]):
                code = name[own[at]]
                to = first + entry
                while to > first and renamed[to - 1] > code:
                    renamed[to] = renamed[to - 1]
                    renamed[to + entries] = renamed[to - 1 + entries]
                    to -= 1
                renamed[to] = code
                renamed[to + entries] = own[at + entries]
                at += 1
    return renamed


@kernel
def values_of(
    name: Ints,  # of each counterfeit
    family: Ints,  # of each counterfeit, those of one together
    layers: int,
    start: Ints,
    run: Ints32,
    now_start: Ints,  # (families + 1,)
    now: Ints,
    alike: Ints,
) -> Ints:
    """The values behind the names that some families were solved with."""
    value = name.copy()
    value_of_name = np.empty(len(alike), np.int64)
    for at in range(len(name)):
        own = family[at]
        if at == 0 or own != family[at - 1]:
            renamed = names_of(
                run[start[own] : start[own + 1]],
                layers,
                now[now_start[own] : now_start[own + 1]],
                alike,
            )
            for code in range(len(alike)):
                value_of_name[renamed[code]] = code
        value[at] = value_of_name[name[at]]
    return value
