"""What a reader of a whole series believes: exact Bayes over all persons and releases at once.

A *world* gives every person, in every release where the person appears, one of the sensitive rows
of the person's group, no row to two persons. A world weighs the product of P(new | old) over each
person's consecutive appearances. A belief is a share of that weight.

Persons who never share a group, directly or through others, are independent, so beliefs are exact
on each *component* of persons. A component is walked release by release: a state says which value
every person has who is there (or was there and comes back), and sums run forward and backward over
the states. The cost is that of the states of neighbouring releases multiplied; components with too
many states are not guessed at (``Belief.TOO_LARGE``).

The *cohort certificate* needs no enumeration: n persons with the same groups in all releases are
exchangeable, so each has a value that occurs c times in the group with at most c/n, whatever C is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from discreet.kernels import kernel

MOST_STATES = 20_000  # of one release
MOST_PEOPLE = 48  # of one component
MOST_STEPS = 20_000_000  # pairs of states of neighbouring releases

Places = NDArray[np.int64]
Floats = NDArray[np.float64]


class Belief(IntEnum):
    """How the beliefs about a component were found."""

    EXACT = 1
    IMPOSSIBLE = 0  # no world agrees with what was published
    TOO_LARGE = -1


@dataclass(frozen=True, eq=False)
class Groups:
    """The published values of all groups of a series, releases one after the other."""

    start: Places  # (groups + 1,)
    value: Places  # (entries,)
    count: Places  # (entries,)

    @classmethod
    def of(cls, releases: Sequence[Sequence[NDArray[np.integer]]]) -> tuple[Groups, list[int]]:
        """Join the groups of several releases; also where each release's groups begin."""
        first = [0]
        starts: list[Places] = [np.zeros(1, np.int64)]
        for start, _, _ in releases:
            starts.append(start[1:].astype(np.int64) + starts[-1][-1])
            first.append(first[-1] + len(start) - 1)
        empty = np.zeros(0, np.int64)
        value = np.concatenate([empty, *(value for _, value, _ in releases)]).astype(np.int64)
        count = np.concatenate([empty, *(count for _, _, count in releases)]).astype(np.int64)
        return cls(np.concatenate(starts), value, count), first


def beliefs(group_of: NDArray[np.int64], groups: Groups, matrix: Floats) -> tuple[Belief, Floats]:
    """The belief in every value of every person of one component, in every release.

    ``group_of`` is (releases, persons), −1 where a person is absent. The beliefs are (releases,
    persons, values), 0 where a person is absent.
    """
    layers, people = group_of.shape
    if people > MOST_PEOPLE:
        return Belief.TOO_LARGE, np.zeros((layers, 0, 0))
    result = np.zeros((layers, people, len(matrix)))
    found = component_beliefs(
        group_of, groups.start, groups.value, groups.count.copy(), matrix, result
    )
    return Belief(int(found)), result


def components(group_of: NDArray[np.int64], groups: int) -> Places:
    """The component of every person: (releases, people) → (people,), −1 for who never appears."""
    return _components(group_of, groups)


def cohort_bounds(group_of: NDArray[np.int64], groups: Groups) -> Floats:
    """The cohort certificate: the greatest count/n of every person, in every release.

    (releases, people), 0 where a person is absent. A cohort is all who have the same groups.
    """
    people = group_of.shape[1]
    _, cohort, size = np.unique(group_of, axis=1, return_inverse=True, return_counts=True)
    n = size[cohort.reshape(-1)] if people else np.zeros(0)
    most = np.zeros(len(groups.start))
    if len(groups.value):
        most[:-1] = np.maximum.reduceat(groups.count, groups.start[:-1])
    bounds = most[group_of] / np.maximum(n, 1)
    return np.where(group_of >= 0, np.minimum(bounds, 1.0), 0.0)


