"""Divergence of tables with many columns: an estimate with an interval that holds the exact one."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import discreet as dc
from discreet.utility import divergence


@pytest.fixture(scope="module")
def wide() -> tuple[dc.Release, pl.DataFrame]:
    rng = np.random.default_rng(2)
    trait = rng.normal(size=500)
    frame = pl.DataFrame(
        {
            f"c{n}": np.clip((trait * rng.random() + rng.normal(size=500)).round(), -2, 2).astype(
                int
            )
            for n in range(30)
        }
    )
    roles = {
        name: "quasi-identifier" if n < 3 else "sensitive" for n, name in enumerate(frame.columns)
    }
    job = dc.Job(
        attributes={name: {"role": role} for name, role in roles.items()},
        requirements=[dc.KAnonymity(k=5)],
        method=dc.Mondrian(),
    )
    return dc.publish(frame, job, seed=0), frame


def test_drawn_pairs_estimate_the_divergence(wide, monkeypatch):
    release, frame = wide
    exact = dc.measure(release, original=frame, queries=0)
    assert exact.divergence.pairs_drawn is None
    assert exact.divergence.release.ratio_interval is None
    monkeypatch.setattr(divergence, "PAIR_SECONDS", 0.0)
    monkeypatch.setattr(divergence, "FEWEST_PAIRS", 100)
    drawn = dc.measure(release, original=frame, queries=0)
    assert drawn.divergence.pairs_drawn == divergence.FEWEST_PAIRS
    low, high = drawn.divergence.release.ratio_interval
    assert low < exact.divergence.release.ratio < high
    assert low < drawn.divergence.release.ratio < high
    assert "100 pairs of columns drawn at random" in str(drawn)
    assert drawn.to_dict()["divergence"]["pairs_drawn"] == 100
