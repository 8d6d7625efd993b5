"""Rows are published in an order that says nothing of the file's."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest

from discreet.pipeline.one_machine import _random_order


@pytest.mark.parametrize("rows", [0, 1, 7, 1000])
def test_every_row_has_one_place(rows):
    order = _random_order(np.random.default_rng(1), rows)
    assert order.dtype == np.int32
    assert sorted(order.tolist()) == list(range(rows))


def test_every_order_is_as_likely_as_any_other():
    rng = np.random.default_rng(2)
    draws = 24_000
    seen = Counter(tuple(_random_order(rng, 4).tolist()) for _ in range(draws))
    expected = draws / 24
    assert set(seen) == set(permutations(range(4)))
    assert sum((count - expected) ** 2 / expected for count in seen.values()) < 60  # 23 on average
