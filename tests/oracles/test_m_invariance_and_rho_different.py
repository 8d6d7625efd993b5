"""Exact beliefs over random small series, against worlds written down one by one."""

from __future__ import annotations

import random

import numpy as np
import pytest
from tests import naive_series
from tests.series_readers import all_beliefs, series_of

from discreet.methods.series.beliefs.cohort_bounds import cohort_bounds
from discreet.methods.series.beliefs.correlation import Correlation
from discreet.methods.series.beliefs.estimates import individual, shares

LETTERS = "abcd"


def random_series(draw: random.Random, people: int, releases: int):
    series = []
    for _ in range(releases):
        here = [f"p{number}" for number in range(people) if draw.random() < 0.8]
        groups = []
        while here:
            size = draw.randint(1, len(here))
            values = [draw.choice(LETTERS) for _ in range(size + draw.choice([0, 0, 1]))]
            if size == 1 and draw.random() < 0.5:
                values = list(LETTERS)  # tells nothing
            groups.append((here[:size], values))
            here = here[size:]
        series.append(groups)
    return series


def random_series_with_twins(draw: random.Random, releases: int):
    """Two or three of five persons are always in the same groups, whoever else is there."""
    names = draw.sample("pqrst", 5)
    twins = draw.choice([2, 2, 3])
    units = [names[:twins], *([name] for name in names[twins:])]
    series = []
    for _ in range(releases):
        here = [unit for unit in units if draw.random() < 0.8] or units
        cut = draw.choice([0, 0, 1, len(here) - 1])
        groups = []
        for part in (here[:cut], here[cut:]):
            persons = [name for unit in part for name in unit]
            values = [draw.choice(LETTERS) for _ in range(len(persons) + draw.choice([0, 0, 1]))]
            if persons:
                groups.append((persons, values))
        series.append(groups)
    return series


def random_odds(draw: random.Random) -> dict[tuple[str, str], float]:
    stated = {}
    for old in LETTERS:
        room = 1.0
        for new in draw.sample(LETTERS, 2):
            stated[old, new] = round(draw.random() * room, 3)
            room -= stated[old, new]
    return stated


@pytest.mark.parametrize("twins", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_beliefs_are_shares_of_worlds(seed, twins):
    draw = random.Random(seed)
    releases = random_series_with_twins(draw, 3) if twins else random_series(draw, 4, 3 + seed % 2)
    stated = random_odds(draw)
    unstated = draw.choice(["spread", "stay"])
    odds = Correlation.of([(old, new, p) for (old, new), p in stated.items()], unstated)
    chance = naive_series.chances(stated, LETTERS, unstated)
    series = series_of(releases)
    found = all_beliefs(series, odds)
    matrix = odds.matrix((*series.values, *sorted(odds.values - set(series.values))))
    groups = series.groups
    bounds = cohort_bounds(series.group_of, groups.start, groups.value, groups.count, matrix)
    for family in naive_series.families(releases):
        try:
            expected = naive_series.beliefs(releases, family, chance)
        except ZeroDivisionError:  # no world at all
            continue
        for (release, person, value), belief in expected.items():
            assert found[person][release].get(value, 0.0) == pytest.approx(belief, abs=1e-9)
            place = series.people.index(person)
            assert belief <= bounds[release, place] + 1e-9


def test_individual_is_often_below_the_exact_belief():
    """The reason why it is an estimate and no bound."""
    below = total = 0
    for seed in range(60):
        draw = random.Random(seed)
        persons = ["p", "q", "r"]
        old = [draw.choice(LETTERS) for _ in persons]
        new = [value if draw.random() < 0.7 else draw.choice(LETTERS) for value in old]
        releases = [[(persons, old)], [(persons[:2], new[:2]), (["r", "s"], [new[2], "a"])]]
        odds = Correlation.of([(x, x, 0.7) for x in LETTERS], "spread")
        exact = all_beliefs(series_of(releases), odds)
        prior = shares({v: old.count(v) for v in old})
        group = {v: new[:2].count(v) for v in new[:2]}
        estimate = individual(prior, group, odds)
        truth = new[0]
        total += 1
        below += estimate[truth] < exact["p"][1].get(truth, 0.0) - 1e-9
    assert 0.1 < below / total < 0.9


def test_a_component_that_is_too_large_is_never_guessed_at():
    people = [f"p{number}" for number in range(60)]
    values = [LETTERS[number % 4] for number in range(60)]
    series = series_of([[(people, values)]])
    odds = Correlation(unstated="stay")
    from discreet.attacks.series_beliefs import joint

    found = joint(series, odds, 0.5)
    assert (found.exact, found.bounded, found.open) == (0, 1, 0)
    assert found.greatest == pytest.approx((15 / 60,))
    halves = [(people[:30], values[:30]), (people[30:], values[30:])]
    assert np.allclose(joint(series_of([halves]), odds, 0.5).greatest, 8 / 30)
