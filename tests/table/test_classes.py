"""Classes are the same whether keys are hashed or addressed directly; entries are in order."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.table import classes
from discreet.table.classes import group_codes
from discreet.table.counts import order_by_class


@pytest.mark.parametrize("cardinality", [1, 7, 10**6])
def test_both_ways_group_alike(cardinality, monkeypatch):
    rng = np.random.default_rng(cardinality)
    codes = [rng.integers(0, min(cardinality, 40), 3000).astype(np.int32) for _ in range(3)]
    found = []
    for cells in (2**24, 0):
        monkeypatch.setattr(classes, "TABLE_CELLS", cells)
        found.append(group_codes(codes, [cardinality] * 3, 3000))
    for other in found[1:]:
        np.testing.assert_array_equal(other.class_of_row, found[0].class_of_row)
        np.testing.assert_array_equal(other.first_row, found[0].first_row)
        np.testing.assert_array_equal(other.size, found[0].size)
    assert found[0].class_of_row.dtype == np.int32
    assert found[0].size.sum() == 3000
    seen = {}
    for row, key in enumerate(zip(*codes, strict=True)):
        assert found[0].class_of_row[row] == seen.setdefault(key, len(seen))


def test_entries_are_ordered_by_class_then_by_value():
    rng = np.random.default_rng(1)
    pairs = np.unique(rng.integers(0, [30, 9], (400, 2)), axis=0)
    of_class, value = rng.permutation(pairs).astype(np.int32).T
    start, order = order_by_class(of_class, value, 31, 9)
    np.testing.assert_array_equal(order, np.lexsort((value, of_class)))
    np.testing.assert_array_equal(start, np.searchsorted(np.sort(of_class), np.arange(32)))


def test_keys_in_one_slot_are_told_apart(monkeypatch):
    monkeypatch.setattr(classes, "HASH_FACTOR", 1)  # keys below 2**32 all hash to slot 0
    codes = np.array([5, 3, 5, 9, 3, 5], np.int32)
    found = group_codes([codes], [10], len(codes))
    assert found.class_of_row.tolist() == [0, 1, 0, 2, 1, 0]
    assert found.first_row.tolist() == [0, 1, 3]
    assert found.size.tolist() == [3, 2, 1]


def test_entries_of_more_classes_than_16_bits_are_ordered():
    of_class = np.array([70_000, 4, 65_540, 4], np.int32)
    start, order = order_by_class(of_class, np.array([0, 1, 0, 0], np.int32), 70_001, 2)
    assert order.tolist() == [3, 1, 2, 0]
    assert start[[4, 5, 65_541, 70_001]].tolist() == [0, 2, 3, 4]
