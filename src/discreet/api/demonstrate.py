"""A demonstration on a synthetic table: publish, audit, attack, measure."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from discreet.api.attack import attack
from discreet.api.audit import audit
from discreet.api.measure import measure
from discreet.job.model import Job
from discreet.pipeline.run import make_release
from discreet.releases.explanation import guarantee_line

ROWS = 3000
SEED = 20
ATTACKED = 10.0  # seconds
SYNTHETIC = "A demonstration: the patients are synthetic."

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
# A hospital's table. Names are not published, quasi-identifiers are generalized, and each of the
# three sensitive attributes is protected on its own.
{_ATTRIBUTES}requirements:
  - k-anonymity: {{k: 8}}
  - entropy-l-diversity: {{l: 4, attribute: diagnosis}}
  - distinct-l-diversity: {{l: 3, attribute: occupation}}
  - t-closeness: {{t: 0.35, attribute: income}}
method: mondrian
output: {{path: one-at-a-time, format: csv}}
"""

JOB = f"""\
# A hospital's table. Names are not published, quasi-identifiers stay exact, and the three
# sensitive attributes are protected together, also against an attacker who knows the diagnosis.
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
    """Write a synthetic table of patients."""
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


def demonstrate(folder: Path) -> list[str]:
    """Publish a synthetic table twice, attack both releases, and return the findings."""
    folder.mkdir(parents=True, exist_ok=True)
    make_patients(folder / "patients.csv")
    separate = _Demonstrated(folder, "one-at-a-time", ONE_AT_A_TIME, "one-at-a-time.yaml")
    together = _Demonstrated(folder, "release", JOB, "job.yaml")
    return [
        f"{ROWS:,} synthetic patients ({folder / 'patients.csv'}), published in two ways.",
        "",
        "1. Mondrian: each sensitive attribute is protected on its own",
        *separate.lines(),
        "2. Decomposition: all sensitive attributes are protected together",
        *together.lines(),
        f"Report to read first: {together.place / 'report.html'}",
        f"Next: discreet audit {together.place}",
        f"      discreet attack {together.place} --original {together.job_file}",
    ]


class _Demonstrated:
    """One of the two releases: published, audited from its files, attacked and measured."""

    def __init__(self, folder: Path, name: str, job: str, file: str) -> None:
        self.place, self.job_file = folder / name, folder / file
        self.job_file.write_text(job, encoding="utf-8")
        self.release = make_release(None, Job.load(self.job_file), seed=SEED)
        self.release.save(self.place, force=True, attack=ATTACKED, accept_risk=SYNTHETIC)
        self.audit = audit(self.place, original=self.job_file)
        self.measures = measure(self.place, original=self.job_file)

    def lines(self) -> list[str]:
        """Return guarantees, the attacker who knows one sensitive value, and utility."""
        manifest = self.release.manifest
        verdict = "every guarantee holds" if self.audit.ok else "A GUARANTEE DOES NOT HOLD"
        error, divergence = self.measures.query_error, self.measures.divergence_ratio
        median = None if error is None else error.release.median
        return [
            f"   Audit of {self.place}: {verdict}; no row was lost or invented.",
            *(f"   - {guarantee_line(one, manifest.unit)}" for one in manifest.promises),
            f"   Attack: {self._strongest()}",
            f"   Verdict about risk: {self._verdict()}",
            f"   Utility: information loss {self.measures.loss:.1%}, divergence ratio "
            f"{divergence or 0:.2f}, median query error {median or 0:.1%}.",
        ]

    def _verdict(self) -> str:
        """Return the verdict, and why a release that should not be published was written."""
        word, reason = self.release.verdict().word, self.release.private.get("accepted_risk")
        return f"{word}." if reason is None else f"{word.upper()}. Written nonetheless: {reason}"

    def _strongest(self) -> str:
        """Return the attacker who knows one sensitive value and is certain of most others."""
        attacks = ["background-join", "link-through-sensitive-table"]
        findings = attack(self.place, original=self.job_file, attacks=attacks).findings
        single = [f for f in findings if len(f.details["known"]) == 1]
        worst = max(single, key=lambda f: f.certain)
        (known,) = worst.details["known"]
        return (
            f"an attacker who also knows a target's '{known}' is certain of '{worst.aim}' for "
            f"{round(worst.certain * worst.targets):,} of {worst.targets:,} rows."
        )
