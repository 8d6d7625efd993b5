"""Decomposition and anatomy protect the sensitive values of an attribute, and no others."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict

import polars as pl
import pytest
from tests import naive
from tests.saving import UNATTACKED

import discreet as dc

ROLES = {
    "age": {"role": "quasi-identifier", "type": "integer"},
    "sex": {"role": "quasi-identifier"},
}


def patients(seed, rows=60, **values):
    draw = random.Random(seed)
    frame = {
        "age": [draw.randint(20, 70) for _ in range(rows)],
        "sex": [draw.choice("fm") for _ in range(rows)],
    }
    return pl.DataFrame(
        frame | {n: [draw.choice(v) for _ in range(rows)] for n, v in values.items()}
    )


SKEWED = {"test": ["none"] * 9 + ["hiv", "flu", "pox", "tb"], "drug": ["no"] * 6 + ["a", "b"]}
SPARED = {
    "test": {"role": "sensitive", "non_sensitive_values": ["none"]},
    "drug": {"role": "sensitive", "sensitive_values": ["a", "b"]},
}


def job(method, requirement, **attributes):
    return dc.Job(attributes={**ROLES, **attributes}, requirements=[requirement], method=method)


def saved(tmp_path, frame, made, seed=1):
    return dc.publish(frame, made, seed=seed).save(tmp_path / "release", **UNATTACKED)


def test_the_example_of_the_definition():
    """N ×6, a, b with S = {a, b} and ℓ = 2: {N, a}, {N, b} and groups of N alone."""
    frame = pl.DataFrame({"age": range(8), "sex": ["f"] * 8, "test": ["N"] * 6 + ["a", "b"]})
    spared = {"role": "sensitive", "sensitive_values": ["a", "b"]}
    for method, asked in (("decomposition", "distinct-l-diversity"), ("anatomy", "p-diversity")):
        with pytest.raises(dc.InfeasibleError):
            dc.publish(frame, job(method, {asked: {"l": 2}}, test={"role": "sensitive"}))
        release = dc.publish(frame, job(method, {asked: {"l": 2}}, test=spared), seed=1)
        assert release.audit.ok
        assert all(p.parameters["non_sensitive"] == ["N"] for p in release.audit.promises)


@pytest.mark.parametrize("prefer", [None, "nearby"])
@pytest.mark.parametrize("ell", [2, 3])
def test_a_list_with_a_sensitive_value_has_l_values(tmp_path, ell, prefer):
    frame = patients(7, 200, **SKEWED)
    asked = {"distinct-l-diversity": {"l": ell}}
    place = saved(tmp_path, frame, job({"decomposition": {"prefer": prefer}}, asked, **SPARED))
    assert dc.audit(place).ok
    promises = json.loads((place / "manifest.json").read_text())["promises"]
    assert {p["parameters"]["attribute"]: p["parameters"]["non_sensitive"] for p in promises} == {
        "test": ["none"],
        "drug": ["no"],
    }
    sets = naive.group_sets(place / "group_values.csv", ["test", "drug"])
    for values in sets.values():
        assert len(values["test"]) >= ell or values["test"] == {"none"}
        assert len(values["drug"]) >= ell or values["drug"] == {"no"}
    assert any(values["test"] == {"none"} for values in sets.values())


@pytest.mark.parametrize("ell", [2, 3, 5])
def test_anatomy_keeps_the_share_of_a_sensitive_value(tmp_path, ell):
    frame = patients(7, 200, test=SKEWED["test"])
    made = job("anatomy", {"p-diversity": {"l": ell}}, test=SPARED["test"])
    place = saved(tmp_path, frame, made)
    assert dc.audit(place).ok
    size, most = Counter(), defaultdict(int)
    for row in naive.read_csv(place / "sensitive.csv"):
        size[row["group"]] += int(row["count"])
        if row["test"] != "none":
            most[row["group"]] = max(most[row["group"]], int(row["count"]))
    assert all(most[group] * ell <= rows for group, rows in size.items())


def test_l_is_feasible_up_to_the_share_of_the_commonest_sensitive_value():
    values = ["N"] * 90 + ["a"] * 10
    frame = pl.DataFrame({"age": range(100), "sex": ["f"] * 100, "test": values})
    spared = {"role": "sensitive", "sensitive_values": ["a"]}
    assert dc.publish(frame, job("anatomy", {"p-diversity": {"l": 10}}, test=spared)).audit.ok
    with pytest.raises(dc.InfeasibleError, match="most frequent sensitive value"):
        dc.publish(frame, job("anatomy", {"p-diversity": {"l": 11}}, test=spared))
    # Two values are two values: a list of three cannot contain more.
    with pytest.raises(dc.InfeasibleError, match="l_per = 2"):
        dc.publish(frame, job("decomposition", {"distinct-l-diversity": {"l": 3}}, test=spared))


def test_a_requirement_that_covers_all_values_is_met_for_all_of_them(tmp_path):
    """A requirement may name its own harmless values; the job's do not weaken it."""
    frame = patients(3, 120, test=["none", "hiv", "flu", "pox"], drug=["no", "a", "b"])
    asked = {"distinct-l-diversity": {"l": 2, "attribute": "test", "non_sensitive": []}}
    place = saved(tmp_path, frame, job("decomposition", asked, **SPARED))
    assert dc.audit(place).ok
    sets = naive.group_sets(place / "group_values.csv", ["test", "drug"])
    assert all(len(values["test"]) >= 2 for values in sets.values())


