"""Several sensitive columns that are one secret: job, guarantees, attacks, manifest, proposals."""

from __future__ import annotations

import json
import random

import polars as pl
import pytest
from tests.saving import UNATTACKED

import discreet as dc
from discreet.releases.explanation import known_weaknesses
from discreet.statements import Statement

DRAW = random.Random(3)
HIKES = [DRAW.randrange(11, 26) for _ in range(240)]
TABLE = pl.DataFrame(
    {
        "age": [str(DRAW.randrange(20, 60)) for _ in HIKES],
        "hike": [str(hike) for hike in HIKES],
        "rating": ["3" if hike < 22 else "4" for hike in HIKES],
        "answer": [DRAW.choice("abcd") for _ in HIKES],
    }
)
SECRETS = [["hike", "rating"]]


def job(secrets=SECRETS, **changes):
    written = {
        "attributes": {
            "age": {"role": "quasi-identifier", "type": "integer"},
            **{name: {"role": "sensitive"} for name in ("hike", "rating", "answer")},
        },
        "secrets": secrets,
        "requirements": [{"p-diversity": {"l": 2}}],
        "method": "mondrian",
    }
    return dc.Job(**{**written, **changes})


@pytest.mark.parametrize(
    ("secrets", "said"),
    [
        ([["hike", "age"]], "'age' is not a sensitive attribute"),
        ([["hike"]], "two columns or more"),
        ([["hike", "rating"], ["rating", "answer"]], "'rating' is named twice"),
    ],
)
def test_a_secret_names_two_sensitive_columns_or_more_once(secrets, said):
    with pytest.raises(dc.JobError, match=said):
        job(secrets)


def test_columns_that_do_not_reveal_each_other_are_no_secret():
    for secret in (["hike", "answer"], ["hike", "rating", "answer"]):
        with pytest.raises(dc.JobError, match="do not reveal each other in the table"):
            dc.publish(TABLE, job([secret]), seed=1)
    with pytest.raises(dc.JobError, match="do not reveal each other"):  # too few rows to tell
        dc.publish(TABLE.head(20), job(), seed=1)


def test_guarantees_on_all_attributes_are_asked_of_the_finest_column(tmp_path):
    with pytest.raises(dc.InfeasibleError, match="'rating' fills"):
        dc.publish(TABLE, job([]), seed=1)
    release = dc.publish(TABLE, job(), seed=1)
    (promise,) = release.manifest.promises
    assert promise.to_requirement().named == ("hike", "answer")
    assert release.manifest.coverage["rating"] == []
    assert release.manifest.secrets == SECRETS
    release.save(tmp_path / "release", **UNATTACKED)
    assert dc.audit(tmp_path / "release").ok
    secret = Statement("weakness.secret", finest="hike", others=["rating"])
    assert secret in known_weaknesses(dc.Manifest.load(tmp_path / "release"))
    named = job(requirements=[{"p-diversity": {"l": 2, "attribute": ["hike", "rating"]}}])
    with pytest.raises(dc.InfeasibleError, match="'rating' fills"):  # what is named is asked
        dc.publish(TABLE, named, seed=1)


def test_the_verdict_still_counts_what_is_learned_about_each_column():
    release = dc.publish(TABLE, job(), seed=1)
    report = dc.attack(release, original=TABLE, attacks=["homogeneity"])
    assert {finding.aim for finding in report.findings} == {"hike", "rating", "answer"}


@pytest.mark.parametrize("method", ["mondrian", "decomposition", "unlinked"])
def test_a_column_of_the_same_secret_is_no_background_knowledge(method):
    asked = [] if method == "mondrian" else {"requirements": []}
    release = dc.publish(TABLE, job(method=method, **dict(asked)), seed=1)
    attacks = ["background-join", "link-through-sensitive-table"]
    report = dc.attack(release, original=TABLE, attacks=attacks)
    pairs = {(finding.aim, *finding.details["known"]) for finding in report.findings}
    assert pairs
    assert not {("hike", "rating"), ("rating", "hike")} & pairs
    assert not any(
        {"hike", "rating"} <= {aim} | {*known} for aim, *known in pairs if aim != "answer"
    )
    assert ("answer", "hike") in pairs
    assert ("rating", "answer") in pairs
    if method != "decomposition":
        assert ("answer", "hike", "rating") in pairs  # all others, of both columns


def test_one_secret_alone_has_no_insider():
    attributes = {
        "age": {"role": "quasi-identifier", "type": "integer"},
        "hike": {"role": "sensitive"},
        "rating": {"role": "sensitive"},
    }
    release = dc.publish(TABLE.drop("answer"), job(attributes=attributes), seed=1)
    report = dc.attack(release, original=TABLE.drop("answer"), attacks=["background-join"])
    assert not report.findings
    assert "one secret" in str(report)


def test_a_manifest_cannot_name_other_columns_as_secrets(tmp_path):
    dc.publish(TABLE, job(), seed=1).save(tmp_path / "release", **UNATTACKED)
    place = tmp_path / "release" / "manifest.json"
    written = json.loads(place.read_text())
    written["secrets"] = [["hike", "age"]]
    place.write_text(json.dumps(written, ensure_ascii=False, indent=1) + "\n")
    assert any("'secrets' names 'age'" in one for one in dc.audit(tmp_path / "release").problems)


def test_profile_and_init_find_secrets_and_publish_derived_columns_once(tmp_path):
    found = dc.profile(TABLE, job())
    assert [secret.columns for secret in found.secrets] == [("hike", "rating")]
    assert "'rating' follows from 'hike'" in str(found)
    ages = [DRAW.randrange(20, 60) for _ in range(400)]
    scores = [DRAW.randrange(1, 11) for _ in ages]
    births = [f"{2020 - age}-{DRAW.randrange(1, 7):02}-{DRAW.randrange(1, 29):02}" for age in ages]
    frame = pl.DataFrame(
        {
            "date_of_birth": births,
            "age": ages,
            "age_group": ["young" if age < 35 else "old" for age in ages],
            "sex": [DRAW.choice("fm") for _ in ages],
            "diagnosis": [f"d{score}" for score in scores],
            "diagnosis_group": ["low" if score < 4 else "high" for score in scores],
        }
    )
    frame.write_csv(tmp_path / "people.csv")
    proposed = dc.propose(tmp_path / "people.csv")
    roles = {name: str(one.role) for name, one in proposed.roles.items()}
    assert roles["age"] == roles["sex"] == "quasi-identifier"
    assert roles["date_of_birth"] == roles["age_group"] == "drop"
    assert "it follows from 'age'" in proposed.roles["age_group"].reason
    assert "'age' says the same more coarsely" in proposed.roles["date_of_birth"].reason
    assert proposed.job.secrets == ()  # a stated secret weakens guarantees: the steward decides
    assert "#   - [diagnosis, diagnosis_group]\n" in proposed.text
