"""Noise that survives counting all people against all rows of T^S.

A noise value is lent by a row of T^S within the group's sets. That is not enough: the row has an
owner, and an attacker who assigns all people to all rows may find that the owner can have no other.
So each noise value needs an *exchange*: a person of the group gives the own row for the lending
one, and all other people still find a row. The true table is one assignment, so real values need
no proof.

The true table is a known assignment, so the graph of people and rows tells which noise has no
exchange, direct or through others (``table.possible_rows``). For such noise a direct exchange is
made possible: an owner of the lending row takes the row that is given, and the owner's group gets
its values as further noise, which removes no other exchange. It may bring the first sensitive value
of an attribute into a group of harmless ones; that group is then filled up in turn, until nothing
is lacking. Sets only grow, so this ends. Where the graph is too large, all noise gets a direct
exchange.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.methods.decomposition.noise import Noise, SensitiveTable, add_noise
from discreet.table.assignments import Sets, World, impossible_values, possible_rows, sets_of_groups
from discreet.table.counts import order_by_class
from discreet.table.kernels import kernel
from discreet.table.kernels.lists import distinct_values
from discreet.table.possible_rows import restricted_rows
from discreet.typing import Bools, Ints, Ints32

OWNERS = 64  # of a lending row that are looked at


def support_noise(
    sensitive: SensitiveTable,
    group_of_row: Ints32,
    groups: int,
    noise: Noise,
    rng: np.random.Generator,
    wanted: Sequence[int],
) -> Noise:
    """Return the noise, and values added so that no reader can strike any of it out.

    ``wanted`` has the least number of values of each attribute of which a group has a sensitive
    one. Only in the groups that get more, ``lacking`` says what could not be found.
    """
    while True:
        struck = struck_noise(sensitive, group_of_row, groups, noise)
        doubtful = np.arange(len(noise.value)) if struck is None else np.flatnonzero(struck)
        added = _widened(rng, sensitive, group_of_row, groups, noise, doubtful)
        if not len(added[0]):
            return noise
        noise = noise.and_further(*added)
        if sensitive.sensitive.all():  # no set can have become short
            return noise
        widened = distinct_values(added[0])
        filled = _fill_widened(sensitive, group_of_row, groups, noise, widened, rng, wanted)
        if filled.lacking.any():
            lacking = np.zeros((groups, len(wanted)), np.int32)
            lacking[widened] = filled.lacking
            return Noise(noise.group, noise.attribute, noise.value, lacking)
        noise = noise.and_further(filled.group, filled.attribute, filled.value)


def _fill_widened(
    sensitive: SensitiveTable,
    group_of_row: Ints32,
    groups: int,
    noise: Noise,
    widened: Ints,
    rng: np.random.Generator,
    wanted: Sequence[int],
) -> Noise:
    """Fill up some groups that have noise already; the new values are by the groups' numbers."""
    place = np.full(groups, -1, np.int32)
    place[widened] = np.arange(len(widened), dtype=np.int32)
    rows = np.flatnonzero(place[group_of_row] >= 0)
    rows = rows[np.argsort(place[group_of_row[rows]], kind="stable")]
    start = np.searchsorted(place[group_of_row[rows]], np.arange(len(widened) + 1))
    of_batch = np.flatnonzero(place[noise.group] >= 0)
    known = Noise(
        place[noise.group[of_batch]], noise.attribute[of_batch], noise.value[of_batch],
        np.zeros((0, 0), np.int32),
    )  # fmt: skip
    member = sensitive.classes.class_of_row[rows]
    filled = add_noise(sensitive, start, member, wanted, rng, known=known)
    return Noise(
        widened[filled.group].astype(np.int32), filled.attribute, filled.value, filled.lacking
    )


def struck_noise(
    sensitive: SensitiveTable, group_of_row: Ints32, groups: int, noise: Noise
) -> Bools | None:
    """Return which noise values no assignment has; None where the graph is too large to know.

    Each noise value must be supported: some row of T^S within the group's sets has it.
    """
    sets, places = sets_of_noise(sensitive, group_of_row, groups, noise)
    size = np.bincount(group_of_row, minlength=groups)
    world = World(group_of_row, sensitive.classes.class_of_row)
    codes, count = sensitive.codes, sensitive.classes.size
    restricted = restricted_rows(sets, codes, count, 0, size, world)
    if restricted is None:
        return None
    struck = np.zeros(len(sets.value), np.bool_)
    entries, narrow = sets_of_groups(sets, restricted.groups)
    struck[entries] = impossible_values(narrow, codes, restricted.rows)
    of_noise: Bools = struck[places]
    return of_noise


def without_assignment(
    sensitive: SensitiveTable, group_of_row: Ints32, groups: int, noise: Noise
) -> Ints:
    """Return which noise values, supported or not, no assignment has; all where none can know."""
    sets, places = sets_of_noise(sensitive, group_of_row, groups, noise)
    size = np.bincount(group_of_row, minlength=groups)
    world = World(group_of_row, sensitive.classes.class_of_row)
    codes, count = sensitive.codes, sensitive.classes.size
    possible = possible_rows(sets, codes, count, 0, size, world=world)
    if possible is None:  # the graph is too large
        return np.arange(len(noise.value))
    return np.flatnonzero(impossible_values(sets, codes, possible)[places])


