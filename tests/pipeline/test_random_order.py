"""Rows are published in an order that says nothing of the file's."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest

from discreet.pipeline import one_machine
from discreet.pipeline.one_machine import _random_order


@pytest.mark.parametrize("rows", [0, 1, 7, 1000])
@pytest.mark.parametrize("at_once", [1, 3, 500, 1 << 16])
def test_every_row_has_one_place(monkeypatch, rows, at_once):
    monkeypatch.setattr(one_machine, "SHUFFLED_AT_ONCE", at_once)
    order = _random_order(np.random.default_rng(1), rows)
    assert order.dtype == np.int32
    assert sorted(order.tolist()) == list(range(rows))


@pytest.mark.parametrize("at_once", [1, 2, 1 << 16])
def test_every_order_is_as_likely_as_any_other(monkeypatch, at_once):
    monkeypatch.setattr(one_machine, "SHUFFLED_AT_ONCE", at_once)
    rng = np.random.default_rng(2)
    draws = 24_000
    seen = Counter(tuple(_random_order(rng, 4).tolist()) for _ in range(draws))
    expected = draws / 24
    assert set(seen) == set(permutations(range(4)))
    assert sum((count - expected) ** 2 / expected for count in seen.values()) < 60  # 23 on average


def test_small_tables_are_shuffled_as_a_whole():
    order = np.arange(1000, dtype=np.int32)
    np.random.default_rng(3).shuffle(order)
    assert _random_order(np.random.default_rng(3), 1000).tolist() == order.tolist()
