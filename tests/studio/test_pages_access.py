"""Studio for everyone: axe-core finds nothing serious; keyboard, 360 pixels to 4K, print."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.report.browser import Browser
from tests.report.test_browser import CONTRAST
from tests.studio.served import served
from tests.studio.tab import Tab, signed_in
from tests.studio.test_pages_strings import strings

from discreet.api.demonstrate import make_patients

LANGUAGES = ("en", "de", "tr")
# Names and structure do not depend on the shade: the dark one is examined for contrast alone. What
# is behind a click is examined at three places; axe takes the rest for visible, so it is left out,
# as are later plots and rows, which are like the first ones.
AXE = """
axe.run({include: [['html']], exclude: [['iframe'], ['figure ~ figure ~ figure'],
  ['tbody tr:nth-child(n+7)'],
  ['details:not([open]) > :not(summary)']]},
  {iframes: false, resultTypes: ['violations'], %s}).then(found => found.violations
  .filter(one => ['serious', 'critical'].includes(one.impact))
  .map(one => [one.id, one.nodes[0].html, one.nodes[0].failureSummary]))
"""
OPEN = """
[...document.querySelectorAll('details')].slice(0, 3).forEach(one => (one.open = true))
"""
# Elements that leave the window sideways, unless they are in something that scrolls.
CUT_OFF = """
[...document.querySelectorAll('main *, header *')].filter(e => e.checkVisibility()
  && e.getBoundingClientRect().right > innerWidth + 1
  && !e.closest('.scroll, .steps, pre, .tree, svg, .unseen')).map(e => e.outerHTML.slice(0, 120))
