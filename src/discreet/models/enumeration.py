"""Exact beliefs about one component of persons, by sums over all worlds, compiled.

A component is walked release by release. Where several of its persons share a group, a *state* says
which entry of the published values every person has (or had when last sharing a group, if the
person comes back), and sums run forward and backward over the states. A person who is *alone* in a
group hangs together with nobody there, so such appearances are no part of a state: they are summed
out of the person's own chain, from one shared group to the next. A group of one person with all
values equally often therefore costs nothing and tells nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels import kernel

MOST_STATES = 20_000  # of one release
MOST_PEOPLE = 48  # of one component
MOST_STEPS = 20_000_000  # pairs of states of neighbouring releases

EXACT = 1
IMPOSSIBLE = 0  # no world agrees with what was published
TOO_LARGE = -1

Places = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
States = NDArray[np.int32]


@kernel
def component_beliefs(
    group_of: Places,  # (releases, persons of the component), −1 where a person is absent
    start: Places,
    value: Places,
    left: Places,  # the counts; as they were when this returns
    matrix: Floats,
    result: Floats,  # (releases, persons, values), zero
) -> int:
    """The belief in every value of every person in every release; 1 exact, 0 impossible, −1."""
    layers, people = group_of.shape
    if people > MOST_PEOPLE:
        return TOO_LARGE
    shared = shared_places(group_of)
    first = np.full(people, layers, np.int64)  # release in which a person first shares a group
    last = np.full(people, -1, np.int64)
    width = 1
    for layer in range(layers):
        for person in range(people):
            if shared[layer, person]:
                first[person] = min(first[person], layer)
                last[person] = layer
                group = group_of[layer, person]
                width = max(width, start[group + 1] - start[group])
    step, opening, ending = _tables(group_of, shared, first, start, value, left, matrix, width)
    states = np.empty((64, people), np.int32)
    weight = np.empty(64)
    begin = np.zeros(layers + 1, np.int64)  # where the states of each release begin
    for layer in range(layers):
        begin[layer + 1] = begin[layer]
        if not shared[layer].any():
            continue
        end, states, weight = _add_states(
            layer, begin[layer], group_of, shared, first, last, start, left, states, weight
        )
        if end <= begin[layer]:
            return end if end < 0 else IMPOSSIBLE
        begin[layer + 1] = end
        for state in range(begin[layer], end):
            for person in range(people):
                if shared[layer, person]:
                    entry = states[state, person]
                    if first[person] == layer:
                        weight[state] *= opening[person, entry]
                    if last[person] == layer:
                        weight[state] *= ending[person, entry]
    return _sum_up(
        group_of, shared, first, last, start, value, left, matrix, result,
        step, opening, ending, states, weight, begin,
    )  # fmt: skip


@kernel
def shared_places(group_of: Places) -> Flags:
    """(releases, persons) whether a person is in a group with another."""
    layers, people = group_of.shape
    shared = np.zeros((layers, people), np.bool_)
    for layer in range(layers):
        for one in range(people):
            for other in range(one):
                if group_of[layer, one] >= 0 and group_of[layer, one] == group_of[layer, other]:
                    shared[layer, one] = True
                    shared[layer, other] = True
    return shared


@kernel
def _move(
    weight: Floats, group: int, start: Places, value: Places, count: Places, matrix: Floats
) -> Floats:
    """Carry weights of all values on by C into a group of one person."""
    after = np.zeros(len(matrix))
    for entry in range(start[group], start[group + 1]):
        new = value[entry]
        total = 0.0
        for old in range(len(matrix)):
            if weight[old] > 0.0:
                total += weight[old] * matrix[old, new]
        after[new] = total * count[entry]
    return after


@kernel
def _tables(
    group_of: Places,
    shared: Flags,
    first: Places,
    start: Places,
    value: Places,
    count: Places,
    matrix: Floats,
    width: int,
) -> tuple[Floats, Floats, Floats]:
    """The weights of each person's chain from one shared group to the next.

    ``step`` (releases, persons, entries before, entries) of moving into a shared group,
    ``opening`` (persons, entries) of what lies before the first one, ``ending`` after the last.
    """
    layers, people = group_of.shape
    step = np.zeros((layers, people, width, width))
    opening = np.ones((people, width))
    ending = np.ones((people, width))
    for person in range(people):
        source = first[person]
        if source == layers:
            continue
        group = group_of[source, person]
        before = _opening(group_of[:source, person], start, value, count, matrix)
        if len(before):
            for entry in range(start[group], start[group + 1]):
                opening[person, entry - start[group]] = (before * matrix[:, value[entry]]).sum()
        while source < layers:
            group = group_of[source, person]
            target = source + 1
            while target < layers and not shared[target, person]:
                target += 1
            for entry in range(start[group], start[group + 1]):
                weight = np.zeros(len(matrix))
                weight[value[entry]] = 1.0
                alone = False
                for between in range(source + 1, target):
                    own = group_of[between, person]
                    if own >= 0:
                        weight = _move(weight, own, start, value, count, matrix)
                        alone = True
                if target == layers:
                    ending[person, entry - start[group]] = weight.sum()
                    continue
                new = group_of[target, person]
                for to in range(start[new], start[new + 1]):
                    moved = matrix[value[entry], value[to]]
                    if alone:
                        moved = (weight * matrix[:, value[to]]).sum()
                    step[target, person, entry - start[group], to - start[new]] = moved
            source = target
    return step, opening, ending


@kernel
def _opening(groups: Places, start: Places, value: Places, count: Places, matrix: Floats) -> Floats:
    """The weights of all values after some groups in which a person is alone; empty if none."""
    weight = np.zeros(0)
    for group in groups:
        if group < 0:
            continue
        if len(weight):
            weight = _move(weight, group, start, value, count, matrix)
        else:
            weight = np.zeros(len(matrix))
            for entry in range(start[group], start[group + 1]):
                weight[value[entry]] = count[entry]
    return weight


@kernel
def _add_states(
    layer: int,
    count: int,
    group_of: Places,
    shared: Flags,
    first: Places,
    last: Places,
    start: Places,
    left: Places,
    states: States,
    weights: Floats,
) -> tuple[int, States, Floats]:
    """Append all states of one release and their weights; where they end, −1 if too many.

    A state is the entry of every person, −1 for a person of whom nothing need be known. A person
    who is away keeps the entry of the last shared group.
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
            while not shared[at, person]:
                at -= 1
            who[alive] = person
            here[alive] = at == layer
            begin[alive] = start[group_of[at, person]]
            end[alive] = start[group_of[at, person] + 1]
            alive += 1
    choice = begin - 1
    weight = np.ones(alive + 1)
    most = count + MOST_STATES
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
        if count == most:
            for at in range(alive):  # put everything back before giving up
                if here[at]:
                    left[choice[at]] += 1
            return TOO_LARGE, states, weights
        if count == len(states):
            grown = np.empty((2 * count, people), np.int32)
            grown[:count] = states
            states = grown
            heavier = np.empty(2 * count)
            heavier[:count] = weights
            weights = heavier
        states[count] = -1
        for at in range(alive):
            states[count, who[at]] = choice[at] - begin[at]
        weights[count] = weight[alive]
        count += 1
    return count, states, weights


