"""Estimates from drawn targets: their intervals hold the exact figure at the stated rate."""

from __future__ import annotations

from math import comb

import numpy as np
import polars as pl
import pytest

import discreet as dc
from discreet.attacks import base, run
from discreet.attacks.base import mean_interval
from discreet.releases.singling_out import RATE, share_interval

ATTRIBUTES = {
    "age": {"role": "quasi-identifier", "type": "integer"},
    "zip": {"role": "quasi-identifier", "type": "integer"},
    "illness": {"role": "sensitive"},
    "work": {"role": "sensitive"},
}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    age = rng.integers(0, 30, 600)
    return pl.DataFrame(
        {
            "age": age,
            "zip": rng.integers(0, 30, 600),
            "illness": np.array(list("abcdef"))[(age + rng.geometric(0.4, 600)) % 6],
            "work": rng.choice(list("uvwxyz"), 600, p=[0.5, 0.3, 0.1, 0.05, 0.03, 0.02]),
        }
    )


def released(table, method):
    job = dc.Job(attributes=ATTRIBUTES, requirements=[{"k-anonymity": {"k": 4}}], method=method)
    return dc.publish(table, job, seed=0)


@pytest.mark.parametrize("trials", [1, 7, 40])
def test_the_interval_of_a_share_holds_it_at_the_stated_rate(trials):
    intervals = [share_interval(successes, trials) for successes in range(trials + 1)]
    for share in np.linspace(0.001, 0.999, 97):
        held = sum(
            comb(trials, k) * share**k * (1 - share) ** (trials - k)
            for k, (low, high) in enumerate(intervals)
            if low <= share <= high
        )
        assert held >= RATE - 1e-9


def test_the_interval_of_a_share_is_that_of_clopper_and_pearson():
    assert share_interval(0, 10) == (0.0, pytest.approx(1 - 0.025 ** (1 / 10), abs=1e-9))
    assert share_interval(10, 10) == (pytest.approx(0.025 ** (1 / 10), abs=1e-9), 1.0)
    assert share_interval(3, 10) == pytest.approx((0.0667395, 0.6524529), abs=1e-6)


@pytest.mark.parametrize("rare", [0.5, 0.1, 0.02])
def test_the_interval_of_a_mean_holds_it_at_the_stated_rate(rare):
    rng = np.random.default_rng(3)
    beliefs = np.where(rng.random(5000) < rare, 1.0, rng.random(5000) ** 3)
    held = 0
    for _ in range(300):
        line, count = np.unique(rng.integers(0, len(beliefs), 200), return_counts=True)
        low, high = mean_interval(beliefs[line], count)
        held += low <= beliefs.mean() <= high
    assert held / 300 >= RATE


@pytest.mark.parametrize("method", ["mondrian", "local-recoding", "anatomy", "decomposition"])
def test_exact_figures_lie_in_the_intervals_of_base(table, method, monkeypatch):
    release = {"anatomy": anatomy, "decomposition": decomposition}.get(
        method, lambda table: released(table, method)
    )(table)
    exact = {key(f): f for f in dc.attack(release, original=table).findings}
    monkeypatch.setattr(base, "TARGETS", 150)
    held = []
    for seed in range(30):
        monkeypatch.setattr(run, "SEED", seed)
        found = dc.attack(release, original=table, quick=True)
        for finding in found.findings:
            whole = exact[key(finding)]
            assert (whole.targets, finding.targets) == (600, 150)
            held += [
                low - 1e-9 <= figure <= high + 1e-9
                for figure, (low, high) in (
                    (whole.mean, finding.mean_interval),
                    (whole.above, finding.interval),
                    (whole.certain, finding.certain_interval),
                )
            ]
            assert finding.greatest <= whole.greatest + 1e-9
    assert len(held) >= 180
    assert np.mean(held) >= RATE


def anatomy(table):
    job = dc.Job(
        attributes={**ATTRIBUTES, "work": {"role": "drop"}}, requirements=[],
        method={"anatomy": {"l": 2}},
    )  # fmt: skip
    return dc.publish(table, job, seed=0)


