"""Non-sensitive values may be disclosed, by every requirement that has a meaning for them."""

from __future__ import annotations

import csv
import json
import random
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.saving import UNATTACKED
from tests.tables import coded_column

import discreet as dc
from discreet.requirements.base import Domain
from discreet.requirements.diversity import DistinctLDiversity, PDiversity
from discreet.table.classes import Classes
from discreet.table.counts import count_classes
from discreet.table.roles import Role

METHODS = ["mondrian", "full-domain", "local-recoding", "codip"]


def counted(classes, values):
    column = coded_column("s", values, Role.SENSITIVE)
    numbered = np.unique(classes, return_inverse=True)[1].astype(np.int32)
    counts = count_classes(Classes.of_numbers(numbered), [column])
    return counts, {"s": Domain.of(column)}


def naive_pass(values, spared, ell, *, distinct):
    count = Counter(values)
    secrets = {value: times for value, times in count.items() if value not in spared}
    if not secrets:
        return True
    if distinct:
        return len(count) >= ell
    return Fraction(max(secrets.values()), len(values)) <= Fraction(1, ell)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abcd")), min_size=1, max_size=14),
    st.sets(st.sampled_from("abc"), max_size=2),
    st.integers(1, 3),
    st.booleans(),
)
def test_it_agrees_with_a_naive_judgement_and_is_closed_under_merging(rows, spared, ell, distinct):
    kind = DistinctLDiversity if distinct else PDiversity
    requirement = kind(l=ell, non_sensitive=tuple(sorted(spared)))
    counts, domains = counted(*zip(*rows, strict=True))
    of_class = defaultdict(list)
    for number, value in rows:
        of_class[number].append(value)
    classes = [of_class[number] for number in sorted(of_class)]
    expected = [naive_pass(one, spared, ell, distinct=distinct) for one in classes]
    assert requirement.passes(counts, domains).tolist() == expected
    assert requirement.accepts(requirement.figures(counts, domains, "s")).tolist() == expected
    for one, fine in zip(classes, expected, strict=True):
        for other, other_fine in zip(classes, expected, strict=True):
            if fine and other_fine:
                assert naive_pass(one + other, spared, ell, distinct=distinct)
            if requirement.algebra.absorbing and fine:
                assert naive_pass(one + other, spared, ell, distinct=distinct)
    bound = requirement.share_bound(np.full(len(domains["s"].values), 0.5), domains["s"])
    for value, limit in zip(domains["s"].values, bound, strict=True):
        assert value not in spared or limit == np.inf


def patients(seed, rows=60):
    draw = random.Random(seed)
    return pl.DataFrame(
        {
            "age": [draw.randint(20, 70) for _ in range(rows)],
            "sex": [draw.choice("fm") for _ in range(rows)],
            "test": [draw.choice(["none"] * 7 + ["hiv", "flu", "pox"]) for _ in range(rows)],
        }
    )


def job(method, requirement, **test):
    attributes = {
        "age": {"role": "quasi-identifier", "type": "integer"},
        "sex": {"role": "quasi-identifier"},
        "test": {"role": "sensitive", **test},
    }
    return dc.Job(attributes=attributes, requirements=[requirement], method=method)


