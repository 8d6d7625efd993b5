"""The built-in attacks pass the conformance kit that plugins use."""

from __future__ import annotations

import polars as pl
import pytest
from tests.conformance.samples import quasi_sensitive

import discreet as dc
from discreet.attacks.registry import ATTACKS
from discreet.testing import check_attack
from discreet.testing.sample_tables import sample_job, sample_table

# Attacks that only releases by other methods allow, or that need to be told something.
GIVEN: dict[str, dict[str, object]] = {
    "similarity": {"kinds_of": {"diagnosis": {"breath": ("asthma", "cold", "flu")}}},
    "background-knowledge": {
        "rules": [{"who": {"zip": ["101"]}, "attribute": "diagnosis", "never": ["flu"]}]
    },
}


def kept_rows() -> tuple[pl.DataFrame, dc.Job]:
    """A table of 24 rows of 8 people, all of which are published."""
    frame = sample_table(10).with_columns(name=pl.Series([f"P{row % 8}" for row in range(24)]))
    job = sample_job("mondrian", [{"k-anonymity": {"k": 3}}])
    return frame, job.model_copy(update={"person": dc.Person(column="name", rows="keep")})


@pytest.mark.parametrize("name", ATTACKS.built_in)
def test_conformance(name, tmp_path):
    releases = []
    if name == "quasi-sensitive-linking":
        requirement = dc.QsClDiversity(c=3, l=2)
        job = sample_job(dc.QuasiSensitive(), [requirement], quasi_sensitive(tmp_path))
        releases.append((sample_table(9), job))
    if name in ("person-intersection", "number-of-rows"):
        releases.append(kept_rows())
    if name == "minimality":  # few enough rows to run the method on every world
        job = sample_job("full-domain", [{"distinct-l-diversity": {"l": 2}}])
        releases.append((sample_table(9, rows=6), job))
    check_attack(ATTACKS[name](**GIVEN.get(name, {})), releases=releases)
