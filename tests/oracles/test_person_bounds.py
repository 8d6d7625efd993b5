"""The bounds of ``docs/persons.md``, by enumeration of all assignments on tiny classes."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.io.frames import code_series
from discreet.methods.shared.judged_persons import verdict_on_persons
from discreet.requirements.base import Domain
from discreet.table.classes import Classes
from discreet.table.coded_table import Column
from discreet.table.persons import PersonBasis, Persons, count_persons
from discreet.table.roles import ColumnSpec, Role

Bundles = list[str]  # by member: the values of the member's rows, a letter each
BUNDLES = st.lists(st.text("uvwx", min_size=1, max_size=4), min_size=1, max_size=5)


def coded(bundles: Bundles) -> tuple[Classes, Persons, Column]:
    number = np.repeat(np.arange(len(bundles)), [len(own) for own in bundles])
    column = code_series(
        pl.Series("s", list("".join(bundles))), ColumnSpec(Role.SENSITIVE), (), "test"
    )
    one_class = Classes.of_numbers(np.zeros(len(number), np.int32))
    return one_class, Persons(number, len(bundles), 0), column


def counted(bundles: Bundles, basis: PersonBasis) -> dict[str, float]:
    """The share of each value on one basis, as requirements read it."""
    classes, persons, column = coded(bundles)
    counts = count_persons(classes, persons, [column], basis)
    found = counts.values["s"]
    names = column.text.to_list()
    return {
        names[value]: count / counts.size[0]
        for value, count in zip(found.value, found.count, strict=True)
    }


def beliefs(bundles: Bundles) -> tuple[dict[str, Fraction], dict[str, Fraction]]:
    """Of all assignments of bundles to members: the first member has a value, or a row of it."""
    worlds = list(itertools.permutations(bundles))
    at_all, in_row = {}, {}
    for value in set("".join(bundles)):
        at_all[value] = Fraction(sum(value in world[0] for world in worlds), len(worlds))
        shares = [Fraction(world[0].count(value), len(world[0])) for world in worlds]
        in_row[value] = sum(shares, Fraction(0)) / len(worlds)
    return at_all, in_row


@settings(deadline=None, max_examples=100)
@given(BUNDLES)
def test_touch_and_mass_are_the_beliefs_over_all_assignments(bundles: Bundles):
    at_all, in_row = beliefs(bundles)
    touched, mass = counted(bundles, PersonBasis.TOUCHED), counted(bundles, PersonBasis.MASS)
    assert touched.keys() == at_all.keys() == mass.keys()
    for value in at_all:
        assert abs(touched[value] - at_all[value]) < 1e-9
        assert abs(mass[value] - in_row[value]) < 1e-9
        assert in_row[value] <= at_all[value]
    assert abs(sum(mass.values()) - 1) < 1e-9


REQUIREMENTS: list[tuple[Any, bool]] = [  # a requirement, and whether it bounds having it at all
    (dc.PDiversity(l=1.5), True),
    (dc.AlphaKAnonymity(alpha=0.6, k=2), True),
    (dc.EntropyLDiversity(l=1.5), False),
    (dc.RecursiveClDiversity(c=2.0, l=2), False),
]


@settings(deadline=None, max_examples=150)
@given(BUNDLES, st.sampled_from(REQUIREMENTS))
def test_a_class_that_passes_keeps_beliefs_within_the_bound(
    bundles: Bundles, requirement: tuple[Any, bool]
):
    one, bounds_having_it = requirement
    classes, persons, column = coded(bundles)
    domain = Domain.of(column)
    if not verdict_on_persons(one, classes, persons, [column], {"s": domain}).holds:
        return
    at_all, in_row = beliefs(bundles)
    names = column.text.to_list()
    for believed in (in_row, at_all) if bounds_having_it else (in_row,):
        share = np.array([float(believed[name]) for name in names])
        bound = one.share_bound(share, domain)
        assert (share <= bound + 1e-9).all()


@settings(deadline=None, max_examples=150)
@given(BUNDLES)
def test_a_matching_is_what_is_left_after_any_members_are_ruled_out(bundles: Bundles):
    classes, persons, column = coded(bundles)
    counts = count_persons(classes, persons, [column], PersonBasis.MATCHED)
    left = min(
        ruled_out + len(set("".join(others)))
        for ruled_out in range(len(bundles) + 1)
        for others in itertools.combinations(bundles, len(bundles) - ruled_out)
    )
    assert len(counts.values["s"].value) == left


def test_one_person_cannot_supply_the_diversity():
    bundles = ["uvw", "u", "u"]
    assert len(set("".join(bundles))) == 3  # by a count of values
    classes, persons, column = coded(bundles)
    found = verdict_on_persons(
        dc.DistinctLDiversity(l=3), classes, persons, [column], {"s": Domain.of(column)}
    )
    assert not found.holds and found.achieved["l"] == 2


def test_an_attacker_who_knows_numbers_of_rows_passes_the_bound():
    """The limit that the theory page names: 1/5 by touch, 1 by the number of rows."""
    bundles = ["h" * 9, "f", "f", "f", "f"]
    assert beliefs(bundles)[0]["h"] == Fraction(1, 5)
    n, m, r = 13, 9, 9
    assert 1 - Fraction(comb(n - m, r), comb(n, r)) == 1
    small = ["hh", "f", "f"]  # all ways to deal four rows, two to the first
    rows = "".join(small)
    deals = list(itertools.combinations(range(len(rows)), 2))
    share = Fraction(sum(any(rows[place] == "h" for place in own) for own in deals), len(deals))
    assert share == 1 - Fraction(comb(2, 2), comb(4, 2)) == Fraction(5, 6)
    assert beliefs(small)[0]["h"] == Fraction(1, 3)
