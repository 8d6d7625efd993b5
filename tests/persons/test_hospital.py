"""The hospital case: 3,000 patients with 1 to 40 encounters, from a proposal to a signed report.

Every number of people that any output states is one of persons, never one of rows.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import polars as pl
import pytest
from tests.saving import ACCEPTING
from typer.testing import CliRunner

from discreet.cli.app import app
from discreet.releases.audit.persons import unpacked_rows

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/encounters/make_encounters.py"
PATIENTS, K = 3000, 5
ATTRIBUTES = """\
source: {path: encounters.csv}
attributes:
  admitted:    {role: drop, type: date}
  patient_nbr: {role: identifier}
  age:         {role: quasi-identifier, AGE}
  sex:         {role: quasi-identifier}
  postcode:    {role: quasi-identifier}
  diagnosis:   {role: sensitive, DIAGNOSIS}
  drug:        {role: drop}
requirements:
  - k-anonymity: {k: 5}
  - distinct-l-diversity: {l: 3}
verify: attacks
"""
MODES = {
    "collapse": ("collapse, order: admitted", "collapse: last", "collapse: most-frequent"),
    "keep": ("keep", "", ""),
    "rows": ("keep, scope: rows", "", ""),
    "linked": ("keep, link: pseudonym, at_most: 3", "", ""),
}
PEOPLE = re.compile(r"([0-9][0-9,]*) (?:people|persons|patients)\b")


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hospital")
    made = subprocess.run(
        [sys.executable, str(EXAMPLE), str(PATIENTS)], capture_output=True, check=True
    )
    (folder / "encounters.csv").write_bytes(made.stdout)
    return folder


def discreet(*command: str, status: int = 0) -> str:
    done = CliRunner().invoke(app, list(command))
    assert done.exit_code == status, done.output
    return done.output


def test_the_proposal_names_the_person(hospital: Path):
    said = discreet("init", str(hospital / "encounters.csv"), "--output", str(hospital / "p.yaml"))
    frame = pl.read_csv(hospital / "encounters.csv", infer_schema=False)
    assert frame["admitted"].is_sorted() and frame.height > PATIENTS
    counts = frame["patient_nbr"].value_counts()["count"]
    assert (counts.min(), counts.max()) == (1, 40)
    assert f"{frame.height:,} rows of {PATIENTS:,} persons" in said
    assert "rows: collapse" in (hospital / "p.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize("mode", MODES)
def test_no_class_is_below_k_persons_and_no_sentence_counts_rows_as_people(
    hospital: Path, mode: str
):
    rows, age, diagnosis = MODES[mode]
    text = ATTRIBUTES.replace("AGE", age).replace("DIAGNOSIS", diagnosis)
    job, place = hospital / f"{mode}.yaml", hospital / mode
    job.write_text(f"{text}person: {{column: patient_nbr, rows: {rows}}}\nmethod: mondrian\n")
    key = hospital / f"{mode}-key"
    said = discreet("keys", "new", str(key))
    said += discreet(
        "publish",
        str(job),
        "--output",
        str(place),
        "--seed",
        "1",
        "--sign",
        str(key),
        "--verbose",
        *ACCEPTING,
    )
    said += discreet("audit", str(place), "--original", str(job), "--trust", f"{key}.pub")
    unlinked = mode in ("keep", "rows")  # the files do not say which rows are a person's
    said += discreet("audit", str(place), status=int(unlinked))
    said += discreet("attack", str(place), "--original", str(job), "--verbose")
    said += discreet("measure", str(place), "--original", str(job), "--verbose")
    pages = [place / "report.html", hospital / f"{mode}.private.html"]
    said += "".join(page.read_text(encoding="utf-8") for page in pages)
    numbers = {int(number.replace(",", "")) for number in PEOPLE.findall(said)}
    assert PATIENTS in numbers
    assert max(numbers) == PATIENTS  # there are more rows
    assert least_persons(hospital, mode) >= K


def least_persons(hospital: Path, mode: str) -> int:
    """The fewest patients of a class of equal cells, by the files and the source."""
    source = pl.read_csv(hospital / "encounters.csv", infer_schema=False)
    records = pl.read_csv(hospital / mode / "records.csv", infer_schema=False)
    cells = records.select("age", "sex", "postcode").rows()
    if mode == "collapse":
        persons: list[object] = list(range(records.height))
    else:
        private = json.loads((hospital / f"{mode}.private.json").read_text(encoding="utf-8"))
        found = unpacked_rows(private["source_rows"]["records"], records.height)
        assert found is not None
        persons = source["patient_nbr"][found].to_list()
    classes: dict[object, set[object]] = defaultdict(set)
    for cell, person in zip(cells, persons, strict=True):
        classes[cell].add(person)
    return min(len(own) for own in classes.values())
