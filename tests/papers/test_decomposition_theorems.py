"""Ye and others (2009), section 4: Theorems 2 and 3 and Corollary 1 on small tables."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables import coded_column

from discreet.methods.decomposition.group_forming import Formed, largest_groups
from discreet.requirements.feasibility import permissible_ell
from discreet.table.coded_table import Column
from discreet.table.roles import Role

BUCKETS = st.lists(st.integers(1, 9), min_size=1, max_size=6)


def formed(sizes: list[int], ell: int) -> tuple[Column, Formed]:
    values = [letter for letter, size in zip("abcdef", sizes, strict=False) for _ in range(size)]
    column = coded_column("p", values, Role.SENSITIVE)
    return column, largest_groups(column, (), ell, (), np.random.default_rng(0))


@given(BUCKETS, st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_theorem_2_no_procedure_forms_more_groups(sizes: list[int], ell: int) -> None:
    """m groups of l distinct values exist exactly if Σ min(n_i, m) ≥ m·l."""
    _, found = formed(sizes, ell)
    possible = [m for m in range(sum(sizes) + 1) if sum(min(n, m) for n in sizes) >= m * ell]
    assert found.groups == max(possible)


@given(BUCKETS, st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_theorem_3_no_row_remains_exactly_under_the_l_property(sizes: list[int], ell: int) -> None:
    _, found = formed(sizes, ell)
    rows = sum(sizes)
    assert (found.group_of_row >= 0).all() == (max(sizes) * ell <= rows and rows % ell == 0)


@given(BUCKETS, st.data())
@settings(max_examples=60, deadline=None)
def test_corollary_1_no_two_remaining_rows_share_a_value(
    sizes: list[int], data: st.DataObject
) -> None:
    largest = permissible_ell(np.array(sizes))
    column, found = formed(sizes, data.draw(st.integers(1, largest)))
    remaining = Counter(column.codes[found.group_of_row < 0].tolist())
    assert max(remaining.values(), default=1) == 1


@given(BUCKETS, st.integers(1, 6), st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_no_grouping_brings_all_beliefs_in_the_commonest_value_below_its_share(
    sizes: list[int], groups: int, seed: int
) -> None:
    """The limit of section 4: the shares in the groups, weighted by rows, average to n₁/n."""
    common = np.repeat(np.arange(len(sizes)), sizes) == int(np.argmax(sizes))
    group = np.random.default_rng(seed).integers(0, groups, len(common))
    rows = np.bincount(group, minlength=groups)
    shares = np.bincount(group, common, groups)[rows > 0] / rows[rows > 0]
    assert shares.max() >= max(sizes) / sum(sizes) - 1e-12