def sets_of_noise(
    sensitive: SensitiveTable, group_of_row: Ints32, groups: int, noise: Noise
) -> tuple[Sets, Ints]:
    """Return the sets of all groups, and where each noise value is in them."""
    codes = sensitive.codes[sensitive.classes.class_of_row]
    attributes = codes.shape[1]
    width = int(codes.max(initial=0)) + 1
    of_noise = (noise.attribute.astype(np.int64) * groups + noise.group) * width + noise.value
    of_rows = (np.arange(attributes) * groups + group_of_row[:, None]) * width + codes
    entries = distinct_values(np.concatenate((of_rows.reshape(-1), of_noise)))
    start = np.searchsorted(entries, np.arange(attributes * groups + 1) * width)
    sets = Sets(start.astype(np.int64), (entries % width).astype(np.int32), groups)
    return sets, np.searchsorted(entries, of_noise)


def _widened(
    rng: np.random.Generator,
    sensitive: SensitiveTable,
    group_of_row: Ints32,
    groups: int,
    noise: Noise,
    asked: Ints,
) -> tuple[Ints32, Ints32, Ints32]:
    """Return further noise: groups, attributes and values, so that ``asked`` can be exchanged."""
    if not len(asked):
        nothing = np.zeros(0, np.int32)
        return nothing, nothing, nothing
    signature = sensitive.classes.class_of_row
    same = np.zeros(len(signature), np.int32)
    group_start, row_of_group = order_by_class(group_of_row, same, groups, 1)
    owner_start, owner = order_by_class(signature, same, sensitive.classes.count, 1)
    added: tuple[Ints32, Ints32, Ints32] = _make_exchanges(
        rng, sensitive.codes, sensitive.offset, sensitive.start, sensitive.listed, signature,
        group_of_row, group_start, row_of_group, owner_start, owner,
        noise.group, noise.attribute, noise.value, asked,
    )  # fmt: skip
    return added


# Compiled: called by the kernel below at every step.
@kernel
def _holds(
    group: int,
    attribute: int,
    value: int,
    codes: Ints32,
    signature: Ints32,
    group_start: Ints,
    row_of_group: Ints,
    latest: Ints,
    before: list[int],
    noise_attribute: list[np.int32],
    noise_value: list[np.int32],
) -> bool:
    """Return whether a group's set has a value, real or noise."""
    for i in range(group_start[group], group_start[group + 1]):
        if codes[signature[row_of_group[i]], attribute] == value:
            return True
    at = latest[group]
    while at >= 0:
        if noise_attribute[at] == attribute and noise_value[at] == value:
            return True
        at = before[at]
    return False


# Compiled: a search through owners for every noise value; what it adds counts for the next.
@kernel(work=100)
def _make_exchanges(
    rng: np.random.Generator,
    codes: Ints32,
    offset: Ints,
    start: Ints,
    listed: Ints32,
    signature: Ints32,
    group_of_row: Ints32,
    group_start: Ints,
    row_of_group: Ints,
    owner_start: Ints,
    owner: Ints,
    of_group: Ints32,
    of_attribute: Ints32,
    of_value: Ints32,
    asked: Ints,
) -> tuple[Ints32, Ints32, Ints32]:
    attributes = codes.shape[1]
    latest = np.full(len(group_start) - 1, -1, np.int64)  # noise of a group, one before the other
    before, noise_group = [-1], [np.int32(-1)]
    noise_attribute, noise_value = [np.int32(-1)], [np.int32(-1)]
    for i in range(len(of_group)):
        before.append(latest[of_group[i]])
        latest[of_group[i]] = len(before) - 1
        noise_group.append(of_group[i])
        noise_attribute.append(of_attribute[i])
        noise_value.append(of_value[i])
    for entry in asked:
        group, attribute, value = of_group[entry], of_attribute[entry], of_value[entry]
        place = offset[attribute] + attribute + value
        least, lent, taker = attributes, -1, -1
        for i in range(start[place], start[place + 1]):
            lender = listed[attribute, i]
            within = True
            for a in range(1, attributes):
                if not _holds(
                    group, a, codes[lender, a], codes, signature, group_start, row_of_group,
                    latest, before, noise_attribute, noise_value,
                ):  # fmt: skip
                    within = False
                    break
            if not within:
                continue
            owners = owner_start[lender + 1] - owner_start[lender]
            turn = int(rng.random() * owners)
            for j in range(group_start[group], group_start[group + 1]):
                lendable = signature[row_of_group[j]]
                if codes[lendable, 0] != codes[lender, 0]:
                    continue
                for step in range(min(owners, OWNERS)):
                    person = owner[owner_start[lender] + (turn + step) % owners]
                    other = group_of_row[person]
                    cost = 0
                    for a in range(1, attributes):
                        cost += not _holds(
                            other, a, codes[lendable, a], codes, signature, group_start,
                            row_of_group, latest, before, noise_attribute, noise_value,
                        )  # fmt: skip
                    if cost < least:
                        least, lent, taker = cost, lendable, other
                        if cost == 0:
                            break
                if least == 0:
                    break
            if least == 0:
                break
        if least == 0:
            continue
        for a in range(1, attributes):
            if not _holds(
                taker, a, codes[lent, a], codes, signature, group_start, row_of_group,
                latest, before, noise_attribute, noise_value,
            ):  # fmt: skip
                before.append(latest[taker])
                latest[taker] = len(before) - 1
                noise_group.append(np.int32(taker))
                noise_attribute.append(np.int32(a))
                noise_value.append(codes[lent, a])
    old = len(of_group) + 1
    return (
        np.array(noise_group, np.int32)[old:],
        np.array(noise_attribute, np.int32)[old:],
        np.array(noise_value, np.int32)[old:],
    )
