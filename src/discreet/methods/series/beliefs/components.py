"""Beliefs of an attacker who has a whole series: exact Bayes over all persons and releases.

A *world* gives every person, in every release where the person appears, one of the sensitive rows
of the person's group, no row to two persons. A world weighs the product of P(new | old) over each
person's consecutive appearances. A belief is a share of that weight.

Persons who never share a group, directly or through others, are independent, so beliefs are exact
on each *component* of persons (``enumeration``). Components with too many states are not guessed at
(``BeliefStatus.TOO_LARGE``); the cohort certificate may bound them (``cohorts``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from discreet.methods.series.beliefs.enumeration import (
    EXACT,
    IMPOSSIBLE,
    MOST_PEOPLE,
    TOO_LARGE,
    component_beliefs,
)
from discreet.table.graphs import smallest_connected
from discreet.table.kernels import kernel
from discreet.table.kernels.lists import distinct_values
from discreet.typing import Floats, Ints


class BeliefStatus(IntEnum):
    """How the beliefs about a component were found."""

    EXACT = EXACT
    IMPOSSIBLE = IMPOSSIBLE  # no world agrees with what was published
    TOO_LARGE = TOO_LARGE


@dataclass(frozen=True, eq=False)
class PublishedGroups:
    """The published values of all groups of a series, releases one after the other."""

    start: Ints  # (groups + 1,)
    value: Ints  # (entries,)
    count: Ints  # (entries,)

    @classmethod
    def of(
        cls, releases: Sequence[Sequence[NDArray[np.integer]]]
    ) -> tuple[PublishedGroups, list[int]]:
        """Join the groups of several releases; also where each release's groups begin."""
        first = [0]
        starts: list[Ints] = [np.zeros(1, np.int64)]
        for start, _, _ in releases:
            starts.append(start[1:].astype(np.int64) + starts[-1][-1])
            first.append(first[-1] + len(start) - 1)
        empty = np.zeros(0, np.int64)
        value = np.concatenate([empty, *(value for _, value, _ in releases)]).astype(np.int64)
        count = np.concatenate([empty, *(count for _, _, count in releases)]).astype(np.int64)
        return cls(np.concatenate(starts), value, count), first


def beliefs(
    group_of: NDArray[np.int64], groups: PublishedGroups, matrix: Floats
) -> tuple[BeliefStatus, Floats]:
    """The belief in every value of every person of one component, in every release.

    ``group_of`` is (releases, persons), −1 where a person is absent. The beliefs are (releases,
    persons, values), 0 where a person is absent.
    """
    layers, people = group_of.shape
    if people > MOST_PEOPLE:
        return BeliefStatus.TOO_LARGE, np.zeros((layers, 0, 0))
    result = np.zeros((layers, people, len(matrix)))
    status = component_beliefs(
        np.ascontiguousarray(group_of),
        groups.start,
        groups.value,
        groups.count.copy(),
        matrix,
        result,
    )
    return BeliefStatus(int(status)), result


def components(group_of: NDArray[np.int64], groups: int) -> Ints:
    """The component of every person: (releases, people) → (people,), −1 for who never appears."""
    people = group_of.shape[1]
    layer, person = np.nonzero(group_of >= 0)
    label = smallest_connected(people + groups, person, people + group_of[layer, person])
    known = distinct_values(person)
    result = np.full(people, -1, np.int64)
    result[known] = np.unique(label[known], return_inverse=True)[1]
    return result


def greatest_beliefs(
    group_of: NDArray[np.int64], groups: PublishedGroups, matrix: Floats, component: Ints
) -> tuple[Floats, NDArray[np.int64]]:
    """The greatest belief about every person in every release, and how each component was found.

    (releases, people) and (components,); −1 where a component is too large or impossible.
    """
    known = np.flatnonzero(component >= 0)
    member = known[np.argsort(component[known], kind="stable")]
    sizes = np.bincount(component[known]) if len(known) else np.zeros(0, np.int64)
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    greatest = np.zeros(group_of.shape)
    status = _all_components(
        group_of, groups.start, groups.value, groups.count.copy(), matrix, start, member, greatest
    )
    return greatest, status


# Compiled: one call for as many as hundreds of thousands of components.
@kernel
def _all_components(
    group_of: Ints,
    start: Ints,
    value: Ints,
    left: Ints,
    matrix: Floats,
    first: Ints,  # (components + 1,) where each begins among the members
    member: Ints,
    greatest: Floats,
) -> Ints:
    layers = len(group_of)
    status = np.zeros(len(first) - 1, np.int64)
    for component in range(len(first) - 1):
        people = member[first[component] : first[component + 1]]
        groups_of_members = np.empty((layers, len(people)), np.int64)
        for layer in range(layers):
            for at in range(len(people)):
                groups_of_members[layer, at] = group_of[layer, people[at]]
        if len(people) > MOST_PEOPLE:
            status[component] = -1
            continue
        belief = np.zeros((layers, len(people), len(matrix)))
        status[component] = component_beliefs(groups_of_members, start, value, left, matrix, belief)
        for layer in range(layers):
            for at in range(len(people)):
                if status[component] == 1:
                    greatest[layer, people[at]] = belief[layer, at].max()
                else:
                    greatest[layer, people[at]] = -1.0
    return status