def decomposition(table):
    wanted = {"sa-diversity": {"l": {"illness": 3, "work": 1}}}
    job = dc.Job(attributes=ATTRIBUTES, requirements=[wanted], method="decomposition")
    return dc.publish(table, job, seed=0)


def key(finding):
    known, reader = finding.details.get("known"), finding.details.get("reader")
    return finding.title, finding.aim, str(known), reader, finding.table


def test_a_quick_attack_on_a_decomposition_reads_the_groups_of_drawn_people(table, monkeypatch):
    release = decomposition(table)
    monkeypatch.setattr(base, "TARGETS", 150)
    found = dc.attack(release, original=table, quick=True)
    assert {f.details["reader"] for f in found.findings} == {"pair", "row"}
    assert all(f.targets == 150 and f.mean_interval for f in found.findings)
    assert "set-homogeneity (reader 'matching')" in found.omitted
    monkeypatch.setattr(base, "TARGETS", 600)
    whole = dc.attack(release, original=table, quick=True)
    assert whole.estimated is None
    assert {f.details["reader"] for f in whole.findings} == {"pair", "row", "matching"}


def test_a_small_table_is_attacked_exactly(table):
    release = released(table, "mondrian")
    found = dc.attack(release, original=table, quick=True)
    exact = {key(f): f for f in dc.attack(release, original=table).findings}
    assert found.estimated is None
    assert all(finding == exact[key(finding)] for finding in found.findings)
    assert "definetti" in found.omitted


def test_base_say_what_they_are(table, monkeypatch):
    monkeypatch.setattr(base, "TARGETS", 150)
    monkeypatch.setattr(run, "TARGETS", 150)
    found = dc.attack(released(table, "mondrian"), original=table, quick=True)
    assert found.to_dict()["estimated"] == 150
    assert found.drawn is not None
    assert "150 targets" in str(found)
    assert "95%" in str(found)


def test_persons_with_several_rows_are_drawn(monkeypatch):
    """The exact figures of persons lie in the intervals of those drawn, whatever the attack."""
    rng = np.random.default_rng(1)
    table = pl.DataFrame(
        {
            "person": [str(n // 2) for n in range(1200)],
            "age": [n // 2 % 30 for n in range(1200)],
            "illness": rng.choice(list("abcd"), 1200, p=[0.6, 0.2, 0.15, 0.05]),
            "work": rng.choice(list("uvw"), 1200),
        }
    )
    attributes = {
        "person": {"role": "identifier"},
        "age": {"role": "quasi-identifier", "type": "integer"},
        "illness": {"role": "sensitive"},
        "work": {"role": "sensitive"},
    }
    job = dc.Job(
        attributes=attributes,
        person={"column": "person", "rows": "keep"},
        requirements=[{"k-anonymity": {"k": 4}}],
        method="mondrian",
    )
    release = dc.publish(table, job, seed=0)
    exact = {key(f): f for f in dc.attack(release, original=table).findings}
    monkeypatch.setattr(base, "TARGETS", 150)
    monkeypatch.setattr(run, "TARGETS", 150)
    held, attacks = [], set()
    for seed in range(10):
        monkeypatch.setattr(run, "SEED", seed)
        for finding in dc.attack(release, original=table, quick=True).findings:
            if finding.unit.plural != "people":
                continue
            attacks.add(finding.attack)
            whole = exact[key(finding)]
            assert (whole.targets, finding.targets) == (600, 150)
            assert finding.baseline == pytest.approx(whole.baseline, abs=0.1)
            held += [
                low - 1e-9 <= figure <= high + 1e-9
                for figure, (low, high) in (
                    (whole.mean, finding.mean_interval),
                    (whole.above, finding.interval),
                    (whole.certain, finding.certain_interval),
                )
            ]
    expected = {"linking", "homogeneity", "skewness", "background-join", "person-intersection"}
    assert expected < attacks
    assert np.mean(held) >= RATE
