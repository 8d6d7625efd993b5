"""On whatever a method publishes, no attack inside the model exceeds what is promised."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.attacks.handmade import Handmade
from tests.properties import test_publish_m_invariance_and_rho_different as series
from tests.properties import test_publish_quasi_sensitive as quasi_sensitive
from tests.properties.test_publish_full_domain import REQUIREMENTS, TABLES, job_for, write
from tests.saving import UNATTACKED

import discreet as dc
from discreet.attacks.registry import ATTACKS
from discreet.methods.registry import METHODS
from discreet.pipeline.run import make_release
from discreet.releases.registry import kind_of

# Methods that publish any table under any requirement.
WITH_REQUIREMENTS = [
    METHODS[name] for name in ("full-domain", "mondrian", "local-recoding", "top-down")
]


@pytest.mark.parametrize("method", WITH_REQUIREMENTS, ids=lambda method: method.name)
@given(rows=TABLES, requirements=st.lists(REQUIREMENTS, min_size=1, max_size=3),
       suppression=st.sampled_from([0.0, 0.3]))  # fmt: skip
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_reader_inside_the_model_exceeds_the_promise(method, rows, requirements, suppression):
    with tempfile.TemporaryDirectory() as folder:
        source, place = Path(folder) / "table.csv", Path(folder) / "release"
        write(source, rows)
        job = job_for(requirements, suppression, "loss")
        if method.name != "full-domain":
            job = job.model_copy(update={"method": method()})
        try:
            make_release(source, job, seed=0).save(place, **UNATTACKED)
        except dc.InfeasibleError:
            assume(False)
        report = dc.attack(place, original=source, job=job)
        assert report.ok, str(report)
        for finding in report.findings:
            assert 0 <= finding.mean <= finding.greatest <= 1 + 1e-9
            assert 0 <= finding.above <= 1
            assert finding.exceeded is False
        assert report.risks[-1].marketer <= report.risks[-1].prosecutor + 1e-12


OTHERS = {
    "msa-diversity": ({"msa-diversity": {"suppression": 0.5}}, [{"m-diversity": {"l": 2}}]),
    "msa-diversity in buckets": (
        {"msa-diversity": {"suppression": 0.5, "publish": "buckets", "grouping": "curve"}},
        [{"m-diversity": {"l": 2}}],
    ),
    "anatomy": ({"anatomy": {"l": 2}}, [{"p-diversity": {"l": 2, "attribute": "s"}}]),
    "decomposition": ("decomposition", []),
    "unlinked": ("unlinked", []),
    "codip": ("codip", [{"k-anonymity": {"k": 2}}, {"t-closeness": {"t": 0.5}}]),
    "gal": ({"gal": {"l": 2, "k": 2}}, []),
    "li-ye": ({"li-ye": {"alpha_qi": 2, "alpha_sa": 2}}, []),
    "mmdcf": ({"mmdcf": {"l": 2}}, []),
}


@pytest.mark.parametrize("name", OTHERS)
@given(rows=TABLES)
@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
def test_nor_on_what_the_other_methods_publish(name, rows):
    method, requirements = OTHERS[name]
    job = job_for(requirements, 0.0, "loss")
    attributes = dict(job.attributes)
    if name == "anatomy":
        attributes["v"] = attributes["note"]
    job = dc.Job(attributes=attributes, requirements=requirements, method=method)
    with tempfile.TemporaryDirectory() as folder:
        source, place = Path(folder) / "table.csv", Path(folder) / "release"
        write(source, rows)
        try:
            make_release(source, job, seed=0).save(place, **UNATTACKED)
        except (dc.InfeasibleError, dc.InputError):
            assume(False)
        report = dc.attack(place, original=source, job=job)
        assert report.ok, str(report)
        assert report.findings
        for finding in report.findings:
            assert 0 <= finding.mean <= finding.greatest <= 1 + 1e-9


@given(rows=quasi_sensitive.TABLES, table=quasi_sensitive.KNOWLEDGE,
       requirement=quasi_sensitive.REQUIREMENTS, k=st.integers(1, 3))  # fmt: skip
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
def test_nor_where_terms_were_removed(rows, table, requirement, k):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        quasi_sensitive.write(folder, rows, table, dict.fromkeys(table, 1))
        job = quasi_sensitive.job_for(
            folder, [{"k-anonymity": {"k": k}}, requirement], {}, given=False
        )
        try:
            make_release(folder / "table.csv", job, seed=1).save(folder / "release", **UNATTACKED)
        except dc.InfeasibleError:
            assume(False)
        report = dc.attack(folder / "release", original=folder / "table.csv", job=job)
        assert report.ok, str(report)
        linking = [f for f in report.findings if f.attack == "quasi-sensitive-linking"]
        assert len(linking) == 1
        ((model, parameters),) = requirement.items()
        if model == "qs-cl-diversity" and parameters["l"] > 1 and parameters["weights"] == "equal":
            c = parameters["c"]
            assert linking[0].greatest <= c / (c + 1) + 1e-9


@pytest.mark.parametrize(
    "method", [dc.MInvariance(m=2), dc.MInvariance(m=3),
               dc.RhoDifferent(rho=0.5, unstated="stay", domain=tuple("abcde"))],
    ids=lambda method: f"{method.name} {method.parameters()}",
)  # fmt: skip
@given(seed=st.integers(0, 10**6))
@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
def test_nor_on_a_series(method, seed):
    """Each release by itself, then all of them together by the attacks on several releases."""
    tables = list(series.population(random.Random(seed), "abcde", 3, 12, 0.0))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        job = series.make_job(folder, method)
        limit = 1 / method.m if isinstance(method, dc.MInvariance) else method.rho
        try:
            for number, people in enumerate(tables):
                frame = series.frame_of(people)
                place = dc.publish(frame, job, seed=seed).save(folder / f"r{number}", **UNATTACKED)
                report = dc.attack(place, original=frame, job=job)
                assert report.ok, str(report)
                found = [f for f in report.findings if f.attack == "homogeneity"]
                assert all(f.bound == pytest.approx(limit) for f in found)
                assert found
        except dc.InfeasibleError:
            assume(False)
        with dc.Ledger.open(job.ledger) as ledger:
            together = dc.audit_series(ledger=ledger)
        assert together.ok, together.problems
        by_name = {attack.attack: attack for attack in together.attacks}
        if isinstance(method, dc.MInvariance):
            for name in ("value-association", "correspondence"):
                assert by_name[name].bound == pytest.approx(limit)
                assert by_name[name].greatest <= limit + 1e-9


def test_no_method_is_left_out():
    """Every method's releases are attacked here."""
    elsewhere = {"quasi-sensitive", "m-invariance", "rho-different"}
    in_table = {name.partition(" ")[0] for name in OTHERS}
    attacked = {method.name for method in WITH_REQUIREMENTS} | in_table | elsewhere
    assert attacked == set(METHODS)


