"""Beliefs against brute force over all worlds of tiny tables."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from fractions import Fraction
from itertools import combinations, permutations
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.attacks.handmade import Handmade

import discreet as dc
from discreet.hierarchies import covering_classes
from discreet.hierarchies.coverage import Coverage
from discreet.hierarchies.covering_classes import fitting_groups
from discreet.releases.worlds import counting
from discreet.releases.worlds.permanents import matching_beliefs
from discreet.releases.worlds.placement import EXACT, place_shares, weigh

SETTINGS = settings(max_examples=40, deadline=None)


@given(st.data())
@SETTINGS
def test_matching_beliefs_count_all_weighted_worlds(data):
    rows = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=6))
    values = sorted(set(rows))
    weight = np.array(
        data.draw(
            st.lists(
                st.lists(st.sampled_from([0, 1, 2]), min_size=len(values), max_size=len(values)),
                min_size=len(rows),
                max_size=len(rows),
            )
        ),
        float,
    )
    count = np.array([rows.count(value) for value in values])
    expected = np.zeros_like(weight)
    for world in permutations(rows):
        mass = np.prod([weight[p, values.index(v)] for p, v in enumerate(world)])
        for p, v in enumerate(world):
            expected[p, values.index(v)] += mass
    total = expected[0].sum()
    found, exact = matching_beliefs(weight, count)
    assert exact
    np.testing.assert_allclose(found, expected / total if total else 0, atol=1e-12)


@given(st.data())
@SETTINGS
def test_people_who_fit_several_groups_are_weighed_by_all_assignments(data):
    """Everybody is in a true group and may fit others; all fillings of the groups are counted."""
    truth = data.draw(st.lists(st.integers(0, 2), min_size=2, max_size=6))
    groups = sorted(set(truth))
    truth = [groups.index(group) for group in truth]
    fits = [
        sorted({group, *data.draw(st.sets(st.integers(0, len(groups) - 1)))}) for group in truth
    ]
    size = np.bincount(truth)
    expected = np.zeros((len(truth), len(groups)))
    for world in set(permutations(truth)):
        if all(group in fit for group, fit in zip(world, fits, strict=True)):
            for person, group in enumerate(world):
                expected[person, group] += 1
    expected /= expected[0].sum()
    start = np.concatenate([[0], np.cumsum([len(fit) for fit in fits])])
    edges = np.array([group for fit in fits for group in fit], np.int32)
    most = data.draw(st.sampled_from([0, counting.BEYOND]))  # without arrays, or with
    with patch.object(counting, "BEYOND", most):
        placement = weigh(start, edges, np.ones(len(fits), np.int64), size, 0)
        placement = placement.counted(np.arange(len(fits)))
    assert placement.method == EXACT
    found = np.zeros_like(expected)
    for person in range(len(fits)):
        for edge in range(start[person], start[person + 1]):
            found[person, edges[edge]] = placement.weight[edge]
    np.testing.assert_allclose(found, expected, atol=1e-12)


@given(st.data())
@SETTINGS
def test_assignments_are_counted_alike_with_arrays_and_without(data):
    """Larger components than all worlds could be enumerated of, some without any world."""
    sizes = data.draw(st.lists(st.integers(1, 3), min_size=2, max_size=6))
    truth = [group for group, rows in enumerate(sizes) for _ in range(rows)]
    others = st.sets(st.integers(0, len(sizes) - 1), max_size=3)
    fits = [sorted({group, *data.draw(others)}) for group in truth]
    if data.draw(st.booleans()):
        fits = fits[:-1]  # a group remains unfilled
    size, ones = np.array(sizes), [1] * len(fits)
    primary = np.array([data.draw(st.integers(0, 1)) for _ in sizes], np.int32)
    for kinds in (None, primary, np.zeros(len(sizes), np.int32)):
        found = place_shares(fits, ones, size, kinds)
        with patch.object(counting, "BEYOND", 0):
            expected = place_shares(fits, ones, size, kinds)
        assert (found is None) == (expected is None)
        if found is not None and expected is not None:
            for own, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(own, other, rtol=1e-12)


def test_worlds_are_counted_for_the_places_that_are_asked_for():
    """Two components of three people and two groups: one asked for, one not."""
    start = np.array([0, 1, 3, 5, 6, 8, 10])
    group = np.array([0, 0, 1, 0, 1, 2, 2, 3, 2, 3], np.int32)
    scaled = weigh(start, group, np.ones(6, np.int64), np.array([2, 1, 2, 1]), 0)
    scaled.weight[:] = np.where(np.diff(start).repeat(np.diff(start)) > 1, 0.4, 1.0)  # wrong
    every, some = scaled.counted(np.arange(6)), scaled.counted(np.array([4]))
    np.testing.assert_allclose(every.weight, [1, 0.5, 0.5, 0.5, 0.5] * 2)
    np.testing.assert_allclose(some.weight[5:], every.weight[5:])
    np.testing.assert_array_equal(some.weight[:5], scaled.weight[:5])


@given(st.data())
@SETTINGS
def test_the_groups_that_people_fit_are_those_whose_cells_all_cover_them(data):
    """Up to three columns of seven values; a cell covers any set of values."""
    columns = data.draw(st.integers(1, 3))
    sets = st.lists(st.frozensets(st.integers(0, 6), min_size=1), min_size=1, max_size=4)
    cells = [data.draw(sets) for _ in range(columns)]
    groups = data.draw(st.lists(st.tuples(*(st.integers(0, len(c) - 1) for c in cells)),
                                min_size=1, max_size=6, unique=True))  # fmt: skip
    kinds = data.draw(st.lists(st.tuples(*[st.integers(0, 6)] * columns),
                               min_size=1, max_size=8, unique=True))  # fmt: skip
    limits = [  # of splits and pieces, so that small tables are split too
        patch.object(module, name, data.draw(st.sampled_from([few, getattr(module, name)])))
        for module, name, few in (
            (covering_classes, "FEW", 0),
            (covering_classes, "KINDS_AT_ONCE", 2),
            (covering_classes, "GROUPS_AT_ONCE", 2),
            (covering_classes, "PART_COST", 0),
        )
    ]
    with ExitStack() as stack:
        for limit in limits:
            stack.enter_context(limit)
        found = fitting_groups(
            [coverage(column) for column in cells],
            [np.array([kind[c] for kind in kinds], np.int32) for c in range(columns)],
            [np.array([group[c] for group in groups], np.int32) for c in range(columns)],
        )
    assert found is not None
    start, group = found
    for number, kind in enumerate(kinds):
        expected = {
            g
            for g, own in enumerate(groups)
            if all(kind[c] in cells[c][own[c]] for c in range(columns))
        }
        listed = group[start[number] : start[number + 1]].tolist()
        assert sorted(listed) == sorted(expected)


def coverage(cells):
    """Each cell as runs of neighbouring values."""
    runs = []
    for number, values in enumerate(cells):
        for value in sorted(values):
            if runs and runs[-1][0] == number and runs[-1][2] == value:
                runs[-1][2] += 1
            else:
                runs.append([number, value, value + 1])
    cell, low, high = np.array(runs, np.int64).T
    return Coverage(len(cells), 7, cell, low, high)


ROWS = st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from("abc"), st.sampled_from("uvw")),
                min_size=1, max_size=9)  # fmt: skip


def classes(rows):
    groups: dict[str, list] = {}
    for row in rows:
        groups.setdefault(row[0], []).append(row)
    return groups


def naive_non_membership(group, target, attribute, bits):
    """The greatest share of the target's value after any facts that are true of the target."""
    facts = [(a, v) for a in (1, 2) for v in {row[a] for row in group} if v != target[a]]
    best = Fraction(0)
    for count in range(bits + 1):
        for chosen in combinations(facts, count):
            left = [row for row in group if all(row[a] != v for a, v in chosen)]
            hits = sum(row[attribute] == target[attribute] for row in left)
            best = max(best, Fraction(hits, len(left)))
    return best


