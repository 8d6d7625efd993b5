"""Abdalaal (2012), chapter 4: tables 26 to 36 (attacks, m-invariance), 38 to 41 (ρ-different)."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import polars as pl
import pytest
from tests.series_readers import agreement, all_beliefs, corresponding, series_of
from tests.tables import coded_table

from discreet.attacks.cross_release import (
    correspondence_problems,
    correspondences,
    record_linking,
    tuple_equivalence,
    value_association,
    value_equivalence,
)
from discreet.attacks.series_beliefs import estimates, invariance, joint
from discreet.methods.base import Bucketized, Counterfeits, Task
from discreet.methods.series.beliefs.correlation import Correlation
from discreet.methods.series.beliefs.estimates import individual, persistence, shares
from discreet.methods.shared.grouped_rows import with_cells
from discreet.releases.kinds.bucketized import GeneralizedBucketsKind
from discreet.requirements.base import Domain
from discreet.requirements.diversity import DistinctLDiversity
from discreet.table.classes import classes_of
from discreet.table.counts import count_classes

STAY = Correlation(unstated="stay")
TABLE_37 = Correlation.of(
    [
        ("Rubella", "Deafness", 0.8),
        ("Meningitis", "Deafness", 0.7),
        ("Meniere", "Migraine", 0.5),
        ("Diarrhea", "Fever", 0.7),
        ("Sore Throat", "Fever", 0.5),
        ("GI", "Diarrhea", 0.5),
        ("Aids", "Aids", 1.0),
        ("Cancer", "Cancer", 1.0),
    ],
    "spread",
)
TABLE_39_C = Correlation.of(
    [("g", "g", 1.0), ("d", "d", 0.5), ("c", "c", 1.0), ("m", "m", 0.5)], "spread"
)
TABLE_33 = [
    (["Bob", "Ken"], ["a", "b"]),
    (["Sam", "Jane"], ["a", "b"]),
    (["Linda", "Alice"], ["a", "c"]),
]
TABLE_34 = [
    (["Bob", "Alice"], ["a", "c"]),
    (["Sam", "Mandy"], ["a", "b"]),
    (["David", "Tom", "Carol"], ["a", "c", "a"]),
]
TABLE_35 = [
    (["Bob", "Mandy"], ["a", "b"]),
    (["Sam"], ["a", "b"]),  # and the counterfeit c1
    (["Alice", "David"], ["c", "a"]),
    (["Tom", "Carol"], ["c", "a"]),
]
TABLE_36 = [
    [
        (["Bob", "Ken", "Sam", "Jane"], ["a", "b", "a", "b"]),
        (["Linda", "Alice"], ["a", "c", "a", "c"]),
    ],
    [
        (["Bob", "Mandy", "Sam"], ["a", "b", "a", "b"]),
        (["Alice", "David", "Tom", "Carol"], ["c", "a", "c", "a"]),
    ],
    [
        (["Bob", "Olga", "Sam", "Nic"], ["a", "b", "a", "b"]),
        (["Tom", "Carol"], ["c", "a", "c", "a"]),
    ],
]
TABLE_39 = [
    (["t1", "t2"], ["d", "b"]),
    (["t3", "t4"], ["f", "g"]),
    (["t5", "t6"], ["f", "g"]),
    (["t7", "t8", "t9"], ["d", "f", "g"]),
    (["t10", "t11"], ["d", "c"]),
]
TABLE_41 = [
    (["t1", "n1"], ["d", "f"]),
    (["t4"], ["g", "c"]),
    (["t7"], ["d", "m"]),
    (["t9"], ["g", "c"]),
    (["t5", "n3"], ["f", "d"]),
    (["n2", "t11"], ["g", "c"]),
    (["n4", "n5"], ["g", "f"]),
]


def group(letters: str) -> dict[str | None, int]:
    return {letter: letters.count(letter) for letter in letters}


def test_tables_26_and_27_independent_attributes_tell_nothing_of_each_other():
    """Both releases are 3-diverse; who knows that Bob voted a keeps w, x and z alike for him."""
    groups = ["t1 t2 t3", "t4 t5 t7", "t6 t8 t9"]
    answers = [["a b d", "a b c", "a b c"], ["w z x", "x y z", "y x w"]]
    for release in answers:
        columns = {"q": [], "v": []}
        for number, values in enumerate(release):
            columns["q"] += [str(number)] * 3
            columns["v"] += values.split()
        table = coded_table(columns, "qs")
        counts = count_classes(classes_of(table.quasi_identifiers, 9), table.sensitive)
        domains = {"v": Domain(table["v"].text)}
        assert DistinctLDiversity(l=3).check(counts, domains).holds
        assert not DistinctLDiversity(l=4).check(counts, domains).holds
    people = groups[0].split()
    first, second = (list(permutations(release[0].split())) for release in answers)
    left = [
        late[people.index("t1")]
        for early, late in product(first, second)
        if early[people.index("t1")] == "a"
    ]
    assert {value: left.count(value) / len(left) for value in left} == {
        value: pytest.approx(1 / 3) for value in "wzx"
    }


def test_table_28_record_linking_names_everybody():
    """The first release has opinions, the second names; age and zip join them."""
    first = pl.DataFrame(
        {
            "Age": ["25", "20", "40", "45"],
            "Zip": ["3500", "3000", "5500", "6000"],
            "I1": ["b", "a", "a", "c"],
        }
    )
    second = pl.DataFrame(
        {
            "Name": ["Bob", "Ken", "Nobody"],
            "Age": ["20", "25", "99"],
            "Zip": ["3000", "3500", "1"],
        }
    )
    found = record_linking([first, second])
    assert (found.targets, found.certain) == (4, 4)  # Bob and Ken, in either release
    twins = pl.concat([first, first.head(1).with_columns(I1=pl.lit("d"))])
    found = record_linking([twins, second])
    assert (found.targets, found.certain) == (5, 4)  # Ken's row may be either of two
    assert found.mean == pytest.approx((1 + 1 / 2 + 3) / 5)


def test_tables_29_and_30_value_association_makes_bob_certain():
    series = series_of(
        [
            [(["Bob", "Ken"], ["a", "b"]), (["Linda", "Alice"], ["a", "c"])],
            [(["Bob", "Peter"], ["a", "c"]), (["Linda", "Mandy"], ["a", "b"])],
        ]
    )
    belief = all_beliefs(series, STAY)
    assert belief["Bob"] == [{"a": 1.0}, {"a": 1.0}]
    found = value_association(series, bound=0.5)
    assert (found.greatest, found.certain, found.exceeded) == (
        1.0,
        6,
        True,
    )  # all: who left, by Bob and Linda


def test_tables_31_and_32_correspondence_leaves_jane_one_half():
    series = series_of(
        [
            [(["Jane", "x", "y"], ["a", "a", "b"])],
            [(["Jane", "p", "q"], ["b", "b", "a"]), (["x", "y", "z"], ["a", "a", "b"])],
        ]
    )
    assert corresponding(series, "Jane") == {"a": 0.5, "b": 0.5}


def test_table_16_two_releases_leave_the_voter_of_40_one_half():
    """R1: a, a, b of ages 20 to 40; R2: only r3, r4 and r5, b, b, a, are in their forties."""
    second = [("2*", "a"), ("2*", "a"), ("4*", "b"), ("4*", "b"), ("4*", "a"), ("2*", "b")]
    fitting = [value for age, value in second if age == "4*"]
    assert fitting == ["b", "b", "a"]  # r1, r2 and r6 are eliminated
    series = series_of(
        [
            [(["voter", "x", "y"], ["a", "a", "b"])],
            [(["voter", "p", "q"], fitting), (["x", "y", "z"], ["a", "a", "b"])],
        ]
    )
    assert corresponding(series, "voter") == {"a": 0.5, "b": 0.5}  # r3 or r4 is eliminated too


def test_tables_33_and_34_are_not_invariant():
    found = invariance(series_of([TABLE_33, TABLE_34]))
    # Bob goes from {a, b} to {a, c}; Sam and Alice keep theirs.
    assert (found.returning, found.unchanged, found.overlapping) == (3, 2, 1)
    assert not found.holds
    series = series_of([TABLE_33, TABLE_34])
    assert all_beliefs(series, STAY)["Bob"][0] == {"a": 1.0}


def test_tables_33_and_35_are_invariant_with_one_counterfeit():
    series = series_of([TABLE_33, TABLE_35])
    found = invariance(series)
    assert (found.returning, found.unchanged, found.overlapping) == (3, 3, 0)
    assert joint(series, STAY, 0.5).greatest == (0.5, 0.5)


def test_tables_33_and_35_value_equivalence_ken_and_mandy():
    pairs, skipped = agreement(series_of([TABLE_33, TABLE_35]))
    assert pairs["Ken", "Mandy"] == 1.0
    assert pairs["Bob", "Mandy"] == 0.0
    assert skipped == 0
    assert value_equivalence(series_of([TABLE_33, TABLE_35])).greatest == 1.0


def test_table_36_tuple_equivalence_reveals_all_that_agree():
    series = series_of(TABLE_36)
    before, _ = agreement(series)
    assert before["Ken", "Mandy"] < 1.0
    after, _ = agreement(series, [["Ken", "Jane"]])
    assert after["Ken", "Mandy"] == 1.0  # and so the counterfeit c3
    assert after["Ken", "Olga"] == after["Ken", "Nic"] == 1.0
    assert after["Bob", "Ken"] == after["Ken", "Sam"] == 0.0
    told = tuple_equivalence(series, [["Ken", "Jane"]])
    assert told.certain >= 6
    # Who knows of any one pair comes at least as far, and further than one who knows of none.
    assert tuple_equivalence(series).certain >= told.certain
    assert tuple_equivalence(series).mean > value_equivalence(series).mean


def test_table_36_keeps_one_half_in_all_releases():
    assert joint(series_of(TABLE_36), STAY, 0.5).greatest == pytest.approx((0.5, 0.5, 0.5))
    assert invariance(series_of(TABLE_36)).holds


def test_individual_of_table_40():
    assert individual(shares(group("fg")), group("fg"), TABLE_39_C) == pytest.approx(
        {"f": 0.25, "g": 0.75}
    )
    assert individual(shares(group("dfg")), group("dfg"), TABLE_39_C) == pytest.approx(
        {"d": 0.278, "f": 0.194, "g": 0.528}, abs=5e-4
    )


def test_individual_of_table_38():
    old = {"Aids": 1, "Diarrhea": 1, "GI": 1, "Fever": 1}
    new = {"Aids": 1, "Fever": 1, "Diarrhea": 1, "Cancer": 1}
    assert individual(shares(old), new, TABLE_37)["Aids"] == pytest.approx(0.379, abs=5e-4)


@pytest.mark.parametrize(
    ("old", "new", "value", "belief"),
    [("fg", "cg", "g", 0.75), ("dfg", "cg", "g", 0.7), ("dc", "gc", "c", 0.833)],
)
def test_table_41_is_not_different_by_the_rule_of_table_40(old, new, value, belief):
    found = individual(shares(group(old)), group(new), TABLE_39_C)
    assert found[value] == pytest.approx(belief, abs=5e-4)


@pytest.mark.parametrize("letters", ["cg", "dm", "df"])
def test_table_41_under_persistence_is_one_half(letters):
    found = persistence(group(letters), TABLE_39_C)
    assert list(found.values()) == pytest.approx([0.5, 0.5])


def test_tables_39_and_41_by_all_three_adversaries():
    series = series_of([TABLE_39, TABLE_41])
    found = estimates(series, TABLE_39_C)
    assert found["individual"] == pytest.approx((0.5, 0.833), abs=5e-4)  # t11
    assert found["persistence"] == pytest.approx((0.5, 0.5))  # n4 and n5 come for the first time
    assert joint(series, TABLE_39_C, 0.5).greatest[0] == pytest.approx(1.0)  # t5


def test_table_41_reveals_t5():
    """P(g | g) = 1, and no g in t5's new group: the old value was f for certain."""
    series = series_of([TABLE_39, TABLE_41])
    belief = all_beliefs(series, TABLE_39_C)
    assert belief["t5"][0] == pytest.approx({"f": 1.0})
    assert joint(series, TABLE_39_C, 0.5).above > 0


