"""Orders within lists."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.methods.shared.list_orders import sort_by_key


@pytest.mark.parametrize("length", [0, 1, 24, 25, 49, 100])
@pytest.mark.parametrize("greatest", [3, 60, 10**6])  # by inserting, counting, merging
def test_a_range_is_sorted_stably_with_its_keys(length, greatest):
    keys = np.random.default_rng(length).integers(0, greatest, length).astype(np.int32)
    order = np.arange(-2, length + 1, dtype=np.int32)  # two units before the range, one after it
    key = np.append(keys, 0).astype(np.int32)
    sort_by_key(order, 2, length, key, np.empty_like(key), np.empty_like(key))
    expected = np.argsort(keys, kind="stable")
    assert order.tolist() == [-2, -1, *expected.tolist(), length]
    assert key[:length].tolist() == keys[expected].tolist()
