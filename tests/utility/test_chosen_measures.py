"""The measures of a job can be switched off and chosen."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from tests.saving import UNATTACKED

import discreet as dc
from discreet.utility import divergence


@pytest.fixture
def frame() -> pl.DataFrame:
    rng = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, 80),
            "zip": rng.choice(["101", "102", "201"], 80),
            "ill": rng.choice(["flu", "gout", "ache"], 80),
        }
    )


def job(**measure) -> dc.Job:
    return dc.Job(
        attributes={
            "age": {"role": "quasi-identifier", "type": "integer"},
            "zip": {"role": "quasi-identifier"},
            "ill": {"role": "sensitive"},
        },
        requirements=[dc.KAnonymity(k=4)],
        method="mondrian",
        **measure,
    )


@pytest.fixture
def divergences(monkeypatch) -> list[int]:
    """Count how often a divergence is computed."""
    found = []
    diverge = divergence.diverge

    def counted(*arguments):
        found.append(1)
        return diverge(*arguments)

    monkeypatch.setattr(divergence, "diverge", counted)
    return found


def test_none_measures_nothing_and_publishes(frame, tmp_path, divergences):
    release = dc.publish(frame, job(measure="none"), seed=1)
    release.save(tmp_path / "release", **UNATTACKED)
    assert divergences == []
    assert release.private["utility"] == {}
    assert json.loads((tmp_path / "release.private.json").read_text())["utility"] == {}
    assert dc.audit(tmp_path / "release").ok
    assert (
        dc.measure(release, original=frame, queries=0).divergence is not None
    )  # asked for by name


def test_chosen_measures(frame, divergences):
    release = dc.publish(frame, job(measure={"figures": ["loss"]}), seed=1)
    assert divergences == []
    assert "loss" in release.private["utility"]
    assert "divergence" not in release.private["utility"]
    measured = dc.measure(release, original=frame)
    assert measured.divergence is None
    assert measured.query_error is None
    asked = job(measure={"figures": ["queries"], "queries": 20})
    measured = dc.measure(dc.publish(frame, asked, seed=1), original=frame)
    assert divergences == []
    assert measured.query_error is not None
    dc.publish(frame, job(), seed=1)
    assert divergences == [1]


def test_only_known_measures(frame):
    with pytest.raises(dc.JobError, match=r"measure\.figures"):
        job(measure={"figures": ["beauty"]})
