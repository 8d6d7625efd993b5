"""Space-filling curves: every cell once, steps as each curve defines them."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest
from experiments.curves import CURVES, gray_keys, grouping_along, peano_keys, z_keys

import discreet as dc
from discreet.methods.msa_diversity import msa_diversity
from discreet.methods.shared.hilbert import task_keys
from discreet.pipeline.prepare import prepare


def cells(axes: int, size: int) -> np.ndarray:
    return np.array(list(product(range(size), repeat=axes)), np.int64)


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize(("keys", "base"), [(z_keys, 2), (gray_keys, 2), (peano_keys, 3)])
def test_every_cell_has_a_place_of_its_own(keys, base, axes):
    grid = cells(axes, base**2)
    assert sorted(keys(grid, 2).tolist()) == list(range(len(grid)))


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_neighbours_on_the_curve_of_peano_are_neighbours_on_the_grid(axes):
    grid = cells(axes, 9)
    order = np.argsort(peano_keys(grid, 2))
    assert (np.abs(np.diff(grid[order], axis=0)).sum(axis=1) == 1).all()


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_neighbours_in_the_gray_order_differ_in_one_bit(axes):
    grid = cells(axes, 4)
    order = np.argsort(gray_keys(grid, 2))
    changed = grid[order][1:] ^ grid[order][:-1]
    assert all(sum(int(value).bit_count() for value in row) == 1 for row in changed)


def test_the_z_order_interleaves_bits():
    assert z_keys(np.array([[0b10, 0b01], [0b11, 0b00]]), 2).tolist() == [0b1001, 0b1010]


@pytest.mark.parametrize("curve", list(CURVES))
def test_a_release_along_any_curve_keeps_its_guarantee(curve):
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "age": rng.integers(20, 60, 80),
            "zip": rng.integers(100, 900, 80),
            "vote": rng.choice(list("abcd"), 80),
        }
    )
    attributes = {
        "age": {"role": "quasi-identifier", "type": "integer"},
        "zip": {"role": "quasi-identifier", "type": "integer"},
        "vote": {"role": "sensitive"},
    }
    job = dc.Job(
        attributes=attributes, method="msa-diversity", requirements=[{"m-diversity": {"l": 2}}]
    )
    with grouping_along(curve):
        assert msa_diversity.task_keys is CURVES[curve]
        assert dc.publish(frame, job, seed=1).manifest.suppressed_rows == 0
        assert len(np.unique(CURVES[curve](prepare(job, frame)))) > 40
    assert msa_diversity.task_keys is task_keys
