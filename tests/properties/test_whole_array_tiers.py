"""Kernels with a form on whole arrays give the same results by loops."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tests.table.test_rows_within_sets import sets_and_signatures

from discreet.methods.shared.hilbert import _index_rows
from discreet.releases.worlds import readers
from discreet.releases.worlds.readers import _unsupported
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
