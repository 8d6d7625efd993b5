"""A demonstration on a made-up table: unsafe, broken by an insider, ready to sign, repaired."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import polars as pl

from discreet.api.audit import audit
from discreet.api.measure import measure
from discreet.api.repair import repair, store_repairs
from discreet.attacks.attackers import StandardAttacker
from discreet.job.model import Job
from discreet.pipeline.release import Release
from discreet.pipeline.run import make_release

ROWS = 3000
SEED = 20
REPAIRING = 120.0  # seconds, of which a few are needed
ATTACKING = 60.0  # seconds

_ATTRIBUTES = """\
source: {path: patients.csv}
attributes:
  name:       {role: identifier}
  birthday:   {role: quasi-identifier, type: date, hierarchy: {dates: [year, decade, "*"]}}
  zip:        {role: quasi-identifier, hierarchy: {mask: right}}
  sex:        {role: quasi-identifier, hierarchy: suppress}
  diagnosis:  {role: sensitive}
  occupation: {role: sensitive}
  income:     {role: sensitive, type: integer}
  dependency: {role: sensitive, non_sensitive_values: [none]}
  infection:  {role: sensitive, non_sensitive_values: [none]}
"""

ONE_AT_A_TIME = f"""\
# The usual remedy: names are not published, quasi-identifiers are generalized, and each of the
# five sensitive attributes is protected on its own.
{_ATTRIBUTES}requirements:
  - k-anonymity: {{k: 8}}
  - entropy-l-diversity: {{l: 4, attribute: diagnosis}}
  - distinct-l-diversity: {{l: 3, attribute: [occupation, income]}}
  - distinct-l-diversity: {{l: 2, attribute: [dependency, infection]}}
method: mondrian
output: {{path: one-at-a-time, format: csv}}
"""

JOB = f"""\
# Sensitive attributes are protected together: they share a table only where an insider, who knows
# one of them, does not learn the others. No value fills more than half of a group.
{_ATTRIBUTES}requirements:
  - k-anonymity: {{k: 5}}
  - p-diversity: {{l: 2}}
attackers: [acquaintance, colleague, insider]
method: codip
output: {{path: release, format: csv}}
"""

REFUSED = """\
# Zip codes and wards are published as they are: with birthday and sex they single people out.
source: {path: patients.csv}
attributes:
  birthday:   {role: quasi-identifier, type: date, hierarchy: {dates: [year, decade, "*"]}}
  sex:        {role: quasi-identifier, hierarchy: suppress}
  zip:        {role: unchanged}
  ward:       {role: unchanged}
  diagnosis:  {role: sensitive}
  infection:  {role: sensitive, non_sensitive_values: [none]}
requirements:
  - k-anonymity: {k: 5}
  - distinct-l-diversity: {l: 2}
