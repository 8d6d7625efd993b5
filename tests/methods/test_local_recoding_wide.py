"""Local recoding where there are too many generalized tuples to enumerate candidates."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.saving import UNATTACKED

import discreet as dc
from discreet.api.audit import audit
from discreet.methods.local_recoding import local_recoding, member_clusters

QUASI = [f"q{number}" for number in range(14)]
CLASSES = [{"k-anonymity": {"k": 4}}, {"distinct-l-diversity": {"l": 2}}]


def survey(rows=300, seed=1) -> pl.DataFrame:
    """Answers that follow a hidden trait of each person."""
    rng = np.random.default_rng(seed)
    trait = rng.normal(size=rows)
    answers = {
        name: np.digitize(trait + rng.normal(size=rows), np.linspace(-2, 2, 11)) for name in QUASI
    }
    return pl.DataFrame({**answers, "s": rng.choice(list("uvw"), rows)})


def publish(table: pl.DataFrame, method: str, requirements=CLASSES, **parameters) -> dc.Release:
    answer = {"type": "integer", "hierarchy": {"intervals": [2, 4, "*"]}}
    roles = {name: {"role": "quasi-identifier", **answer} for name in QUASI}
    job = dc.Job(
        attributes={**roles, "s": {"role": "sensitive"}},
        requirements=list(requirements),
        method={method: parameters},
    )
    return dc.publish(table, job, seed=1)


def loss(release: dc.Release) -> float:
    return release.private["utility"]["loss"]


@pytest.mark.parametrize(
    "parameters", [{}, {"effort": "good"}, {"ranges": True}, {"cells": "levels"}, {"cells": "grid"}]
)
def test_wide_tables_are_clustered_and_pass_their_audit(parameters, monkeypatch, tmp_path):
    called = []
    cluster = local_recoding.cluster_classes
    monkeypatch.setattr(
        local_recoding, "cluster_classes", lambda *given: called.append(1) or cluster(*given)
    )
    release = publish(survey(), "local-recoding", **parameters)
    release.save(tmp_path / "release", **UNATTACKED)
    assert audit(tmp_path / "release").ok
    assert called
    facts = release.private["method"]
    assert facts["lower_bound"] == 0
    assert facts["loss"] == pytest.approx(loss(release))


def test_clusters_lose_less_than_mondrian():
    table = survey()
    assert loss(publish(table, "local-recoding")) < loss(publish(table, "mondrian"))


@pytest.mark.parametrize("last", [{"entropy-l-diversity": {"l": 2}}, {"t-closeness": {"t": 0.05}}])
def test_where_clusters_fail_the_classes_are_mondrians(last):
    asked = [{"k-anonymity": {"k": 4}}, last]
    table = survey(200)
    assert loss(publish(table, "local-recoding", asked)) <= loss(publish(table, "mondrian", asked))


def test_narrow_tables_have_candidates(monkeypatch):
    table = survey().select(*QUASI[:4], "s")
    job = dc.Job(
        attributes={
            **{name: {"role": "quasi-identifier", "type": "integer"} for name in QUASI[:4]},
            "s": {"role": "sensitive"},
        },
        requirements=CLASSES,
        method={"local-recoding": {}},
    )
    monkeypatch.setattr(local_recoding, "cluster_classes", None)
    assert dc.publish(table, job, seed=1).private["method"]["lower_bound"] > 0


REQUIREMENTS = st.sampled_from(
    [
        {"distinct-l-diversity": {"l": 2}},
        {"entropy-l-diversity": {"l": 1.5}},
        {"t-closeness": {"t": 0.3}},
    ]
)


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 20), st.sampled_from("abc"), st.sampled_from("xyz")), min_size=1
    ),
    requirements=st.lists(REQUIREMENTS, max_size=2, unique_by=lambda one: next(iter(one))),
    k=st.integers(1, 4),
    most=st.sampled_from([0.0, np.inf]),
    ranges=st.booleans(),
)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_table_meets_its_requirements_either_way(rows, requirements, k, most, ranges):
    table = pl.DataFrame(rows, schema=["size", "q", "s"], orient="row")
    asked = [{"k-anonymity": {"k": k}}, *requirements]
    attributes = {
        "size": {"role": "quasi-identifier", "type": "integer"},
        "q": {"role": "quasi-identifier"},
        "s": {"role": "sensitive"},
    }
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(member_clusters, "MOST_TUPLES", most)
        for method in ({"local-recoding": {"ranges": ranges}}, {"mondrian": {}}):
            job = dc.Job(attributes=attributes, requirements=asked, method=method)
            try:
                release = dc.publish(table, job, seed=1)
            except dc.InfeasibleError:
                found[next(iter(method))] = None
                continue
            assert all(promise.holds for promise in release.manifest.promises)
            assert sum(release.tables["records"].group_by("size", "q").len()["len"]) == len(rows)
            sizes = release.tables["records"].group_by("size", "q").len()["len"]
            assert sizes.min() >= k
            found[next(iter(method))] = loss(release)
    assert (found["local-recoding"] is None) == (found["mondrian"] is None)
