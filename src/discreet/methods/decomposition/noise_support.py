"""Noise that survives counting all people against all rows of T^S.

A noise value is lent by a row of T^S within the group's sets. That is not enough: the row has an
owner, and an attacker who assigns all people to all rows may find that the owner can have no other.
So each noise value needs an *exchange*: a person of the group gives the own row for the lending
one, and all other people still find a row. The true table is one assignment, so real values need
no proof.

Most exchanges are direct: an owner of the lending row is in a group whose sets contain the row that
is given. Where there is none, longer exchanges are searched in the whole table, as far as its graph
is searched at all (``table.assignments``). Where there is none either, an owner's group gets the
values of the row that is given as further noise. That makes a direct exchange possible and removes
no other. It may bring the first sensitive value of an attribute into a group of harmless ones; that
group is then filled up in turn, until nothing is lacking. Sets only grow, so this ends.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.methods.decomposition.noise import Noise, SensitiveTable, add_noise
from discreet.table.assignments import Sets, impossible_values, possible_rows
from discreet.table.counts import order_by_class
from discreet.table.kernels import kernel
from discreet.table.kernels.lists import distinct_values
from discreet.typing import Ints, Ints32

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
        doubtful = without_assignment(sensitive, group_of_row, groups, noise, rng)
        if not len(doubtful):
            return noise
        _, added = _exchange(rng, sensitive, group_of_row, groups, noise, doubtful, widen=True)
        noise = noise.and_further(*added)
        if sensitive.sensitive.all():
            return noise
        filled = _fill_widened(sensitive, group_of_row, groups, noise, distinct_values(added[0]),
                               rng, wanted)  # fmt: skip
        if filled.lacking.any() or not len(filled.value):
            lacking = np.zeros((groups, len(wanted)), np.int32)
            lacking[distinct_values(added[0])] = filled.lacking
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


def without_assignment(
    sensitive: SensitiveTable,
    group_of_row: Ints32,
    groups: int,
    noise: Noise,
    rng: np.random.Generator,
) -> Ints:
    """Return which noise values no assignment is found for.

    No assignment exists for any of them, unless the graph of persons and rows is too large to know.
    """
    every = np.arange(len(noise.value))
    doubtful, _ = _exchange(rng, sensitive, group_of_row, groups, noise, every, widen=False)
    if len(doubtful):
        doubtful = doubtful[_struck(sensitive, group_of_row, groups, noise)[doubtful]]
    return doubtful


def _struck(
    sensitive: SensitiveTable, group_of_row: Ints32, groups: int, noise: Noise
) -> NDArray[np.bool_]:
    """Return which noise values no assignment has; all where the graph is too large to know."""
    sets, places = sets_of_noise(sensitive, group_of_row, groups, noise)
    size = np.bincount(group_of_row, minlength=groups)
    possible = possible_rows(sets, sensitive.codes, sensitive.classes.size, 0, size)
    if possible is None:
        return np.ones(len(noise.value), bool)
    struck: NDArray[np.bool_] = impossible_values(sets, sensitive.codes, possible)[places]
    return struck


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


def _exchange(
    rng: np.random.Generator,
    sensitive: SensitiveTable,
    group_of_row: Ints32,
    groups: int,
    noise: Noise,
    asked: Ints,
    *,
    widen: bool,
) -> tuple[Ints, tuple[Ints32, Ints32, Ints32]]:
    """The noise values among ``asked`` without a direct exchange, and the values added."""
    signature = sensitive.classes.class_of_row
    same = np.zeros(len(signature), np.int32)
    group_start, row_of_group = order_by_class(group_of_row, same, groups, 1)
    owner_start, owner = order_by_class(signature, same, sensitive.classes.count, 1)
    doubtful, group, attribute, value = _find_exchanges(
        rng, sensitive.codes, sensitive.offset, sensitive.start, sensitive.listed, signature,
        group_of_row, group_start, row_of_group, owner_start, owner,
        noise.group, noise.attribute, noise.value, asked, widen,
    )  # fmt: skip
    return doubtful, (group, attribute, value)


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
@kernel
def _find_exchanges(
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
    widen: bool,
) -> tuple[Ints, Ints32, Ints32, Ints32]:
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
    doubtful = np.zeros(len(of_group), np.bool_)
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
        doubtful[entry] = least > 0
        if not widen or least == 0:
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
        np.flatnonzero(doubtful),
        np.array(noise_group, np.int32)[old:],
        np.array(noise_attribute, np.int32)[old:],
        np.array(noise_value, np.int32)[old:],
    )