@kernel
def _moves(
    one: States,
    states: States,
    begin: int,
    end: int,
    moves: Flags,
    table: Floats,
    moved: Floats,
) -> None:
    """The weight of going from one state to each of the next: by C where a person moves.

    States stand in the order of their entries, so what leads to a person is kept from one to the
    next as long as nobody before that person changes.
    """
    people = len(one)
    product = np.ones(people + 1)
    for s in range(begin, end):
        person = 0
        if s > begin:
            while person < people and states[s, person] == states[s - 1, person]:
                person += 1
        while person < people:
            weight = product[person]
            if one[person] >= 0 and states[s, person] >= 0:
                if moves[person]:
                    weight *= table[person, one[person], states[s, person]]
                elif one[person] != states[s, person]:
                    weight = 0.0
            person += 1
            product[person] = weight
        moved[s - begin] = product[people]


@kernel
def _sum_forward(
    shared: Flags, step: Floats, states: States, weight: Floats, begin: Places, forward: Floats
) -> int:
    """The weight of all that leads to each state, as shares of its release."""
    before = -1  # the release with states before this one
    for layer in range(len(shared)):
        first, end = begin[layer], begin[layer + 1]
        if end == first:
            continue
        forward[first:end] = 0.0 if before >= 0 else 1.0
        if before >= 0:
            if float(end - first) * (begin[before + 1] - begin[before]) > MOST_STEPS:
                return TOO_LARGE
            moved = np.empty(end - first)
            for b in range(begin[before], begin[before + 1]):
                if forward[b] > 0.0:
                    _moves(states[b], states, first, end, shared[layer], step[layer], moved)
                    for s in range(first, end):
                        forward[s] += forward[b] * moved[s - first]
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


