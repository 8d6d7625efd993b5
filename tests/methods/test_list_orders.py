"""Orders within lists."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.methods.shared.list_orders import order_of_words, sort_by_key


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


@pytest.mark.parametrize("length", [0, 1, 2, 300])
@pytest.mark.parametrize("bits", [1, 20, 55, 56, 64])  # 300 places leave room for 55 in a word
def test_words_are_sorted_stably(length, bits):
    rng = np.random.default_rng(bits)
    few = rng.integers(0, 2**64, 40, np.uint64) >> np.uint64(64 - bits)  # so that some are equal
    keys = rng.choice(few, length)
    keys[::7] = keys[::7] >> np.uint64(10)  # equal last bits, others above
    assert order_of_words(keys).tolist() == np.argsort(keys, kind="stable").tolist()
