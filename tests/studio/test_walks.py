"""Walks through Studio on real tables, counted and timed, and the mistakes that it must catch."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.real_data import real_data
from tests.report.browser import Browser
from tests.studio.served import served
from tests.studio.tab import Tab, signed_in

MOST = 12  # interactions after the roles
TABLES = {
    "hr": ("hr", "hr-attrition.csv"),
    "compas": ("compas", "compas-scores-two-years.csv"),
}


class Walk:
    """Counts what a person does, and how long the page takes."""

    def __init__(self, tab: Tab) -> None:
        self.tab, self.interactions, self.begun = tab, 0, time.monotonic()
        self.times: dict[str, float] = {}

    def click(self, selector: str) -> None:
        self.tab.click(selector)
        self.interactions += 1

    def fill(self, selector: str, text: str) -> None:
        self.tab.fill(selector, text)
        self.interactions += 1

    def reached(self, what: str) -> None:
        self.times[what] = round(time.monotonic() - self.begun, 1)


@pytest.fixture
def tab(browser: Browser, tmp_path: Path) -> Iterator[Tab]:
    with served(tmp_path) as server:
        tab = Tab.new(browser, signed_in(browser, server.address), width=1280)
        tab.resize(1280, 800)
        tab.ready("table")
        yield tab
        tab.errors[:] = [one for one in tab.errors if "422" not in one]
        assert tab.errors == []
        tab.close()


def until_verdict(tab: Tab, seconds: float = 400) -> str:
    tab.wait("document.querySelector('#results').dataset.done", seconds)
    box = tab.run(
        "(() => { const b = document.querySelector('.verdict h2').getBoundingClientRect();"
        " return [b.top, b.bottom, scrollY] })()"
    )
    assert 0 <= box[0] < box[1] <= 800 and box[2] == 0, "the verdict is seen without scrolling"
    return str(tab.run("document.querySelector('.verdict').dataset.verdict"))


@pytest.mark.data
@pytest.mark.parametrize("name", TABLES)
def test_from_a_file_to_a_signed_release(tab: Tab, name: str) -> None:
    walk = Walk(tab)
    tab.upload("input[type=file]", real_data(*TABLES[name]))
    tab.see("#next")
    walk.reached("table")
    tab.click("#next")
    tab.ready("roles")
    tab.see("[data-figure=unchanged]")
    tab.click("#confirm-all")  # the guesses of the proposal; the roles are decided now
    tab.wait("!document.querySelector('#confirm-all')")
    walk.reached("roles")
    for screen in ("hierarchies", "guarantees", "publish"):
        walk.click("#next")
        tab.ready(screen)
    walk.click("#start")
    verdict = until_verdict(tab)
    walk.reached("verdict")
    way = verdict
    if verdict == "refuse":
        tab.see("[data-apply], #repairs .notice", 400)
        walk.reached("repairs")
        if tab.run("!!document.querySelector('[data-apply]')"):
            walk.click("[data-apply='1']")
            tab.wait("!document.querySelector('#results').dataset.done")
            verdict = until_verdict(tab)
            way = f"repaired, then {verdict}"
            walk.reached("verdict after the repair")
        if verdict == "refuse":
            walk.fill("#accept textarea", "A test of this page; the table is public.")
            walk.click("#accept button")
            tab.see("#sign")
            way = f"{way}, accepted"
    for field, text in (("name", "A. Steward"), ("purpose", "Study"), ("recipient", "Institute")):
        walk.fill(f"#sign [name={field}]", text)
    walk.click("#sign button")
    tab.wait("document.querySelector('#signed').innerText.includes('A. Steward')")
    walk.reached("signed")
    assert walk.interactions <= MOST
    said = json.dumps({"table": name, "way": way, "n": walk.interactions, "seconds": walk.times})
    if "DISCREET_STUDIO_WALKS" in os.environ:
        with Path(os.environ["DISCREET_STUDIO_WALKS"]).open("a", encoding="utf-8") as record:
            record.write(said + "\n")
    tab.go("releases")
    assert "Institute" in tab.text("#releases") and "A. Steward" in tab.text("#releases")


def people(path: Path, rows: int = 400, month: int = 1) -> Path:
    lines = ["patient_id,full_name,age,sex,diagnosis"]
    first = ("Ada", "Ben", "Cem", "Dana", "Eva", "Finn", "Gül", "Hugo", "Ida", "Jan")
    last = ("Abel", "Brandt", "Celik", "Demir", "Ernst", "Fuchs", "Graf", "Haas", "Ince", "Jung")
    for n in range(rows):
        name = f"{first[n % 10]} {last[n // 10 % 10]}{'' if n < 100 else ' ' + last[n % 7]}"
        lines.append(f"P{n * month:05},{name},{20 + n % 40},{'fm'[n % 2]},{'xyzw'[n // 3 % 4]}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def opened(tab: Tab, path: Path) -> str:
    tab.upload("input[type=file]", path)
    tab.see("#next")
    table = tab.part("table")
    tab.go("roles", table)
    tab.see("#risk .dot")
    return table


def test_names_as_unchanged_are_red_and_refused(tab: Tab, tmp_path: Path) -> None:
    table = opened(tab, people(tmp_path / "people.csv"))
    tab.role("full_name", "unchanged")
    tab.see("tr[data-column=full_name] td.alone.bad")
    tab.wait("document.querySelector('#risk .dot.bad')?.innerText.includes('full_name')")
    tab.go("publish", table)
    tab.click("#start")
    tab.see("[data-state]", 120)
    assert "full_name" in tab.text("[data-state]") and "Ada" not in tab.text("[data-state]")


def test_k_of_9000_is_said_to_be_impossible_before_it_is_tried(tab: Tab, tmp_path: Path) -> None:
    table = opened(tab, people(tmp_path / "people.csv"))
    tab.go("guarantees", table)
    tab.fill("[data-parameter='k-anonymity.k']", "9000")
    tab.wait("document.querySelector('#requirements [data-feasible=false]')")
    tab.go("publish", table)
    tab.click("#start")
    tab.see("[data-state=refused]", 120)
    tab.go("releases", table)
    assert not tab.run("!!document.getElementById('releases')")


def test_persons_that_a_wrong_key_would_merge_are_counted_at_once(tab: Tab, tmp_path: Path) -> None:
    opened(tab, people(tmp_path / "people.csv"))
    shown = "document.querySelector('#persons-answer').dataset.persons"
    assert tab.run(shown) == "400" and "patient_id" in tab.text("#persons-answer")
    tab.role("diagnosis", "identifier")
    tab.click("#persons summary")
    tab.choose("#person", "diagnosis")
    tab.wait(f"{shown} === '4'")
    tab.role("diagnosis", "sensitive")
    tab.wait(f"{shown} === '400'")
    assert "diagnosis" in tab.text("#said")  # that it no longer identifies persons


def test_a_sensitive_column_without_a_guarantee_is_a_reason(tab: Tab, tmp_path: Path) -> None:
    table = opened(tab, people(tmp_path / "people.csv"))
    tab.role("diagnosis", "sensitive")
    tab.go("guarantees", table)
    tab.click("[data-requirement=distinct-l-diversity] button")
    tab.wait("!document.querySelector('[data-requirement=distinct-l-diversity]')")
    tab.go("publish", table)
    tab.fill("form input[type=number]", "5")
    tab.click("#start")
    assert until_verdict(tab) != "ready"
    assert "diagnosis" in tab.text(".verdict")


def test_the_second_release_of_next_month_is_a_line_of_its_own(tab: Tab, tmp_path: Path) -> None:
    for month in (1, 2):
        tab.go("table")
        table = opened(tab, people(tmp_path / f"month-{month}.csv", month=month))
        tab.go("publish", table)
        tab.fill("form input[type=number]", "0")
        tab.click("#start")
        until_verdict(tab)
    tab.go("releases")
    listed = tab.run("[...document.querySelectorAll('#releases tbody tr')].map(e => e.innerText)")
    assert ["month-2.csv" in listed[0], "month-1.csv" in listed[1]] == [True, True]
    tab.reload()
    tab.click("#releases tbody tr:nth-child(2) a")
    tab.see(".verdict")
    assert "month-1.csv" in tab.text(".body")
    shown = tab.run(r"document.body.innerText.match(/\b[utr]\d+\b|\br[0-9a-f]{12}\b/g) ?? []")
    assert shown == []  # no internal name
