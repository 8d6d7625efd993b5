"""The noise of a decomposition is the same by loops and by operations on whole arrays."""

from __future__ import annotations

import os
from dataclasses import astuple

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from discreet.methods.decomposition.noise import NO_READER, PAIR, ROW, add_noise, index_sensitive
from discreet.table.coded_table import Column
from discreet.table.kernels.tiers import TIERS
from discreet.table.roles import Role, ValueType

pytestmark = pytest.mark.skipif(
    bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="nothing is compiled"
)


@pytest.mark.parametrize("reader", [NO_READER, PAIR, ROW])
@pytest.mark.parametrize("seed", range(12))
def test_loops_and_whole_arrays_draw_the_same_noise(reader, seed, monkeypatch):
    rng = np.random.default_rng(seed)
    rows, cardinality = int(rng.integers(20, 200)), [5, int(rng.integers(2, 8)), 9]
    columns = []
    for place, bound in enumerate(cardinality):
        codes = (bound * rng.random(rows) ** 2).astype(np.int32)  # skewed
        text = pl.Series([str(one) for one in range(bound)])
        columns.append(Column(f"c{place}", Role.SENSITIVE, ValueType.TEXT, codes, text, text))
    sensitive = index_sensitive(columns, rows)
    start = np.arange(0, rows - 2, 3)
    member = sensitive.classes.class_of_row[rng.permutation(rows)].astype(np.int32)
    found = []
    for tier in ("interpreted", "compiled"):
        monkeypatch.setattr(TIERS, "asked", tier)
        draws = np.random.default_rng(seed)
        noise = add_noise(
            sensitive, start, member, [2, 2, 3], draws, reader=reader, floor=2 if reader else 0
        )
        found.append([*astuple(noise), draws.random()])
    assert len(found[0][0])  # some noise
    for one, other in zip(*found, strict=True):
        assert_array_equal(one, other)
