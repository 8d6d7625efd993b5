"""Kernels with a form on whole arrays give the same results by loops."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from discreet.methods.shared.hilbert import _index_rows
from discreet.releases.worlds import readers
from discreet.releases.worlds.readers import _unsupported
from discreet.table import assignments
from discreet.table.assignments import Sets, _supporting_rows, supporting_rows
from discreet.table.kernels.lists import starts_of


@pytest.mark.parametrize("seed", range(30))
def test_loops_and_whole_arrays_find_the_same_places_on_the_curve(seed):
    rng = np.random.default_rng(seed)
    axes, bits, rows = int(rng.integers(1, 9)), int(rng.integers(1, 20)), int(rng.integers(1, 60))
    values = rng.integers(1, 12, axes)
    grid = rng.integers(0, 2**bits, int(values.sum())).astype(np.uint64)
    codes = rng.integers(0, values[:, None], (axes, rows)).astype(np.int32)
    found = []
    for index_rows in (_index_rows.function, _index_rows.interpreted):
        index = np.zeros(((axes * bits + 63) // 64, rows), np.uint64)
        index_rows(codes, grid, starts_of(values)[:-1], bits, index)
        found.append(index)
    assert_array_equal(*found)


def sets_and_signatures(rng: np.random.Generator) -> tuple[Sets, np.ndarray, np.ndarray]:
    """Random sets of values, distinct rows of T^S, and how many values each attribute has."""
    attributes, groups = int(rng.integers(1, 5)), int(rng.integers(0, 30))
    values = rng.integers(1, 9, attributes)  # some of a set may occur in no row
    codes = np.unique(rng.integers(0, values, (int(rng.integers(1, 60)), attributes)), axis=0)
    chosen = [
        np.flatnonzero(rng.random(values[attribute]) < 0.4)
        for attribute in range(attributes)
        for _ in range(groups)
    ]
    start = starts_of(np.array([len(one) for one in chosen], np.int64))
    value = np.concatenate([np.zeros(0, np.int64), *chosen]).astype(np.int32)
    return Sets(start, value, groups), rng.permutation(codes).astype(np.int32), values


@pytest.mark.parametrize("table", [assignments.AT_ONCE, 0])
@pytest.mark.parametrize("limit", [10**6, 5])
@pytest.mark.parametrize("seed", range(25))
def test_loops_and_whole_arrays_find_the_same_supporting_rows(seed, limit, table, monkeypatch):
    rng = np.random.default_rng(seed)
    sets, codes, _ = sets_and_signatures(rng)
    known = int(rng.integers(codes.shape[1]))
    monkeypatch.setattr(assignments, "AT_ONCE", table)
    found = []
    for find in (_supporting_rows.function, _supporting_rows.interpreted):
        monkeypatch.setattr(assignments, "_supporting_rows", find)
        found.append(supporting_rows(sets, codes, known, limit))
    (begin, row), (other_begin, other_row) = found
    assert (row is None) == (other_row is None)
    if row is not None:
        assert_array_equal(begin, other_begin)
        assert_array_equal(row, other_row)
        assert row.dtype == other_row.dtype


@pytest.mark.parametrize("edges", [readers.MOST_ENTRIES, 3])
@pytest.mark.parametrize("seed", range(25))
def test_loops_and_whole_arrays_find_the_same_unsupported_values(seed, edges, monkeypatch):
    sets, codes, values = sets_and_signatures(np.random.default_rng(seed))
    offset = starts_of(values)
    order = np.argsort((codes + offset[:-1]).T.reshape(-1), kind="stable")
    listed = np.tile(np.arange(len(codes), dtype=np.int32), codes.shape[1])[order]
    count = [np.bincount(own, minlength=most) for own, most in zip(codes.T, values, strict=True)]
    given = sets.start, sets.value, sets.groups, codes, offset
    given = *given, starts_of(np.concatenate(count)), listed
    monkeypatch.setattr(readers, "MOST_ENTRIES", edges)
    assert_array_equal(_unsupported.function(*given), _unsupported.interpreted(*given))
