"""A release states guarantees for people only where every person is shown to have one row."""

from __future__ import annotations

import json
import re

import polars as pl
import pytest
from tests.requirements.test_catalog import EXAMPLES, names
from tests.saving import UNATTACKED

import discreet as dc
from discreet.job.proposing.job_text import propose_job
from discreet.job.proposing.untyped_table import read_untyped
from discreet.job.table_profile import profile_table
from discreet.pipeline.prepare import prepare
from discreet.releases.audit.audit import audit_folder
from discreet.requirements.judge import stated
from discreet.table.roles import Unit

ROWS = 12


def frame(names):
    return pl.DataFrame(
        {"name": names, "age": [str(n % 3) for n in range(ROWS)], "d": list("abcdefabcdef")}
    )


def job(**further):
    roles = {"name": "identifier", "age": "quasi-identifier", "d": "sensitive"}
    attributes = {name: {"role": role} for name, role in roles.items()}
    requirements = [{"k-anonymity": {"k": 2}}, {"distinct-l-diversity": {"l": 2}}]
    given = {"attributes": attributes, "requirements": requirements, "method": "mondrian"}
    return dc.Job(**given | further)


DISTINCT = [f"person {n}" for n in range(ROWS)]
REPEATED = ["secret"] * 5 + DISTINCT[5:]


def said(release, tmp_path):
    place = release.save(tmp_path / "release", **UNATTACKED)
    return "\n".join(release.explanation) + (place / "report.html").read_text()


def test_repeated_identifiers_are_refused_with_the_counts():
    with pytest.raises(dc.InputError) as caught:
        dc.publish(frame(REPEATED), job())
    message = str(caught.value)
    assert "'name' has 8 distinct values in 12 rows; one value has 5 rows" in message
    assert "unit: rows" in message
    assert "secret" not in message


def test_the_job_may_state_that_rows_are_the_unit(tmp_path):
    release = dc.publish(frame(REPEATED), job(unit="rows"))
    assert release.manifest.unit is Unit.ROW
    text = said(release, tmp_path)
    assert "Each row is in a group of at least 2 rows." in text
    assert "person" not in text and "people" not in text


def test_people_are_spoken_of_where_an_identifier_shows_them(tmp_path):
    release = dc.publish(frame(DISTINCT), job())
    assert release.manifest.unit is Unit.PERSON
    assert "Each person is in a group of at least 2 people." in said(release, tmp_path)


@pytest.mark.parametrize("names", [[None, *DISTINCT[1:]], [None] * ROWS])
def test_a_missing_identifier_shows_nobody(names, tmp_path):
    release = dc.publish(frame(names).cast({"name": pl.String}), job())
    assert release.manifest.unit is Unit.ROW
    assert not re.search("person|people", said(release, tmp_path))


def test_without_an_identifier_rows_are_spoken_of(tmp_path):
    roles = {"age": {"role": "quasi-identifier"}, "d": {"role": "sensitive"}}
    release = dc.publish(frame(DISTINCT).drop("name"), job(attributes=roles))
    assert release.manifest.unit is Unit.ROW


def test_an_audit_believes_the_unit_only_with_the_original(tmp_path):
    table = frame(REPEATED)
    made = job(unit="rows")
    place = dc.publish(table, made).save(tmp_path / "release", report=False, **UNATTACKED)
    file = place / "manifest.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"unit": "person"}))
    assert dc.audit(place).unit is Unit.ROW
    found = audit_folder(place, prepare(made, table))
    assert any("every person has one row" in problem for problem in found.problems)


@pytest.mark.parametrize("requirement", EXAMPLES, ids=names)
def test_guarantees_of_rows_do_not_speak_of_people(requirement):
    sentence = stated(requirement, Unit.ROW)
    assert not re.search(r"\b(people|persons?|members|who look alike|\w+body)\b", sentence)


def test_init_and_profile_report_repeated_identifiers(tmp_path):
    table = tmp_path / "table.csv"
    visits = [f"P-{n // 2:06}" for n in range(ROWS * 2)]
    ages = [str(n % 3) for n in range(ROWS * 2)]
    pl.DataFrame({"patient": visits, "age": ages}).write_csv(table)
    counts = "The table has 24 rows of 12 persons by 'patient'; one person has 2 rows."
    proposed = propose_job(table, tmp_path)
    assert proposed.persons is not None
    assert f"# {counts}\n" in proposed.text
    assert "\nperson: {column: patient, rows: collapse}\n" in proposed.text
    (warning,) = profile_table(read_untyped(table).table, roles_known=False).warnings
    assert warning.startswith(counts)
    assert "'unit: rows'" in warning
    assert not any(visit in warning + proposed.text for visit in visits)
