"""Beliefs within a guarantee are shares of worlds; ``python -m tests.worlds`` runs many more."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.worlds.cases import METHODS, make_case
from tests.worlds.running import DISAGREES, PUBLISHED, run

import discreet as dc

CASES = 210  # of a method
LEAST = {  # releases of these cases, a few less than today
    "mondrian": 140,
    "full-domain": 145,
    "local-recoding": 139,
    "msa-diversity": 133,
    "top-down": 156,
    "msa-buckets": 135,
    "anatomy": 77,
    "decomposition": 102,
    "codip": 138,
    "quasi-sensitive": 198,
    "m-invariance-cells": 200,
    "series": 440,
}


def test_at_least_2000_releases_are_compared() -> None:
    assert set(LEAST) == set(METHODS)
    assert sum(LEAST.values()) >= 2000


@pytest.mark.parametrize("name", METHODS)
def test_beliefs_are_shares_of_worlds(name: str) -> None:
    first, step = list(METHODS).index(name), len(METHODS)
    endings = [
        (number, *ending)
        for number in range(first, first + step * CASES, step)
        for ending in run(make_case(number))
    ]
    assert not [ending for ending in endings if ending[1] == DISAGREES]
    assert sum(ending[1] == PUBLISHED for ending in endings) >= LEAST[name]
    assert sum(ending[3] for ending in endings)  # findings within the guarantee


def test_a_person_fits_every_group_with_the_same_cells(tmp_path: Path) -> None:
    """Two groups of two persons, whose cells are equal: any of four rows is a person's."""
    settings = dc.LedgerSettings(path=tmp_path / "people.ledger").located(tmp_path)
    with dc.Ledger.create(settings):
        pass
    table = pl.DataFrame({"id": list("pqrs"), "age": ["38"] * 4, "ill": ["a", "b", "a", "b"]})
    job = dc.Job(
        attributes={
            "id": {"role": "identifier"},
            "age": {"role": "quasi-identifier", "hierarchy": "suppress"},
            "ill": {"role": "sensitive"},
        },
        person={"column": "id"},
        method={"m-invariance": {"m": 2, "publish": "generalized"}},
        ledger=settings,
    )
    release = dc.publish(table, job, seed=1)
    assert release.tables["quasi_identifiers"]["group"].n_unique() == 2
    report = dc.attack(release, original=table, attacks=["linking", "homogeneity"])
    assert [finding.greatest for finding in report.findings] == [0.25, 0.5]