@given(rows=ROWS)
@settings(max_examples=25, deadline=None)
def test_beliefs_in_classes_by_brute_force(tmp_path_factory, rows):
    made = Handmade(
        tmp_path_factory.mktemp("made"),
        {"q": "q", "s": "s", "v": "s"},
        rows,
        {"records": (["q", "s", "v"], rows)},
    )
    findings = made.attack("homogeneity", "non-membership", "background-join", "linking")
    groups = classes(rows)
    linking = [Fraction(1, len(groups[row[0]])) for row in rows]
    for finding in findings:
        if finding.attack == "linking":
            expected = linking
        else:
            attribute = {"s": 1, "v": 2}[finding.aim]
            expected = []
            for row in rows:
                group = groups[row[0]]
                if finding.attack == "background-join":
                    group = [other for other in group if other[3 - attribute] == row[3 - attribute]]
                bits = finding.details.get("bits", 0)
                expected.append(naive_non_membership(group, row, attribute, bits)
                                if finding.attack == "non-membership"
                                else Fraction(sum(o[attribute] == row[attribute] for o in group),
                                              len(group)))  # fmt: skip
        assert finding.method == "exact"
        assert finding.mean == pytest.approx(float(sum(expected) / len(expected)))
        assert finding.greatest == pytest.approx(float(max(expected)))
        assert sum(finding.histogram) == finding.targets == len(rows)


@given(rows=ROWS)
@settings(max_examples=15, deadline=None)
def test_bits_on_others_never_do_better_than_bits_on_the_target(rows):
    """All assignments of a group's rows to its people, every fact on anybody: one fact."""
    group = rows[:5]
    for attribute in (1, 2):
        for target in range(len(group)):
            own = naive_non_membership(group, group[target], attribute, 1)
            worlds = list(permutations(range(len(group))))
            for person in range(len(group)):
                for a in (1, 2):
                    for value in {row[a] for row in group} - {group[person][a]}:
                        left = [w for w in worlds if group[w[person]][a] != value]
                        if person == target:
                            continue
                        hits = Counter(group[w[target]][attribute] for w in left)
                        belief = Fraction(hits[group[target][attribute]], len(left))
                        assert belief <= own


