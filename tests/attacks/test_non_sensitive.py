"""No attack counts a belief in a value that is not sensitive."""

from __future__ import annotations

import random

import polars as pl
import pytest

import discreet as dc
from discreet.attacks import base, minimality

VALUES = {"hiv": "virus", "flu": "virus", "pox": "virus", "none": "other", "ok": "other"}
SPARED = ["none", "ok"]


def patients(seed=3, rows=90):
    draw = random.Random(seed)
    tests = ["none", "ok", "hiv", "flu", "pox"]
    return pl.DataFrame(
        {
            "person": [f"p{number}" for number in range(rows)],
            "age": [draw.randint(20, 60) for _ in range(rows)],
            "ward": [draw.choice("fm") for _ in range(rows)],
            "test": [draw.choice(tests) for _ in range(rows)],
            "job": [draw.choice("uvwxyz") for _ in range(rows)],
        }
    )


def job(method, requirements, spared=SPARED, **more):
    return dc.Job(
        attributes={
            "person": {"role": "identifier"},
            "age": {
                "role": "quasi-identifier",
                "type": "integer",
                "hierarchy": {"intervals": [10]},
            },
            "ward": {"role": "quasi-identifier", "hierarchy": "suppress"},
            "test": {
                "role": "sensitive",
                "hierarchy": {"tree": {"virus": ["hiv", "flu", "pox"], "other": ["none", "ok"]}},
                **({"non_sensitive_values": spared} if spared else {}),
            },
            "job": {"role": "sensitive"},
        },
        requirements=requirements,
        method=method,
        **more,
    )


CASES = {
    "full-domain": ({"full-domain": {"suppression": 0.1}}, [{"distinct-l-diversity": {"l": 2}}]),
    "mondrian": ("mondrian", [{"p-diversity": {"l": 2, "attribute": "test"}}]),
    "decomposition": ({"decomposition": {"l": {"test": 2, "job": 2}}}, []),
    "codip": ({"codip": {"recoding": "mondrian", "plan": "given",
                         "tables": [["test"], ["job"]]}}, [{"k-anonymity": {"k": 3}}]),
}  # fmt: skip


def about_test(report):
    return [one for one in report.findings if one.aim.split(" ")[0] == "test"]


@pytest.mark.parametrize("name", CASES)
def test_targets_are_persons_with_a_sensitive_value(name):
    frame = patients()
    release = dc.publish(frame, job(*CASES[name]), seed=1)
    report = dc.attack(release, original=frame)
    sensitive = sum(value not in SPARED for value in frame["test"])
    found = about_test(report)
    assert {one.attack for one in found} > {"similarity"} or name == "decomposition"
    for one in found:
        if " and " in one.aim:  # a pair discloses one of the two
            assert one.targets > sensitive
        elif one.attack in ("associated", "definetti"):  # a part of the persons
            assert one.targets <= sensitive
        else:
            assert one.targets == pytest.approx(sensitive - release.manifest.suppressed_rows, abs=9)
            assert one.targets <= sensitive
        assert 0 <= one.baseline <= 1


def test_certain_values_that_are_no_secret_are_no_finding():
    """Every person of a group has a value that is not sensitive, and no attacker gains."""
    frame = pl.DataFrame(
        {
            "person": [f"p{number}" for number in range(12)],
            "age": [20] * 6 + [50] * 6,
            "ward": ["f"] * 12,
            "test": ["none"] * 6 + ["hiv", "flu", "pox"] * 2,
            "job": list("uvwxyz") * 2,
        }
    )
    made = job("mondrian", [{"p-diversity": {"l": 3, "attribute": "test"}}], spared=["none"])
    found = dc.attack(dc.publish(frame, made, seed=1), original=frame)
    plain = dc.attack(dc.publish(frame, job("mondrian", [{"k-anonymity": {"k": 6}}], None), seed=1),
                      original=frame)  # fmt: skip
    greatest = {one.attack: one.greatest for one in about_test(found)}
    assert greatest["homogeneity"] == pytest.approx(1 / 3)
    assert {one.attack: one.greatest for one in about_test(plain)}["homogeneity"] == 1
    # all are of one kind, which no guarantee excludes; values that are no secret are not of it
    picture = dc.publish(frame, made, seed=1).audit.picture
    assert picture.beliefs["test"].greatest == pytest.approx(1 / 3)
    assert picture.beliefs["test"].people == 6
    (similar,) = [one for one in about_test(found) if one.attack == "similarity"]
    assert similar.targets == 6


def test_persons_with_several_rows_are_targets_by_their_sensitive_values():
    frame = patients().with_columns(person=pl.Series([f"p{number // 3}" for number in range(90)]))
    made = job(
        "mondrian",
        [{"p-diversity": {"l": 1.5, "attribute": "test"}}],
        person={"column": "person", "rows": "keep"},
    )
    release = dc.publish(frame, made, seed=1)
    assert release.manifest.promises[0].parameters["non_sensitive"] == ["none", "ok"]
    report = dc.attack(release, original=frame)
    spared = ~pl.col("test").is_in(SPARED)
    sensitive = frame.filter(spared)["person"].n_unique()
    checked = {"homogeneity", "number-of-rows", "background-join", "skewness", "similarity"}
    found = [one for one in about_test(report) if one.attack in checked]
    assert {one.attack for one in found} == checked
    assert {one.targets for one in found} == {sensitive}
    assert report.ok