def test_updates_under_m_invariance_climb():
    """Someone kept in {f, g} while partners are replaced, P(g | g) = 1: 0.75, 0.875, …"""
    releases = [[(["p", f"q{number}"], ["f", "g"])] for number in range(5)]
    forgetful = Correlation.of([("g", "g", 1.0), ("f", "f", 0.5), ("f", "g", 0.5)], "spread")
    for count, expected in ((2, 0.75), (3, 0.875), (4, 0.9375), (5, 0.96875)):
        belief = all_beliefs(series_of(releases[:count]), forgetful)
        assert max(belief["p"][count - 1].values()) == pytest.approx(expected, abs=1e-9)


def test_a_changed_value_needs_a_disjoint_signature():
    """{a, b} → {a, c} with 0.9 chance of staying leaks a; {a, b} → {c, d} does not."""
    letters = "abcdef"
    stays = Correlation.of([(x, x, 0.9) for x in letters], "spread")
    overlap = series_of([[(["p", "q"], ["a", "b"])], [(["p", "r"], ["a", "c"])]])
    disjoint = series_of([[(["p", "q"], ["a", "b"])], [(["p", "r"], ["c", "d"])]])
    assert all_beliefs(overlap, stays)["p"][1]["a"] == pytest.approx(0.958, abs=5e-4)
    assert joint(disjoint, stays, 0.5).greatest == pytest.approx((0.5, 0.5))


