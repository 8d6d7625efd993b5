"""Pages in German and Turkish: complete, unambiguous, and the same figures."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from tests.conformance.test_requirements import CASES as REQUIREMENT_CASES
from tests.report.browser import Browser, installed, running
from tests.report.language_cases import ALL_CASES, check_page_in, pages_of, published_case
from tests.report.test_browser import CUT_OFF
from typer.testing import CliRunner

import discreet as dc
from discreet.attacks.registry import all_attacks
from discreet.cli.app import app
from discreet.releases.wording import of_unit
from discreet.report import pieces
from discreet.report.languages import translation
from discreet.report.languages.translation import catalogue, fitting, numbers, speaking, translated
from discreet.table.roles import Unit

OTHERS = ("de", "tr")
PLACES = re.compile(r"\{([npwqtl]\d*)(?:=\w+)?\}")
# Texts that pages show in English, on purpose: none.
STAYS_ENGLISH: set[str] = set()


@pytest.fixture(scope="module")
def releases(tmp_path_factory) -> dict[str, tuple[dc.Release, Path]]:
    return {name: published_case(tmp_path_factory.mktemp(name), name) for name in ALL_CASES}


@pytest.fixture
def asked(monkeypatch) -> list[str]:
    """Every text that a page asks a translation of."""
    found: list[str] = []

    def recorded(said: str, kind: str = "") -> str | None:
        if not kind:
            found.append(said)
        return translated(said, kind)

    monkeypatch.setattr(pieces, "translated", recorded)
    return found


def require_complete(asked: list[str], language: translation.Language) -> None:
    """Every text has one translation, whatever template is tried."""
    with speaking(language):
        missing = {said for said in asked if translated(said) is None} - STAYS_ENGLISH
        assert {said for said in missing if translation.needs_translation(said)} == set()
    for said in set(asked):
        if translation.needs_translation(said):
            assert len(set(fitting(said, language))) == 1, (said, list(fitting(said, language)))


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("name", ALL_CASES)
def test_every_page_of_every_kind_is_translated_completely(releases, asked, name, language):
    for kind, page in pages_of(*releases[name], language):
        assert f"<html lang='{language}'>" in page, kind
        assert "lang='en'" not in page, (kind, re.findall(r"lang='en'>([^<]*)", page)[:5])
    assert len(asked) > 100
    require_complete(asked, language)


@pytest.mark.parametrize("language", OTHERS)
def test_the_page_of_a_check_is_translated_completely(tmp_path, asked, language):
    assert "lang='en'" not in check_page_in(tmp_path, language)
    require_complete(asked, language)


@pytest.mark.parametrize("language", OTHERS)
def test_every_guarantee_and_every_attacker_has_a_translation(language):
    said = [of_unit(one.stated(), unit) for one, _ in REQUIREMENT_CASES for unit in Unit]
    for one, _ in REQUIREMENT_CASES:
        if "attribute" in type(one).model_fields and one.name != "xy-linkability":
            for named in ("diagnosis", ("diagnosis", "salary")):
                variant = one.model_copy(update={"attribute": named})
                said += [of_unit(variant.stated(), unit) for unit in Unit]
    for attack in all_attacks():
        said += [f"who {attack.knowledge}", *filter(None, [attack.also_knows])]
    require_complete(said, language)  # type: ignore[arg-type]


def test_catalogues_have_the_same_keys_and_every_place():
    german, turkish = catalogue("de"), catalogue("tr")
    assert list(german) == list(turkish)
    for source in german:
        places = sorted(set(PLACES.findall(source)))
        assert places == sorted(set(PLACES.findall(german[source]))), source
        assert places == sorted(set(PLACES.findall(turkish[source]))), source


def test_a_sentence_without_a_template_stays_english_and_is_marked():
    with speaking("de"):
        assert pieces.text("A new sentence.") == "<span lang='en'>A new sentence.</span>"
        assert pieces.text("The guarantee holds") == "Die Garantie ist eingehalten"
        # a part without a translation leaves the whole sentence as it is
        assert "lang='en'" in pieces.text("An attacker learns 'a' of 3 rows: a new verdict")
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
            assert numbers(english) == expected
    assert numbers(english) == english


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
    place = release.save(tmp_path / "release", attack=60)
    for page in (
        (place / "report.html").read_text(encoding="utf-8"),
        (tmp_path / "release.private.html").read_text(encoding="utf-8"),
    ):
        text = html.unescape(re.sub(r"<[^>]+>", " ", page))
        assert "Quasi-Identifikator: verdict, rows" in text
        assert "sensibel: counts" in text
        assert "lang='en'" not in page
    cells = re.findall(r"<td>([^<]*)</td>", page)
    assert {"verdict", "rows", "counts", "the row"} <= set(cells)  # the columns before and after


def test_the_audit_renders_the_page_in_its_language_and_refuses_another(tmp_path, releases):
    release, _ = releases["mondrian"]
    job = release.job.with_language("de")
    place = dc.publish(None, job, seed=1).save(tmp_path / "release")
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
    call = ["publish", str(job), "--output", str(out), "--language", "de", "--quiet"]
    done = CliRunner().invoke(app, call)
    assert done.exit_code == 0, done.output
    assert "<html lang='de'>" in (out / "report.html").read_text(encoding="utf-8")
    private = (tmp_path / "out.private.html").read_text(encoding="utf-8")
    assert "Unterschrift" in private


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = installed()
    if program is None:
        pytest.skip("no Chromium is installed: apt-get install chromium")
    with running(program) as found:
        yield found


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("name", ["mondrian", "decomposition"])
def test_long_words_fit_the_window_and_the_paper(browser, releases, tmp_path, name, language):
    for kind, written in pages_of(*releases[name], language):
        path = tmp_path / f"{kind}.html"
        path.write_text(written, encoding="utf-8")
        for width in (360, 1000, 1600):
            page = browser.open(path, width=width)
            assert page.errors == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (kind, width)
        page = browser.open(path, width=680)
        browser.call("Emulation.setEmulatedMedia", {"media": "print"}, page.session)
        assert page.evaluate(CUT_OFF) == 0, kind
