"""The pages in a real browser: nothing goes wrong or is asked for, figures are the manifest's."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import pytest
from tests.report.pages import write_pages

import discreet as dc
from discreet.api.demonstrate import ONE_AT_A_TIME, make_patients


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    make_patients(folder / "patients.csv", rows=400)
    (folder / "job.yaml").write_text(ONE_AT_A_TIME + "verify: {ceiling: 1}\n", encoding="utf-8")
    return write_pages(folder, dc.Job.load(folder / "job.yaml"))


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("kind", ["publish", "private", "attack", "measure", "compare", "profile"])
def test_a_page_opens_alone_and_fits_its_window(browser, pages, kind, dark):
    page = browser.open(pages[kind], dark=dark)
    assert page.errors == []
    assert page.requests == [pages[kind].resolve().as_uri()]
    assert page.evaluate("document.scripts.length") == 0
    for width in (360, 1000, 1600):
        page.resize(width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    shade = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert shade == ("rgb(20, 24, 29)" if dark else "rgb(255, 255, 255)")
    assert page.evaluate("document.querySelectorAll('svg.chart > title').length") >= 1


def test_the_browser_would_tell(browser, tmp_path):
    page = tmp_path / "bad.html"
    page.write_text("<img src='http://127.0.0.1:9/x.png'><script>console.error('no')</script>")
    opened = browser.open(page)
    assert "http://127.0.0.1:9/x.png" in opened.requests
    assert any("no" in error for error in opened.errors)


def test_the_report_states_the_figures_of_the_manifest(browser, pages):
    manifest = json.loads((pages["publish"].parent / "manifest.json").read_text(encoding="utf-8"))
    page = browser.open(pages["publish"])
    figures = page.figures()
    promises = manifest["promises"]
    assert int(figures["promises-kept"]) == sum(promise["holds"] for promise in promises)
    assert page.shown("promises-kept") == f"{len(promises)} of {len(promises)}"
    assert int(figures["published-rows"]) == manifest["published_rows"]
    assert page.shown("published-rows") == f"{manifest['published_rows']:,}"
    assert "loss" not in figures  # it needs the original
    assert int(figures["groups"]) == manifest["utility"]["classes"]
    whole = page.evaluate("document.body.innerText")
    for table in manifest["tables"].values():
        assert table["sha256"] in whole
    for promise in promises:
        assert promise["requirement"] in whole


def test_the_attack_page_states_the_strongest_reader(browser, pages):
    page = browser.open(pages["attack"])
    job = dc.Job.load(pages["publish"].parent.parent / "job.yaml")
    found = dc.attack(pages["publish"].parent, original=job)
    assert found.strongest is not None
    assert float(page.figures()["strongest-reader"]) == pytest.approx(found.strongest.greatest)
    assert page.shown("strongest-reader") == f"{found.strongest.greatest:.1%}"
    assert found.summary in page.evaluate("document.body.innerText")


def test_the_comparison_states_what_was_compared(browser, pages):
    page = browser.open(pages["compare"])
    found = json.loads((pages["compare"].parent / "comparison.json").read_text(encoding="utf-8"))
    made = [point for point in found["points"] if "failure" not in point]
    assert len(made) == 2  # nothing is 60-diverse
    assert page.shown("releases") == "2 of 4"
    best = [point for point in made if not point["dominated"]]
    assert page.figures()["not-dominated"] == str(len(best))
    least = min(point["divergence_ratio"] for point in made)
    assert float(page.figures()["least-divergence"]) == pytest.approx(least)
    drawn = "document.querySelectorAll('[data-chart=frontier] svg.chart .whisker').length"
    assert page.evaluate(drawn) == 3  # and the baseline


KINDS = ["publish", "private", "attack", "measure", "compare", "profile"]
CONTRAST = """
(() => {
  const channel = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = c => 0.2126 * channel(c[0]) + 0.7152 * channel(c[1]) + 0.0722 * channel(c[2]);
  const parse = text => text.match(/[\\d.]+/g).map(Number);
  const ground = e => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3] > 0) return c;
    }
    return [255, 255, 255];
  };
  let least = 21;
  const read = 'h1, h2, h3, p, li, td, th, dt, dd, a, .badge, summary';
  for (const e of document.querySelectorAll(read)) {
    if (!e.innerText || !e.innerText.trim()) continue;
    const [a, b] = [light(parse(getComputedStyle(e).color)), light(ground(e))];
    least = Math.min(least, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
  }
  return least;
})()
"""
CUT_OFF = """
[...document.querySelectorAll('table')].filter(
  t => t.offsetParent && t.scrollWidth > document.querySelector('.sheet').clientWidth + 1
).length
"""


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_text_has_enough_contrast(browser, pages, kind, dark):
    page = browser.open(pages[kind], width=1000, dark=dark)
    assert page.evaluate(CONTRAST) >= 4.5


@pytest.mark.parametrize("kind", KINDS)
def test_no_table_is_cut_off_in_print(browser, pages, kind):
    page = browser.open(pages[kind], width=680)  # A4 without its margins
    browser.call("Emulation.setEmulatedMedia", {"media": "print"}, page.session)
    assert page.evaluate(CUT_OFF) == 0


def test_the_report_to_sign_states_verdict_figures_and_lines_to_sign(browser, pages):
    release = json.loads((pages["private"].parent / "release.private.json").read_text())
    page = browser.open(pages["private"])
    words = ("Ready to sign", "Look at these", "Do not publish")
    assert page.evaluate("document.querySelector('h1').innerText").strip("✓!✗ \n") in words
    assert list(page.figures()) == ["believed", "certain", "reidentified", "singled_out"]
    assert page.evaluate("getComputedStyle(document.querySelector('.sign')).display") == "grid"
    text = page.evaluate("document.body.innerText")
    assert release["source_sha256"] in text
    assert "What analysts lose" in text
    assert "before and after" in text


def test_the_summary_to_sign_prints_on_two_pages(browser, pages):
    page = browser.open(pages["private"])
    page.evaluate("document.querySelectorAll('.detail, footer').forEach(e => e.remove())")
    printed = browser.call("Page.printToPDF", {"preferCSSPageSize": True}, page.session)
    pdf = base64.b64decode(printed["data"])
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf)) <= 2


def test_the_attack_page_prints_on_few_pages(browser, pages):
    page = browser.open(pages["attack"])
    printed = browser.call("Page.printToPDF", {"preferCSSPageSize": True}, page.session)
    pdf = base64.b64decode(printed["data"])
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf)) <= 5
