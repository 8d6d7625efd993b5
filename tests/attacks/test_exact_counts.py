"""Beliefs that are ratios of counts are compared with bounds as such."""

from __future__ import annotations

import polars as pl

import discreet as dc
from discreet.attacks.base import TOLERANCE
from discreet.requirements.judge import of_counts


def test_a_share_above_its_bound_by_less_than_the_tolerance_is_found():
    table = pl.DataFrame({"age": ["20"] * 4, "ill": ["a", "a", "b", "c"]})
    job = dc.Job(
        unit="rows",
        attributes={
            "age": {"role": "quasi-identifier", "hierarchy": "suppress"},
            "ill": {"role": "sensitive"},
        },
        requirements=[{"alpha-k-anonymity": {"alpha": 0.5, "k": 2}}],
        method="mondrian",
    )
    release = dc.publish(table, job, seed=1)
    assert dc.attack(release, original=table, attacks=["homogeneity"]).ok
    (promise,) = release.manifest.promises
    promise.parameters["alpha"] = 0.5 - TOLERANCE / 2
    assert not dc.attack(release, original=table, attacks=["homogeneity"]).ok


def test_sums_are_told_from_counts():
    inner = dc.MultiAttributeLDiversity(inner=dc.PDiversity(l=2))
    assert of_counts([dc.KAnonymity(k=2), dc.PDiversity(l=2), inner])
    assert not of_counts([dc.KAnonymity(k=2), dc.TCloseness(t=0.2)])
    assert not of_counts([dc.EntropyLDiversity(l=2)])
