"""The way of a new user, check, init, publish; and a check of a release agrees with its audit."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.saving import ACCEPTING, UNATTACKED
from typer.testing import CliRunner

import discreet as dc
from discreet.api.demonstrate import make_patients
from discreet.cli.app import app

ROLES = ("--quasi", "birthday,zip,sex", "--sensitive", "diagnosis", "--k", "5", "--l", "2")
JOB = """
source: {path: patients.csv}
attributes:
  name: {role: identifier}
  birthday: {role: quasi-identifier, type: date, hierarchy: {dates: [year, decade, "*"]}}
  zip: {role: quasi-identifier, hierarchy: {mask: right}}
  sex: {role: quasi-identifier, hierarchy: suppress}
  diagnosis: {role: sensitive}
  income: {role: sensitive, type: integer}
  occupation: {role: drop}
  ward: {role: insensitive}
requirements:
  - k-anonymity: {k: 4}
  - entropy-l-diversity: {l: 2}
  - t-closeness: {t: 0.6}
  - beta-likeness: {beta: 9}
method: {METHOD: {}}
measure: none
"""


@pytest.fixture
def patients(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    make_patients(tmp_path / "patients.csv", rows=600)
    return tmp_path


def test_check_then_init_then_publish(patients):
    run = CliRunner().invoke
    assert run(app, ["check", "patients.csv", *ROLES]).exit_code == 1
    assert run(app, ["init", "patients.csv", "--budget", "0s"]).exit_code == 0
    done = run(app, ["publish", "job.yaml", "--quiet", *ACCEPTING])
    assert done.exit_code == 0, done.output
    done = run(app, ["check", "release/records.csv", *ROLES])
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("method", ["full-domain", "mondrian", "local-recoding"])
def test_a_check_of_a_release_has_the_figures_of_its_audit(method, patients):
    (patients / "job.yaml").write_text(JOB.replace("METHOD", method))
    dc.publish(None, "job.yaml", seed=1).save("release", **UNATTACKED)
    audit = dc.audit("release")
    found = dc.check("release/records.csv", "job.yaml")
    assert found.ok
    audited = {one.requirement: one.achieved for one in audit.promises}
    assert {one.requirement.name: one.achieved for one in found.requirements} == {
        one.requirement.name: pytest.approx(audited[one.requirement.name])
        for one in found.requirements
    }