def test_a_skewed_attribute_without_harmless_values_gets_the_remedy():
    frame = patients(7, **SKEWED)
    for method in ("decomposition", "anatomy"):
        shown = {
            n: {"role": "sensitive"} for n in (["test", "drug"] if method[0] == "d" else ["test"])
        }
        made = dc.Job(attributes={**ROLES, **shown}, method=method)
        with pytest.raises(dc.InfeasibleError, match="'non_sensitive_values'"):
            dc.publish(frame.select([*ROLES, *shown]), made)


@pytest.mark.parametrize("reader", ["pair", "row"])
def test_a_reader_who_knows_the_primary_value_keeps_l_values_or_harmless_ones(tmp_path, reader):
    """Diagnosis g occurs with no result of the test alone: that reveals no secret."""
    rows = [(d, t) for d in "abc" for t in ("none", "none", "none", "hiv", "flu", "pox")]
    rows = [*rows, *[("g", "none")] * 4] * 3
    frame = pl.DataFrame(
        {
            "age": range(len(rows)),
            "sex": ["f"] * len(rows),
            "diagnosis": [row[0] for row in rows],
            "test": [row[1] for row in rows],
        }
    )
    floor = {
        "conditional_l": {"l": 3, "attacker": reader},
        "primary": "diagnosis",
        "beyond_permissible": True,
    }
    asked = {"distinct-l-diversity": {"l": 2}}
    diagnosis = {"role": "sensitive"}
    with pytest.raises(dc.InfeasibleError, match="conditional_l"):
        made = job({"decomposition": floor}, asked, diagnosis=diagnosis, test={"role": "sensitive"})
        dc.publish(frame.with_columns(test=pl.col("test").replace("none", "no")), made)
    made = job({"decomposition": floor}, asked, diagnosis=diagnosis, test=SPARED["test"])
    place = saved(tmp_path, frame, made)
    assert dc.audit(place).ok
    promises = {
        p["requirement"]: p for p in json.loads((place / "manifest.json").read_text())["promises"]
    }
    assert promises["conditional-l-diversity"]["parameters"]["non_sensitive"] == {"test": ["none"]}
    names = ["diagnosis", "test"]
    sets = naive.group_sets(place / "group_values.csv", names)
    for values in sets.values():
        for known in values["diagnosis"]:
            left = {test for d, test in rows if d == known and test in values["test"]}
            assert left == {"none"} or len(left) >= 3
