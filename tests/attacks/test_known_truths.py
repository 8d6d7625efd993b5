"""What is known of the methods, also where it is unwelcome, as the attacks find it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.real_data import real_data
from tests.saving import UNATTACKED

import discreet as dc
from discreet.attacks.base import Finding
from discreet.releases.worlds import placement

ATTRIBUTES = {
    "age": {"role": "quasi-identifier", "type": "integer"},
    "zip": {"role": "quasi-identifier", "type": "integer"},
    "illness": {"role": "sensitive"},
    "work": {"role": "sensitive"},
}


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    """200 people, one illness common, work and illness associated."""
    rng = np.random.default_rng(7)
    illness = rng.choice(list("abcdefgh"), 200, p=[0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05])
    work = [str(rng.choice([ord(i) % 5, rng.integers(5)])) for i in illness]
    return pl.DataFrame(
        {
            "age": rng.integers(20, 80, 200),
            "zip": rng.integers(0, 50, 200),
            "illness": illness,
            "work": work,
        }
    )


def attack(table, method, requirements, *attacks, seed=0):
    job = dc.Job(attributes=ATTRIBUTES, requirements=requirements, method=method)
    release = dc.publish(table, job, seed=seed)
    report = dc.attack(release, original=table, attacks=attacks)
    assert report.ok, str(report)
    return release, report.findings


def greatest(findings, **wanted):
    return max(
        f.greatest for f in findings if all(f.details.get(k) == v for k, v in wanted.items())
    )


def test_distinct_values_fall_to_non_membership_where_p_diversity_holds(table):
    naive = [{"k-anonymity": {"k": 4}}, {"distinct-l-diversity": {"l": 3}}]
    _, findings = attack(table, "mondrian", naive, "non-membership")
    assert greatest(findings, bits=1) > 0.8
    assert greatest(findings, bits=2) == 1
    bounded = [{"p-diversity": {"l": 3}}]
    _, findings = attack(table, "mondrian", bounded, "non-membership")
    assert greatest(findings, bits=1) <= 1 / 2 + 1e-9
    assert all(f.bound == pytest.approx(1 / 2) for f in findings if f.details["bits"] == 1)


def test_whole_rows_fall_to_background_join(table):
    _, findings = attack(table, "msa-diversity", [{"m-diversity": {"l": 3}}], "background-join")
    assert greatest(findings) == 1
    assert all(f.verdict == "no guarantee against this" for f in findings)
    inner = [{"multi-attribute-l-diversity": {"inner": {"p-diversity": {"l": 1.2}}}}]
    _, findings = attack(table, "mondrian", inner, "background-join")
    assert greatest(findings) <= 1 / 1.2 + 1e-9
    assert all(f.verdict == "within the guarantee" for f in findings)


def test_codip_keeps_a_reader_from_joining_across_tables(table):
    attributes = {
        name: {**one, "hierarchy": {"intervals": [10, 30, "*"]}} if "type" in one else one
        for name, one in ATTRIBUTES.items()
    }
    job = dc.Job(
        attributes=attributes,
        requirements=[{"k-anonymity": {"k": 4}}, {"t-closeness": {"t": 0.5}}],
        method={"codip": {"plan": "given", "tables": [["illness"], ["work"]]}},
    )
    release = dc.publish(table, job, seed=0)
    report = dc.attack(
        release, original=table, attacks=["homogeneity", "background-join", "intersection"]
    )
    assert "background-join" in report.inapplicable  # no table has both
    alone = max(f.greatest for f in report.findings if f.attack == "homogeneity")
    pairs = [f for f in report.findings if f.attack == "intersection"]
    assert pairs
    assert all(f.greatest <= alone + 1e-9 for f in pairs)


def test_decomposition_falls_to_readers_of_the_sensitive_table(table):
    release, findings = attack(table, "decomposition", [], "link-through-sensitive-table")
    assert release.manifest.kind == "decomposed"
    pair, row = greatest(findings, reader="pair"), greatest(findings, reader="row")
    assert pair <= row + 1e-9
    assert row > 0.9
    assert greatest(findings, reader="matching") > 0.9
    means = {
        reader: np.mean([f.mean for f in findings if f.details["reader"] == reader])
        for reader in ("pair", "row")
    }
    assert means["pair"] <= means["row"]


def test_two_independent_releases_fall_to_intersection(table, tmp_path):
    some = table.head(12).with_columns(age=pl.Series(range(12)))  # everybody stands out
    job = dc.Job(
        attributes={k: v for k, v in ATTRIBUTES.items() if k != "work"},
        requirements=[{"p-diversity": {"l": 2}}],
        method="anatomy",
    )
    some = some.drop("work")
    places = []
    for seed in (1, 2):
        places.append(tmp_path / f"release{seed}")
        dc.publish(some, job, seed=seed).save(places[-1], **UNATTACKED)
    report = dc.attack(
        places[0],
        original=some,
        job=job,
        attacks=["homogeneity", {"intersection": {"releases": [str(places[1])]}}],
    )
    alone, together = report.findings
    assert alone.greatest <= 1 / 2
    assert together.mean > alone.mean
    assert together.greatest > 1 / 2


NUMBERS = ("age", "education-num", "capital-gain", "capital-loss", "hours-per-week")
OTHERS = ("workclass", "education", "marital-status", "relationship", "race", "sex",
          "native-country", "salary-class")  # fmt: skip


def adult_job(columns, requirements, method):
    return dc.Job(
        attributes={
            **{
                name: {"role": "quasi-identifier", "type": "integer"}
                if name in NUMBERS
                else {"role": "quasi-identifier"}
                for name in columns
            },
            "occupation": {"role": "sensitive"},
        },
        requirements=requirements,
        method=method,
    )


def adult(columns):
    """The 30 162 complete rows of the training half."""
    table = pl.read_csv(real_data("adult", "adult.csv"), infer_schema_length=0).head(32561)
    return table.filter(~pl.any_horizontal(pl.all() == "?")).select(*columns, "occupation")


@pytest.mark.data
@pytest.mark.parametrize(("ell", "reference"), [(2, 0.83), (3, 0.66), (5, 0.45), (7, 0.32)])
def test_definetti_on_adult_against_its_baselines(ell, reference):
    """All columns but the sampling weight as quasi-identifiers."""
    columns = [*NUMBERS, *OTHERS]
    table = adult(columns)
    job = adult_job(columns, [{"p-diversity": {"l": ell}}], {"anatomy": {"l": ell}})
    release = dc.publish(table, job, seed=0)
    (found,) = dc.attack(release, original=table, attacks=["definetti"]).findings
    assert found.mean == pytest.approx(reference, abs=0.025)
    assert found.interval[0] > 1 / ell + 0.1
    assert found.details["accuracy_by_shares"] == pytest.approx(1 / ell, abs=0.01)
    assert found.baseline == pytest.approx(0.32, abs=0.02)
    assert not found.is_belief
    assert found.above == 0


@pytest.mark.data
def test_definetti_on_classes_of_adult():
    columns = ["age", "sex", "race", "marital-status", "education", "native-country",
               "workclass", "salary-class"]  # fmt: skip
    table = adult(columns)
    job = adult_job(columns, [{"k-anonymity": {"k": 5}}, {"p-diversity": {"l": 3}}], "mondrian")
    release = dc.publish(table, job, seed=0)
    (found,) = dc.attack(release, original=table, attacks=["definetti"]).findings
    assert found.details["accuracy_by_shares"] == pytest.approx(0.30, abs=0.01)
    assert found.mean == pytest.approx(0.35, abs=0.015)


def test_definetti_learns_nothing_where_there_is_nothing_to_learn():
    rng = np.random.default_rng(3)
    table = pl.DataFrame(
        {
            "age": rng.integers(20, 80, 10_000),
            "zip": rng.integers(0, 50, 10_000),
            "illness": rng.choice(list("abcdef"), 10_000),
        }
    )
    attributes = {name: one for name, one in ATTRIBUTES.items() if name != "work"}
    job = dc.Job(
        attributes=attributes,
        requirements=[{"p-diversity": {"l": 3}}],
        method={"anatomy": {"l": 3}},
    )
    release = dc.publish(table, job, seed=0)
    (found,) = dc.attack(release, original=table, attacks=["definetti"]).findings
    assert found.mean == pytest.approx(1 / 3, abs=0.015)


@pytest.mark.data
def test_minimality_of_mondrian_on_adult():
    """Some rise above what ℓ = 2 promises; on the whole the reader gains nothing."""
    columns = ["age", "education", "workclass", "race", "sex"]
    table = adult(columns)
    job = adult_job(columns, [{"k-anonymity": {"k": 5}}, {"p-diversity": {"l": 2}}], "mondrian")
    release = dc.publish(table, job, seed=0)
    plain, found = dc.attack(
        release, original=table, attacks=["homogeneity", "minimality"]
    ).findings
    assert plain.above == 0
    assert found.method.startswith("leaf")
    assert found.targets == 4000  # drawn
    assert 19 <= round(found.above * len(table)) <= 250
    assert found.mean == pytest.approx(plain.mean, abs=0.002)
    assert found.verdict == "no guarantee against this"


def finding(**changes):
    figures = {"targets": 4, "mean": 0.25, "greatest": 0.25, "above": 0.0, "certain": 0.0}
    verdict = {"baseline": 0.5, "bound": None, "exceeded": False, "inside": False}
    return Finding(
        "definetti", "knows", "s", "records", **(figures | verdict | changes),
    )  # fmt: skip


def test_a_verdict_says_no_more_than_was_found():
    """What is known without the release is no finding, and a bound of 1 is no bound."""
    assert finding(is_belief=False).verdict == "does no better than without the release"
    assert finding(is_belief=False, baseline=0.2).verdict == "no guarantee against this"
    assert finding(inside=True, bound=1.0).verdict == "does no better than without the release"
    assert finding(inside=True, bound=1.0, baseline=0.2).verdict == "no guarantee against this"
    assert finding(certain=0.5, newly_certain=1).verdict == "no guarantee against this"
    certain = finding(certain=0.5)
    assert certain.verdict == "does no better than without the release"
    assert finding(inside=True, bound=0.9).verdict == "within the guarantee"
    assert finding(inside=True, bound=1.0, exceeded=True).verdict == "exceeds the guarantee"


def test_the_reasons_of_attacks_that_were_not_run_are_true():
    """A decomposed release has two sensitive attributes in one table; it is not for these."""
    frame = pl.DataFrame({"q": list("1234"), "a": list("xyxy"), "b": list("uuvv")})
    roles = {"q": "quasi-identifier", "a": "sensitive", "b": "sensitive"}
    job = dc.Job(attributes={n: {"role": r} for n, r in roles.items()}, method="decomposition")
    report = dc.attack(dc.publish(frame, job, seed=1), original=frame)
    for name in ("background-join", "definetti", "similarity", "background-knowledge"):
        assert report.inapplicable[name] == "not for a decomposed release"
    assert report.inapplicable["membership"] == "no population table was given"
    assert report.inapplicable["absence"] == "no row was suppressed"


def test_an_estimate_is_marked_and_not_below_weaker_readers(table, monkeypatch):
    """Small components are counted; where even these are not, the reader is not made weaker."""
    monkeypatch.setattr(placement, "EXACT_STATES", 0)
    _, findings = attack(
        table, "decomposition", [], "set-homogeneity", "link-through-sensitive-table"
    )
    for found in findings:
        if found.details["reader"] != "matching":
            continue
        assert found.method.startswith("estimate")
        weaker = [
            f for f in findings if f.attack == found.attack and f.shown_aim == found.shown_aim
        ]
        assert len(weaker) == (3 if "known" in found.details else 2)
        for other in weaker:
            assert found.mean >= other.mean
            assert found.greatest >= other.greatest
            assert found.above >= other.above
            assert found.certain >= other.certain
