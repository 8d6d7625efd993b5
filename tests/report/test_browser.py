"""The pages in a real browser: nothing goes wrong or is asked for, figures are the manifest's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.report.browser import Browser, installed, running
from tests.report.pages import write_pages

import discreet as dc
from discreet.api.demonstrate import ONE_AT_A_TIME, make_patients


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = installed()
    if program is None:
        pytest.skip("no Chromium is installed: apt-get install chromium")
    with running(program) as found:
        yield found


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    make_patients(folder / "patients.csv", rows=400)
    (folder / "job.yaml").write_text(ONE_AT_A_TIME + "verify: {ceiling: 1}\n", encoding="utf-8")
    return write_pages(folder, dc.Job.load(folder / "job.yaml"))


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1100, 400])
@pytest.mark.parametrize("kind", ["publish", "private", "attack", "measure", "compare", "profile"])
def test_a_page_opens_alone_and_fits_its_window(browser, pages, kind, width, dark):
    page = browser.open(pages[kind], width=width, dark=dark)
    assert page.errors == []
    assert page.requests == [pages[kind].resolve().as_uri()]
    assert page.evaluate("document.scripts.length") == 0
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


def test_print_shows_where_to_sign(browser, pages):
    page = browser.open(pages["private"])
    hidden = "getComputedStyle(document.querySelector('.sign')).display"
    assert page.evaluate(hidden) == "none"
    browser.call("Emulation.setEmulatedMedia", {"media": "print"}, page.session)
    assert page.evaluate(hidden) == "grid"
