"""What the plugin adds passes the conformance kit, and publishes."""

import json
from statistics import pstdev

import polars as pl
import pytest
from discreet_spread.attack import Proximity
from discreet_spread.requirement import LeastSpread

import discreet as dc
from discreet.job.model import Job
from discreet.testing import check_attack, check_requirement

SALARIES = (1000.0, 1100.0, 1500.0, 4000.0, None)


def passes(rows, table, deviation):
    """The definition of the requirement, with the standard library."""
    known = [row["salary"] for row in rows if row["salary"] is not None]
    return bool(known) and pstdev(known) >= deviation * (1 - 1e-9)


@pytest.mark.parametrize("deviation", [1, 50, 200, 1450.5])
def test_the_requirement_conforms(deviation):
    check_requirement(
        LeastSpread(deviation=deviation, attribute="salary"),
        values={"salary": SALARIES, "ward": ("a", "b")},
        naive=lambda rows, table: passes(rows, table, deviation),
        tables=100,
    )


def test_text_is_refused():
    frame = pl.DataFrame({"age": [30, 31], "ward": ["a", "b"]})
    job = job_of({"least-spread": {"deviation": 1}}, sensitive="ward")
    with pytest.raises(dc.JobError, match="'ward' is not numeric"):
        dc.publish(frame, job)


@pytest.mark.parametrize("within", [0, 0.1, 1])
def test_the_attack_conforms(within):
    check_attack(Proximity(within=within))


def job_of(requirement, sensitive="salary", source=None):
    kinds = {"type": "integer"} if sensitive == "salary" else {}
    return Job.model_validate(
        {
            "attributes": {
                "age": {"role": "quasi-identifier", "type": "integer"},
                sensitive: {"role": "sensitive", **kinds},
            },
            "requirements": [requirement],
            "method": "mondrian",
            "source": None if source is None else {"path": str(source)},
        }
    )


def table():
    return pl.DataFrame(
        {
            "age": [20, 22, 24, 26, 41, 43, 45, 47, 60, 62, 64, 66],
            "salary": [900, 950, 980, 3000, 2000, 2010, 2020, 2030, 900, 2500, 1800, 4000],
        }
    )


def test_publish_audit_and_attack(tmp_path):
    source = tmp_path / "people.csv"
    table().write_csv(source)
    job = job_of({"least-spread": {"deviation": 500}}, source=source)
    release = dc.publish(None, job, seed=1)
    folder = release.save(tmp_path / "release", attack=None)
    for group in release.tables["records"].partition_by("age"):
        salaries = [int(salary) for salary in group["salary"]]
        assert pstdev(salaries) >= 500
    assert release.tables["records"]["age"].n_unique() > 1

    audit = dc.audit(folder, original=job)
    assert audit.ok
    (promise,) = [one for one in audit.promises if one.requirement == "least-spread"]
    assert promise.achieved["deviation"] >= 500

    report = dc.attack(folder, original=job)
    (found,) = [one for one in report.findings if one.attack == "proximity"]
    assert found.aim == "salary"
    assert found.baseline < found.mean < 1

    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["promises"][0]["requirement"] == "least-spread"
    assert "a standard deviation of at least 500" in str(release)


def test_a_forged_manifest_is_refused(tmp_path):
    folder = dc.publish(table(), job_of({"least-spread": {"deviation": 100}}), seed=1).save(
        tmp_path / "release", attack=None
    )
    path = folder / "manifest.json"
    path.write_text(path.read_text().replace('"deviation": 100.0', '"deviation": 3900.0'))
    assert not dc.audit(folder).ok


def test_the_schema_of_jobs_has_both():
    schema = json.dumps(Job.model_json_schema())
    assert '"least-spread"' in schema
    assert '"proximity"' in schema