@pytest.mark.parametrize("drawn", [5000, 7])
def test_minimality_scores_each_person_by_the_own_value(drawn, monkeypatch):
    """Where no class can be cut, the attacker believes what homogeneity tells, of each person."""
    monkeypatch.setattr(base, "TARGETS", drawn)
    monkeypatch.setattr(minimality, "_divisible_leaves", lambda *_: iter(()))
    table = patients(rows=2500)  # more than the method is run on again
    requirements = [{"k-anonymity": {"k": 3}}, {"distinct-l-diversity": {"l": 2}}]
    asked = job("mondrian", requirements)
    release = dc.publish(table, asked, seed=0)
    found = dc.attack(release, original=table, attacks=["homogeneity", "minimality"]).findings
    by_name = {(finding.attack, finding.aim): finding for finding in found}
    for aim in ("test", "job"):
        plain, own = by_name["homogeneity", aim], by_name["minimality", aim]
        assert plain.targets == (2500 if aim == "job" else (~table["test"].is_in(SPARED)).sum())
        if drawn == 7:
            assert "classes-drawn" in own.method.id
            assert 0 < own.targets < plain.targets
        else:
            for figure in ("targets", "mean", "greatest", "above", "certain"):
                assert getattr(own, figure) == pytest.approx(getattr(plain, figure))


def test_suppressed_rows_with_a_harmless_value_are_no_finding():
    """All suppressed rows have 'none': what they have in common discloses nothing."""
    frame = pl.DataFrame(
        {
            "person": [f"p{number}" for number in range(14)],
            "age": [20] * 6 + [50] * 6 + [35, 36],
            "ward": ["f"] * 14,
            "test": ["none", "hiv", "flu"] * 4 + ["none"] * 2,
            "job": list("uvwxyz") * 2 + ["u", "v"],
        }
    )
    method = {"full-domain": {"suppression": 0.2, "levels": {"age": 0, "ward": 0}}}
    found = {}
    for spared in (["none"], None):
        made = job(method, [{"k-anonymity": {"k": 6}}], spared)
        report = dc.attack(dc.publish(frame, made, seed=1), original=frame, attacks=["absence"])
        (found[bool(spared)],) = about_test(report)
    assert (found[False].targets, found[False].certain) == (2, 1.0)
    assert (found[True].targets, found[True].certain) == (0, 0.0)


def test_details_are_of_sensitive_values():
    """The group of 'none' alone gains most and discloses nothing."""
    frame = pl.DataFrame(
        {
            "person": [f"p{number}" for number in range(12)],
            "age": [20] * 3 + [50] * 9,
            "ward": ["f"] * 12,
            "test": ["none"] * 3 + ["hiv", "flu", "pox"] * 3,
            "job": list("uvwxyz") * 2,
        }
    )
    details = {}
    for spared in (["none"], None):
        made = job("mondrian", [{"k-anonymity": {"k": 3}}], spared)
        release = dc.publish(frame, made, seed=1)
        report = dc.attack(release, original=frame, attacks=["skewness", "definetti"])
        details[bool(spared)] = {one.attack: one.details for one in about_test(report)}
    assert details[False]["skewness"]["greatest_gain"] == pytest.approx(4)
    assert details[True]["skewness"]["greatest_gain"] == pytest.approx(12 / 9)
    shares = [details[key]["definetti"]["accuracy_by_shares"] for key in (False, True)]
    assert shares == pytest.approx([(3 + 3) / 12, 1 / 3])


def test_the_ceiling_of_a_comparison_counts_beliefs_in_sensitive_values():
    """Everybody aged 20 has 'none': certain, and no secret."""
    frame = pl.DataFrame(
        {
            "person": [f"p{number}" for number in range(40)],
            "age": [20] * 20 + [50] * 20,
            "ward": ["f", "m"] * 20,
            "test": ["none"] * 20 + ["hiv", "flu", "pox", "ok"] * 5,
            "job": list("uvwxy") * 8,
        }
    )
    greatest, recommended = {}, {}
    for spared in (["none"], None):
        made = job("mondrian", [{"k-anonymity": {"k": 4}}], spared)
        found = dc.compare(
            frame, made, methods=[{"mondrian": {}}], uses=["records"], ceiling=0.9, queries=20
        )
        (point,) = found.points
        greatest[bool(spared)] = point.belief_max, found.unlinked.belief_max
        recommended[bool(spared)] = "with a sensitive value are recommended" in str(found)
    assert greatest[False] == (1.0, 0.5)  # 'none' fills half of the table
    assert greatest[True][0] < 0.9
    assert greatest[True][1] == pytest.approx(0.2)  # each job
    assert recommended == {True: True, False: False}