PEOPLE_39 = {
    "t1": (21, 12), "t2": (22, 14), "t3": (24, 18), "t4": (23, 25), "t5": (41, 20), "t6": (36, 27),
    "t7": (37, 33), "t8": (40, 35), "t9": (43, 26), "t10": (52, 33), "t11": (56, 34),
}  # fmt: skip


def published_cells(people, groups):
    """The cells of age and zip of each group, as a generalized release has them."""
    names = list(people)
    value_of = dict(
        pair for members, values in groups for pair in zip(members, values, strict=False)
    )
    fakes = [
        (number, value)
        for number, (members, values) in enumerate(groups)
        for value in values[len(members) :]
    ]
    table = coded_table(
        {
            "age": [people[name][0] for name in names],
            "zip": [people[name][1] for name in names],
            "value": [value_of[name] for name in names],
        },
        "qqs",
    )
    task = Task(table, {}, (), np.random.default_rng(0))
    group = np.array([next(g for g, (m, _) in enumerate(groups) if n in m) for n in names])
    code = {value: at for at, value in enumerate(table["value"].text.to_list())}
    of_fake = np.array([number for number, _ in fakes], np.int32)
    counterfeits = Counterfeits(
        of_fake, {"value": np.array([code[value] for _, value in fakes], np.int32)}
    )
    outcome = with_cells(task, Bucketized(group.astype(np.int32), counterfeits=counterfeits))
    tables = GeneralizedBucketsKind().tables(task, outcome)
    shown = {
        column.name: column.dictionary.gather(column.codes).to_list()
        for column in tables["quasi_identifiers"].columns
    }
    assert tables["sensitive"].rows == len(people) + len(fakes)
    return [
        {(shown["age"][r], shown["zip"][r]) for r in np.flatnonzero(group == g)}
        for g in range(len(groups))
    ]


