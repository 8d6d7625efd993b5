"""Exact beliefs about one component of persons, by sums over all worlds, compiled.

A component is walked release by release. Where several of its persons share a group, a *state* says
which entry of the published values every person has (or had when last sharing a group, if the
person comes back), and sums run forward and backward over the states. A person who is *alone* in a
group shares no group with another person, so such appearances are no part of a state: they are
summed out of the person's own chain, from one shared group to the next (``chains``). A group of one
person with all values equally often therefore costs nothing and tells nothing. Sums are made for
one of all states that differ only among persons of the same past (``twins``).

Persons who were in the same groups in every release are *twins*: an attacker knows the same about
all of them. States that differ only in which of them has which entry are alike, so what is summed
for the first of them, whose twins have their entries in order, holds for all. Four persons who were
always together have 24 states in a release without counterfeits, and all are alike.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.methods.series.beliefs.chains import (
    Chains,
    Component,
    beliefs_alone,
    chains_of,
)
from discreet.table.budgets import MOST_STATES, TABLE_CELLS
from discreet.table.kernels import kernel
from discreet.typing import Bools, Floats, Ints, Ints32

MOST_PEOPLE = 48  # of one component

EXACT = 1
IMPOSSIBLE = 0  # no world agrees with what was published
TOO_LARGE = -1


class States(NamedTuple):
    """The states of all releases, one after the other."""

    entry: Ints32  # (states, persons) −1 for a person whose entry is not needed
    weight: Floats  # (states,)
    begin: Ints  # (releases + 1,) where the states of each release begin
    alike: Ints  # (states,) the first state that each is alike to, see ``twins``


# Compiled: called for every component or shape, and for every counterfeit that is tried.
@kernel
def component_beliefs(
    group_of: Ints,  # (releases, persons of the component), −1 where a person is absent
    start: Ints,
    value: Ints,
    count: Ints,  # as they were when this returns
    matrix: Floats,
    result: Floats,  # (releases, persons, values), zero
) -> int:
    """The belief in every value of every person in every release; 1 exact, 0 impossible, −1."""
    if group_of.shape[1] > MOST_PEOPLE:
        return TOO_LARGE
    # Who shares a group with another person, and when first and last.
    layers, people = group_of.shape
    shared = np.zeros((layers, people), np.bool_)
    first, last = np.full(people, layers, np.int64), np.full(people, -1, np.int64)
    for layer in range(layers):
        for member in range(people):
            for other in range(member):
                if (
                    group_of[layer, member] >= 0
                    and group_of[layer, member] == group_of[layer, other]
                ):
                    shared[layer, member] = shared[layer, other] = True
        for person in range(people):
            if shared[layer, person]:
                first[person] = min(first[person], layer)
                last[person] = layer
    # Enumerate the states, and sum forward.
    component = Component(group_of, shared, first, last, start, value, count, matrix)
    chains = chains_of(component)
    status, states = _states_of(component, chains)
    if status != EXACT:
        return status
    forward = np.empty(len(states.weight))
    status = _sum_forward(component.shared, chains.step, states, forward)
    if status != EXACT:
        return status
    for person in range(group_of.shape[1]):
        if component.last[person] < 0 and not beliefs_alone(
            component, person, -1, len(group_of), np.ones((1, 1)), result
        ):
            return IMPOSSIBLE
    _conclude(component, chains, states, forward, result)
    return EXACT


# Compiled: enumerates as many as thousands of states of every component.
@kernel
def _states_of(component: Component, chains: Chains) -> tuple[int, States]:
    """The states of all releases, each with the weight of what lies before and after its chains."""
    layers, people = component.group_of.shape
    entry = np.empty((256, people), np.int32)
    weight = np.empty(256)
    begin = np.zeros(layers + 1, np.int64)
    status = EXACT
    for layer in range(layers):
        begin[layer + 1] = begin[layer]
        if status != EXACT or not component.shared[layer].any():
            continue
        end, entry, weight = _add_states(component, layer, begin[layer], entry, weight)
        if end <= begin[layer]:
            status = TOO_LARGE if end < 0 else IMPOSSIBLE
            continue
        begin[layer + 1] = end
        for state in range(begin[layer], end):
            for person in range(people):
                if component.first[person] == layer:
                    weight[state] *= chains.opening[person, entry[state, person]]
                if component.last[person] == layer:
                    weight[state] *= chains.ending[person, entry[state, person]]
    return status, States(
        entry, weight[: begin[layers]], begin, first_alike(component.group_of, entry, begin)
    )


# Compiled: enumerates the states of a release in depth.
@kernel
def _add_states(
    component: Component, layer: int, count: int, states: Ints32, weights: Floats
) -> tuple[int, Ints32, Floats]:
    """Append all states of one release and their weights; where they end, −1 if too many."""
    # A person who is away keeps the entry of the last shared group.
    who = np.flatnonzero((component.first <= layer) & (component.last >= layer))
    begin, end = np.empty(len(who), np.int64), np.empty(len(who), np.int64)
    here = np.empty(len(who), np.bool_)
    for place in range(len(who)):
        at = layer
        while not component.shared[at, who[place]]:
            at -= 1
        here[place] = at == layer
        begin[place] = component.start[component.group_of[at, who[place]]]
        end[place] = component.start[component.group_of[at, who[place]] + 1]
    left = component.often  # of each entry, while choosing; put back in the end
    choice = begin - 1
    weight = np.ones(len(who) + 1)
    most = count + MOST_STATES
    depth = 0
    # Choose an entry that is left for one person after the other.
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
        if depth < len(who) - 1:
            depth += 1
            continue
        # Every person has an entry: store the state.
        if count == most:
            for at in range(len(who)):
                if here[at]:
                    left[choice[at]] += 1
            return TOO_LARGE, states, weights
        if count == len(states):
            states = np.concatenate((states, np.empty_like(states)))
            weights = np.concatenate((weights, np.empty_like(weights)))
        states[count] = -1
        for at in range(len(who)):
            states[count, who[at]] = choice[at] - begin[at]
        weights[count] = weight[len(who)]
        count += 1
    return count, states, weights


# Compiled: called for every state, over as many as thousands of others.
@kernel
def _moves(
    origin: Ints32,
    states: Ints32,
    targets: Ints,
    moves: Bools,
    table: Floats,
    product: Floats,  # (persons + 1,) to reckon with; begins with 1
    moved: Floats,
) -> None:
    """The weight of going from one state to each of some others: by C where a person moves.

    States are in the order of their entries, so what leads to a person is kept from one to the
    next as long as no person before that person changes.
    """
    people = len(origin)
    for i in range(len(targets)):
        s = targets[i]
        person = 0
        if i > 0:
            while person < people and states[s, person] == states[targets[i - 1], person]:
                person += 1
        while person < people:
            weight = product[person]
            if origin[person] >= 0 and states[s, person] >= 0:
                if moves[person]:
                    weight *= table[person, origin[person], states[s, person]]
                elif origin[person] != states[s, person]:
                    weight = 0.0
            person += 1
            product[person] = weight
        moved[i] = product[people]


# Compiled: sums over millions of pairs of states.
@kernel
def _sum_forward(shared: Bools, step: Floats, states: States, forward: Floats) -> int:
    """The weight of all that leads to each state, as shares of its release."""
    entry, weight, begin, alike = states
    before = -1  # the release with states before this one
    for layer in range(len(shared)):
        first, end = begin[layer], begin[layer + 1]
        if end == first:
            continue
        forward[first:end] = 0.0 if before >= 0 else 1.0
        # Sum what leads to each state; states that are alike are summed once.
        if before >= 0:
            if float(end - first) * (begin[before + 1] - begin[before]) > TABLE_CELLS:
                return TOO_LARGE
            targets = first + np.flatnonzero(alike[first:end] == np.arange(first, end))
            product, moved = np.ones(entry.shape[1] + 1), np.empty(len(targets))
            for b in range(begin[before], begin[before + 1]):
                if forward[b] > 0.0:
                    _moves(entry[b], entry, targets, shared[layer], step[layer], product, moved)
                    for i in range(len(targets)):
                        forward[targets[i]] += forward[b] * moved[i]
            for s in range(first, end):
                forward[s] = forward[alike[s]]
        # Weigh each state, as a share of its release.
        mass = 0.0
        for s in range(first, end):
            forward[s] *= weight[s]
            mass += forward[s]
        if mass <= 0.0:
            return IMPOSSIBLE
        for s in range(first, end):
            forward[s] /= mass
        before = layer
    return EXACT


# Compiled: sums over millions of pairs of states.
@kernel
def _sum_backward(
    layer: int,
    before: int,
    shared: Bools,
    gap: Bools,  # (persons,) alone somewhere between their groups in these two releases
    step: Floats,
    states: States,
    forward: Floats,
    backward: Floats,
) -> Floats:
    """Carry the sums back by one release; the weight of pairs of entries of those with a gap."""
    entry, weight, begin, alike = states
    people = entry.shape[1]
    width = step.shape[2]
    any_gap = gap.any()
    pair = np.zeros((people if any_gap else 0, width, width))
    first, end = begin[layer], begin[layer + 1]
    targets = np.arange(first, end)
    product, moved = np.ones(people + 1), np.empty(end - first)
    greatest = 0.0
    # Sum what follows each state of the release before.
    for b in range(begin[before], begin[before + 1]):
        backward[b] = 0.0
        if forward[b] <= 0.0:
            continue
        if alike[b] < b and not any_gap:
            backward[b] = backward[alike[b]]
            continue
        _moves(entry[b], entry, targets, shared[layer], step[layer], product, moved)
        for s in range(first, end):
            flow = moved[s - first] * weight[s] * backward[s]
            backward[b] += flow
            if any_gap and flow > 0.0:
                for person in range(people):
                    if gap[person]:
                        pair[person, entry[b, person], entry[s, person]] += forward[b] * flow
        greatest = max(greatest, backward[b])
    for b in range(begin[before], begin[before + 1]):
        backward[b] /= greatest
    return pair


# Compiled: called for every component.
@kernel
def _conclude(
    component: Component, chains: Chains, states: States, forward: Floats, result: Floats
) -> None:
    """Sum backward over the states, and write down the beliefs that follow."""
    begin = states.begin
    backward = np.ones(len(forward))
    for layer in range(len(component.group_of) - 1, -1, -1):
        if begin[layer + 1] == begin[layer]:
            continue
        gap = _believe(component, chains, states, layer, forward, backward, result)
        before = layer - 1  # the release with states before this one
        while before >= 0 and begin[before + 1] == begin[before]:
            before -= 1
        if before >= 0:
            pair = _sum_backward(
                layer, before, component.shared, gap, chains.step, states, forward, backward
            )
            for person in range(len(gap)):
                if not gap[person]:
                    continue
                at = layer - 1
                while not component.shared[at, person]:
                    at -= 1
                # element by element, 0 where both are
                share = pair[person] / (chains.step[layer, person] + (pair[person] <= 0.0))
                beliefs_alone(component, person, at, layer, share, result)


# Compiled: called for every release of a component.
@kernel
def _believe(
    component: Component,
    chains: Chains,
    states: States,
    layer: int,
    forward: Floats,
    backward: Floats,
    result: Floats,
) -> Bools:
    """Beliefs in a release, and where people are alone before their first group or after the last.

    Who is alone somewhere between this group and the one before it is returned.
    """
    layers, people = component.group_of.shape
    first, end = states.begin[layer], states.begin[layer + 1]
    # The belief in every entry of the shared groups.
    mass = 0.0
    for s in range(first, end):
        mass += forward[s] * backward[s]
    held = np.zeros((people, chains.opening.shape[1]))  # the belief in every entry
    for s in range(first, end):
        for person in range(people):
            if component.shared[layer, person]:
                held[person, states.entry[s, person]] += forward[s] * backward[s] / mass
    gap = np.zeros(people, np.bool_)
    for person in range(people):
        if not component.shared[layer, person]:
            continue
        group = component.group_of[layer, person]
        for entry in range(component.start[group], component.start[group + 1]):
            result[layer, person, component.value[entry]] = held[
                person, entry - component.start[group]
            ]
        # Carry it on to groups where the person is alone before or after.
        belief = held[person : person + 1]
        if component.first[person] == layer:
            if (component.group_of[:layer, person] >= 0).any():
                share = belief / (chains.opening[person : person + 1] + (belief <= 0.0))
                beliefs_alone(component, person, -1, layer, share, result)
        elif not component.shared[layer - 1, person]:
            at = layer - 1
            while not component.shared[at, person]:
                gap[person] |= component.group_of[at, person] >= 0
                at -= 1
        if component.last[person] == layer and (component.group_of[layer + 1 :, person] >= 0).any():
            share = (belief / (chains.ending[person : person + 1] + (belief <= 0.0))).T.copy()
            beliefs_alone(component, person, layer, layers, share, result)
    return gap


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
    # Exchange twins that are not in order, and find the state that this gives.
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
