"""The draft for JOSS keeps the journal's form: short, its pictures exist, its citations too."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest
import yaml
from benchmarks.record import RECORD, Record
from tests.docs.notebooks import ROOT

import discreet as dc
from discreet.api.demonstrate import demonstrate

_, HEAD, TEXT = (ROOT / "paper.md").read_text(encoding="utf-8").split("---\n", 2)
SECTIONS = re.findall(r"^# (.*)$", TEXT, re.MULTILINE)


def test_the_head_has_what_the_journal_asks_for():
    head = yaml.safe_load(HEAD)
    assert {"title", "tags", "authors", "affiliations", "date", "bibliography"} <= set(head)
    assert (ROOT / head["bibliography"]).is_file()
    assert "Python" in head["tags"]


def test_it_has_the_length_and_the_sections_that_the_journal_asks_for():
    words = re.sub(r"!\[.*?\]\(.*?\)", "", TEXT, flags=re.DOTALL).split()
    assert 750 <= len(words) <= 1750
    asked = [
        "Summary", "Statement of need", "State of the field", "Software design",
        "Research impact statement", "AI usage disclosure", "Acknowledgements", "References",
    ]  # fmt: skip
    assert [section for section in SECTIONS if section in asked] == asked


def test_citations_and_pictures_exist():
    entries = (ROOT / "paper.bib").read_text(encoding="utf-8")
    cited = set(re.findall(r"@([\w-]+)", TEXT))
    assert cited == set(re.findall(r"^@\w+\{([\w-]+),", entries, re.MULTILINE))
    pictures = re.findall(r"\]\((docs/[^)]+)\)", TEXT)
    assert pictures
    assert all((ROOT / picture).is_file() for picture in pictures)


ENTRIES = re.findall(
    r"^@(\w+)\{([\w-]+),(.*?)^\}",
    (ROOT / "paper.bib").read_text(encoding="utf-8"),
    re.MULTILINE | re.DOTALL,
)
VENUES = {"inproceedings": "booktitle", "article": "journal", "phdthesis": "school"}


@pytest.mark.parametrize(("kind", "key", "fields"), ENTRIES, ids=lambda part: part[:20])
def test_every_entry_has_its_venue_and_prints_no_note(kind, key, fields):
    names = re.findall(r"^  (\w+) *=", fields, re.MULTILINE)
    assert {"author", "title", "year", VENUES[kind]} <= set(names), key
    assert "note" not in names, key


def page(name: str) -> str:
    return (ROOT / "experiments" / "results" / name).read_text(encoding="utf-8")


def column(text: str, header: str, name: str) -> list[float]:
    """A column of the table whose first cell is ``header``."""
    (table,) = re.findall(rf"^\| {re.escape(header)} \|.*?\n\n", text + "\n\n", re.M | re.S)
    head, _, *rows = [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        for line in table.strip().splitlines()
    ]
    return [float(row[head.index(name)]) for row in rows]


def of_the_record() -> list[str]:
    """What the recorded benchmark says."""
    (part,) = (part for part in Record.read(RECORD).parts if part.name == "check")
    seconds = {figure.what: figure.processor for figure in part.figures}
    assert {figure.rows for figure in part.figures} == {1_000_000}
    assert "models on a million rows" in TEXT
    return [
        f"needs {seconds['discreet check, CSV']:.2f} s of processor time",
        f"pyCANON 1.3.5 needs {seconds['pycanon 1.3.5']:.1f} s",
    ]


def of_the_experiments() -> list[str]:
    """What the pages of the experiments say."""
    decomposition = page("decomposition.md")
    ours = column(decomposition, "quasi-identifiers", "KL decomposition")
    theirs = column(decomposition, "quasi-identifiers", "KL Mondrian")
    (complete,) = re.findall(r"on the ([\d,]+) complete rows", decomposition)
    codip = page("codip.md")
    census = codip.split("## Census-Income: figures 5 and 6")[1]
    rows = re.findall(r"^\| 9 \| ([\d.]+) \| ([\d.]+) \|$", census, re.MULTILINE)
    loss, exposure = (float(cell) for cell in rows[0])
    (adult,) = re.findall(r"\n([\d,]+) rows of Adult, nine sensitive attributes", codip)
    (named,) = re.findall(r"to \(0\.(\d\d), 0\.(\d\d)\); no number of tables is named", codip)
    series = page("series.md")
    people, releases = re.findall(r"--records (\d+) --releases (\d+)", series)[0]
    assert releases == "6"
    third = re.search(r"^\| 3 \| 1\.000 \((\d+)%", series, re.MULTILINE)
    assert third is not None
    (rho,) = re.findall(r"with ρ = ([\d.]+)\.", series)
    return [
        f"On Adult ({complete} complete rows)",
        f"divergence of {min(ours):.1f} to {max(ours):.1f} nats",
        f"loses {min(theirs):.1f} to {max(theirs):.1f};",
        f"attributes of Adult ({adult} rows)",
        f"nine tables lose {100 * loss:.1f} % of the association",
        f"leave {100 * exposure:.1f} % of the linked information",
        f"nearest to the {named[0]} % and {named[1]} % that it names",
        f"six releases of {int(people):,} people",
        f"above one half for {third[1]} % of",
        f"$\\rho = {rho}$",
    ]


def of_the_demonstration(folder: Path) -> list[str]:
    """What the demonstration publishes, and what attacks on it find."""
    lines = list(demonstrate(folder))
    assert [line.split(": ")[1] for line in lines if "Verdict about risk" in line] == [
        "Look at these.", "Ready to sign.", "Do not publish.",
    ]  # fmt: skip
    original = folder / "one-at-a-time.yaml"
    found = dc.attack(folder / "one-at-a-time", original=original, attacks=["background-join"])
    certain = max(
        finding.newly_certain
        for finding in found.findings
        if finding.aim == "occupation" and finding.details["known"] == ["income"]
    )
    for table in (folder / "release").glob("*.csv"):
        names = set(table.read_text(encoding="utf-8").split("\n", 1)[0].split(","))
        assert len(names & {"diagnosis", "occupation", "income", "dependency", "infection"}) == 1
    errors = [
        dc.measure(folder / place, original=folder / job).query_error.release.median
        for place, job in (("one-at-a-time", "one-at-a-time.yaml"), ("release", "job.yaml"))
    ]
    (k,) = {one.k for one in dc.Job.load(original).requirements if one.name == "k-anonymity"}
    manifest = json.loads((folder / "release" / "manifest.json").read_text(encoding="utf-8"))
    return [
        f"the {manifest['source_rows']:,} synthetic",
        f"a release with {k}-anonymity",
        f"certain of the occupation of {certain:,} patients",
        f"(median error {100 * errors[1]:.1f} % instead of {100 * errors[0]:.1f} %)",
    ]


def of_the_suite() -> list[str]:
    """What the rows of the suite say."""
    rows = pl.read_parquet(ROOT / "docs" / "experiments" / "suite.parquet")
    return [f"{len(rows):,} runs"]


def of_the_map() -> list[str]:
    """What the map of the papers and their errata count."""
    pages = (ROOT / "docs" / "papers").glob("*.md")
    errata = [
        line
        for page in pages
        for line in page.read_text(encoding="utf-8").partition("## Errata")[2].splitlines()
        if line.startswith("| ") and "`test_" in line
    ]
    rows = pl.read_csv(ROOT / "docs" / "papers" / "map.csv")
    return [f"{len(rows)} definitions", f"{len(errata)} errata"]


def of_the_project() -> list[str]:
    """What the project says of itself."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    tried = re.findall(r"Python :: (3\.\d+)", text)
    return [f"Python {tried[0]} to {tried[-1]}"]


