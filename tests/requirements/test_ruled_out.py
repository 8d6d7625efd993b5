"""``ruled_out: harmless``: guarantees for attackers who rule out the values that are no secret."""

from __future__ import annotations

import csv
import json
import random
from collections import defaultdict

import polars as pl
import pytest
from tests.oracles.test_ruled_out import distinct, entropy, recursive, shares
from tests.requirements.test_non_sensitive import job, patients
from tests.saving import UNATTACKED

import discreet as dc
from discreet.releases.explanation import known_weaknesses
from discreet.requirements.judge import stated as sentence_of

METHODS = ["mondrian", "full-domain", "local-recoding", "top-down", "codip"]
FORMS = {
    "distinct-l-diversity": (distinct, {}),
    "p-diversity": (shares, {}),
    "entropy-l-diversity": (entropy, {}),
    "recursive-cl-diversity": (recursive, {"c": 2}),
}


def example(groups):
    rows = [(number, value) for number, group in enumerate(groups) for value in group]
    return pl.DataFrame(rows, schema=["age", "test"], orient="row")


@pytest.mark.parametrize("name", ["distinct-l-diversity", "p-diversity"])
def test_a_harmless_value_hides_no_secret_once_it_is_ruled_out(name):
    """N six times, a, b; sensitive are a and b; ℓ = 2."""
    beside = example([["N", "a"], ["N", "b"], ["N"] * 4])
    together = example([["N", "N", "a", "b"], ["N"] * 4])

    def passes(frame, **more):
        made = dc.Job(
            attributes={
                "age": {"role": "quasi-identifier"},
                "test": {"role": "sensitive", "sensitive_values": ["a", "b"]},
            },
            requirements=[{name: {"l": 2, **more}}],
        )
        return dc.check(frame, made).ok

    assert passes(beside)
    assert not passes(beside, ruled_out="harmless")
    assert passes(together, ruled_out="harmless")
    assert passes(together)


