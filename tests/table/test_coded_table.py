"""Codes are counted part by part as they are at once."""

import numpy as np
import pytest

from discreet.table import coded_table
from discreet.table.coded_table import count_codes


@pytest.mark.parametrize("rows", [0, 1, 7, 8, 9, 100])
@pytest.mark.parametrize("size", [1, 2, 30])
def test_counting_in_parts(monkeypatch, rows, size):
    monkeypatch.setattr(coded_table, "IN_CACHE", 4)
    codes = np.random.default_rng(rows).integers(0, size, rows, np.int32)
    assert count_codes(codes, size).tolist() == np.bincount(codes, minlength=size).tolist()