@kernel
def _sum_backward(
    layer: int,
    before: int,
    shared: Flags,
    gap: Flags,  # (persons,) alone somewhere between their groups in these two releases
    step: Floats,
    states: States,
    weight: Floats,
    begin: Places,
    forward: Floats,
    backward: Floats,
) -> Floats:
    """Carry the sums back by one release; the weight of pairs of entries of those with a gap."""
    people = states.shape[1]
    width = step.shape[2]
    any_gap = gap.any()
    pair = np.zeros((people if any_gap else 0, width, width))
    first, end = begin[layer], begin[layer + 1]
    moved = np.empty(end - first)
    greatest = 0.0
    for b in range(begin[before], begin[before + 1]):
        backward[b] = 0.0
        if forward[b] <= 0.0:
            continue
        _moves(states[b], states, first, end, shared[layer], step[layer], moved)
        for s in range(first, end):
            flow = moved[s - first] * weight[s] * backward[s]
            backward[b] += flow
            if any_gap and flow > 0.0:
                for person in range(people):
                    if gap[person]:
                        pair[person, states[b, person], states[s, person]] += forward[b] * flow
        greatest = max(greatest, backward[b])
    for b in range(begin[before], begin[before + 1]):
        backward[b] /= greatest
    return pair


@kernel
def _alone(
    person: int,
    source: int,
    target: int,
    weight: Floats,
    group_of: Places,
    start: Places,
    value: Places,
    count: Places,
    matrix: Floats,
    result: Floats,
) -> bool:
    """Beliefs about a person in the groups where it is alone, between two shared ones.

    ``weight`` is that of the entries of the shared groups at both ends; an end that is none (−1,
    the number of releases) has one. Whether any value is possible.
    """
    layers, values = len(group_of), len(matrix)
    between = np.array(
        [at for at in range(source + 1, target) if group_of[at, person] >= 0], np.int64
    )
    ends = 1
    if target < layers:
        ends = start[group_of[target, person] + 1] - start[group_of[target, person]]
    after = np.ones((len(between), ends, values))  # the weight of all that follows a value
    for k in range(len(between) - 1, -1, -1):
        if k == len(between) - 1:
            if target < layers:
                for j in range(ends):
                    after[k, j] = matrix[:, value[start[group_of[target, person]] + j]]
            continue
        group = group_of[between[k + 1], person]
        for j in range(ends):
            after[k, j] = 0.0
            for e in range(start[group], start[group + 1]):
                after[k, j] += matrix[:, value[e]] * count[e] * after[k + 1, j, value[e]]
    begins = 1
    if source >= 0:
        begins = start[group_of[source, person] + 1] - start[group_of[source, person]]
    for i in range(begins):
        ahead = np.ones(values)
        if source >= 0:
            ahead = matrix[value[start[group_of[source, person]] + i]].copy()
        for k in range(len(between)):
            group = group_of[between[k], person]
            new = np.zeros(values)
            for e in range(start[group], start[group + 1]):
                code = value[e]
                now = ahead[code] * count[e]
                for j in range(ends):
                    result[between[k], person, code] += weight[i, j] * now * after[k, j, code]
                new += now * matrix[code]
            ahead = new
    for layer in between:
        total = result[layer, person].sum()
        if total <= 0.0:
            return False
        result[layer, person] /= total
    return True