def greatest_beliefs(
    group_of: NDArray[np.int64], groups: Groups, matrix: Floats, component: Places
) -> tuple[Floats, NDArray[np.int64]]:
    """The greatest belief about every person in every release, and how each component was found.

    (releases, people) and (components,); −1 where a component is too large or impossible.
    """
    known = np.flatnonzero(component >= 0)
    member = known[np.argsort(component[known], kind="stable")]
    sizes = np.bincount(component[known]) if len(known) else np.zeros(0, np.int64)
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    greatest = np.zeros(group_of.shape)
    found = _all_components(
        group_of, groups.start, groups.value, groups.count.copy(), matrix, start, member, greatest
    )
    return greatest, found


@kernel
def _all_components(
    group_of: Places,
    start: Places,
    value: Places,
    left: Places,
    matrix: Floats,
    first: Places,  # (components + 1,) where each begins among the members
    member: Places,
    greatest: Floats,
) -> Places:
    layers = len(group_of)
    found = np.zeros(len(first) - 1, np.int64)
    for component in range(len(first) - 1):
        people = member[first[component] : first[component + 1]]
        own = np.empty((layers, len(people)), np.int64)
        for layer in range(layers):
            for at in range(len(people)):
                own[layer, at] = group_of[layer, people[at]]
        if len(people) > MOST_PEOPLE:
            found[component] = -1
            continue
        belief = np.zeros((layers, len(people), len(matrix)))
        found[component] = component_beliefs(own, start, value, left, matrix, belief)
        for layer in range(layers):
            for at in range(len(people)):
                if found[component] == 1:
                    greatest[layer, people[at]] = belief[layer, at].max()
                else:
                    greatest[layer, people[at]] = -1.0
    return found


@kernel
def _components(group_of: Places, groups: int) -> Places:
    layers, people = group_of.shape
    parent = np.arange(people)
    member = np.full(groups, -1, np.int64)
    for layer in range(layers):
        for person in range(people):
            group = group_of[layer, person]
            if group < 0:
                continue
            if member[group] < 0:
                member[group] = person
                continue
            one, other = person, member[group]
            while parent[one] != one:
                parent[one] = parent[parent[one]]
                one = parent[one]
            while parent[other] != other:
                parent[other] = parent[parent[other]]
                other = parent[other]
            parent[max(one, other)] = min(one, other)
    result = np.full(people, -1, np.int64)
    number = 0
    for person in range(people):
        root = person
        while parent[root] != root:
            root = parent[root]
        seen = False
        for layer in range(layers):
            if group_of[layer, person] >= 0:
                seen = True
        if not seen:
            continue
        if result[root] < 0:
            result[root] = number
            number += 1
        result[person] = result[root]
    return result


@kernel
def _states(
    layer: int,
    group_of: Places,
    first: Places,
    last: Places,
    start: Places,
    value: Places,
    left: Places,
) -> tuple[NDArray[np.int32], Floats]:
    """All states of one release and their weights; none if there are too many.

    (states, persons), −1 for a person of whom nothing need be known. A person who is away keeps
    the value of the last appearance, which is any of that group's.
    """
    people = group_of.shape[1]
    who = np.empty(people, np.int64)
    begin = np.empty(people, np.int64)
    end = np.empty(people, np.int64)
    here = np.empty(people, np.bool_)
    alive = 0
    for person in range(people):
        if first[person] <= layer <= last[person]:
            at = layer
            while group_of[at, person] < 0:
                at -= 1
            who[alive] = person
            here[alive] = at == layer
            begin[alive] = start[group_of[at, person]]
            end[alive] = start[group_of[at, person] + 1]
            alive += 1
    states = np.full((64, people), -1, np.int32)
    weights = np.empty(64)
    if alive == 0:
        weights[0] = 1.0
        return states[:1], weights[:1]
    choice = begin - 1
    weight = np.ones(alive + 1)
    count = 0
    depth = 0
    while depth >= 0:
        if here[depth] and choice[depth] >= begin[depth]:
            left[choice[depth]] += 1  # take back what was chosen here before
        choice[depth] += 1
        while choice[depth] < end[depth] and here[depth] and left[choice[depth]] == 0:
            choice[depth] += 1
        if choice[depth] >= end[depth]:
            choice[depth] = begin[depth] - 1
            depth -= 1
            continue
        weight[depth + 1] = weight[depth]
        if here[depth]:
            weight[depth + 1] *= left[choice[depth]]
            left[choice[depth]] -= 1
        if depth < alive - 1:
            depth += 1
            continue
        if count == MOST_STATES:
            for at in range(alive):  # put everything back before giving up
                if here[at]:
                    left[choice[at]] += 1
            return states[:0], weights[:0]
        if count == len(states):
            grown = np.full((2 * count, people), -1, np.int32)
            grown[:count] = states
            states = grown
            heavier = np.empty(2 * count)
            heavier[:count] = weights
            weights = heavier
        for at in range(alive):
            states[count, who[at]] = value[choice[at]]
        weights[count] = weight[alive]
        count += 1
    return states[:count], weights[:count]


