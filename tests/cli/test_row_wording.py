"""No output about a release of rows speaks of people, whichever method and command made it.

The commands run within the process of the tests; other files start processes.
"""

from __future__ import annotations

import json
import re
import signal

import polars as pl
import pytest
from tests.saving import ACCEPTING
from typer.testing import CliRunner

from discreet.cli.app import app
from discreet.methods.registry import METHODS
from discreet.releases.manifest import Manifest
from discreet.table.roles import Unit

ROWS = 48
PERSON = re.compile(
    r"\b(people|persons?|somebody|nobody|anybody|everybody|someone|anyone|everyone|whoever)\b", re.I
)
# Names, which the format of releases and the command line fix: a table, its file, an option, an
# attack.
NAMES = re.compile(
    r"people\.csv|--persons?|person-intersection|"
    r"(['\"]|&#x27;|&quot;|<td>|Table )people\b(?=['\"&<.,; ]?)"
)

JOB = """\
source: {path: TABLE}
unit: rows
attributes:
  name:    {role: identifier}
  visit:   {role: identifier}
  age:     {role: quasi-identifier, type: integer, hierarchy: {intervals: [10, 40, "*"]}}
  zip:     {role: quasi-identifier, hierarchy: {mask: right}}
  disease: {role: sensitive}
  work:    {role: WORK}
  signs:   {role: SIGNS}
requirements: [REQUIREMENTS]
method: {METHOD}
"""
MANY = "k-anonymity: {k: 3}}, {distinct-l-diversity: {l: 2}}, {t-closeness: {t: 0.9}"
SENSITIVE, DROPPED = "sensitive", "drop"
QUASI_SENSITIVE = (
    "quasi-sensitive, multi_valued: ';', knowledge: {path: labels.csv, label: label, term: term}"
)
MADE = {  # requirements, parameters, roles of 'work' and of 'signs'
    "full-domain": (MANY, "suppression: 0.4", SENSITIVE, DROPPED),
    "mondrian": ("multi-attribute-l-diversity: {l: 2}", "", SENSITIVE, DROPPED),
    "local-recoding": ("k-anonymity: {k: 3}", "", SENSITIVE, DROPPED),
    "top-down": ("lkc-privacy: {l: 1, k: 3, c: 0.9}", "", SENSITIVE, DROPPED),
    "msa-diversity": (
        "m-diversity: {l: 2}", "suppression: 0.5", SENSITIVE, DROPPED,
    ),
    "decomposition": (
        "", "l: {disease: 2, work: 2}, primary: disease, conditional_l: {l: 2}", SENSITIVE, DROPPED,
    ),
    "anatomy": ("", "l: 2", DROPPED, DROPPED),
    "unlinked": ("", "", SENSITIVE, DROPPED),
    "codip": ("k-anonymity: {k: 3}", "recoding: mondrian, beta: 0.1", SENSITIVE, DROPPED),
    "quasi-sensitive": ("qs-t-closeness: {t: 0.6}", "", DROPPED, QUASI_SENSITIVE),
    "m-invariance": ("", "m: 2", DROPPED, DROPPED),
    "rho-different": ("", "rho: 0.6, correlation: correlation.csv", DROPPED, DROPPED),
    "li-ye": ("", "alpha_qi: 2, alpha_sa: 2", SENSITIVE, DROPPED),
    "gal": ("", "l: 2", SENSITIVE, DROPPED),
    "mmdcf": ("", "l: 2", SENSITIVE, DROPPED),
}  # fmt: skip
SERIES = ("m-invariance", "rho-different")


def _unproved(text: str) -> bool:
    """Whether JSON of an audit counts guarantees that could not be checked."""
    try:
        return bool(json.loads(text).get("unproved"))
    except (ValueError, AttributeError):
        return False


@pytest.fixture
def said(tmp_path, monkeypatch):
    """Run a command; its text, errors and pages are searched."""
    monkeypatch.chdir(tmp_path)
    before = signal.getsignal(signal.SIGTERM)

    def call(*arguments: str, page: str | None = None) -> str:
        if page is not None:
            arguments = (*arguments, "--page", page)
        done = CliRunner().invoke(app, list(arguments))
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        unproved = arguments[0] == "audit" and "NOT CHECKED" in done.stdout
        assert done.exit_code == (1 if unproved or _unproved(done.stdout) else 0), done.output
        text = done.stdout + done.stderr
        if page is not None:
            text += (tmp_path / page).read_text(encoding="utf-8")
        require_rows(text, " ".join(arguments))
        return text

    yield call
    signal.signal(signal.SIGTERM, before)


