"""Draw the pictures of docs/studio.md anew: ``make screenshots``, or ``python -m`` this module.

Every screen three times: light and dark in a window of 1280 × 800, and on a telephone.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import polars as pl
from tests.report.browser import Browser, installed, running
from tests.studio.served import served
from tests.studio.tab import Tab, signed_in

from discreet.api.demonstrate import make_patients

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
WINDOW, PHONE = (1280, 800), (390, 844)


def shoot(tab: Tab, name: str, seen: str, height: int = 800) -> None:
    """Save the screen that is shown: light, dark, and loaded anew on a telephone."""
    for suffix, (width, window), dark in (
        ("", (WINDOW[0], height), False),
        ("-dark", (WINDOW[0], height), True),
        ("-phone", PHONE, False),
    ):
        tab.shade(dark)
        tab.resize(width, window)
        if width == PHONE[0]:
            tab.reload()  # plots are drawn for the window
            tab.see(seen, 120)
        overflow = tab.run("document.documentElement.scrollWidth - innerWidth")
        assert overflow <= 0, (name, suffix, overflow)
        tab.picture(IMAGES / f"studio-{name}{suffix}.png", window)
    tab.shade(False)
    tab.resize(*WINDOW)


def draw(browser: Browser, address: str, folder: Path) -> None:
    """Each screen on the demo table, from opening it to its signed release."""
    tab = Tab.new(browser, signed_in(browser, address), width=WINDOW[0])
    tab.resize(*WINDOW)
    tab.see("#next")
    table = tab.part("table")
    shoot(tab, "table", "#next")
    tab.go("table")
    tab.see("#demo")
    shoot(tab, "open", "#demo")

    tab.go("roles", table)
    tab.role("occupation", "sensitive")
    tab.role("ward", "unchanged")
    body = "document.querySelector('.body').dataset"
    tab.wait(f"{body}.judged === {body}.revision")
    tab.click("tr[data-column=diagnosis] button.name")
    shoot(tab, "roles", "#risk .dot")

    tab.go("hierarchies", table, "?column=1")
    tab.see(".tree")
    shoot(tab, "hierarchies", ".tree")

    tab.go("guarantees", table)
    tab.see("#requirements .badge")
    shoot(tab, "guarantees", "#requirements .badge", 1100)

    tab.go("compare", table)
    tab.wait("!document.querySelector('#start').disabled")
    tab.click("#start")
    tab.see("[data-choose]", 300)
    tab.click("[data-choose]")
    shoot(tab, "compare", "[data-choose]", 1000)

    tab.go("publish", table)
    tab.click("#start")
    tab.wait("document.querySelector('#results').dataset.done", 300)
    tab.see("#repair, [data-apply], #repairs .notice, #sign", 300)
    shoot(tab, "publish", ".verdict", 1100)
    if not tab.run("!!document.querySelector('#sign')"):
        tab.fill("#accept textarea", "The patients are made up.")
        tab.click("#accept button")
    for key, text in (("name", "A. Steward"), ("recipient", "Institute of Health")):
        tab.fill(f"#sign [name={key}]", text)
    tab.click("#sign button")
    tab.wait("document.querySelector('#signed').innerText.includes('A. Steward')")
    tab.go("releases")
    tab.see("#releases")
    shoot(tab, "releases", "#releases")
    tab.run("document.querySelector('#releases tbody a').click()")
    tab.see(".verdict")
    shoot(tab, "release", ".verdict", 1100)

    output = folder / "output.csv"  # what another tool might have made of the table
    patients = pl.read_csv(folder / "patients.csv", infer_schema=False)
    coarse = pl.col("zip").str.slice(0, 3) + "**"
    patients.drop("name").with_columns(coarse).write_csv(output)
    tab.go("judge", table)
    tab.upload("input[type=file]", output)
    tab.see("#results iframe", 300)
    shoot(tab, "judge", "#results iframe", 1100)


def main() -> None:
    """Draw all pictures."""
    program = installed()
    if program is None:
        sys.exit("No Chromium is installed: apt-get install chromium")
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder), "--demo") as server,
        running(program) as browser,
    ):
        place = Path(folder)
        make_patients(place / "patients.csv")
        draw(browser, server.address, place)


if __name__ == "__main__":
    main()