def clinic(seed, rows=60):
    """Seven in ten without a finding, the rest spread evenly over three."""
    draw = random.Random(seed)
    tests = (["none"] * 7 + ["hiv", "flu", "pox"]) * (rows // 10)
    draw.shuffle(tests)
    return patients(seed, rows).with_columns(test=pl.Series(tests))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", FORMS)
def test_releases_keep_it_by_their_files_alone(tmp_path, seed, method, name):
    naive, more = FORMS[name]
    asked = {name: {"l": 2, "ruled_out": "harmless", **more}}
    made = job(method, asked, non_sensitive_values=["none"])
    place = tmp_path / "release"
    frame = clinic(seed)
    dc.publish(frame, made, seed=seed).save(place, report=False, **UNATTACKED)
    manifest = json.loads((place / "manifest.json").read_text())
    (promise,) = manifest["promises"]
    assert promise["parameters"]["ruled_out"] == "harmless"
    groups = defaultdict(list)
    (table,) = manifest["tables"]
    with (place / f"{table}.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            groups[row["age"], row["sex"]].append(row["test"])
    for values in groups.values():
        assert naive(values, {"none"}, 2)
    assert len(groups) > 1
    assert dc.audit(place).ok


def test_an_audit_finds_a_group_with_one_sensitive_value(tmp_path):
    """The files decide: {N, a} is no release for attackers who rule N out."""
    made = job(
        "mondrian",
        {"distinct-l-diversity": {"l": 2, "ruled_out": "harmless"}},
        non_sensitive_values=["none"],
    )
    place = tmp_path / "release"
    dc.publish(patients(3), made, seed=1).save(place, report=False, **UNATTACKED)
    (path,) = place.glob("*.csv")
    header, *rows = path.read_text().splitlines()
    cells = [row.rsplit(",", 1) for row in rows]
    group = next(quasi for quasi, value in cells if value != "none")
    changed = [
        f"{quasi},{'hiv' if quasi == group and value != 'none' else value}"
        for quasi, value in cells
    ]
    path.write_text("\n".join([header, *changed]) + "\n")
    found = dc.audit(place)
    assert not found.ok
    assert not found.promises[0].holds


def test_what_is_signed_says_that_it_holds_where_harmless_values_are_ruled_out():
    made = job(
        "mondrian",
        {"p-diversity": {"l": 2, "ruled_out": "harmless"}},
        non_sensitive_values=["none"],
    )
    (promise,) = dc.publish(patients(1), made, seed=1).manifest.promises
    stated = sentence_of(promise.to_requirement())
    assert stated.id == "guarantee.ruled-out.people"
    assert stated.parameters["guarantee"].id == "p-diversity"


def test_a_guarantee_that_harmless_values_carry_is_stated_as_weak():
    for more, weak in (({}, True), ({"ruled_out": "harmless"}, False)):
        made = job("mondrian", {"p-diversity": {"l": 2, **more}}, non_sensitive_values=["none"])
        found = known_weaknesses(dc.publish(clinic(1), made, seed=1).manifest)
        assert ("weakness.harmless-values" in [one.id for one in found]) == weak


def test_without_harmless_values_it_is_the_requirement_itself():
    frame = patients(1)
    for more in ({}, {"ruled_out": "harmless"}):
        found = dc.check(frame, quasi=["sex"], sensitive=["test"],
                         requirements=[{"p-diversity": {"l": 2, **more}}])  # fmt: skip
        assert not found.ok
    assert found.requirements[0].achieved["l"] < 2


def test_persons_with_several_rows_are_refused_not_judged_by_another_form():
    """Judged on all values, {N, a} would pass: that is weaker, so it must not replace it."""
    persons = pl.Series([number // 2 for number in range(60)])
    frame = patients(1).with_columns(person=persons, ward=pl.lit("w")).drop("sex")
    made = dc.Job(
        attributes={
            "person": {"role": "identifier"},
            "age": {"role": "quasi-identifier", "type": "integer"},
            "ward": {"role": "quasi-identifier"},
            "test": {"role": "sensitive", "non_sensitive_values": ["none"]},
        },
        requirements=[{"p-diversity": {"l": 2, "ruled_out": "harmless"}}],
        method="mondrian",
        person={"column": "person", "rows": "keep"},
    )
    with pytest.raises(dc.JobError, match="cannot be judged on persons with several rows"):
        dc.publish(frame, made)
    with pytest.raises(dc.JobError, match="cannot be judged on persons with several rows"):
        dc.check(frame, made)


def test_methods_that_form_groups_by_all_values_refuse_it():
    with pytest.raises(dc.JobError, match="ruled_out"):
        job(
            "anatomy", {"p-diversity": {"l": 2, "ruled_out": "harmless"}},
            non_sensitive_values=["none"],
        )  # fmt: skip
    with pytest.raises(dc.JobError, match="ruled_out"):
        dc.Job(
            attributes={"a": {"role": "quasi-identifier"}, "s": {"role": "sensitive"}},
            requirements=[
                {"npd-recursive-cl-diversity": {"c1": 2, "c2": 0, "l": 2, "ruled_out": "harmless"}}
            ],
        )


def test_messages_speak_of_sensitive_values():
    """Of ten with a finding seven have a: 70 % of these, 14 % of all."""
    frame = pl.DataFrame({"age": range(50), "test": ["N"] * 40 + ["a"] * 7 + ["b"] * 3})
    attributes = {
        "age": {"role": "quasi-identifier", "type": "integer"},
        "test": {"role": "sensitive", "non_sensitive_values": ["N"]},
    }

    def message(requirement):
        made = dc.Job(attributes=attributes, requirements=[requirement], method="mondrian")
        with pytest.raises(dc.InfeasibleError) as found:
            dc.publish(frame, made)
        return str(found.value)

    said = message({"p-diversity": {"l": 2, "ruled_out": "harmless"}})
    assert "One sensitive value of 'test' fills 70.0% of the rows with a sensitive value." in said
    assert "remove 'ruled_out' from p-diversity" in said
    for asked in ({"p-diversity": {"l": 8}}, {"recursive-cl-diversity": {"c": 0.1, "l": 2}}):
        said = message(asked)
        assert "One sensitive value of 'test' fills 14.0% of the rows." in said
        assert "'a'" not in said and "'N'" not in said


def test_multi_attribute_diversity_takes_it_as_inner_model():
    """Knowing 'job', {N, a} is left: enough for an attacker who rules nothing out, else not."""
    frame = pl.DataFrame(
        {"age": [1] * 4, "test": ["N", "a", "a", "b"], "job": ["x", "x", "y", "y"]}
    )
    made = dc.Job(
        attributes={
            "age": {"role": "quasi-identifier"},
            "test": {"role": "sensitive", "non_sensitive_values": ["N"]},
            "job": {"role": "sensitive"},
        },
    )

    def passes(**more):
        inner = {"distinct-l-diversity": {"l": 2, **more}}
        asked = {"multi-attribute-l-diversity": {"attribute": "test", "inner": inner}}
        return dc.check(frame, made, requirements=[asked]).ok

    assert passes()
    assert not passes(ruled_out="harmless")


def excluder(groups, **more):
    """What an attacker who rules harmless values out believes, and the bound, by finding."""
    rows = [(f"p{n}", g, v) for n, (g, v) in enumerate(
        (g, v) for g, group in enumerate(groups) for v in group)]  # fmt: skip
    frame = pl.DataFrame(rows, schema=["person", "age", "test"], orient="row")
    made = dc.Job(
        attributes={
            "person": {"role": "identifier"},
            "age": {"role": "quasi-identifier"},
            "test": {"role": "sensitive", "sensitive_values": ["a", "b"]},
        },
        requirements=[{"p-diversity": {"l": 2, **more}}],
        method={"full-domain": {"levels": {"age": 0}}},
    )
    report = dc.attack(
        dc.publish(frame, made, seed=1), original=frame, attacks=[{"non-membership": {"bits": 1}}]
    )
    assert report.ok
    return {"ruled_out" in one.details: one for one in report.findings}


def test_an_attacker_who_rules_harmless_values_out_is_measured_against_the_guarantee():
    plain = excluder([["N", "a"], ["N", "b"], ["N"] * 4])
    for one in plain.values():  # knowing "not N" is enough: no guarantee excludes it
        assert (one.greatest, one.targets, one.verdict.id) == (1.0, 2, "finding.no-guarantee")
    assert plain[True].newly_certain == 2
    assert plain[True].baseline == 0.5
    kept = excluder([["N", "N", "a", "b"], ["N"] * 4], ruled_out="harmless")
    assert (kept[True].greatest, kept[True].bound) == (0.5, 0.5)
    assert kept[True].verdict.id == "finding.within"
    assert kept[True].newly_above == 0
