"""A hospital's encounters from questions to the report that is signed, read in a browser."""

from __future__ import annotations

import csv
import random
import re
from datetime import date, timedelta
from pathlib import Path

import pytest
from tests.saving import ACCEPTING
from typer.testing import CliRunner

import discreet as dc
from discreet.attacks.attackers import StandardAttacker
from discreet.cli.app import app

PATIENTS = 300
ANSWERS = "\n".join(["patient_nbr", "", "", "email", "research", "half", "", ""]) + "\n"


def write_encounters(path: Path) -> list[list[str]]:
    """Sorted by date, with brackets, codes, "None" and an e-mail column; some patients return."""
    draw = random.Random(3)
    rows = []
    for patient in range(PATIENTS):
        decade, sex = draw.randint(2, 8) * 10, draw.choice("fm")
        town = f"{draw.choice([10, 11, 20])}{draw.randint(100, 130)}"
        for _ in range(draw.choice([1, 1, 1, 2, 3])):
            day = date(2024, 1, 1) + timedelta(draw.randrange(500))
            drug = draw.choice(["None", "None", "insulin", "metformin", "statin", "opioid"])
            rows.append(
                [
                    day.isoformat(), f"{70_000_000 + patient * 31}", f"p{patient}@example.org",
                    f"[{decade}-{decade + 10})", sex, town,
                    str(draw.choice([250, 401, 428, 493, 715])), drug,
                ]
            )  # fmt: skip
    rows.sort()
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(
            ["admitted", "patient_nbr", "email", "age", "sex", "postcode", "diag_1", "drug"]
        )
        writer.writerows(rows)
    return rows


def test_questions_lead_to_a_release_and_a_report_to_sign(browser, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = write_encounters(tmp_path / "encounters.csv")
    asked = CliRunner().invoke(app, ["init", "encounters.csv", "--ask"], input=ANSWERS)
    assert asked.exit_code == 0, asked.output
    job = dc.Job.load("job.yaml")
    assert job.person is not None
    assert job.attributes["email"].role == "drop"
    done = CliRunner().invoke(app, ["publish", "job.yaml", "--json", "--quiet", *ACCEPTING])
    assert done.exit_code == 0, done.output
    said = re.search(r'"risk": \{\s*"verdict": "([^"]+)"', done.stdout)
    assert said is not None
    assert dc.audit("release", original=job).ok

    page = browser.open(tmp_path / "release.private.html", width=1000)
    assert said[1] in page.evaluate("document.querySelector('h1').innerText")
    figures = page.figures()
    assert list(figures) == ["believed", "certain", "reidentified", "singled_out"]
    attacked = dc.attack("release", original=job)
    worst = max(
        finding.newly_certain / finding.targets
        for finding in attacked.about_values
        if finding.attacker is StandardAttacker.ACQUAINTANCE  # whom 'research' chooses
    )
    assert float(figures["certain"]) == pytest.approx(worst)
    reached = max(one.prosecutor for one in attacked.risks[1:])
    assert float(figures["reidentified"]) == pytest.approx(reached)
    private = page.evaluate("document.body.innerText")
    public = browser.open(tmp_path / "release" / "report.html").evaluate("document.body.innerText")
    for person in {row[1] for row in rows} | {row[2] for row in rows}:
        assert person not in private
        assert person not in public
    for hidden in ("email", "patient_nbr"):
        assert hidden in private  # the publisher may know what was left out
        assert hidden not in public
    for secret in ("insulin", "metformin", "statin", "opioid"):
        assert secret not in private
        assert secret not in public
