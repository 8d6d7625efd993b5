"""The commands write pages where they are told to."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.saving import UNATTACKED
from typer.testing import CliRunner

import discreet as dc
from discreet.cli.app import app

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.parametrize("command", ["audit", "attack", "measure", "profile"])
def test_a_command_writes_its_page(command, tmp_path):
    job = EXAMPLES / "mondrian" / "job.yaml"
    page, release = tmp_path / "page.html", tmp_path / "release"
    dc.publish(None, dc.Job.load(job), seed=1).save(release, **UNATTACKED)
    subject = {
        "profile": [str(job)],
        "audit": [str(release)],
        "attack": [str(release), "--original", str(job), "--attacks", "homogeneity"],
        "measure": [str(release), "--original", str(job), "--queries", "20"],
    }[command]
    done = CliRunner().invoke(app, [command, *subject, "--page", str(page), "--quiet"])
    assert done.exit_code == 0, done.output
    written = page.read_text(encoding="utf-8")
    assert written.startswith("<!doctype html>")
    assert "data-figure" in written
    assert "<svg class='chart" in written
    assert "<script" not in written


def test_the_audit_of_a_series_draws_its_beliefs(tmp_path):
    folder = shutil.copytree(EXAMPLES / "series", tmp_path / "series")
    job = dc.Job.load(folder / "odds.yaml")
    with dc.Ledger.create(dc.LedgerSettings(path="other.ledger").located(folder)) as ledger:
        dc.publish(None, job, seed=1).save(folder / "first", **UNATTACKED)
        found = dc.audit_series(ledger=ledger, correlation=folder / "odds.csv")
    assert found.joint is not None
    html = found._repr_html_()
    assert "guaranteed at most" in html
    assert f"{found.joint.greatest[0]:.3f}" in html
    assert "The series keeps its guarantees" in html
