"""The examples of decomposition and anatomy publish, audit and measure from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.saving import ACCEPTING
from typer.testing import CliRunner

from discreet.cli.app import app

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples" / "decomposition"


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, list(arguments))
    return done.exit_code, done.output


@pytest.mark.parametrize(
    ("job", "tables"),
    [
        ("job.yaml", {"groups", "group_values", "sensitive"}),
        ("anatomy.yaml", {"quasi_identifiers", "sensitive"}),
    ],
)
def test_example(tmp_path, job, tables):
    place = str(tmp_path / "release")
    source = str(EXAMPLES / job)
    status, _ = run("publish", source, "--output", place, "--quiet", *ACCEPTING)
    assert status == 0
    written = {path.stem for path in Path(place).glob("*.csv")}
    assert written == tables
    status, output = run("audit", place, "--original", source, "--json")
    assert status == 0
    assert json.loads(output)["compared_with_original"]
    status, output = run("measure", place, "--original", source, "--json")
    assert status == 0
    measured = json.loads(output)
    assert measured["loss"] == 0
    assert measured["kl_divergence"] > 0
    assert 0 < measured["divergence"]["ratio"] < 1.1
    assert measured["query_error"]["median"] is not None


def test_a_request_above_the_permissible_exits_with_1(tmp_path):
    text = (
        (EXAMPLES / "job.yaml")
        .read_text(encoding="utf-8")
        .replace("primary: job, l: {job: 3", "primary: job, l: {job: 40")
    )
    path = tmp_path / "job.yaml"
    source = EXAMPLES / "patients.csv"
    path.write_text(text.replace("patients.csv", str(source)), encoding="utf-8")
    status, output = run("publish", str(path), "--output", str(tmp_path / "release"), *ACCEPTING)
    assert status == 1
    assert "l = 40 is above l_per" in output.replace("\n", " ")
    assert not (tmp_path / "release").exists()