def require_rows(text: str, source: str) -> None:
    found = PERSON.search(NAMES.sub("", text))
    assert found is None, f"{source}: {found and NAMES.sub('', text)[found.start() - 150 :][:300]}"


def write_tables(folder) -> None:
    """Rows of which some have the same name; the second table has changed values."""
    works = ["cook", "clerk", "nurse", "driver"]
    diseases = ["flu", "ache", "cold", "gout", "mumps"]
    signs = ["cough;fever", "fever", "pain;fever", "cough"]
    for number in (1, 2):
        pl.DataFrame(
            {
                "name": [f"Name {row // 2}" for row in range(ROWS)],
                "visit": [f"Visit {row}" for row in range(ROWS)],
                "age": [20 + row * 7 % 40 for row in range(ROWS)],
                "zip": [f"10{row % 4}" for row in range(ROWS)],
                "disease": [diseases[(row + (number > 1 and row < 4)) % 5] for row in range(ROWS)],
                "work": [works[row * 3 // 5 % 4] for row in range(ROWS)],
                "signs": [signs[row % 4] for row in range(ROWS)],
            }
        ).write_csv(folder / f"rows{number}.csv")
    labels = {"flu": ["cough", "fever"], "ache": ["pain", "fever"], "cold": ["cough"]}
    lines = [f"{label},{term}" for label, terms in labels.items() for term in terms]
    (folder / "labels.csv").write_text("\n".join(["label,term", *lines, ""]))
    chances = [f"{old},{new},0.2" for old in diseases for new in diseases]
    (folder / "correlation.csv").write_text("\n".join(["old,new,probability", *chances, ""]))


def write_job(folder, name: str, number: int = 1) -> str:
    requirements, parameters, work, signs = MADE[name]
    text = JOB.replace("TABLE", f"rows{number}.csv").replace("WORK", work).replace("SIGNS", signs)
    text = text.replace("REQUIREMENTS", f"{{{requirements}}}" if requirements else "")
    text = text.replace("METHOD", f"{name}: {{{parameters}}}")
    if name in SERIES:
        text += "ledger: {path: rows.ledger, person: visit}\n"
    (folder / f"job{number}.yaml").write_text(text)
    return f"job{number}.yaml"


@pytest.mark.parametrize("name", list(METHODS))
def test_no_output_about_a_release_of_rows_speaks_of_people(name, said, tmp_path):
    write_tables(tmp_path)
    job = write_job(tmp_path, name)
    if name in SERIES:
        said("ledger", "init", "rows.ledger")
    said("profile", job, page="profile.html")
    said("publish", job, "-o", "release", *ACCEPTING)
    assert Manifest.load(tmp_path / "release").unit is Unit.ROW
    written = [tmp_path / "release/report.html", tmp_path / "release/manifest.json"]
    for file in [*written, tmp_path / "release.private.html"]:
        require_rows(file.read_text(encoding="utf-8"), file.name)
    for command in (
        ("audit", "release"),
        ("audit", "release", "--original", job),
        ("attack", "release", "--original", job, "--population", "rows2.csv"),
        ("measure", "release", "--original", job, "--queries", "20"),
    ):
        said(*command, page="page.html")
        said(*command, "--json")
    if name in SERIES:
        said("publish", write_job(tmp_path, name, 2), "-o", "second", *ACCEPTING)
        series = "--ledger", "rows.ledger", "--correlation", "correlation.csv"
        said("audit", *series, page="series.html")
        said("attack", *series, page="attacks.html")
        said("ledger", "list", "rows.ledger")


def test_no_comparison_of_rows_speaks_of_people(said, tmp_path):
    write_tables(tmp_path)
    job = write_job(tmp_path, "msa-diversity")
    varied = "--methods", "mondrian,msa-diversity", "--vary", "l=2,40", "--queries", "20"
    assert "99 of 100 rows" in said("compare", job, *varied, "--output", "plots")
    for file in (tmp_path / "plots").iterdir():
        require_rows(file.read_text(encoding="utf-8"), file.name)
