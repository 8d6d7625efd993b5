"""Where people and groups are too many, targets are drawn, and the report says so."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import discreet as dc
from discreet.hierarchies import covering_classes
from discreet.releases import adversary_view

ATTRIBUTES = {
    "age": {"role": "quasi-identifier", "type": "integer"},
    "zip": {"role": "quasi-identifier", "type": "integer"},
    "illness": {"role": "sensitive"},
    "work": {"role": "sensitive"},
}


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    rng = np.random.default_rng(11)
    return pl.DataFrame(
        {
            "age": rng.integers(0, 100, 600),
            "zip": rng.integers(0, 100, 600),
            "illness": rng.choice(list("abcdef"), 600),
            "work": rng.choice(list("uvwxyz"), 600),
        }
    )


def attack(table, method, requirements, *attacks):
    job = dc.Job(attributes=ATTRIBUTES, requirements=requirements, method=method)
    release = dc.publish(table, job, seed=0)
    return dc.attack(release, original=table, attacks=attacks).findings


def test_people_who_fit_too_many_classes_are_sampled(table, monkeypatch):
    arguments = (table, "local-recoding", [{"k-anonymity": {"k": 20}}], "homogeneity", "linking")
    everybody = attack(*arguments)
    assert all(f.interval is None for f in everybody)
    monkeypatch.setattr(covering_classes, "WORK_LIMIT", 6000)
    monkeypatch.setattr(adversary_view, "SAMPLE", 150)
    some = attack(*arguments)
    for whole, part in zip(everybody, some, strict=True):
        assert 100 <= part.targets < whole.targets == 600
        low, high = part.interval
        assert 0 <= low <= part.above <= high <= 1
        assert part.mean == pytest.approx(whole.mean, abs=0.05)
        assert not part.exceeded
    assert {f.method for f in some if f.attack == "homogeneity"} == {adversary_view.EQUAL_ROWS}