"""


@dataclass(frozen=True)
class Prepared:
    """A tab, and the addresses of every screen with something in it."""

    tab: Tab
    views: dict[str, tuple[str, str, str]]

    def see(self, view: str) -> Tab:
        screen, table, query = self.views[view]
        self.tab.go(screen, table, query)
        match view:
            case "compare":
                self.tab.see("#preview [data-chart]")
            case "published":
                self.tab.see("[data-chart='distribution-zip']")
                self.tab.wait("!!document.querySelector('#start')")  # drawn last
            case "roles":
                self.tab.see("[data-figure=unchanged]")
                self.tab.run("document.querySelector('.folds details').open = true")
            case "hierarchies":
                self.tab.see(".tree")
            case "guarantees":
                self.tab.see("#requirements .badge")
            case "judge":
                self.tab.see("#results iframe")
            case "release":
                self.tab.see("#checked .notice")
        return self.tab


VIEWS = (
    "open", "table", "roles", "hierarchies", "guarantees", "compare", "publish", "published",
    "releases", "release", "judge",
)  # fmt: skip


@pytest.fixture(scope="module")
def prepared(browser: Browser, tmp_path_factory) -> Iterator[Prepared]:
    """Every screen once, with results: a comparison, a release, an audit."""
    folder = tmp_path_factory.mktemp("access")
    make_patients(folder / "patients.csv", rows=300)
    with served(folder, "patients.csv") as server:
        tab = Tab.new(browser, signed_in(browser, server.address))
        tab.see("#next")
        table = tab.part("table")
        tab.go("judge", table)
        tab.upload("input[type=file]", folder / "patients.csv")
        tab.see("#results iframe")
        judged = tab.part("run")
        tab.go("guarantees", table)
        tab.see("#requirements .badge")
        tab.go("compare", table)
        tab.wait("!document.querySelector('#start').disabled")
        tab.run("document.querySelectorAll('#settings input').forEach((e, n) => n && e.click())")
        tab.click("#start")
        tab.see("[data-choose]")
        tab.click("[data-choose]")
        tab.click("#look")
        tab.see("#preview [data-chart]")
        compared = tab.run("location.hash").partition("?")[2]
        tab.go("publish", table)
        tab.fill("form input[type=number]", "5")
        tab.click("#start")
        tab.wait("document.querySelector('#results').dataset.done")
        run = tab.part("run")
        release = tab.run("document.querySelector('#results').dataset.done")
        tab.go("releases", table, f"?release={release}")
        tab.click("#audit")
        tab.see("#checked .notice.good")
        audit = tab.part("check")
        yield Prepared(
            tab,
            {
                "open": ("table", "", ""),
                "table": ("table", table, ""),
                "roles": ("roles", table, ""),
                "hierarchies": ("hierarchies", table, "?column=2"),
                "guarantees": ("guarantees", table, ""),
                "judge": ("judge", table, f"?run={judged}"),
                "compare": ("compare", table, f"?{compared}"),
                "publish": ("publish", table, ""),
                "published": ("publish", table, f"?run={run}"),
                "releases": ("releases", table, ""),
                "release": ("releases", table, f"?release={release}&check={audit}"),
            },
        )
        assert tab.errors == []
        tab.close()


@pytest.fixture(scope="module")
def axe() -> str:
    """The source of axe-core, which the package axe-core-python brings along."""
    found = importlib.util.find_spec("axe_core_python")
    if found is None or found.origin is None:
        pytest.skip("axe-core is not installed: pip install axe-core-python")
    return Path(found.origin).with_name("axe.min.js").read_text(encoding="utf-8")


def speak(tab: Tab, language: str) -> None:
    tab.run("delete document.getElementById('main').dataset.ready")
    tab.choose("#language", language)
    tab.wait(f"(document.getElementById('main').dataset.ready ?? '').endsWith('{language}')")


@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_nothing_serious_in_any_language_light_or_dark(prepared, axe, view):
    tab = prepared.see(view)
    tab.resize(1200)
    for language in LANGUAGES:
        speak(tab, language)
        prepared.see(view)
        tab.run(axe)
        tab.run(OPEN)
        for dark in (False, True):
            tab.shade(dark)
            rules = "runOnly: {type: 'rule', values: ['color-contrast']}" if dark else ""
            assert tab.run(AXE % rules) == [], (language, dark)
            assert tab.run(CONTRAST) >= 4.5, (language, dark)
        assert tab.run("document.documentElement.lang") == language
        shown = set(tab.run(r"document.body.innerText.match(/[a-z]+(\.[a-z_-]+)+/g) ?? []"))
        assert not shown & set(strings("en")), "a key is shown in the place of its string"
    tab.shade(False)
    speak(tab, "en")


@pytest.mark.parametrize("view", VIEWS)
def test_every_screen_fits_its_window(prepared, view):
    tab = prepared.see(view)
    for width in (360, 1000, 1600, 3840):
        tab.resize(width)
        assert tab.run("document.documentElement.scrollWidth") <= width
        assert tab.run(CUT_OFF) == [], width
    tab.resize(1200)


def test_the_longest_words_fit_a_telephone_too(prepared):
    tab = prepared.see("guarantees")
    speak(tab, "de")
    tab.resize(360)
    for view in VIEWS:
        prepared.see(view)
        assert tab.run(CUT_OFF) == [], view
        assert tab.run("document.documentElement.scrollWidth") <= 360, view
    tab.resize(1200)
    speak(tab, "en")


def test_dark_and_light_follow_the_system(prepared):
    tab = prepared.see("table")
    shades = []
    for dark in (True, False):
        tab.shade(dark)
        shades.append(tab.run("getComputedStyle(document.body).backgroundColor"))
    assert shades == ["rgb(20, 24, 29)", "rgb(255, 255, 255)"]


def test_every_plot_has_a_name_and_its_figures_as_a_table(prepared):
    for view in ("roles", "compare", "published"):
        tab = prepared.see(view)
        plots = tab.run(
            "[...document.querySelectorAll('figure[data-chart]')].map(f => ["
            "f.querySelector('svg.chart[role=img] > title')?.textContent ?? '',"
            "f.querySelectorAll('details table tbody tr').length])"
        )
        assert plots
        assert all(name and rows for name, rows in plots), plots


def test_the_keyboard_reaches_the_content_the_steps_and_the_job(prepared):
    tab = prepared.see("roles")
    tab.run("document.activeElement.blur(); scrollTo(0, 0)")
    tab.reload()
    tab.press("Tab")
    assert tab.run("document.activeElement.id") == "skip"
    reached = []
    for _ in range(14):
        tab.press("Tab")
        reached.append(tab.run("document.activeElement.id || document.activeElement.textContent"))
        outline = tab.run("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", reached[-1]
    assert {"open-job", "language", "stop", "3Hierarchies"} <= set(reached)
    tab.run("document.getElementById('open-job').focus()")
    tab.press("Enter")
    tab.see("#job textarea")
    assert tab.run("document.getElementById('job').contains(document.activeElement)")
    tab.press("Escape")
    assert tab.run("document.activeElement.id") == "open-job"
    tab.run("document.querySelector('.steps li:nth-child(3) a').focus()")
    tab.press("Enter")
    tab.ready("hierarchies")
    assert tab.run("document.activeElement.id") == "main"


def test_printing_shows_the_content_alone(prepared):
    tab = prepared.see("published")
    tab.shade(False, "print")
    assert not tab.run("document.getElementById('head').checkVisibility()")
    assert not tab.run("document.getElementById('start').checkVisibility()")
    assert tab.run("document.querySelector('.verdict').checkVisibility()")
    tab.shade(False)