@kernel
def _step(
    one: NDArray[np.int32], other: NDArray[np.int32], moves: NDArray[np.bool_], matrix: Floats
) -> float:
    """The weight of going from one state to the next: by C where a person moves, else as it was."""
    weight = 1.0
    for person in range(len(one)):
        if one[person] >= 0 and other[person] >= 0:
            if moves[person]:
                weight *= matrix[one[person], other[person]]
            elif one[person] != other[person]:
                return 0.0
            if weight == 0.0:
                return 0.0
    return weight


@kernel
def component_beliefs(
    group_of: Places,  # (releases, persons of the component)
    start: Places,
    value: Places,
    left: Places,  # the counts; as they were when this returns
    matrix: Floats,
    result: Floats,  # (releases, persons, values), zero
) -> int:
    """Beliefs by forward and backward sums; 1 exact, 0 impossible, −1 too large."""
    layers, people = group_of.shape
    if people > MOST_PEOPLE:
        return -1
    first = np.full(people, layers, np.int64)
    last = np.full(people, -1, np.int64)
    for layer in range(layers):
        for person in range(people):
            if group_of[layer, person] >= 0:
                first[person] = min(first[person], layer)
                last[person] = layer
    states: list[NDArray[np.int32]] = []
    forward: list[Floats] = []
    for layer in range(layers):
        found, weights = _states(layer, group_of, first, last, start, value, left)
        if len(weights) == 0:
            return -1 if layer >= 0 and _has_room(layer, group_of, start, left) else 0
        if layer > 0:
            if float(len(weights)) * len(forward[layer - 1]) > MOST_STEPS:
                return -1
            before, mass = states[layer - 1], forward[layer - 1]
            moves = group_of[layer] >= 0
            for s in range(len(weights)):
                total = 0.0
                for b in range(len(mass)):
                    if mass[b] > 0.0:
                        total += mass[b] * _step(before[b], found[s], moves, matrix)
                weights[s] *= total
        total = weights.sum()
        if total <= 0.0:
            return 0
        states.append(found)
        forward.append(weights / total)
    backward = np.ones(len(forward[layers - 1]))
    for layer in range(layers - 1, -1, -1):
        mass = forward[layer] * backward
        mass /= mass.sum()
        for person in range(people):
            if group_of[layer, person] >= 0:
                for s in range(len(mass)):
                    result[layer, person, states[layer][s, person]] += mass[s]
        if layer > 0:
            _, weights = _states(layer, group_of, first, last, start, value, left)
            moves = group_of[layer] >= 0
            earlier = np.zeros(len(forward[layer - 1]))
            for b in range(len(earlier)):
                for s in range(len(backward)):
                    if backward[s] > 0.0:
                        step = _step(states[layer - 1][b], states[layer][s], moves, matrix)
                        earlier[b] += weights[s] * backward[s] * step
            backward = earlier / max(earlier.max(), 1e-300)
    return 1


@kernel
def _has_room(layer: int, group_of: Places, start: Places, left: Places) -> bool:
    """Whether every group of a release has a row for each of its persons."""
    people = group_of.shape[1]
    for person in range(people):
        group = group_of[layer, person]
        if group < 0:
            continue
        members = 0
        for other in range(people):
            if group_of[layer, other] == group:
                members += 1
        rows = 0
        for entry in range(start[group], start[group + 1]):
            rows += left[entry]
        if rows < members:
            return False
    return True