def test_every_number_is_read_from_its_source(tmp_path):
    phrases = [
        *of_the_record(),
        *of_the_experiments(),
        *of_the_demonstration(tmp_path),
        *of_the_suite(),
        *of_the_map(),
        *of_the_project(),
    ]
    rest = TEXT
    for phrase in phrases:
        assert phrase in TEXT, phrase
        rest = rest.replace(phrase, "")
    rest = re.sub(r"@\w+|\]\([^)]*\)", "", rest)  # citations and places of pictures
    stated = {"$\\ell = 2$", "2-diverse", "figure 5 of"}  # parameters, and a reference
    for phrase in stated:
        assert phrase in rest, phrase
        rest = rest.replace(phrase, "")
    assert not re.findall(r"\d[\d.,]*", rest)


def test_the_page_of_check_has_the_seconds_of_the_record():
    (part,) = (part for part in Record.read(RECORD).parts if part.name == "check")
    check = (ROOT / "docs" / "check.md").read_text(encoding="utf-8")
    for figure in part.figures:
        assert re.search(rf"\b{figure.processor:.{1 if figure.processor > 10 else 2}f}\b", check)


def test_the_comparison_with_peers_leaves_no_cell_open():
    page = (ROOT / "docs" / "compare.md").read_text(encoding="utf-8")
    section = page.partition("\n## Other tools\n")[2]
    rows = [line.split("|")[1:-1] for line in section.splitlines() if line.startswith("|")]
    assert len({len(row) for row in rows}) == 1
    assert "not verified" not in section
    assert all(cell.strip() for row in rows for cell in row[1:])
