"""The strongest feasible guarantees, against trying every number of rows."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.requirements.feasibility import (
    entropy_ell,
    excessive_share,
    least_suppressed,
    permissible_ell,
    rare_values,
)


def naive_least_suppressed(attributes, ell):
    rows = sum(attributes[0])
    return rows - max(
        k
        for k in range(rows + 1)
        if all(sum(min(c, k // ell) for c in counts) >= k for counts in attributes)
    )


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 4), min_size=12, max_size=40), min_size=1, max_size=3),
    st.integers(1, 6),
)
def test_least_suppressed_equals_the_definition(columns, ell):
    rows = min(map(len, columns))
    attributes = [np.bincount(column[:rows], minlength=5) for column in columns]
    plain = [counts.tolist() for counts in attributes]
    assert least_suppressed(attributes, ell) == naive_least_suppressed(plain, ell)


def naive_of_sensitive(counts, sensitive, ell):
    """Every choice of rows to publish: sensitive values fill at most 1/ℓ of them."""
    kept = [
        sum(chosen)
        for chosen in itertools.product(*(range(n + 1) for n in counts))
        if all(n * ell <= sum(chosen) for n, told in zip(chosen, sensitive, strict=True) if told)
    ]
    return sum(counts) - max(kept)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=4),
    st.integers(1, 5),
)
def test_only_sensitive_values_limit_what_is_feasible(values, ell):
    counts, sensitive = (np.array(part) for part in zip(*values, strict=True))
    plain = counts.tolist()
    least = least_suppressed([counts], ell, [sensitive])
    assert least == naive_of_sensitive(plain, sensitive.tolist(), ell)
    if counts[sensitive].sum():  # else nothing limits l
        assert (least == 0) == (permissible_ell(counts, sensitive) >= ell)
    rows, told = counts.sum(), counts[sensitive & (counts > 0)]
    if len(told):
        mean = sum(n * math.log(rows / n) for n in told) / told.sum()
        assert entropy_ell(counts, sensitive) == pytest.approx(math.exp(mean))


def test_a_majority_without_a_finding_is_no_obstacle():
    """82 % 'None' of a laboratory value: any ℓ up to ⌊100 / 9⌋ is feasible for the others."""
    counts, sensitive = np.array([82, 9, 9]), np.array([False, True, True])
    assert permissible_ell(counts) == 1
    assert permissible_ell(counts, sensitive) == 11
    assert least_suppressed([counts], 2) == 100 - 36
    assert least_suppressed([counts], 2, [sensitive]) == 0


def test_figures_by_hand():
    counts = np.array([1, 1, 2, 0])
    assert permissible_ell(counts) == 2
    assert entropy_ell(counts) == pytest.approx(math.exp(1.0397), abs=1e-3)
    assert least_suppressed([np.array([9, 1])], 2) == 8
    assert least_suppressed([np.array([5])], 2) == 5
    assert permissible_ell(np.zeros(0, np.int64)) == 0


@given(st.lists(st.integers(0, 6), min_size=1, max_size=6), st.integers(2, 4))
def test_an_excessive_share_is_one_that_no_group_of_all_rows_allows(counts, ell):
    found = excessive_share(np.array(counts), ell)
    rows = sum(counts)
    exceeds = rows > 0 and max(counts) / rows > 1 / ell + 1e-12
    assert (found is not None) == exceeds
    assert found is None or found == max(counts) / rows
    assert rare_values(np.array(counts), ell) == sum(0 < count < ell for count in counts)