@kernel
def _quotient(part: Floats, whole: Floats) -> Floats:
    """Element by element, 0 where both are."""
    result = np.zeros(part.shape)
    for i in range(part.shape[0]):
        for j in range(part.shape[1]):
            if part[i, j] > 0.0:
                result[i, j] = part[i, j] / whole[i, j]
    return result


@kernel
def _sum_up(
    group_of: Places,
    shared: Flags,
    first: Places,
    last: Places,
    start: Places,
    value: Places,
    count: Places,
    matrix: Floats,
    result: Floats,
    step: Floats,
    opening: Floats,
    ending: Floats,
    states: States,
    weight: Floats,
    begin: Places,  # (releases + 1,) where the states of each release begin
) -> int:
    """Forward and backward sums over the states, and the beliefs that follow."""
    layers, people = group_of.shape
    width = opening.shape[1]
    forward = np.empty(begin[layers])
    found = _sum_forward(shared, step, states, weight, begin, forward)
    if found != EXACT:
        return found
    for person in range(people):
        if last[person] < 0 and not _alone(
            person, -1, layers, np.ones((1, 1)), group_of, start, value, count, matrix, result
        ):
            return IMPOSSIBLE
    backward = np.ones(begin[layers])
    gap = np.zeros(people, np.bool_)
    layer = layers - 1
    while layer >= 0 and begin[layer + 1] == begin[layer]:
        layer -= 1
    while layer >= 0:
        held = np.zeros((people, width))
        mass = 0.0
        for s in range(begin[layer], begin[layer + 1]):
            mass += forward[s] * backward[s]
        for s in range(begin[layer], begin[layer + 1]):
            for person in range(people):
                if shared[layer, person]:
                    held[person, states[s, person]] += forward[s] * backward[s] / mass
        for person in range(people):
            gap[person] = False
            if not shared[layer, person]:
                continue
            group = group_of[layer, person]
            for entry in range(start[group], start[group + 1]):
                result[layer, person, value[entry]] = held[person, entry - start[group]]
            own = held[person : person + 1]
            if first[person] == layer:
                if (group_of[:layer, person] >= 0).any():
                    share = _quotient(own, opening[person : person + 1])
                    _alone(person, -1, layer, share, group_of, start, value, count, matrix, result)
            elif not shared[layer - 1, person]:
                at = layer - 1
                while not shared[at, person]:
                    gap[person] |= group_of[at, person] >= 0
                    at -= 1
            if last[person] == layer and (group_of[layer + 1 :, person] >= 0).any():
                share = _quotient(own, ending[person : person + 1]).T.copy()
                _alone(person, layer, layers, share, group_of, start, value, count, matrix, result)
        before = layer - 1
        while before >= 0 and begin[before + 1] == begin[before]:
            before -= 1
        if before >= 0:
            pair = _sum_backward(
                layer, before, shared, gap, step, states, weight, begin, forward, backward
            )
            for person in range(people):
                if not gap[person]:
                    continue
                at = layer - 1
                while not shared[at, person]:
                    at -= 1
                share = _quotient(pair[person], step[layer, person])
                _alone(person, at, layer, share, group_of, start, value, count, matrix, result)
        layer = before
    return EXACT
