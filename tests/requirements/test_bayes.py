"""The Bayes-optimal audit against worlds written out, and its definitions at their bounds."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.requirements.bayes_optimal import (
    bayes_figures,
    estimated_prior,
    negative_disclosure,
    positive_disclosure,
    posterior_belief,
    privacy_breach,
)
from discreet.table.counts import ValueCounts


def sparse(dense: list[list[int]]) -> ValueCounts:
    counts = np.array(dense, np.int64)
    of_class, value = np.nonzero(counts)
    start = np.searchsorted(of_class, np.arange(len(counts) + 1))
    return ValueCounts(start, value.astype(np.int32), counts[of_class, value], counts.shape[1])


def belief_by_worlds(
    counts: list[int], own: list[Fraction], of_class: list[Fraction]
) -> list[Fraction]:
    """Bob's value is drawn from f(·|q), the others of his class from f(·|q*)."""
    values, size = range(len(counts)), sum(counts)
    mass = [Fraction(0) for _ in values]
    for world in product(values, repeat=size):
        if [world.count(value) for value in values] == counts:
            chance = own[world[0]]
            for value in world[1:]:
                chance *= of_class[value]
            mass[world[0]] += chance
    return [one / sum(mass) for one in mass]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(0, 2), min_size=3, max_size=3).filter(any),
    st.lists(st.lists(st.integers(1, 5), min_size=3, max_size=3), min_size=1, max_size=3),
    st.data(),
)
def test_belief_counts_worlds(
    counts: list[int], weights: list[list[int]], data: st.DataObject
) -> None:
    prior = [[Fraction(w, sum(row)) for w in row] for row in weights]
    share = [data.draw(st.integers(1, 3)) for _ in prior]
    of_class = [
        sum(f[s] * w for f, w in zip(prior, share, strict=True)) / sum(share) for s in range(3)
    ]
    belief = posterior_belief(
        sparse([counts]),
        np.zeros(len(prior), np.int64),
        np.array(prior, np.float64),
        np.array(share, np.float64),
    )
    for kind, own in enumerate(prior):
        expected = [float(b) for b in belief_by_worlds(counts, own, of_class)]
        assert belief[kind] == pytest.approx(expected)


def test_the_tables_own_prior() -> None:
    by_kind = sparse([[2, 0], [1, 1], [0, 4]])
    assert estimated_prior(by_kind).tolist() == [[1, 0], [0.5, 0.5], [0, 1]]
    audit = bayes_figures(sparse([[3, 1], [0, 4]]), by_kind, np.array([0, 0, 1]))
    assert audit.greatest_belief == 1
    # f(s|q*) is (3/4, 1/4): for the mixed kind (3 · ⅔ : 1 · 2), as before
    assert audit.greatest_gain == pytest.approx(0)
    assert audit.positive == pytest.approx(6 / 8)
    assert audit.negative == pytest.approx(6 / 8)
    assert audit.breached == 0


def test_who_is_told_two_values_that_nobody_of_the_kind_has_is_counted_whole() -> None:
    """Kind 0 has value 0 alone, and is believed to have neither 1 nor 2: all its 4 of 8 rows."""
    prior = np.array([[0.998, 0.001, 0.001], [0.2, 0.4, 0.4]])
    by_kind = sparse([[4, 0, 0], [0, 2, 2]])
    audit = bayes_figures(sparse([[4, 2, 2]]), by_kind, np.array([0, 0]), prior=prior)
    assert audit.negative == 0.5


def test_definitions_are_strict_and_need_someone() -> None:
    belief = np.array([[0.9, 0.1, 0.0], [0.95, 0.05, 0.0]])
    rows = np.array([[3, 1, 0], [0, 2, 0]])
    assert positive_disclosure(belief, rows, 0.1).tolist() == [[False] * 3, [False] * 3]
    assert positive_disclosure(belief, rows, 0.11).tolist() == [[True, False, False], [False] * 3]
    found = negative_disclosure(belief, rows, 0.1).tolist()
    assert found == [[False, False, True], [False, False, True]]
    prior = np.array([[0.1, 0.3, 0.6], [0.95, 0.05, 0.0]])
    assert privacy_breach(prior, belief, 0.2, 0.8).tolist() == [[True, False, False], [False] * 3]
    back = privacy_breach(np.array([[0.9, 0.1]]), np.array([[0.1, 0.9]]), 0.2, 0.8)
    assert back.tolist() == [[True, True]]


def test_no_rows() -> None:
    empty = ValueCounts(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int64), 2)
    assert bayes_figures(empty, empty, np.zeros(0, np.int64)).greatest_belief == 0


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ([[1.0, 0.0]], "rules out a value"),
        ([[0.5, 0.6]], "sum to 1"),
        ([[1.5, -0.5]], "at least 0"),
        ([[1.0]], "shape"),
    ],
)
def test_a_prior_that_cannot_be(prior: list[list[float]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        posterior_belief(sparse([[1, 1]]), np.zeros(1, np.int64), np.array(prior), np.ones(1))


def test_a_prior_that_rules_out_a_whole_class_for_some() -> None:
    prior = np.array([[0.0, 1.0], [1.0, 0.0]])
    with pytest.raises(InputError, match="all values of their class"):
        posterior_belief(sparse([[2, 0]]), np.zeros(2, np.int64), prior, np.ones(2))


def test_bayes_optimal_privacy_is_not_monotone() -> None:
    """Theorem 5.1: two classes that disclose nothing disclose both kinds once they are merged.

    Each class has one row of each value, and each kind its own prior. Alone, a class says 1/2;
    merged, f(s|q*) is 1/2 and the counts are equal, so the prior of a kind is believed as it is.
    """
    prior = np.array([[0.9, 0.1], [0.1, 0.9]])
    rows = np.ones((2, 2), np.int64)
    apart = posterior_belief(sparse([[1, 1], [1, 1]]), np.array([0, 1]), prior, np.ones(2))
    merged = posterior_belief(sparse([[2, 2]]), np.array([0, 0]), prior, np.ones(2))
    assert apart == pytest.approx(np.full((2, 2), 0.5))
    assert merged == pytest.approx(prior)
    assert not positive_disclosure(apart, rows, 0.2).any()
    assert positive_disclosure(merged, rows, 0.2).any()
