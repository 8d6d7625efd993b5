"""The attack on a column that is left out: what follows from other columns is predicted."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from experiments.removed_column import RemovedColumn, register
from tests.real_data import real_data

import discreet as dc
from discreet.testing import check_attack

RULES = {
    "age": {"role": "quasi-identifier", "type": "integer"},
    "sex": {"role": "quasi-identifier"},
    "role": {"role": "sensitive"},
}


@pytest.fixture(autouse=True)
def _registered() -> None:
    register()


def people(rows: int = 400) -> pl.DataFrame:
    """A role that tells the sex, and an age that tells nothing."""
    rng = np.random.default_rng(5)
    sex = rng.choice(["f", "m"], rows, p=[0.4, 0.6])
    role = [{"f": "aunt", "m": "uncle"}[one] for one in sex]
    return pl.DataFrame({"age": rng.integers(20, 70, rows), "sex": sex, "role": role})


def release_of(frame: pl.DataFrame, attributes: dict) -> dc.Release:
    job = dc.Job(attributes=attributes, method="mondrian", requirements=[{"k-anonymity": {"k": 4}}])
    return dc.publish(frame, job, seed=1)


def attacked(release: dc.Release, frame: pl.DataFrame, **parameters):
    attack = RemovedColumn(**parameters)
    return dc.attack(release, original=frame, attacks=[attack])


def test_a_column_that_follows_from_a_published_one_is_predicted():
    frame = people()
    report = attacked(release_of(frame, RULES), frame, column="sex")
    (finding,) = report.findings
    assert finding.mean == 1
    assert finding.baseline == pytest.approx(0.6, abs=0.1)
    assert not finding.is_belief
    assert report.ok  # no guarantee bounds it


def test_a_column_of_which_nothing_is_told_is_guessed_no_better_than_without():
    role = np.random.default_rng(1).choice(["x", "y"], 4000)
    frame = people(4000).with_columns(pl.col("age") // 10, role=pl.Series(role))
    (finding,) = attacked(release_of(frame, RULES), frame, column="sex").findings
    assert finding.mean == pytest.approx(finding.baseline, abs=0.05)


def test_a_column_that_the_release_really_lacks_is_read_from_a_file(tmp_path):
    frame = people()
    frame.select("sex").write_csv(tmp_path / "truth.csv")
    rules = {name: rule for name, rule in RULES.items() if name != "sex"}
    part = frame.drop("sex")
    release = release_of(part, rules)
    (finding,) = attacked(release, part, column="sex", truth=tmp_path / "truth.csv").findings
    assert finding.aim == "sex"
    assert finding.mean > 0.95 > finding.baseline
    frame[:5].select("sex").write_csv(tmp_path / "short.csv")
    for parameters in ({"truth": tmp_path / "short.csv"}, {}):
        report = attacked(release, part, column="sex", **parameters)
        assert not report.findings
        assert "removed-column" in report.inapplicable


def test_shares_of_cells_are_those_of_the_classifier_by_hand():
    """One exact quasi-identifier, k = 1: the classifier by counting in loops."""
    rng = np.random.default_rng(9)
    frame = pl.DataFrame(
        {"sex": rng.choice(["f", "m"], 60), "town": rng.choice(list("abc"), 60), "role": ["r"] * 60}
    )
    rules = {
        "sex": {"role": "quasi-identifier"},
        "town": {"role": "quasi-identifier"},
        "role": {"role": "sensitive"},
    }
    job = dc.Job(attributes=rules, method="full-domain", requirements=[{"k-anonymity": {"k": 1}}])
    release = dc.publish(frame, job, seed=1)
    (finding,) = attacked(release, frame, column="sex").findings
    order = np.random.default_rng(0).permutation(60)
    own, rest = frame[order[:30]], frame[order[30:]]
    right = 0
    for row in rest.iter_rows(named=True):
        score = {}
        for sex in "fm":
            alike = own.filter(pl.col("sex") == sex)
            town = alike.filter(pl.col("town") == row["town"])
            score[sex] = (len(alike) + 1) * (len(town) + 1 / 3) / (len(alike) + 1)
        right += max(score, key=score.get) == row["sex"]
    assert finding.mean == pytest.approx(right / 30)


def test_it_conforms():
    check_attack(RemovedColumn())


@pytest.mark.data
def test_sex_follows_from_what_adult_publishes_about_the_family(tmp_path):
    frame = pl.read_csv(real_data("adult", "adult.csv"), infer_schema=False)
    rules = {
        "age": {"role": "quasi-identifier", "type": "integer"},
        "race": {"role": "quasi-identifier"},
        "occupation": {"role": "sensitive"},
        "relationship": {"role": "sensitive"},
    }
    frame.select("sex").write_csv(tmp_path / "sex.csv")
    accuracy = {}
    for left_out in ((), ("relationship",), ("relationship", "occupation")):
        chosen = {name: rule for name, rule in rules.items() if name not in left_out}
        chosen |= {"education": {"role": "sensitive"}}
        part = frame.select(list(chosen))
        job = dc.Job(
            attributes=chosen, method="mondrian", requirements=[{"k-anonymity": {"k": 10}}]
        )
        release = dc.publish(part, job, seed=1)
        report = attacked(release, part, column="sex", truth=tmp_path / "sex.csv")
        (finding,) = report.findings
        accuracy[left_out] = round(finding.mean, 2)
        assert round(finding.baseline, 2) == 0.67
    assert list(accuracy.values()) == [0.82, 0.72, 0.67]
