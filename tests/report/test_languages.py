"""Pages in German and Turkish: complete, unambiguous, and the same figures."""

from __future__ import annotations

import html
import re
from pathlib import Path

import polars as pl
import pytest
from tests.report.language_cases import ALL_CASES, check_page_in, pages_of, published_case
from tests.report.test_browser import CUT_OFF
from tests.saving import ACCEPTING, REASON, UNATTACKED
from typer.testing import CliRunner

import discreet as dc
from discreet.attacks.registry import all_attacks
from discreet.cli.app import app
from discreet.report import pieces
from discreet.statements import Statement, speaking, with_numbers

OTHERS = ("de", "tr")


@pytest.fixture(scope="module")
def releases(tmp_path_factory) -> dict[str, tuple[dc.Release, Path]]:
    return {name: published_case(tmp_path_factory.mktemp(name), name) for name in ALL_CASES}


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("name", ALL_CASES)
def test_every_page_of_every_kind_is_translated_completely(releases, name, language):
    for kind, page in pages_of(*releases[name], language):
        assert f"<html lang='{language}'>" in page, kind
        assert "lang='en'" not in page, (kind, re.findall(r"lang='en'>([^<]*)", page)[:5])


@pytest.mark.parametrize("language", OTHERS)
def test_the_page_of_a_check_is_translated_completely(tmp_path, language):
    assert "lang='en'" not in check_page_in(tmp_path, language)


def test_every_attacker_is_stated_as_data():
    for attack in all_attacks():
        assert isinstance(attack.knowledge, Statement), attack.name
        assert not attack.also_knows or isinstance(attack.also_knows, Statement), attack.name


def test_a_sentence_without_a_template_stays_english_and_is_marked():
    with speaking("de"):
        assert pieces.text("A new sentence.") == "<span lang='en'>A new sentence.</span>"
        assert "lang='en'" not in pieces.text(Statement("headline.one-holds"))
    assert pieces.text("A new sentence.") == "A new sentence."


@pytest.mark.parametrize(
    ("english", "german", "turkish"),
    [
        ("1,234", "1.234", "1.234"),
        ("12.5%", "12,5\u00a0%", "%12,5"),
        ("1,234.5", "1.234,5", "1.234,5"),
        ("5–6", "5–6", "5–6"),
        ("–", "–", "–"),
        ("k = 8", "k = 8", "k = 8"),
        ("t = 0.35", "t = 0,35", "t = 0,35"),
    ],
)
def test_numbers_have_the_form_of_the_language(english, german, turkish):
    for language, expected in (("de", german), ("tr", turkish)):
        with speaking(language):
            assert with_numbers(english) == expected
    assert with_numbers(english) == english


@pytest.mark.parametrize("language", OTHERS)
def test_figures_are_the_same_in_every_language(releases, language):
    release, place = releases["mondrian"]
    english, other = (dict(pages_of(release, place, one)) for one in ("en", language))
    stated = re.compile(r"data-figure='([^']*)' data-value='([^']*)'")
    for kind, page in english.items():
        assert stated.findall(page) == stated.findall(other[kind])
        assert page.count("<tr>") == other[kind].count("<tr>")
        assert page.count("<section") == other[kind].count("<section")


def test_names_of_columns_that_are_words_of_pages_stay(tmp_path):
    rows = 60
    words = {"verdict": "quasi-identifier", "rows": "quasi-identifier", "counts": "sensitive",
             "the row": "insensitive"}  # fmt: skip
    frame = pl.DataFrame(
        {
            "verdict": [f"holds{i % 3}" for i in range(rows)],
            "rows": [f"none{i % 4}" for i in range(rows)],
            "counts": [f"unique{i % 5}" for i in range(rows)],
            "the row": ["yes", "no"] * (rows // 2),
        }
    )
    job = dc.Job(
        attributes={name: {"role": role} for name, role in words.items()},
        requirements=[dc.KAnonymity(k=2)],
        method=dc.Mondrian(),
        output=dc.Output(language="de"),
        unit="rows",
    )
    release = dc.publish(frame, job, seed=1)
    place = release.save(tmp_path / "release", attack=60, accept_risk=REASON)
    public = (place / "report.html").read_text(encoding="utf-8")
    private = (tmp_path / "release.private.html").read_text(encoding="utf-8")
    text = html.unescape(re.sub(r"<[^>]+>", " ", public))
    assert "Quasi-Identifikator: verdict, rows" in text
    assert "sensibel: counts" in text
    assert "lang='en'" not in public + private
    cells = re.findall(r"<td>(?:<strong>)?([^<]*)<", private)
    assert set(words) <= set(cells)  # the table of columns


def test_the_audit_renders_the_page_in_its_language_and_refuses_another(tmp_path, releases):
    release, _ = releases["mondrian"]
    job = release.job.with_language("de")
    place = dc.publish(None, job, seed=1).save(tmp_path / "release", **UNATTACKED)
    assert dc.audit(place).ok
    report = place / "report.html"
    page = report.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>\n<html lang='de'>")
    assert "Die Garantie" in page or "Garantien" in page
    audit = dc.audit(place)
    assert audit.problems == ()
    report.write_text(page.replace("<html lang='de'>", "<html lang='tr'>"), encoding="utf-8")
    assert not dc.audit(place).ok


def test_commands_take_a_language(tmp_path, releases):
    _, place = releases["mondrian"]
    job = place.parent / "job.yaml"
    page = tmp_path / "page.html"
    for command in (
        ["audit", str(place)],
        ["check", str(place.parent / "patients.csv"), "--quasi", "sex", "--k", "2"],
    ):
        done = CliRunner().invoke(app, [*command, "--page", str(page), "--language", "tr"])
        assert done.exit_code == 0, done.output
        assert "<html lang='tr'>" in page.read_text(encoding="utf-8")
    done = CliRunner().invoke(app, ["audit", str(place), "--page", str(page), "--language", "xx"])
    assert done.exit_code == 2
    assert "Use one of: en, de, tr" in done.output
    job.write_text(
        "source: {path: patients.csv}\nattributes: {sex: {role: quasi-identifier},"
        " diagnosis: {role: sensitive}}\nothers: drop\nunit: rows\n"
        "requirements: [{k-anonymity: {k: 2}}]\nmethod: mondrian\n",
        encoding="utf-8",
    )
    out = tmp_path / "out"
    call = ["publish", str(job), "--output", str(out), "--language", "de", "--quiet", *ACCEPTING]
    done = CliRunner().invoke(app, call)
    assert done.exit_code == 0, done.output
    assert "<html lang='de'>" in (out / "report.html").read_text(encoding="utf-8")
    private = (tmp_path / "out.private.html").read_text(encoding="utf-8")
    assert "Unterschrift" in private


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("name", ["mondrian", "decomposition"])
def test_long_words_fit_the_window_and_the_paper(browser, releases, tmp_path, name, language):
    for kind, written in pages_of(*releases[name], language):
        path = tmp_path / f"{kind}.html"
        path.write_text(written, encoding="utf-8")
        page = browser.open(path)
        for width in (360, 1000, 1600):
            page.resize(width)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (kind, width)
        assert page.errors == []
        page.print_layout()
        assert page.evaluate(CUT_OFF) == 0, kind
