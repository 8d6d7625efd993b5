"""Families that look the same to an attacker have one shape."""

from __future__ import annotations

import numpy as np

from discreet.methods.series.rho_different.shapes import Shapes

VALUES = "abcdef"


def shapes_of(families) -> Shapes:
    """Families of two releases: for each the groups as lists of persons and as strings of values.

    In each release a family has one group of those of its members who are there.
    """
    group_of, groups, member, start = [], [], [], [0]
    for present, values in families:
        first = len(groups)
        for person in range(len(present[0])):
            member.append(len(group_of))
            group_of.append([first + at if present[at][person] else -1 for at in range(2)])
        groups += values
        start.append(len(member))
    codes = [sorted(VALUES.index(value) for value in group) for group in groups]
    entries = [np.unique(group, return_counts=True) for group in codes]
    return Shapes.of(
        np.array(group_of).T.copy(),
        (
            np.cumsum([0, *(len(value) for value, _ in entries)]),
            np.concatenate([value for value, _ in entries]),
            np.concatenate([count for _, count in entries]),
        ),
        np.array(start),
        np.array(member),
        np.ones(len(member), bool),
    )


BOTH = ((1, 1, 1), (1, 1, 1))


def test_families_with_the_same_values_in_all_releases_have_one_shape():
    shapes = shapes_of(
        [
            (BOTH, ["abc", "abd"]),
            (BOTH, ["cab", "dba"]),
            (BOTH, ["abc", "abc"]),
            (((1, 1, 1), (1, 1, 0)), ["abc", "abd"]),
            (((1, 1, 1), (0, 1, 1)), ["abc", "abd"]),  # one person left, whoever it is
        ]
    )
    assert shapes.of_family.tolist() == [0, 0, 1, 2, 2]