method: mondrian
output: {path: refused, format: csv}
"""

# Shares of occupations below the age of retirement, by the first digits of the zip code.
_OCCUPATIONS = {
    "100": {"nurse": 14, "teacher": 14, "cook": 10, "clerk": 24, "driver": 8, "engineer": 24},
    "101": {"nurse": 18, "teacher": 18, "cook": 12, "clerk": 18, "driver": 18, "engineer": 10},
    "202": {"nurse": 14, "teacher": 12, "cook": 18, "clerk": 10, "driver": 36, "engineer": 6},
}
_REGIONS = {"100": 50, "101": 30, "202": 20}
_INCOMES = {  # the median
    "nurse": 31_000, "teacher": 38_000, "cook": 22_000, "clerk": 29_000, "driver": 25_000,
    "engineer": 54_000, "retired": 19_000, "student": 9_000,
}  # fmt: skip
_YOUNG, _OLD, _RETIRED, _STUDENTS = 20, 85, 66, 26  # years
_DIAGNOSES = {  # shares of the young and of the old
    "flu": (26, 12), "bronchitis": (13, 16), "back pain": (14, 20), "diabetes": (3, 22),
    "gastritis": (14, 8), "asthma": (16, 5), "depression": (13, 7), "hypertension": (1, 20),
}  # fmt: skip
_DEPENDENCIES = {  # of people with a depression, and of others
    "none": (78, 93), "alcohol": (12, 4), "tranquillizers": (6, 2), "opioids": (4, 1),
}  # fmt: skip
_INFECTIONS = {  # of people who depend on opioids, and of others
    "none": (80, 95.5), "hepatitis": (12, 2.5), "HIV": (6, 1.2), "tuberculosis": (2, 0.8),
}  # fmt: skip


def make_patients(path: Path, rows: int = ROWS, seed: int = SEED) -> None:
    """Write a made-up table of patients whose columns depend on each other as real ones do.

    Diagnosis depends on age, occupation on age and place, income on occupation, dependency on
    diagnosis, infection on dependency; nine in ten have no dependency and no infection.
    """
    rng = np.random.default_rng(seed)
    ages = np.clip(rng.normal(52, 19, rows), 18, 95)
    born = np.datetime64("2025-01-01") - (ages * 365.25).astype("timedelta64[D]")
    names = (
        "name", "birthday", "zip", "sex", "diagnosis", "occupation", "income", "dependency",
        "infection", "ward",
    )  # fmt: skip
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        for row, age in enumerate(ages):
            writer.writerow([f"Patient {row:04d}", str(born[row]), *_patient(rng, float(age))])


def _patient(rng: np.random.Generator, age: float) -> list[object]:
    """What a patient of some age has, from the zip code on."""
    region = _drawn(rng, _REGIONS)
    if age > _RETIRED:
        occupation = "retired"
    elif age < _STUDENTS and rng.random() < 0.6:
        occupation = "student"
    else:
        occupation = _drawn(rng, _OCCUPATIONS[region])
    income = round(_INCOMES[occupation] * rng.lognormal(0, 0.25) / 2500) * 2500
    older = min(max((age - _YOUNG) / (_OLD - _YOUNG), 0.0), 1.0)
    diagnosis = _drawn(rng, {key: a + (b - a) * older for key, (a, b) in _DIAGNOSES.items()})
    dependency = _drawn(rng, _side(_DEPENDENCIES, other=diagnosis != "depression"))
    infection = _drawn(rng, _side(_INFECTIONS, other=dependency != "opioids"))
    sex = "female" if rng.random() < 0.52 else "male"
    place, ward = f"{region}{rng.integers(10, 40):02d}", f"ward {rng.integers(1, 6)}"
    return [place, sex, diagnosis, occupation, income, dependency, infection, ward]


def _side(shares: Mapping[str, tuple[float, float]], *, other: bool) -> dict[str, float]:
    return {value: pair[other] for value, pair in shares.items()}


def _drawn(rng: np.random.Generator, shares: Mapping[str, float]) -> str:
    weights = np.array(list(shares.values()))
    return str(rng.choice(list(shares), p=weights / weights.sum()))


def demonstrate(folder: Path) -> Iterator[str]:
    """Publish a made-up table, and tell what attackers learn; lines come as they are known."""
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / "patients.csv"
    make_patients(table)
    jobs = {"one-at-a-time": ONE_AT_A_TIME, "release": JOB, "refused": REFUSED}
    files = {name: folder / f"{name}.yaml" for name in jobs} | {"release": folder / "job.yaml"}
    for name, job in jobs.items():
        files[name].write_text(job, encoding="utf-8")

    yield f"{ROWS:,} made-up patients ({table}), five sensitive columns."
    yield ""
    yield "1. The original, without names"
    known = pl.read_csv(table, infer_schema_length=0).select("birthday", "zip", "sex")
    unique = int(known.is_unique().sum())
    yield f"   {unique:,} of {ROWS:,} people are unique by birthday, zip and sex."

    yield "2. The usual remedy: each sensitive column is protected on its own (mondrian)"
    yield from _published(folder / "one-at-a-time", files["one-at-a-time"])

    yield "3. All of them are protected together (codip)"
    yield from _published(folder / "release", files["release"])

    yield "4. A job that is refused, and its repair"
    result = repair(None, files["refused"], budget=REPAIRING, seed=SEED)
    store_repairs(files["refused"], result)  # so that --apply needs no second search
    yield f"   Verdict about risk: {result.before.word}."
    yield from (f"   - {reason}" for reason in result.before.reasons)
    yield from (f"   Repair: {line}" for line in result.repairs[0].text()[:1])
    yield from (f"   {line.strip()}" for line in result.repairs[0].text()[1:])
    yield ""
    yield f"Report to read first: {folder / 'release.private.html'}"
    yield f"Next: discreet repair {files['refused']} --apply 1"


def _published(place: Path, job: Path) -> Iterator[str]:
    """Publish a job, audit its files, and return the verdict, the insider's success and errors."""
    release = make_release(None, Job.load(job), seed=SEED)
    release.save(place, force=True, attack=ATTACKING)
    holds = audit(place, original=job).ok
    proved = "every guarantee holds" if holds else "A GUARANTEE DOES NOT HOLD"
    yield f"   Audit of {place}: {proved}; no row was lost or invented."
    yield f"   {_insider(release)}"
    verdict = release.verdict()
    yield f"   Verdict about risk: {verdict.word}."
    yield from (f"   - {reason}" for reason in verdict.reasons)
    errors = measure(place, original=job).query_error
    if errors is not None:
        yield (
            f"   Utility: information loss {release.private['utility']['loss']:.1%}; median error "
            f"of counts {errors.release.median:.1%}, without any link {errors.unlinked.median:.1%}."
        )


def _insider(release: Release) -> str:
    """Return what becomes certain to an attacker who also knows one sensitive value."""
    attacks = None if release.review is None else release.review.attacks
    findings = [] if attacks is None else attacks.about_values
    by_insider = [one for one in findings if one.attacker is StandardAttacker.INSIDER]
    if not by_insider:
        return "Attack: no table has two sensitive columns, so an insider cannot join any."
    worst = max(by_insider, key=lambda one: one.newly_certain)
    known = ", ".join(f"'{name}'" for name in worst.details.get("known", ()))
    return (
        f"Attack: an insider who also knows {known or 'one sensitive value'} becomes certain of "
        f"'{worst.aim}' for {worst.newly_certain:,} of {worst.targets:,} people."
    )
