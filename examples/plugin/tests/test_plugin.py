"""What the plugin adds passes the conformance kit, and publishes."""

import json

import polars as pl
import pytest
from discreet_ke.attack import Proximity
from discreet_ke.requirement import KEAnonymity

import discreet as dc
from discreet.job.model import Job
from discreet.testing import check_attack, check_requirement

SALARIES = (1000.0, 1100.0, 1500.0, 4000.0, None)


def passes(rows, table, k, e):
    """(k,e)-anonymity as its definition says it."""
    known = {row["salary"] for row in rows} - {None}
    return len(known) >= k and (max(known) - min(known) if known else 0) >= e


@pytest.mark.parametrize(("k", "e"), [(1, 0), (2, 100), (2, 2500), (3, 500.5)])
def test_the_requirement_conforms(k, e):
    check_requirement(
        KEAnonymity(k=k, e=e, attribute="salary"),
        values={"salary": SALARIES, "ward": ("a", "b")},
        naive=lambda rows, table: passes(rows, table, k, e),
        tables=100,
    )


def test_text_is_refused():
    frame = pl.DataFrame({"age": [30, 31], "ward": ["a", "b"]})
    job = job_of({"ke-anonymity": {"k": 2, "e": 1}}, sensitive="ward")
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
    job = job_of({"ke-anonymity": {"k": 3, "e": 1000}}, source=source)
    release = dc.publish(None, job, seed=1)
    folder = release.save(tmp_path / "release")
    for group in release.tables["records"].partition_by("age"):
        salaries = [int(salary) for salary in group["salary"]]
        assert len(set(salaries)) >= 3
        assert max(salaries) - min(salaries) >= 1000
    assert release.tables["records"]["age"].n_unique() > 1

    audit = dc.audit(folder, original=job)
    assert audit.ok
    (promise,) = [one for one in audit.promises if one.requirement == "ke-anonymity"]
    assert promise.achieved["e"] >= 1000
    assert promise.achieved["k"] >= 3

    report = dc.attack(folder, original=job)
    (found,) = [one for one in report.findings if one.attack == "proximity"]
    assert found.aim == "salary"
    assert found.baseline < found.mean < 1

    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["promises"][0]["requirement"] == "ke-anonymity"
    assert "the greatest exceeds the least by at least 1000" in str(release)


def test_a_forged_manifest_is_refused(tmp_path):
    folder = dc.publish(table(), job_of({"ke-anonymity": {"k": 2, "e": 100}}), seed=1).save(
        tmp_path / "release"
    )
    path = folder / "manifest.json"
    path.write_text(path.read_text().replace('"e": 100.0', '"e": 3900.0'))
    assert not dc.audit(folder).ok


def test_the_schema_of_jobs_has_both():
    schema = json.dumps(Job.model_json_schema())
    assert '"ke-anonymity"' in schema
    assert '"proximity"' in schema