def test_every_attack_succeeds_on_a_release_without_protection(tmp_path):
    """The table as it is: every reader is certain of somebody."""
    rows = [(f"{q}", f"{z:02d}", "1", s, v) for q, z, s, v in [
        ("a", 1, "flu", "1"), ("a", 1, "hiv", "2"), ("b", 2, "flu", "1"), ("c", 11, "cold", "5"),
        ("b", 12, "flu", "40"), ("a", 7, "cold", "2"), ("c", 8, "flu", "5"), ("a", 12, "hiv", "1"),
    ]]  # fmt: skip
    source, place = tmp_path / "table.csv", tmp_path / "release"
    write(source, rows)
    job = job_for([{"k-anonymity": {"k": 1}}], 0.0, "loss")
    make_release(source, job, seed=0).save(place, **UNATTACKED)
    rule = {"who": {"q": ["b"]}, "attribute": "s", "never": ["cold"]}
    kinds = {"s": {"infection": ["flu", "cold"], "other": ["hiv"]}}
    report = dc.attack(
        place,
        original=source,
        job=job,
        attacks=["linking", "homogeneity", "skewness", {"similarity": {"kinds_of": kinds}},
                 "non-membership", {"background-knowledge": {"rules": [rule]}}, "background-join",
                 "membership", "definetti"],
        population=source,
    )  # fmt: skip
    assert {f.attack for f in report.findings} >= {"linking", "skewness", "membership"}
    for finding in report.findings:
        if finding.attack == "definetti":
            assert finding.mean >= 0.75
        else:
            assert finding.greatest == pytest.approx(1), finding
    assert "is certain of" in report.summary


def test_readers_of_other_kinds_succeed_where_nothing_protects(tmp_path):
    """Groups of people with one value, sets of one value, tables that join, terms of one label."""
    rows = [
        ["p1", "a", "u"],
        ["p2", "a", "u"],
        ["p3", "b", "v"],
        ["p4", "b", "v"],
        ["p5", "c", "u"],
    ]
    columns = {"q": "q", "s": "s", "v": "s"}
    groups = ["1", "1", "2", "2", "3"]
    made = {
        "bucketized": {
            "quasi_identifiers": (["q", "group"], [[r[0], g] for r, g in _with(rows, groups)]),
            "sensitive": (["group", "s", "v"], [[g, *r[1:]] for r, g in _with(rows, groups)]),
        },
        "decomposed": {
            "groups": (["q", "group"], [[r[0], g] for r, g in _with(rows, groups)]),
            "group_values": (
                ["group", "attribute", "value"],
                sorted({(g, a, r[1 + i]) for r, g in _with(rows, groups)
                        for i, a in enumerate("sv")}),
            ),
            "sensitive": (["s", "v"], [r[1:] for r in rows]),
        },
        "projected": {
            "projection_1": (["q", "s"], [r[:2] for r in rows]),
            "projection_2": (["q", "v"], [[r[0], r[2]] for r in rows]),
        },
    }  # fmt: skip
    succeeded = set()
    for kind, tables in made.items():
        folder = tmp_path / kind
        folder.mkdir()
        release = Handmade(
            folder, columns, rows, tables, kind=kind,
            method={"primary": "s"} if kind == "decomposed" else {},
        )  # fmt: skip
        names = [attack.name for attack in ATTACKS.values() if attack.reads(kind_of(kind))]
        knowing = {
            "intersection": {"intersection": {"releases": [str(release.place)]}},
            "background-knowledge": {
                "background-knowledge": {
                    "rules": [{"who": {"q": ["p1"]}, "attribute": "s", "never": ["b"]}]
                }
            },
            "similarity": {"similarity": {"kinds_of": {"s": {"one": ["a", "b"], "two": ["c"]}}}},
        }
        report = dc.attack(
            release.place,
            original=release.job,
            attacks=[knowing.get(name, name) for name in names],
            population=folder / "original.csv",
        )
        assert not set(report.inapplicable) - {
            "absence", "minimality", "background-join", "person-intersection", "number-of-rows",
            "refinement",
        }  # fmt: skip
        for finding in report.findings:
            assert finding.greatest == pytest.approx(1), finding
            succeeded.add(finding.attack)
    alone = {
        "absence",
        "minimality",
        "quasi-sensitive-linking",
        "person-intersection",
        "number-of-rows",
        "downcoding",
        "refinement",
    }  # have examples of their own
    assert succeeded | alone == set(ATTACKS)


def _with(rows, groups):
    return list(zip(rows, groups, strict=True))