def test_tables_31_and_32_leave_two_rows_after_the_correspondence_attack():
    """Jane is among a, a, b and then among b, b, a: one a and one b can be hers in both."""
    series = series_of(
        [
            [(["Jane", "p2", "p3"], ["a", "a", "b"])],
            [(["p2", "p3", "p4"], ["a", "a", "b"]), (["Jane", "p5", "p6"], ["b", "b", "a"])],
        ]
    )
    assert corresponding(series, "Jane") == {"a": 0.5, "b": 0.5}
    found = correspondences(series, 3)
    assert (found.returning, found.arriving) == (2, 2)
    assert found.below == 2  # Jane; and p4, because one a of p4's group must be of p2 or p3
    assert correspondence_problems(found, 3) != []
    assert correspondence_problems(correspondences(series, 2), 2) == []


def test_table_39_generalizes_quasi_identifiers_by_group():
    assert published_cells(PEOPLE_39, TABLE_39) == [
        {("[21, 22]", "[12, 14]")},
        {("[23, 24]", "[18, 25]")},
        {("[36, 41]", "[20, 27]")},
        {("[37, 43]", "[26, 35]")},
        {("[52, 56]", "[33, 34]")},
    ]


def test_table_35_with_its_counterfeit_and_the_tightest_cells():
    """The dissertation widens cells around people; the number of counterfeits is published here."""
    people = {
        "Bob": (20, 3000), "Mandy": (50, 5000), "Sam": (30, 6500), "Alice": (45, 6000),
        "David": (40, 5000), "Tom": (55, 6500), "Carol": (45, 5000),
    }  # fmt: skip
    assert published_cells(people, TABLE_35) == [
        {("[20, 50]", "[3000, 5000]")},
        {("30", "6500")},
        {("[40, 45]", "[5000, 6000]")},
        {("[45, 55]", "[5000, 6500]")},
    ]
