"""Draw the pictures of docs/studio.md anew: ``make screenshots``, or ``python -m`` this module."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.report.browser import Browser, installed, running
from tests.studio.served import served
from tests.studio.tab import Tab, signed_in

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"


def draw(browser: Browser, address: str) -> None:
    """Each step of the tour on the demo table; one of them dark, one on a telephone."""
    tab = Tab.new(browser, signed_in(browser, address), width=1100)
    tab.see("#next")
    table = tab.part("table")
    tab.picture(IMAGES / "studio-table.png", 900)

    tab.go("roles", table)
    tab.role("occupation", "sensitive")
    tab.role("ward", "unchanged")
    tab.wait("!document.querySelector('#risk').classList.contains('stale')")
    tab.click("tr[data-column=diagnosis] button.name")
    tab.resize(1280, 800)
    tab.picture(IMAGES / "studio-roles.png", 800)
    tab.resize(360, 800)
    tab.picture(IMAGES / "studio-narrow.png", 1150)
    tab.resize(1100)

    tab.go("hierarchies", table, "?column=1")
    tab.see(".tree")
    tab.picture(IMAGES / "studio-hierarchies.png", 1150)

    tab.go("guarantees", table)
    tab.click("[data-preset='alike-5-3']")
    tab.wait("document.querySelector(\"[data-parameter='distinct-l-diversity.l']\").value === '3'")
    tab.click("#price")
    tab.see("#costs [data-chart]")
    tab.picture(IMAGES / "studio-guarantees.png", 1250)

    tab.go("compare", table)
    tab.click("#start")
    tab.see("[data-choose]", 300)
    tab.click("[data-choose]")
    tab.see("#preview [data-chart]")
    tab.picture(IMAGES / "studio-compare.png", 1250)

    tab.go("publish", table)
    tab.click("#start")
    tab.wait("document.querySelector('#results').dataset.done", 200)
    tab.see("#repair, .repair, #repairs .notice, #sign", 300)
    tab.resize(1280, 800)
    tab.shade(True)
    tab.picture(IMAGES / "studio-publish.png", 1150)
    tab.shade(False)
    if not tab.run("!!document.querySelector('#sign')"):
        tab.fill("#accept textarea", "The patients are made up.")
        tab.click("#accept button")
    for key, text in (("name", "A. Steward"), ("recipient", "Institute of Health")):
        tab.fill(f"#sign [name={key}]", text)
    tab.click("#sign button")
    tab.wait("document.querySelector('#signed').innerText.includes('A. Steward')")
    tab.go("releases")
    tab.see("#releases")
    tab.picture(IMAGES / "studio-releases.png", 620)


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
        draw(browser, server.address)


if __name__ == "__main__":
    main()
