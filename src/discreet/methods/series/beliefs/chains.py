"""The chain of one person of a component: from one shared group to the next.

A person who is *alone* in a group shares no group with another person. Such appearances are summed
out of the person's own chain here; what several persons share is enumerated in ``enumeration``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.table.kernels import kernel
from discreet.typing import Bools, Floats, Ints


class Component(NamedTuple):
    """Persons whose beliefs hang together, their groups and C."""

    group_of: Ints  # (releases, persons), −1 where a person is absent
    shared: Bools  # (releases, persons) whether the person is in a group with another
    first: Ints  # (persons,) the release in which each first shares a group
    last: Ints  # (persons,) and last, −1 for who never does
    start: Ints  # (groups + 1,)
    value: Ints
    often: Ints  # how often each value occurs
    matrix: Floats


class Chains(NamedTuple):
    """The weights of each person's chain."""

    step: Floats  # (releases, persons, entries before, entries) of moving into a shared group
    opening: Floats  # (persons, entries) of what lies before the first shared group
    ending: Floats  # (persons, entries) of what lies after the last


# Compiled: called for every component.
@kernel
def chains_of(component: Component) -> Chains:
    """The weights of the chains of all persons."""
    layers, people = component.group_of.shape
    width = 1
    for layer in range(layers):
        for person in range(people):
            if component.shared[layer, person]:
                group = component.group_of[layer, person]
                width = max(width, component.start[group + 1] - component.start[group])
    step = np.zeros((layers, people, width, width))
    opening = np.ones((people, width))
    ending = np.ones((people, width))
    for person in range(people):
        source = component.first[person]
        if source == layers:
            continue
        weight = np.zeros(0)  # of the groups in which the person is alone before the first shared
        # Carry weights through the groups before the first shared one.
        for before in range(source):
            group = component.group_of[before, person]
            if group < 0:
                continue
            if len(weight):
                weight = _move(component, weight, group)
            else:
                weight = np.zeros(len(component.matrix))
                for entry in range(component.start[group], component.start[group + 1]):
                    weight[component.value[entry]] = component.often[entry]
        begin = component.start[component.group_of[source, person]]
        end = component.start[component.group_of[source, person] + 1]
        for entry in range(begin, end if len(weight) else begin):
            opening[person, entry - begin] = (
                weight * component.matrix[:, component.value[entry]]
            ).sum()
        # From each shared group to the next, through the groups where the person is alone.
        while source < layers:
            target = source + 1
            while target < layers and not component.shared[target, person]:
                target += 1
            begin = component.start[component.group_of[source, person]]
            end = component.start[component.group_of[source, person] + 1]
            for entry in range(begin, end):  # from a shared group to the next one, or to the end
                weight = np.zeros(len(component.matrix))
                weight[component.value[entry]] = 1.0
                alone = False
                for between in range(source + 1, target):
                    group = component.group_of[between, person]
                    if group >= 0:
                        weight = _move(component, weight, group)
                        alone = True
                if target == layers:
                    ending[person, entry - begin] = weight.sum()
                    continue
                new = component.group_of[target, person]
                for to in range(component.start[new], component.start[new + 1]):
                    moved = component.matrix[component.value[entry], component.value[to]]
                    if alone:
                        moved = (weight * component.matrix[:, component.value[to]]).sum()
                    step[target, person, entry - begin, to - component.start[new]] = moved
            source = target
    return Chains(step, opening, ending)


# Compiled: called for every group in which a person is alone.
@kernel
def _move(component: Component, weight: Floats, group: int) -> Floats:
    """Carry weights of all values on by C into a group of one person."""
    after = np.zeros(len(weight))
    for entry in range(component.start[group], component.start[group + 1]):
        new = component.value[entry]
        total = 0.0
        for old in range(len(weight)):
            if weight[old] > 0.0:
                total += weight[old] * component.matrix[old, new]
        after[new] = total * component.often[entry]
    return after


# Compiled: called for every stretch in which a person is alone.
@kernel
def beliefs_alone(
    component: Component, person: int, source: int, target: int, weight: Floats, result: Floats
) -> bool:
    """Beliefs about a person in the groups where it is alone, between two shared ones.

    ``weight`` is that of the entries of the shared groups at both ends; an end that is none (−1,
    the number of releases) has one. Whether any value is possible.
    """
    between = np.array(
        [at for at in range(source + 1, target) if component.group_of[at, person] >= 0], np.int64
    )
    begin, ends = 0, 1
    if target < len(component.group_of):
        begin = component.start[component.group_of[target, person]]
        ends = component.start[component.group_of[target, person] + 1] - begin
    # the weight of all that follows a value: (groups between, entries of the target, values)
    after = np.ones((len(between), ends, len(component.matrix)))
    for k in range(len(between) - 1, -1, -1):
        if k == len(between) - 1:
            for j in range(ends if target < len(component.group_of) else 0):
                after[k, j] = component.matrix[:, component.value[begin + j]]
            continue
        group = component.group_of[between[k + 1], person]
        for j in range(ends):
            after[k, j] = 0.0
            for e in range(component.start[group], component.start[group + 1]):
                code = component.value[e]
                after[k, j] += (
                    component.matrix[:, code] * component.often[e] * after[k + 1, j, code]
                )
    begin, begins = 0, 1
    if source >= 0:
        begin = component.start[component.group_of[source, person]]
        begins = component.start[component.group_of[source, person] + 1] - begin
    for i in range(begins):
        ahead = np.ones(len(component.matrix))
        if source >= 0:
            ahead = component.matrix[component.value[begin + i]].copy()
        for k in range(len(between)):
            group = component.group_of[between[k], person]
            new = np.zeros(len(component.matrix))
            for entry in range(component.start[group], component.start[group + 1]):
                code = component.value[entry]
                now = ahead[code] * component.often[entry]
                for j in range(after.shape[1]):
                    result[between[k], person, code] += weight[i, j] * now * after[k, j, code]
                new += now * component.matrix[code]
            ahead = new
    for layer in between:
        total = result[layer, person].sum()
        if total <= 0.0:
            return False
        result[layer, person] /= total
    return True
