"""The whole journey on a table that it makes itself."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np

from discreet.api.attack import attack
from discreet.api.audit import audit
from discreet.api.measure import measure
from discreet.job.model import Job
from discreet.pipeline.run import make_release

ROWS = 3000
SEED = 20

_ATTRIBUTES = """\
source: {path: patients.csv}
attributes:
  name:       {role: identifier}
  birthday:   {role: quasi-identifier, type: date, hierarchy: {dates: [year, decade, "*"]}}
  zip:        {role: quasi-identifier, hierarchy: {mask: right}}
  sex:        {role: quasi-identifier, hierarchy: suppress}
  diagnosis:  {role: sensitive}
  occupation: {role: sensitive}
  income:     {role: sensitive, type: integer, distance: ordered}
  ward:       {role: insensitive}
"""

ONE_AT_A_TIME = f"""\
# A hospital's table: name never leaves the house, what a neighbour may know is made coarser,
# and each of three sensitive attributes is protected by itself.
{_ATTRIBUTES}requirements:
  - k-anonymity: {{k: 8}}
  - entropy-l-diversity: {{l: 4, attribute: diagnosis}}
  - distinct-l-diversity: {{l: 3, attribute: occupation}}
  - t-closeness: {{t: 0.35, attribute: income}}
method: mondrian
output: {{path: one-at-a-time, format: csv}}
"""

JOB = f"""\
# A hospital's table: name never leaves the house, what a neighbour may know stays exact, and three
# sensitive attributes are protected together, also from a reader who knows the diagnosis.
{_ATTRIBUTES}method:
  decomposition:
    primary: diagnosis
    l: {{diagnosis: 4, occupation: 3, income: 4}}
    conditional_l: {{l: 3, reader: row}}
    prefer: nearby
output: {{path: release, format: csv}}
"""

_DIAGNOSES = {
    "flu": 20, "bronchitis": 16, "back pain": 18, "diabetes": 14, "gastritis": 12, "asthma": 9,
    "depression": 8, "hepatitis": 3,
}  # fmt: skip
_OCCUPATIONS = ("nurse", "teacher", "cook", "clerk", "driver", "engineer", "retired", "student")


def make_patients(path: Path, rows: int = ROWS, seed: int = SEED) -> None:
    """Write a made-up table of patients."""
    rng = np.random.default_rng(seed)
    age = np.clip(rng.normal(52, 19, rows), 18, 95)
    born = np.datetime64("2025-01-01") - (age * 365.25).astype("timedelta64[D]")
    weights = np.array(list(_DIAGNOSES.values()), float)
    diagnosis = rng.choice(list(_DIAGNOSES), rows, p=weights / weights.sum())
    occupation = rng.choice(_OCCUPATIONS, rows)
    occupation[age > 66] = "retired"
    income = (np.round(rng.lognormal(10.2, 0.4, rows) / 2500) * 2500).astype(int)
    region = rng.choice(["100", "101", "202"], rows, p=[0.5, 0.3, 0.2])
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(
            ["name", "birthday", "zip", "sex", "diagnosis", "occupation", "income", "ward"]
        )
        for row in range(rows):
            writer.writerow(
                [
                    f"Patient {row:04d}",
                    str(born[row]),
                    f"{region[row]}{rng.integers(10, 40):02d}",
                    "female" if rng.random() < 0.52 else "male",
                    diagnosis[row],
                    occupation[row],
                    income[row],
                    f"ward {rng.integers(1, 6)}",
                ]
            )


def demonstrate(folder: Path, say: Callable[[str], None]) -> None:
    """Make a table, publish it, audit it, attack it, measure it; say what is found."""
    folder.mkdir(parents=True, exist_ok=True)
    table, job_file, place = folder / "patients.csv", folder / "job.yaml", folder / "release"
    make_patients(table)
    job_file.write_text(JOB, encoding="utf-8")
    say(f"A table of {ROWS:,} patients that never lived: {table}")
    _tell_usual(folder, say)

    say(f"\nAll sensitive attributes together: {job_file}")
    say("\nWhat was published, and what it promises")
    release = make_release(None, Job.load(job_file), seed=SEED)
    release.save(place, force=True)
    for sentence in release.explanation:
        say(f"  {sentence}")

    say("\nThe same, derived again from the published files alone")
    found = audit(place, original=job_file)
    say(f"  {'Every promise holds' if found.ok else 'A PROMISE DOES NOT HOLD'}; "
        "nothing was lost or invented.")  # fmt: skip

    say("\nHow it was attacked: attackers know the birthday, zip and sex of every row")
    attacks = attack(place, original=job_file)
    for line in str(attacks).splitlines():
        say(f"  {line}".rstrip())

    say("\nWhat it is still worth")
    for line in str(measure(place, original=job_file)).splitlines():
        say(f"  {line}")
    say(f"\nOpen {place / 'report.html'} in a browser for the report.")


def _tell_usual(folder: Path, say: Callable[[str], None]) -> None:
    """Publish one attribute at a time, and say who is found out."""
    job_file, place = folder / "one-at-a-time.yaml", folder / "one-at-a-time"
    job_file.write_text(ONE_AT_A_TIME, encoding="utf-8")
    say(f"\nOne sensitive attribute at a time, as k-anonymity tools do it: {job_file}")
    make_release(None, Job.load(job_file), seed=SEED).save(place, force=True)
    found = attack(place, original=job_file, attacks=["background-join"]).findings
    worst = max((f for f in found if len(f.details["known"]) == 1), key=lambda f: f.certain)
    (known,) = worst.details["known"]
    say(f"  Every promise holds, and yet an attacker who also knows the target's '{known}' is "
        f"certain of '{worst.aim}' for {round(worst.certain * worst.targets):,} of "
        f"{worst.targets:,} rows.")  # fmt: skip
    for line in str(measure(place, original=job_file)).splitlines():
        if line.startswith(("loss  ", "KL divergence", "median query error")):
            say(f"  {line}")
