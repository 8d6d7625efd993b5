"""A table of encounters from init to a release: the proposed job reduces a person's rows to one."""

from __future__ import annotations

import json
import random
from pathlib import Path

import polars as pl
from tests.saving import ACCEPTING
from typer.testing import CliRunner

import discreet as dc
from discreet.cli.app import app


def run(*arguments: str | Path) -> str:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


def encounters(persons: int, seed: int = 1) -> pl.DataFrame:
    """Encounters sorted by date; most persons have one, a few have up to forty."""
    draw = random.Random(seed)
    rows = []
    for person in range(persons):
        sex, born = draw.choice("fm"), draw.randint(20, 90)
        rows += [
            {
                "encounter_id": f"{draw.randrange(10**9):09}",
                "patient_nbr": f"{person:08}",
                "admitted": f"{draw.randint(2015, 2019)}-0{draw.randint(1, 9)}-15",
                "age": born + draw.randint(0, 3),
                "sex": sex,
                "diagnosis": draw.choice(["flu", "hiv", "cold", "gout"]),
            }
            for _ in range(min(40, int(draw.paretovariate(1.2))))
        ]
    return pl.DataFrame(rows).sort("admitted")


def test_the_proposed_job_publishes_one_row_for_each_person(tmp_path: Path):
    table = encounters(300)
    table.write_csv(tmp_path / "encounters.csv")
    said = run("init", tmp_path / "encounters.csv", "-o", tmp_path / "job.yaml")
    assert f"{len(table):,} rows of 300 persons by 'patient_nbr'" in " ".join(said.split())
    job = dc.Job.load(tmp_path / "job.yaml")
    assert job.person is not None
    assert (job.person.column, job.person.rows) == (("patient_nbr",), "collapse")
    run("publish", tmp_path / "job.yaml", "-o", tmp_path / "release", *ACCEPTING)
    found = dc.audit(tmp_path / "release", original=job)
    assert found.ok
    manifest = json.loads((tmp_path / "release" / "manifest.json").read_text())
    assert (manifest["unit"], manifest["source_rows"]) == ("person", 300)


def test_profile_counts_persons_and_those_that_are_unique(tmp_path: Path):
    rows = {"id": [f"P-{n:06}" for n in (0, 0, *range(1, 30))], "age": [1, 2, 2, *[3] * 28]}
    pl.DataFrame(rows).write_csv(tmp_path / "table.csv")
    found = json.loads(run("profile", tmp_path / "table.csv", "--json"))
    assert found["person"] == "id"
    assert found["persons"]["persons_by_rows"] == {"1": 29, "2": 1}
    assert found["unique_persons"] == 1 / 30  # the person with ages 1 and 2; 2 is shared