@settings(max_examples=9, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([*METHODS, "msa-diversity"]), st.booleans())
def test_releases_keep_it_by_their_files_alone(tmp_path_factory, seed, method, distinct):
    name = "distinct-l-diversity" if distinct else "p-diversity"
    made = job(method, {name: {"l": 3}}, non_sensitive_values=["none"])
    place = tmp_path_factory.mktemp("spared") / "release"
    dc.publish(patients(seed), made, seed=seed).save(place, report=False, **UNATTACKED)
    (promise,) = json.loads((place / "manifest.json").read_text())["promises"]
    assert promise["parameters"]["non_sensitive"] == ["none"]
    groups = defaultdict(list)
    (name,) = json.loads((place / "manifest.json").read_text())["tables"]
    with (place / f"{name}.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            groups[row["age"], row["sex"]].append(row["test"])
    for values in groups.values():
        assert naive_pass(values, {"none"}, 3, distinct=distinct)
    assert dc.audit(place).ok


@pytest.mark.parametrize("method", [*METHODS, "msa-diversity"])
def test_a_frequent_value_that_is_no_secret_makes_it_feasible(method):
    asked = {"p-diversity": {"l": 3}}
    with pytest.raises(dc.InfeasibleError):
        dc.publish(patients(1), job(method, asked))
    for spared in ({"non_sensitive_values": ["none"]}, {"sensitive_values": ["hiv", "flu", "pox"]}):
        release = dc.publish(patients(1), job(method, asked, **spared), seed=1)
        assert release.audit.ok
        assert "no sensitive value of 'test'" in " ".join(release.explanation)


def test_attacks_report_no_excess_for_values_that_may_be_disclosed():
    made = job("mondrian", {"p-diversity": {"l": 3}}, non_sensitive_values=["none"])
    release = dc.publish(patients(2), made, seed=1)
    found = dc.attack(release, original=patients(2), attacks=["homogeneity"])
    assert found.ok
    (one,) = found.findings
    assert one.targets == sum(value != "none" for value in patients(2)["test"])
    assert one.bound == pytest.approx(1 / 3)
    assert one.greatest <= 1 / 3 + 1e-9
    assert dc.attack(release, original=patients(2)).ok


def test_a_ceiling_is_on_beliefs_in_sensitive_values():
    frame = patients(2)
    asked = {"p-diversity": {"l": 3}}
    verify = {"attacks": ["homogeneity"], "ceiling": 0.4}
    spared = job("mondrian", asked, non_sensitive_values=["none"])
    made = spared.model_copy(update={"verify": dc.Verify(**verify)})
    assert dc.publish(frame, made, seed=1).audit.ok
    plain = job("mondrian", {"k-anonymity": {"k": 5}}).model_copy(
        update={"verify": dc.Verify(**verify)}
    )
    with pytest.raises(dc.AuditError, match="above the ceiling"):
        dc.publish(frame, plain, seed=1)


ASKED = [
    {"k-anonymity": {"k": 3}}, {"distinct-l-diversity": {"l": 3}}, {"p-diversity": {"l": 3}},
    {"m-diversity": {"l": 2}}, {"entropy-l-diversity": {"l": 3}},
    {"recursive-cl-diversity": {"c": 1.5, "l": 2}},
    {"npd-recursive-cl-diversity": {"c1": 1.5, "c2": 0, "l": 2}},
    {"t-closeness": {"t": 0.15}}, {"alpha-k-anonymity": {"alpha": 0.3, "k": 3}},
    {"beta-likeness": {"beta": 1}},
    {"multi-attribute-l-diversity": {"l": 2}},
    {"multi-attribute-l-diversity": {"inner": {"entropy-l-diversity": {"l": 2}}}},
    {"sa-diversity": {"l": {"test": 3}}},
]  # fmt: skip


@pytest.mark.parametrize("asked", ASKED, ids=str)
@pytest.mark.parametrize("method", METHODS)
def test_every_requirement_is_met_and_derived_again_from_the_files(tmp_path, method, asked):
    made = job(method, asked, non_sensitive_values=["none"])
    place = dc.publish(patients(7), made, seed=1).save(
        tmp_path / "release", report=False, **UNATTACKED
    )
    assert dc.audit(place).ok
    (promise,) = json.loads((place / "manifest.json").read_text())["promises"]
    text = json.dumps(promise["parameters"])
    assert ("none" in text) == ("k-anonymity" not in asked)


def test_it_becomes_disclosable_of_pd_recursive_diversity():
    asked = {"pd-recursive-cl-diversity": {"c": 2, "l": 2}}
    with pytest.raises(dc.InfeasibleError):
        dc.publish(patients(3), job("mondrian", asked))
    made = job("mondrian", asked, non_sensitive_values=["none"])
    release = dc.publish(patients(3), made, seed=1)
    (promise,) = release.audit.promises
    assert promise.parameters["disclosable"] == ["none"]


def test_an_audit_with_the_original_wants_the_job_s_values(tmp_path):
    frame, asked = patients(4), {"p-diversity": {"l": 3}}
    made = job("mondrian", asked, non_sensitive_values=["none"])
    place = dc.publish(frame, made, seed=1).save(tmp_path / "release", report=False, **UNATTACKED)
    from discreet.pipeline.prepare import prepare
    from discreet.releases.audit.audit import audit_folder

    assert not audit_folder(place, prepare(made, frame)).problems
    stricter = job("mondrian", asked, non_sensitive_values=["flu"])
    assert audit_folder(place, prepare(stricter, frame)).problems


def test_check_with_a_job_spares_the_values_too():
    frame = pl.DataFrame({"age": [1] * 4 + [2] * 4, "sex": ["f"] * 8,
                          "test": ["none"] * 4 + ["none", "hiv", "flu", "pox"]})  # fmt: skip
    asked = {"distinct-l-diversity": {"l": 3}}
    assert not dc.check(frame, job("mondrian", asked)).ok
    assert dc.check(frame, job("mondrian", asked, non_sensitive_values=["none"])).ok
