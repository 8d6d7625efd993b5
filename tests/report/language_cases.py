"""Releases of every kind and method whose pages are translated, from one small table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from tests.saving import REASON

import discreet as dc
from discreet.api.demonstrate import make_patients
from discreet.attacks.run import AttackReport
from discreet.pipeline.run import make_release
from discreet.report.pages.attack_page import attack_page
from discreet.report.pages.release_page import release_page
from discreet.statements import speaking

QUASI = """
  birthday: {role: quasi-identifier, type: date, hierarchy: {dates: [year, decade, "*"]}}
  zip: {role: quasi-identifier, hierarchy: {mask: right}}
  sex: {role: quasi-identifier, hierarchy: suppress}"""
SENSITIVE = """
  diagnosis: {role: sensitive}
  occupation: {role: sensitive}
  income: {role: sensitive, type: integer, distance: ordered}
  ward: {role: insensitive}"""
ONE = "\n  diagnosis: {role: sensitive}\nothers: drop"
GUARANTEES = "[{k-anonymity: {k: 4}}, {distinct-l-diversity: {l: 2, attribute: diagnosis}}]"
CASES: dict[str, tuple[str, str, str]] = {  # attributes, requirements, method
    "mondrian": (QUASI + SENSITIVE, GUARANTEES, "mondrian"),
    "mondrian-grid": (
        QUASI + SENSITIVE, "[{k-anonymity: {k: 4}}]", "{mondrian: {cells: grid}}",
    ),
    "full-domain": (
        QUASI + SENSITIVE,
        "[{k-anonymity: {k: 4}}, {t-closeness: {t: 0.6, attribute: income}},"
        " {entropy-l-diversity: {l: 2, attribute: diagnosis}}]",
        "{full-domain: {suppression: 0.1}}",
    ),
    "local-recoding": (QUASI + ONE, GUARANTEES, "local-recoding"),
    "anatomy": (QUASI + ONE, "[]", "{anatomy: {l: 3}}"),
    "decomposition": (
        QUASI + SENSITIVE.replace("insensitive", "drop"), "[]",
        "{decomposition: {l: {diagnosis: 3, occupation: 2, income: 2}}}",
    ),
    "codip": (
        QUASI + "\n  diagnosis: {role: sensitive}\n  occupation: {role: sensitive}\nothers: drop",
        "[{k-anonymity: {k: 3}}]", "{codip: {recoding: mondrian, beta: 0.1}}",
    ),
    "msa-diversity": (
        QUASI + "\n  diagnosis: {role: sensitive}\n  occupation: {role: sensitive}\nothers: drop",
        "[{m-diversity: {l: 2}}]", "{msa-diversity: {suppression: 0.2}}",
    ),
    "msa-diversity-buckets": (
        QUASI + "\n  diagnosis: {role: sensitive}\n  occupation: {role: sensitive}\nothers: drop",
        "[{m-diversity: {l: 2}}]", "{msa-diversity: {suppression: 0.2, publish: buckets}}",
    ),
    "nothing": (QUASI + ONE, "[]", "{full-domain: {levels: {birthday: 1, zip: 2, sex: 0}}}"),
}  # fmt: skip


def case_job(folder: Path, name: str) -> dc.Job:
    """The job of a case, for a table that is made in the folder."""
    attributes, requirements, method = CASES[name]
    place = folder / "patients.csv"
    if not place.exists():
        make_patients(place, rows=200)
    return dc.Job.parse(
        f"source: {{path: patients.csv}}\nattributes:\n  name: {{role: identifier}}{attributes}\n"
        f"requirements: {requirements}\nmethod: {method}\n",
        folder=folder,
    )


VISITS = """
source: {path: visits.csv}
attributes:
  person: {role: identifier}
  age: {role: quasi-identifier, type: integer}
  zip: {role: quasi-identifier}
  disease: {role: sensitive}
  note: {role: insensitive}
requirements: [{k-anonymity: {k: 3}}, {distinct-l-diversity: {l: 2}}]
method: mondrian
"""
PERSONS = {  # of a table with several rows a person
    "kept": VISITS + "person: {column: person, rows: keep}\n",
    "numbered": VISITS + "person: {column: person, rows: keep, link: pseudonym}\n",
    "collapsed": VISITS.replace("sensitive}\n  note: {role: insensitive}",
                                "sensitive, collapse: set}\n  note: {role: insensitive, "
                                "collapse: most-frequent}")
    + "person: {column: person, rows: collapse}\n",
    "spared": VISITS.replace("role: sensitive", "role: sensitive, non_sensitive_values: [a]")
    + "unit: rows\n",
}  # fmt: skip
ALL_CASES = (*CASES, *PERSONS)


def person_job(folder: Path, name: str) -> dc.Job:
    """The job of a case with several rows a person."""
    rng = np.random.default_rng(0)
    person = rng.integers(0, 80, 200)
    pl.DataFrame(
        {
            "person": [f"p{number}" for number in person],
            "age": 20 + person % 40,
            "zip": [f"{100 + number % 5}" for number in person],
            "disease": rng.choice(list("abcdef"), 200),
            "note": rng.choice(list("xyz"), 200),
        }
    ).write_csv(folder / "visits.csv")
    return dc.Job.parse(PERSONS[name], folder=folder)


def published_case(folder: Path, name: str) -> tuple[dc.Release, Path]:
    """The release of a case, with the attacks of its report."""
    job = case_job(folder, name) if name in CASES else person_job(folder, name)
    release = make_release(None, job, seed=1)
    return release, release.save(folder / name, attack=60, accept_risk=REASON)


def pages_of(release: dc.Release, place: Path, language: str) -> Iterator[tuple[str, str]]:
    """Yield the pages of a release in a language, by their kind."""
    assert release.review is not None
    assert release.audit is not None
    found = release.review.attacks
    assert isinstance(found, AttackReport)
    yield "private", release.private_page(language).html()
    with speaking(language):
        yield "publish", release_page(release.manifest, release.audit.picture).html()
        yield "attack", attack_page(found, release.manifest, release.job).html()
        yield "audit", dc.audit(place)._page().html()
        yield "audit-original", dc.audit(place, original=release.job)._page().html()


def check_page_in(folder: Path, language: str) -> str:
    """The page of a check, with requirements that hold and that fail."""
    case_job(folder, "mondrian")
    found = dc.check(
        folder / "patients.csv", quasi=["zip", "sex"], sensitive=["diagnosis"], k=3, l=2, t=0.2
    )
    with speaking(language):
        return found._page().html()