def naive_leaf(people, ell, k):
    """The mean belief in the truth over all worlds of a class in which no cut passes."""
    places = sorted(q for q, _ in people)
    half = len(people) / 2
    below = [q for q in set(places) if 0 < sum(p < q for p in places) <= half]
    above = [q for q in set(places) if sum(p < q for p in places) > half]
    tried = [*sorted(below)[-1:], *sorted(above)[:1]]

    def passes(cut, values):
        sides = [[v for (q, _), v in zip(people, values, strict=True) if (q < cut) == low]
                 for low in (True, False)]  # fmt: skip
        return all(
            len(side) >= k and max(Counter(side).values()) * ell <= len(side) for side in sides
        )

    worlds = [
        world
        for world in permutations([value for _, value in people])
        if not any(passes(cut, world) for cut in tried)
    ]
    return [
        Fraction(sum(world[i] == value for world in worlds), len(worlds))
        for i, (_, value) in enumerate(people)
    ]


@given(
    st.lists(st.tuples(st.integers(1, 6), st.sampled_from("abc")), min_size=2, max_size=7),
    st.integers(1, 3),
)
@settings(max_examples=40, deadline=None)
def test_minimality_of_mondrian_by_all_worlds_of_each_class(rows, k):
    table = pl.DataFrame({"q": [q for q, _ in rows], "v": [v for _, v in rows]})
    job = dc.Job(
        attributes={
            "q": {"role": "quasi-identifier", "type": "integer"},
            "v": {"role": "sensitive"},
        },
        requirements=[{"k-anonymity": {"k": k}}, {"p-diversity": {"l": 2}}],
        method="mondrian",
    )
    try:
        release = dc.publish(table, job, seed=0)
    except dc.InfeasibleError:
        assume(False)
    (found,) = dc.attack(release, original=table, attacks=[{"minimality": {"worlds": 1}}]).findings
    cells = {cell.strip("[]") for cell in release.tables["records"]["q"].cast(str)}
    expected = []
    for cell in cells:
        low, _, high = cell.partition(", ")
        class_ = [row for row in rows if int(low) <= row[0] <= int(high or low)]
        expected += naive_leaf(class_, 2, k)
    assert found.method in ("leaf", "exact")
    if found.method == "leaf":
        assert found.mean == pytest.approx(float(sum(expected) / len(rows)))
        assert found.greatest == pytest.approx(float(max(expected)))


@given(st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from("uvw"), st.sampled_from("ab"),
                          st.sampled_from("cd")), min_size=2, max_size=5))  # fmt: skip
@settings(max_examples=25, deadline=None)
def test_associated_by_all_worlds_of_two_tables(tmp_path_factory, rows):
    """A person is (a class of the first table, one of the second, a value in each)."""
    rows = [(f"{one}{other}{number}", a, b) for number, (one, other, a, b) in enumerate(rows)]

    def cell(at, person):
        return "{" + ", ".join(sorted(p for p, *_ in rows if p[at] == person[at])) + "}"

    def label(at, person):
        text = cell(at, person)
        return text if "," in text else person

    made = Handmade(
        tmp_path_factory.mktemp("made"),
        {"q": "q", "s": "s", "v": "s"},
        rows,
        {
            "projection_1": (["q", "s"], [[label(0, p), s] for p, s, _ in rows]),
            "projection_2": (["q", "v"], [[label(1, p), v] for p, _, v in rows]),
        },
        kind="projected",
    )
    both, left, right = (Counter(pick(row) for row in rows) for pick in (
        lambda row: (row[1], row[2]), lambda row: row[1], lambda row: row[2]))  # fmt: skip
    hits = [[Fraction(0)] * len(rows) for _ in range(2)]
    total = Fraction(0)
    people = range(len(rows))
    for first in permutations(people):
        if any(rows[first[i]][0][0] != rows[i][0][0] for i in people):
            continue
        for second in permutations(people):
            if any(rows[second[i]][0][1] != rows[i][0][1] for i in people):
                continue
            weight = Fraction(1)
            for i in people:
                a, b = rows[first[i]][1], rows[second[i]][2]
                weight *= Fraction(both[a, b] * len(rows), left[a] * right[b])
            total += weight
            for i in people:
                hits[0][i] += weight * (rows[first[i]][1] == rows[i][1])
                hits[1][i] += weight * (rows[second[i]][2] == rows[i][2])
    findings = made.attack("associated")
    assert [f.aim for f in findings] == ["s", "v"]
    for finding, expected in zip(findings, hits, strict=True):
        assert finding.method == "exact"
        assert finding.mean == pytest.approx(float(sum(expected) / total / len(rows)))
        assert finding.greatest == pytest.approx(float(max(expected) / total))
