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
from discreet.table.kernels.lists import starts_of
from discreet.typing import Floats, Ints, Ints32

CLOSE = 1e-12  # of two probabilities that differ by the order in which they were summed


FAMILIES = 2**16  # whose names are kept at once


def alike_values(matrix: Floats) -> Ints:
    """(values,) the least value that each is alike to; itself if there is none."""
    values = len(matrix)
    least = np.arange(values)
    for value in range(values):
        for other in np.flatnonzero(least[:value] == np.arange(value)):
            exchanged, ends = np.arange(values), np.array([value, other])
            exchanged[ends] = ends[::-1]
            if _close(matrix[ends], matrix[exchanged[ends]][:, exchanged]) and _close(
                matrix[:, ends], matrix[exchanged][:, exchanged[ends]]
            ):
                least[value] = other
                break
    return least


def _close(one: Floats, other: Floats) -> bool:
    return bool((np.abs(one - other) <= CLOSE * np.maximum(one, other)).all())


def rename_runs(start: Ints, run: Ints32, layers: int, alike: Ints) -> Ints32:
    """The runs of families with their values renamed, the entries of each group in order."""
    families = len(start) - 1
    renamed = run.copy()
    at_groups = start[:-1] + 1 + run[start[:-1]] * np.int64(layers + 1)
    groups = run[at_groups].astype(np.int64)
    of_group = np.repeat(np.arange(families), groups)
    held = starts_of(groups)
    sizes = run[at_groups[of_group] + 1 + np.arange(len(of_group)) - held[of_group]]
    entries = np.bincount(of_group, sizes, families).astype(np.int64)
    group = np.repeat(np.arange(len(of_group)), sizes)
    family = of_group[group]
    first = starts_of(entries)
    at = (at_groups + 1 + groups)[family] + np.arange(len(family)) - first[family]
    nothing = np.zeros(families + 1, np.int64)
    for low in range(0, families, FAMILIES):
        high = min(low + FAMILIES, families)
        names = names_of(np.arange(low, high), start, run, layers, nothing, nothing[:0], alike)
        part = slice(first[low], first[high])
        code = names[family[part] - low, run[at[part]]]
        order = first[low] + np.lexsort((code, group[part]))
        renamed[at[part]] = code[order - first[low]]
        renamed[at[part] + entries[family[part]]] = run[at[order] + entries[family[order]]]
    return renamed


def names_now(
    start: Ints, run: Ints32, layers: int, now_start: Ints, now: Ints, alike: Ints
) -> Ints:
    """The names of values that the families have now, those of a family in order."""
    family = np.repeat(np.arange(len(start) - 1), np.diff(now_start))
    name = np.empty(len(now), np.int64)
    for low in range(0, len(start) - 1, FAMILIES):
        high = min(low + FAMILIES, len(start) - 1)
        names = names_of(np.arange(low, high), start, run, layers, now_start, now, alike)
        part = slice(now_start[low], now_start[high])
        name[part] = names[family[part] - low, now[part]]
    return name[np.lexsort((name, family))]


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
    value = np.empty(len(name), np.int64)
    number = np.cumsum(np.diff(family, prepend=-1) != 0) - 1
    own = family[np.diff(family, prepend=-1) != 0]
    for low in range(0, len(own), FAMILIES):
        names = names_of(own[low : low + FAMILIES], start, run, layers, now_start, now, alike)
        part = slice(*np.searchsorted(number, [low, low + FAMILIES]))
        value_of_name = np.argsort(names, axis=1)
        value[part] = value_of_name[number[part] - low, name[part]]
    return value


# Compiled: counts and orders the values of as many as a million families of a few people.
@kernel
def names_of(
    family: Ints,
    start: Ints,
    run: Ints32,
    layers: int,
    now_start: Ints,
    now: Ints,
    alike: Ints,
) -> Ints32:
    """(families, values) the name of every value, for some families by their runs (``shapes``).

    ``now`` are values of a family that are not in its run, each as often as it occurs.
    """
    names = np.empty((len(family), len(alike)), np.int32)
    place = np.full(len(alike), -1, np.int64)  # of a value among those touched
    touched, order = np.empty(len(alike), np.int64), np.empty(len(alike), np.int64)
    following = np.full(len(alike), -1, np.int64)  # the next name among those alike
    last, free = np.arange(len(alike)), np.arange(len(alike))
    for value in range(len(alike)):
        if alike[value] != value:
            following[last[alike[value]]] = value
            last[alike[value]] = value
    for row in range(len(family)):
        one = family[row]
        own = now[now_start[one] : now_start[one + 1]]
        first = start[one]
        first += 1 + run[first] * (layers + 1)  # the number of members, their groups, who is here
        groups = run[first]
        at = first + 1 + groups
        entries = 0
        for group in range(groups):
            entries += run[first + 1 + group]
        number = 0
        for i in range(len(own) + entries):
            code = own[i] if i < len(own) else np.int64(run[at + i - len(own)])
            if place[code] < 0:
                place[code] = number
                touched[number] = code
                number += 1
        counts = np.zeros((number, groups + 1), np.int64)
        for group in range(groups):
            for _ in range(run[first + 1 + group]):
                counts[place[run[at]], group] = run[at + entries]
                at += 1
        for value in own:
            counts[place[value], groups] += 1
        order[:number] = np.arange(number)
        for i in range(1, number):  # the most frequent first, by the first counts that differ
            j = i
            while j > 0:
                at = 0
                while at < groups and counts[i, at] == counts[order[j - 1], at]:
                    at += 1
                if counts[i, at] <= counts[order[j - 1], at]:
                    break
                order[j] = order[j - 1]
                j -= 1
            order[j] = i
        free[:] = np.arange(len(alike))  # the next name to give, of the least among those alike
        for i in range(number):
            value = touched[order[i]]
            names[row, value] = free[alike[value]]
            free[alike[value]] = following[free[alike[value]]]
        for value in range(len(alike)):  # the untouched ones last
            if place[value] < 0:
                names[row, value] = free[alike[value]]
                free[alike[value]] = following[free[alike[value]]]
        for i in range(number):
            place[touched[i]] = -1
    return names
