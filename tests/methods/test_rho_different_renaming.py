"""Values that the correlation table does not tell apart: renaming them changes no belief."""

from __future__ import annotations

import random

import numpy as np
import pytest

from discreet.methods.series.beliefs.components import BeliefStatus, PublishedGroups, beliefs
from discreet.methods.series.beliefs.correlation import Correlation
from discreet.methods.series.rho_different.renaming import alike_values, names_of
from discreet.methods.series.rho_different.shapes import Shapes, read_run

VALUES = "abcdef"


def matrix_of(*stated, unstated="spread"):
    return Correlation.of(stated, unstated).matrix(VALUES)


@pytest.mark.parametrize(
    ("matrix", "alike"),
    [
        (matrix_of(), [0, 0, 0, 0, 0, 0]),
        (matrix_of(unstated="stay"), [0, 0, 0, 0, 0, 0]),
        (matrix_of(*((value, value, 0.9) for value in VALUES)), [0, 0, 0, 0, 0, 0]),
        (matrix_of(("b", "b", 1.0)), [0, 1, 0, 0, 0, 0]),
        (matrix_of(("a", "b", 0.5), ("b", "a", 0.5)), [0, 0, 2, 2, 2, 2]),
        (matrix_of(("a", "b", 0.5)), [0, 1, 2, 2, 2, 2]),
        (matrix_of(("a", "c", 0.5), ("b", "d", 0.5)), [0, 1, 2, 3, 4, 4]),
    ],
)
def test_values_are_alike_where_c_does_not_tell_them_apart(matrix, alike):
    assert alike_values(matrix).tolist() == alike


def shapes_of(families, alike) -> Shapes:
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
        alike,
    )


BOTH = ((1, 1, 1), (1, 1, 1))


def test_families_that_differ_in_values_alike_have_one_shape():
    alike = alike_values(matrix_of(("b", "b", 1.0)))
    shapes = shapes_of(
        [
            (BOTH, ["abc", "abd"]),
            (BOTH, ["fbd", "dbc"]),  # a, c, d renamed
            (BOTH, ["acd", "acb"]),  # b is another kind
            (BOTH, ["abc", "abc"]),
        ],
        alike,
    )
    assert shapes.of_family.tolist() == [0, 0, 1, 2]


@pytest.mark.parametrize("seed", range(20))
def test_renaming_moves_no_belief(seed):
    draw = random.Random(seed)
    matrix = matrix_of(("a", "a", 0.7), ("c", "a", draw.choice([0.0, 0.2])), ("c", "c", 0.6))
    families = []
    for _ in range(6):
        values = ["".join(draw.choices(VALUES, k=draw.randint(3, 4))) for _ in range(2)]
        families.append((BOTH, values))
    shapes = shapes_of(families, alike_values(matrix))
    for family in range(len(families)):
        own = slice(shapes.start[family], shapes.start[family + 1])
        found = []
        for run in (shapes.original, shapes.run):
            group_of, _, *groups = read_run(run[own], 2)
            kind, belief = beliefs(group_of, PublishedGroups(*groups), matrix)
            assert kind is BeliefStatus.EXACT
            found.append(belief)
        no_start, nothing = np.zeros(len(shapes.start), np.int64), np.zeros(0, np.int64)
        name = names_of(
            np.array([family]), shapes.start, shapes.original, 2, no_start, nothing, shapes.alike
        )[0]
        assert found[0] == pytest.approx(found[1][:, :, name], abs=1e-9)


def test_names_are_a_permutation_among_those_alike():
    alike = alike_values(matrix_of(("b", "b", 1.0), ("e", "e", 1.0)))
    shapes = shapes_of([(BOTH, ["fed", "fdd"])], alike)
    now_start, now = np.array([0, 2]), np.array([2, 2])
    name = names_of(np.array([0]), shapes.start, shapes.original, 2, now_start, now, alike)[0]
    assert sorted(name) == list(range(6))
    assert (alike[name] == alike).all()
    # among a, c, d, f: f and d are in the first group, d twice in the second; c is new. And of b
    # and e, e alone occurs
    assert name.tolist() == [5, 4, 3, 0, 1, 2]
