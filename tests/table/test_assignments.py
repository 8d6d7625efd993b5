"""Sets of groups, and the rows that a known world leaves, beside those of a searched one."""

import numpy as np
import pytest

from discreet.table.assignments import (
    Sets,
    World,
    _entry_of_value,
    are_within,
    possible_rows,
)
from discreet.table.classes import group_codes
from discreet.table.kernels.lists import starts_of

VALUES = 4, 5, 70  # of each attribute; the last needs two words


def a_release(seed, people=60, crowded=False):
    """Sets of the groups of random people, with some noise; signatures; the true world."""
    rng = np.random.default_rng(seed)
    rows = np.stack([rng.integers(0, rng.integers(2, n + 1), people) for n in VALUES], axis=1)
    rows[:, 2] += rng.integers(0, VALUES[2] - rows[:, 2].max())
    order = rng.permutation(people)
    group = np.empty(people, np.int64)
    seen: list[set[int]] = []
    for row in order:  # at most one person of each primary value, but in groups that are crowded
        free = [g for g, held in enumerate(seen) if rows[row, 0] not in held or crowded]
        number = int(rng.choice([*free, len(seen)]))
        if number == len(seen):
            seen.append(set())
        seen[number].add(rows[row, 0])
        group[row] = number
    held = np.zeros((len(VALUES), len(seen), max(VALUES)), bool)
    for attribute in range(len(VALUES)):
        held[attribute, group, rows[:, attribute]] = True
        if attribute:
            noise = rng.random((len(seen), max(VALUES))) < rng.choice([0, 0.2])
            held[attribute] |= noise & np.isin(np.arange(max(VALUES)), rows[:, attribute])
    sets = Sets(
        starts_of(held.sum(axis=2).reshape(-1)), np.nonzero(held)[2].astype("i4"), len(seen)
    )
    found = group_codes(list(rows.T.astype(np.int32)), VALUES, people)
    codes = rows[found.first_row].astype(np.int32)
    world = World(group.astype(np.int32), found.class_of_row)
    return sets, codes, found.size, np.bincount(group), world


@pytest.mark.parametrize("crowded", [False, True])
@pytest.mark.parametrize("seed", range(30))
def test_a_known_world_leaves_the_rows_of_a_searched_one(seed, crowded):
    sets, codes, count, size, world = a_release(seed, crowded=crowded)
    searched = possible_rows(sets, codes, count, 0, size)
    known = possible_rows(sets, codes, count, 0, size, world=world)
    assert known.complete and searched.complete
    assert known.start.tolist() == searched.start.tolist()
    assert known.row.tolist() == searched.row.tolist()


@pytest.mark.parametrize("seed", range(10))
def test_sets_hold_the_values_that_they_list(seed):
    sets, *_ = a_release(seed)
    for attribute, values in enumerate(VALUES):
        start, listed = sets.of(attribute)
        group, value = np.mgrid[: sets.groups, -1 : values + 64].reshape(2, -1)
        expected = [v in listed[start[g] : start[g + 1]] for g, v in zip(group, value, strict=True)]
        assert sets.hold(attribute, group, value).tolist() == expected


@pytest.mark.parametrize("attribute", range(len(VALUES)))
def test_an_entry_is_that_of_the_value_in_its_group(attribute):
    sets, codes, _, _, world = a_release(3, people=200, crowded=True)
    value = codes[world.signature, attribute]
    start, listed = sets.of(attribute)
    expected = [
        int(start[group] + listed[start[group] : start[group + 1]].tolist().index(one))
        for group, one in zip(world.group, value.tolist(), strict=True)
    ]
    assert _entry_of_value(sets, attribute, world.group, value).tolist() == expected


def test_a_world_is_within_the_sets_for_itself_alone():
    sets, codes, _, _, world = a_release(5)
    assert are_within(sets, codes, world)
    false = World(world.group[::-1].copy(), world.signature)
    expected = all(
        sets.hold(a, false.group, codes[false.signature, a]).all() for a in range(len(VALUES))
    )
    assert not expected
    assert not are_within(sets, codes, false)
    assert are_within(sets, codes, world)
