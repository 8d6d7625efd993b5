"""Weighted counts, shares, means and query errors of releases, against sums by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests import naive
from tests.saving import UNATTACKED

import discreet as dc
from discreet.releases.measure import read_utility
from discreet.utility.implied import QueryBatch
from discreet.utility.queries import QueryWorkload, query_errors

ATTRIBUTES = {
    "age": {
        "role": "quasi-identifier", "type": "integer", "hierarchy": {"intervals": [5, 20, 100]},
    },
    "zip": {"role": "quasi-identifier", "hierarchy": {"mask": "right"}},
    "pay": {"role": "sensitive", "type": "integer"},
    "w": {"role": "weight"},
}  # fmt: skip


def frame(rows=240, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 60, rows)
    return pl.DataFrame(
        {
            "age": age,
            "zip": rng.choice(["01", "02", "11"], rows),
            "pay": rng.choice([10, 20, 40], rows),
            "w": np.where(age < 35, 9.0, 1.5).round(2),  # the young were sampled less
        }
    )


def published(suppression=0.0, k=5):
    method = {"full-domain": {"suppression": suppression}}
    job = dc.Job(attributes=ATTRIBUTES, requirements=[{"k-anonymity": {"k": k}}], method=method)
    return dc.publish(frame(), job, seed=1)


def test_estimates_are_sums_of_weights_of_the_files(tmp_path):
    release = published()
    reading = read_utility(release.coded_tables(), release.task, release.manifest)
    rows = naive.read_csv(release.save(tmp_path / "release", **UNATTACKED) / "records.csv")
    ages = release.task.table["age"]
    pays = release.task.table["pay"]
    young = np.array([int(text) < 35 for text in ages.text.to_list()])
    poor = np.array([text == "10" for text in pays.text.to_list()])
    batch = QueryBatch(np.array([0]), {"age": young[:, None], "pay": poor[:, None]})
    expected = 0.0
    for row in rows:
        covered = [naive.covers(row["age"], text) for text in ages.text.to_list()]
        share = sum(c and y for c, y in zip(covered, young, strict=True)) / sum(covered)
        expected += float(row["w"]) * share * (row["pay"] == "10")
    assert reading.for_analysts.estimate(batch) == pytest.approx([expected])
    assert reading.implied.estimate(batch)[0] != pytest.approx(expected)


def test_query_errors_compare_sums_of_weights():
    release = published()
    tables = release.coded_tables()
    reading = read_utility(tables, release.task, release.manifest)
    found = reading.measured(QueryWorkload(queries=200), seed=3).query_error
    assert found.weighted
    assert found.to_dict()["weighted"] is True
    plain = query_errors(reading.original, reading.implied, QueryWorkload(queries=200), 3)
    assert not plain.weighted
    assert found.release.median != pytest.approx(plain.release.median)


def test_an_exact_release_has_no_weighted_error():
    release = published(k=1)
    reading = read_utility(release.coded_tables(), release.task, release.manifest)
    found = reading.measured(QueryWorkload(queries=100), seed=3).query_error
    assert found.release.median == pytest.approx(0, abs=1e-9)
    assert found.unlinked.median > 0


def test_analysts_means_are_weighted():
    from discreet.releases.analyst_errors import analyst_errors

    release = published(k=1)
    reading = read_utility(release.coded_tables(), release.task, release.manifest)
    exact = analyst_errors(reading.original, reading.for_analysts, reading.weights)
    assert exact.counts.release == pytest.approx(0, abs=1e-9)
    assert exact.means.release == pytest.approx(0, abs=1e-9)
    coarse = published()
    reading = read_utility(coarse.coded_tables(), coarse.task, coarse.manifest)
    found = analyst_errors(reading.original, reading.for_analysts, reading.weights)
    data = frame()
    table = reading.for_analysts.pair_table(reading.original["zip"], reading.original["pay"])
    assert table.sum() == pytest.approx(data["w"].sum())
    assert found.counts.release > 0


def test_without_a_weight_nothing_changes():
    attributes = {**ATTRIBUTES, "w": {"role": "unchanged", "allow_identifying": True}}
    job = dc.Job(attributes=attributes, requirements=[{"k-anonymity": {"k": 5}}])
    release = dc.publish(frame(), job, seed=1)
    reading = read_utility(release.coded_tables(), release.task, release.manifest)
    assert reading.weights is None
    assert reading.for_analysts is reading.implied
    assert not reading.measured(QueryWorkload(queries=20)).query_error.weighted


def test_suppressed_rows_weigh_the_mean():
    release = published(suppression=0.3, k=8)
    assert release.manifest.suppressed_rows
    reading = read_utility(release.coded_tables(), release.task, release.manifest)
    everything = QueryBatch(
        np.array([0]), {"pay": np.ones((reading.original["pay"].cardinality, 1), bool)}
    )
    mean = float(release.coded_tables()["records"].analysis_weights.mean())
    assert reading.for_analysts.estimate(everything)[0] == pytest.approx(240 * mean, abs=1)
