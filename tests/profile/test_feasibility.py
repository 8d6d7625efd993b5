"""The strongest feasible guarantees, against trying every number of rows."""

from __future__ import annotations

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
