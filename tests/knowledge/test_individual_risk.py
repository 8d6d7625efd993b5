"""Individual and household risk against the distributions that define them."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.knowledge.population_figures import household_risks, risk_from_weights


def by_definition(rows: int, weight: float) -> float:
    """Σ 1/F · P(F | f) with F − f negative binomial, as Benedetti and Franconi define it."""
    p = rows / weight
    if p >= 1:
        return 1 / rows
    total, chance, size = 0.0, p**rows, rows
    while size < 40 * weight + 400:
        total += chance / size
        chance *= size / (size + 1 - rows) * (1 - p)
        size += 1
    return total


@pytest.mark.parametrize("rows", [1, 2, 3, 7, 19, 20, 21, 40])
@pytest.mark.parametrize("factor", [1, 1.01, 1.5, 1.99, 2, 2.01, 5, 30])
def test_the_risk_is_the_expectation_of_its_definition(rows, factor):
    weight = rows * factor
    (risk,) = risk_from_weights(np.array([rows]), np.array([weight]))
    assert risk == pytest.approx(by_definition(rows, weight), rel=1e-9)


def test_one_row_has_the_closed_form_of_the_paper():
    weight = np.array([2.0, 10.0, 1e6])
    p = 1 / weight
    expected = p / (1 - p) * np.log(1 / p)
    assert risk_from_weights(np.ones(3, np.int64), weight) == pytest.approx(expected)


classes = st.tuples(st.integers(1, 60), st.floats(1, 500))  # rows, and weight of a row


@settings(max_examples=400, deadline=None)
@given(classes, classes)
def test_merged_classes_have_no_greater_risk_and_no_more_expected_links(one, other):
    rows = np.array([one[0], other[0], one[0] + other[0]])
    weight = np.array([one[0] * one[1], other[0] * other[1], one[0] * one[1] + other[0] * other[1]])
    risk = risk_from_weights(rows, weight)
    assert risk[2] <= min(risk[:2]) + 1e-12  # absorbing
    assert risk[2] * rows[2] <= risk[:2] @ rows[:2] + 1e-9


def test_the_risk_of_a_household_is_that_of_any_member():
    risk = np.array([0.5, 0.2, 0.1, 1.0, 0.0])
    household = np.array([0, 1, 0, 2, 1])
    expected = [1 - 0.5 * 0.9, 1 - 0.8, 1.0]
    assert household_risks(risk, household) == pytest.approx(expected)


def test_a_household_agrees_with_all_outcomes_of_its_members():
    risk = [0.3, 0.6, 0.25]
    linked = 0.0
    for outcome in product([True, False], repeat=3):
        chance = math.prod(r if hit else 1 - r for r, hit in zip(risk, outcome, strict=True))
        linked += chance * any(outcome)
    (found,) = household_risks(np.array(risk), np.zeros(3, np.int64))
    assert found == pytest.approx(linked)
