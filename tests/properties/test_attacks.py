"""On whatever a method publishes, no attack inside the model exceeds what is promised."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.properties.test_publish_full_domain import REQUIREMENTS, TABLES, job_for, write

import discreet as dc
from discreet.algorithms.catalog import METHODS
from discreet.publishing import make_release

# Methods that publish any table under any requirement.
WITH_REQUIREMENTS = [
    method for method in METHODS if method.name in ("full-domain", "mondrian", "local-recoding")
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
            make_release(source, job, seed=0).save(place)
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
            make_release(source, job, seed=0).save(place)
        except (dc.InfeasibleError, dc.InputError):
            assume(False)
        report = dc.attack(place, original=source, job=job)
        assert report.ok, str(report)
        assert report.findings
        for finding in report.findings:
            assert 0 <= finding.mean <= finding.greatest <= 1 + 1e-9


def test_every_attack_succeeds_on_a_release_without_protection(tmp_path):
    """The table as it is: every reader is certain of somebody."""
    rows = [(f"{q}", f"{z:02d}", "1", s, v) for q, z, s, v in [
        ("a", 1, "flu", "1"), ("a", 1, "hiv", "2"), ("b", 2, "flu", "1"), ("c", 11, "cold", "5"),
        ("b", 12, "flu", "40"), ("a", 7, "cold", "2"), ("c", 8, "flu", "5"), ("a", 12, "hiv", "1"),
    ]]  # fmt: skip
    source, place = tmp_path / "table.csv", tmp_path / "release"
    write(source, rows)
    job = job_for([{"k-anonymity": {"k": 1}}], 0.0, "loss")
    make_release(source, job, seed=0).save(place)
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
