"""MMDCF forms the same groups by loops and by operations on whole arrays."""

from __future__ import annotations

import numpy as np
import pytest
from experiments.rivals.mmdcf import _fill
from numpy.testing import assert_array_equal


@pytest.mark.parametrize("seed", range(20))
def test_loops_and_whole_arrays_form_the_same_groups(seed):
    rng = np.random.default_rng(seed)
    attributes, most, ell = rng.integers(1, 4), int(rng.integers(1, 7)), int(rng.integers(1, 4))
    rows = (most * rng.random((int(rng.integers(1, 120)), attributes)) ** 2).astype(np.int32)
    values, size = np.unique(rows, axis=0, return_counts=True)
    start = np.concatenate(([0], np.cumsum(size)))
    found = []
    for fill in (_fill.function, _fill.interpreted):
        group_of_place = np.full(len(rows), -1, np.int32)
        fill(values, start, ell, most, group_of_place)
        found.append(group_of_place)
    assert_array_equal(*found)
