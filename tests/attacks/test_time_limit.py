"""Attacks end in time, keep what they found, and report what they left out."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.attacks import base, class_attacks, minimality, run
from discreet.attacks.attackers import StandardAttacker
from discreet.attacks.base import Attack, Finding, Scene
from discreet.attacks.non_membership import _search_facts
from discreet.attacks.registry import all_attacks
from discreet.attacks.run import AttackReport, run_attacks
from discreet.releases.kinds.base import Kind
from discreet.releases.registry import kind_of
from discreet.table.interrupts import TimeBudget


def released(frame: pl.DataFrame, k: int = 2) -> dc.Release:
    roles = {"q": "quasi-identifier", "s": "sensitive"}
    job = dc.Job(
        attributes={name: {"role": roles[name]} for name in frame.columns},
        requirements=[dc.KAnonymity(k=k)],
        method=dc.Mondrian(),
    )
    return dc.publish(frame, job, seed=1)


@pytest.fixture(scope="module")
def release() -> dc.Release:
    return released(pl.DataFrame({"q": [1, 1, 2, 2, 3, 3], "s": list("aababc")}))


class Endless(Attack):
    """Reports once, then works for ever."""

    name: ClassVar[str] = "endless"

    @property
    def knowledge(self) -> str:
        return base.IN_TABLE

    def run(self, scene: Scene) -> Iterator[Finding]:
        yield from class_attacks.Linking().run(scene)
        while True:
            time.sleep(0.01)


def attacked(release: dc.Release, *attacks: Attack, seconds: float, **options: Any) -> AttackReport:
    return run_attacks(
        release.coded_tables(), release.task, release.manifest, attacks=attacks, seconds=seconds,
        **options,
    )  # fmt: skip


def test_a_time_limit_keeps_findings_and_names_what_was_cut(release):
    started = time.monotonic()
    found = attacked(release, Endless(), class_attacks.Homogeneity(), seconds=2.0)
    assert time.monotonic() - started < 4
    assert [one.attack for one in found.findings] == ["linking", "homogeneity"]
    assert found.omitted["endless"] == "the time limit of 2 s was reached, with 1 findings"
    assert found.to_dict()["omitted"] == dict(found.omitted)
    assert "left out: endless (the time limit" in str(found)
    assert 0.5 < found.timings["endless"] < 1.5  # half of the time, for two attacks
    assert "endless" in str(found).partition("time: ")[2]


class EndlessEngineer(Endless):
    name: ClassVar[str] = "endless-engineer"
    attackers: ClassVar[tuple[StandardAttacker, ...]] = (StandardAttacker.ENGINEER,)


def test_attackers_that_the_verdict_is_about_have_the_time(release):
    about = (StandardAttacker.ACQUAINTANCE,)
    slow, fast = EndlessEngineer(), class_attacks.Homogeneity()
    found = attacked(release, slow, fast, seconds=4.0, about=about)
    assert [one.attack for one in found.findings] == ["homogeneity", "linking"]
    assert found.timings["endless-engineer"] < 1  # a tenth of the limit
    assert "endless-engineer" in found.omitted


class Slow(class_attacks.Homogeneity):
    """Needs its time for all targets, and none for a few."""

    name: ClassVar[str] = "slow"

    def run(self, scene: Scene) -> Iterator[Finding]:
        for number, finding in enumerate(super().run(scene)):
            if not scene.quick and number:
                time.sleep(30)
            yield finding

    def expected(self, scene: Scene) -> int:
        return 2


def test_what_does_not_end_is_estimated_from_drawn_targets(monkeypatch):
    frame = pl.DataFrame(
        {"q": [n % 50 for n in range(400)], "s": [f"v{n % 7}" for n in range(400)]}
    ).with_columns(t=pl.col("s").str.replace("v[12]", "w"))
    roles = {"q": "quasi-identifier", "s": "sensitive", "t": "sensitive"}
    job = dc.Job(
        attributes={name: {"role": role} for name, role in roles.items()},
        requirements=[dc.KAnonymity(k=2)],
        method=dc.Mondrian(),
    )
    release = dc.publish(frame, job, seed=1)
    monkeypatch.setattr(base, "TARGETS", 100)
    monkeypatch.setattr(run, "TARGETS", 100)
    started = time.monotonic()
    found = attacked(release, Slow(), seconds=3.0)
    assert time.monotonic() - started < 4
    whole = {one.aim: one for one in dc.attack(release, original=None).findings
             if one.attack == "homogeneity"}  # fmt: skip
    exact, estimate = found.findings
    assert (exact.aim, exact.mean, exact.mean_interval) == ("s", whole["s"].mean, None)
    assert (estimate.aim, estimate.targets) == ("t", 100)
    low, high = estimate.mean_interval
    assert low <= whole["t"].mean <= high
    assert found.estimated == 100
    # It is reported as not wholly run, which excludes *Ready to sign*.
    assert "estimated from 100 targets" in found.omitted["slow"]


class Sampler(Attack):
    """Works until its time is spent, and then reports what it has."""

    name: ClassVar[str] = "sampler"
    quick: ClassVar[bool] = True
    samples: ClassVar[bool] = True

    @property
    def knowledge(self) -> str:
        return base.IN_TABLE

    def run(self, scene: Scene) -> list[Finding]:
        while not scene.budget.spent:
            time.sleep(0.01)
        return list(class_attacks.Linking().run(scene))


def test_an_attack_that_samples_by_itself_is_not_cut_off_nor_run_again(release, monkeypatch):
    monkeypatch.setattr(run, "TARGETS", 2)
    found = attacked(release, Sampler(), seconds=2.0)
    assert [one.attack for one in found.findings] == ["linking"]
    assert "sampler" not in found.omitted


class Captured(Attack):
    """Keeps the scene."""

    name: ClassVar[str] = "captured"
    scene: ClassVar[Scene]

    @property
    def knowledge(self) -> str:
        return base.IN_TABLE

    def run(self, scene: Scene) -> list[Finding]:
        Captured.scene = scene
        return []


class Checks(TimeBudget):
    """Time that is spent after it was asked for some times."""

    def __init__(self, checks: int) -> None:
        super().__init__()
        self.checks = checks

    @property
    def spent(self) -> bool:
        self.checks -= 1
        return self.checks < 0


def test_minimality_keeps_what_it_judged_before_its_time_was_spent(monkeypatch):
    """Neighbours have one value each, so that no cut of a pair passes."""
    q = [n // 10 for n in range(4000)]
    frame = pl.DataFrame({"q": q, "s": ["ab"[place % 2] for place in q]})
    job = dc.Job(
        attributes={"q": {"role": "quasi-identifier", "type": "integer"},
                    "s": {"role": "sensitive"}},
        requirements=[dc.KAnonymity(k=5), {"distinct-l-diversity": {"l": 2}}],
        method=dc.Mondrian(),
    )  # fmt: skip
    monkeypatch.setattr(base, "TARGETS", 100)
    release = dc.publish(frame, job, seed=1)
    attacked(release, Captured(), seconds=60)
    for checks, least, most in ((5, 1, 99), (10**6, 100, 100)):
        scene = replace(Captured.scene, budget=Checks(checks))
        (found,) = minimality.Minimality().run(scene)
        assert least <= found.targets <= most
        assert found.mean_interval is not None


def test_the_worlds_of_a_large_class_are_drawn():
    rows = np.sort(np.arange(5000) % 7)
    sides = np.repeat(np.arange(2, dtype=np.int32), 2500)
    leaf = minimality._Leaf(np.arange(5000), [sides], np.array([2500, 2500]), rows)
    worlds = minimality._worlds_of(leaf, np.random.default_rng(0), 100)
    assert worlds.rows.shape == (100, 5000)
    assert (np.sort(worlds.rows, axis=1) == rows).all()


def test_reading_a_release_is_part_of_the_time(release, monkeypatch):
    def slow(self: Kind, *arguments: Any) -> list[Any]:
        time.sleep(30)
        return []

    monkeypatch.setattr(type(kind_of("generalized")), "adversary_views", slow)
    started = time.monotonic()
    found = attacked(release, *all_attacks(), seconds=1.0)
    assert time.monotonic() - started < 3
    assert found.findings == ()
    assert found.omitted["homogeneity"] == "the time limit of 1 s was reached"
    assert set(found.not_run(StandardAttacker.ACQUAINTANCE)) >= {"homogeneity", "linking"}


def test_every_attack_is_a_finding_left_out_or_inapplicable(release):
    found = dc.attack(release, original=None, seconds=0)
    assert found.findings == ()
    named = {*found.omitted, *found.inapplicable}
    assert named == {attack.name for attack in all_attacks()}


def test_progress_estimates_the_remaining_time(release, monkeypatch):
    def slow(self: Attack, scene: Scene) -> Iterator[Finding]:
        for _ in range(3):
            time.sleep(0.6)
            yield from class_attacks.Linking().run(scene)

    monkeypatch.setattr(class_attacks.Homogeneity, "run", slow)
    monkeypatch.setattr(class_attacks.Homogeneity, "expected", lambda self, scene: 3)
    said: list[str] = []
    dc.attack(
        release,
        original=None,
        attacks=["homogeneity"],
        progress=lambda phase, share: said.append(phase),
    )
    assert "homogeneity: 1 of 3, about 1 s left" in said


def test_ruling_out_all_other_values_is_no_finding():
    """Two facts about three values make anyone certain, release or not."""
    frame = pl.DataFrame({"q": [1, 2, 3, 4, 5, 6] * 2, "s": list("abcabc") * 2})
    report = dc.attack(released(frame, 6), original=None, attacks=["non-membership"])
    by_bits = {one.details["bits"]: one for one in report.findings}
    assert by_bits[2].certain == 1
    assert by_bits[2].verdict == "does no better than without the release"
    assert by_bits[2].newly_certain == 0
    assert "than without the release" in report.summary


def test_a_group_that_excludes_a_value_is_a_finding(release):
    """Within a group of two values one fact leaves one; of the whole table's three it does not."""
    report = dc.attack(release, original=None, attacks=[{"non-membership": {"bits": 1}}])
    (found,) = report.findings
    assert found.certain == 1
    assert found.newly_certain == found.targets
    share = np.array([3, 2, 1]) / 6
    left = [3 / 4, 2 / 3, 1 / 3]  # the best fact rules out the most frequent other value
    assert found.baseline == pytest.approx(float(share @ left))
    assert found.verdict == "no guarantee against this"


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_facts_about_many_values_are_the_greedy_choice(data):
    attributes, bits = data.draw(st.integers(1, 3)), data.draw(st.integers(2, 4))
    cell = st.integers(0, 3)
    rows = data.draw(st.lists(st.tuples(*[cell] * attributes), min_size=2, max_size=9, unique=True))
    codes = np.array(sorted(rows), np.int64).reshape(len(rows), attributes)
    codes += np.arange(attributes) * 4
    mass = np.array(data.draw(st.lists(st.integers(1, 4), min_size=len(rows), max_size=len(rows))))
    belief, values = np.zeros(len(rows)), 4 * attributes
    start = np.arange(len(rows) + 1) * attributes
    _search_facts(
        start, codes.ravel(), mass.astype(float), values, bits, False, codes[:, 0].copy(),
        start[:-1], start[1:], codes.ravel(), np.arange(values), belief, np.zeros(1, np.uint8),
    )  # fmt: skip
    held = [(set(own), count) for own, count in zip(codes.tolist(), mass.tolist(), strict=True)]
    assert belief == pytest.approx([greedy_belief(held, own, bits) for own in codes.tolist()])


def greedy_belief(held: list[tuple[set[int], int]], own: list[int], bits: int) -> float:
    """The greatest share of the first value, barring one value after the other."""

    def share(left: list[tuple[set[int], int]]) -> float:
        return sum(n for row, n in left if own[0] in row) / sum(n for _, n in left)

    best = share(held)
    for _ in range(bits):
        others = sorted({value for row, _ in held for value in row} - set(own))
        rest = [[(row, n) for row, n in held if value not in row] for value in others]
        if not any(rest):
            break
        held = max(filter(None, rest), key=share)
        best = max(best, share(held))
    return best
