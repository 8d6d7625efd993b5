"""The raked masses of a decomposed release against the same fitting written out mass by mass."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables import coded_table

from discreet.releases.kinds.implied_groups import CLOSE, ROUNDS, rake
from discreet.releases.worlds.sensitive_sets import Sets, index_signatures
from discreet.table.classes import group_lists

NAMES = ("s", "t", "u")
ROW = st.tuples(st.sampled_from("abcd"), st.sampled_from("vwx"), st.sampled_from("yz"))
GROUPS = st.lists(
    st.tuples(
        st.lists(ROW, min_size=1, max_size=3),  # its people's rows
        st.sets(ROW, max_size=2),  # rows whose values of t and u are noise
        st.integers(1, 3),  # how often there is such a group
    ),
    min_size=1,
    max_size=4,
)


def drawn(groups):
    """The rows of T^S, and the sets and the people of every group."""
    rows, sets, size = [], [], []
    for people, noise, times in groups:
        own = [{row[0] for row in people}]
        own += [{row[i] for row in [*people, *noise]} for i in (1, 2)]
        for _ in range(times):
            rows += people
            sets.append(own)
            size.append(len(people))
    return rows, sets, size


def raked(rows, sets, size):
    """By group and row the mass that the product finds."""
    table = coded_table({n: [row[i] for row in rows] for i, n in enumerate(NAMES)}, "sss")
    text = [table[n].text.to_list() for n in NAMES]
    members = [
        sorted(text[i].index(value) for value in own[i] if value in text[i])
        for i in range(3)
        for own in sets
    ]
    start = np.cumsum([0, *map(len, members)])
    value = np.array([code for codes in members for code in codes], np.int32)
    signatures = index_signatures(table, NAMES)
    found = rake(Sets(start, value, len(sets), 0, 0), signatures, 0, np.array(size))
    assert found is not None
    start, signature, mass = found
    named = [tuple(text[i][code] for i, code in enumerate(codes)) for codes in signatures.codes]
    return {
        (group, named[signature[entry]]): mass[entry]
        for group in range(len(sets))
        for entry in range(start[group], start[group + 1])
    }


def fitted(rows, sets, size):
    """The same, every mass scaled in turn to its cell's people and to its row's count."""
    count = Counter(rows)
    mass, cell, people = {}, {}, {}
    for group, own in enumerate(sets):
        single = len(own[0]) == size[group]
        for row in count:
            if all(value in own[i] for i, value in enumerate(row)):
                mass[group, row] = float(count[row])
                cell[group, row] = (group, row[0] if single else None)
                people[cell[group, row]] = 1 if single else size[group]
    for round_ in range(ROUNDS):
        held: dict = defaultdict(float)
        for key, one in mass.items():
            held[cell[key]] += one
        mass = {key: one * people[cell[key]] / held[cell[key]] for key, one in mass.items()}
        total: dict = defaultdict(float)
        for key, one in mass.items():
            total[key[1]] += one
        away = max(abs(one / count[row] - 1) for row, one in total.items())
        if away < CLOSE or round_ == ROUNDS - 1:
            return mass
        mass = {key: one * count[key[1]] / total[key[1]] for key, one in mass.items()}
    raise AssertionError


@settings(deadline=None)  # the first compiles
@given(GROUPS)
def test_masses_are_those_of_the_fitting_written_out(groups):
    rows, sets, size = drawn(groups)
    assert raked(rows, sets, size) == pytest.approx(fitted(rows, sets, size), rel=1e-8, abs=1e-12)


def test_groups_that_are_alike_count_as_often_as_they_are_there():
    av, bv, bw = ("a", "v", "y"), ("b", "v", "y"), ("b", "w", "y")
    rows, sets, size = drawn([([av, bw], set(), 4), ([av, bv], {bw}, 2), ([av, bv], set(), 2)])
    mass = raked(rows, sets, size)
    for group in range(8):  # the last two take 2 of the 4 rows bv; the others share 2 and 4
        found = [mass.get((group, row), 0.0) for row in (av, bv, bw)]
        assert found == pytest.approx([1, 1, 0] if group >= 6 else [1, 1 / 3, 2 / 3], rel=1e-5)


@pytest.mark.parametrize("times", [1, 1000])
def test_a_release_that_cannot_be_fitted_still_has_the_mass_of_its_people(times):
    rows = [("a", "v", "y")] * times + [("b", "w", "z")]  # T^S was tampered with
    sets = [[{"a"}, {"v"}, {"y"}], [{"b", "c"}, {"w"}, {"z"}]]
    assert raked(rows, sets, [1, 1000]) == {
        (0, ("a", "v", "y")): pytest.approx(1),
        (1, ("b", "w", "z")): pytest.approx(1000),
    }


def test_a_value_that_no_row_supports_has_no_mass():
    rows = [("a", "v", "y"), ("b", "w", "y")]
    sets = [[{"a", "b"}, {"v"}, {"y"}]]
    assert raked(rows, sets, [2]) == {(0, ("a", "v", "y")): pytest.approx(1)}


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 2), max_size=4)))
def test_lists_are_together_where_they_are_equal(lists):
    start = np.cumsum([0, *map(len, lists)])
    value = np.array([code for one in lists for code in one], np.int32)
    classes = group_lists(start, value, 3)
    seen = list(dict.fromkeys(map(tuple, lists)))
    assert classes.class_of_row.tolist() == [seen.index(tuple(one)) for one in lists]
    assert classes.first_row.tolist() == [lists.index(list(one)) for one in seen]
    assert classes.size.tolist() == [lists.count(list(one)) for one in seen]
