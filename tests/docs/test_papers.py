"""The map of the papers: every module and test that it names exists, every row has a verdict."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from tests.docs.site_hooks import map_rows, page_text

ROOT = Path(__file__).resolve().parent.parent.parent
PAPERS = ROOT / "docs" / "papers"
PAGES = ["l-diversity", "decomposition", "codip", "quasi-sensitive", "opinion-polls"]
VERDICTS = ["agrees", "shape agrees", "differs", "not reproduced", "not built"]
HEADER = ["item", "module", "test", "command or experiment", "verdict"]  # of docs/papers/map.csv


def tables(text: str) -> list[list[list[str]]]:
    """Return the tables of a page, each with its header first and without the line below it."""
    found = re.findall(r"(?:^\|.*\|\n?)+", text, re.MULTILINE)
    return [
        [
            [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            for number, line in enumerate(table.splitlines())
            if number != 1
        ]
        for table in found
    ]


def rows_of(page: str) -> list[list[str]]:
    return [[row[name] for name in HEADER] for row in map_rows(page)]


def verdict_of(row: list[str]) -> str:
    return row[4].split(":")[0]


@pytest.mark.parametrize("page", PAGES)
def test_every_row_has_a_verdict_and_a_reason_where_it_does_not_agree(page: str) -> None:
    for row in rows_of(page):
        assert len(row) == len(HEADER), row
        assert verdict_of(row) in VERDICTS, row
        if verdict_of(row) in ("differs", "not reproduced"):
            assert ":" in row[4], row


@pytest.mark.parametrize("page", PAGES)
def test_every_module_test_and_experiment_exists(page: str) -> None:
    for row in rows_of(page):
        for cell, folder in ((row[1], ROOT / "src" / "discreet"), (row[2], ROOT / "tests")):
            assert cell == "—" or re.fullmatch(r"`[\w/-]+\.py`", cell), row
            outside = cell.startswith(("`examples/", "`experiments/"))
            if cell != "—" and folder != ROOT / "tests" and outside:
                folder = ROOT
            if cell != "—":
                assert (folder / cell.strip("`")).is_file(), cell
        for path in re.findall(r"`(experiments/\w+\.py)`", row[3]):
            assert (ROOT / path).is_file(), path


@pytest.mark.parametrize("page", PAGES)
def test_what_agrees_has_a_module_or_an_experiment(page: str) -> None:
    for row in rows_of(page):
        if verdict_of(row) in ("agrees", "shape agrees"):
            assert row[1] != "—" or "experiments/" in row[3], row


@pytest.mark.parametrize("page", PAGES)
def test_what_agrees_has_a_test_and_what_agrees_in_shape_a_test_or_a_run(page: str) -> None:
    for row in rows_of(page):
        if verdict_of(row) == "agrees":
            assert row[2] != "—", row
        if verdict_of(row) == "shape agrees":
            assert row[2] != "—" or "experiments/" in row[3], row


@pytest.mark.parametrize("page", PAGES)
def test_no_verdict_names_a_cause_without_a_test(page: str) -> None:
    for row in rows_of(page):
        if re.search(r"\b(because|since|due to)\b", row[4]):
            assert row[2] != "—", row


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_every_row_of_the_map_with_its_verdict_and_test(page: str) -> None:
    text = (PAPERS / f"{page}.md").read_text(encoding="utf-8")
    shown = tables(page_text(f"papers/{page}.md", text))
    rows = [row for table in shown if table[0] == ["item", "verdict", "test"] for row in table[1:]]
    assert rows == [[row[0], row[4], row[2]] for row in rows_of(page)]


def test_the_counts_of_the_index_are_those_of_the_pages() -> None:
    head = ["paper", *VERDICTS, "all"]
    found = tables((PAPERS / "index.md").read_text(encoding="utf-8"))
    (counts,) = (table for table in found if table[0] == head)
    total: Counter[str] = Counter()
    for page, line in zip(PAGES, counts[1:-1], strict=True):
        verdicts = Counter(verdict_of(row) for row in rows_of(page))
        total += verdicts
        assert f"({page}.md)" in line[0]
        assert [int(n) for n in line[1:]] == [*(verdicts[v] for v in VERDICTS), verdicts.total()], (
            page
        )
    assert [int(n) for n in counts[-1][1:]] == [*(total[v] for v in VERDICTS), total.total()]


def test_every_erratum_has_its_counterexample() -> None:
    files = sorted((ROOT / "tests" / "papers").glob("test_*.py"))
    code = "\n".join(path.read_text(encoding="utf-8") for path in files)
    written = set(re.findall(r"^def (test_\w+)", code, re.MULTILINE))
    for page in PAGES:
        errata = (PAPERS / f"{page}.md").read_text(encoding="utf-8").partition("\n## Errata\n")[2]
        (table,) = tables(errata)
        assert table[0] == ["where", "printed", "holds", "counterexample", "test"]
        assert len(table) > 1
        for row in table[1:]:
            assert row[-1].strip("`") in written, row


# "Ye, Liu, Lv and Feng, 2009", "He et al. (2011)", "Abdalaal (2012"; a University has no authors
CITED = re.compile(
    r"\b(?!University)([A-Z][a-z]+)"
    r"(?:(?:,\s+[A-Z][a-z]+)*\s+and\s+(?:[A-Z][a-z]+|others)|\s+et\s+al\.)?"
    r"(?:,\s+|\s+\()(200\d|201\d)\b"
)


def test_all_work_cited_with_a_year_is_in_the_bibliography() -> None:
    page = (ROOT / "docs" / "bibliography.bib").read_text(encoding="utf-8")
    entries = re.findall(r"^@\w+\{.*?^\}", page, re.MULTILINE | re.DOTALL)
    files = [*(ROOT / "src").rglob("*.py"), *PAPERS.parent.rglob("*.md"), PAPERS / "map.csv"]
    cited = {found for path in files for found in CITED.findall(path.read_text(encoding="utf-8"))}
    assert ("Abdalaal", "2012") in cited
    for name, year in sorted(cited):
        assert any(name in entry and f"{{{year}}}" in entry for entry in entries), (name, year)
