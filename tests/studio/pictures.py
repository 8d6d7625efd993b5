"""Draw the pictures of docs/studio.md anew: ``make screenshots``, or ``python -m`` this module."""

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


def draw(browser: Browser, address: str, folder: Path) -> None:
    """Each screen on the demo table; one of them dark, one on a telephone."""
    tab = Tab.new(browser, signed_in(browser, address), width=1280)
    tab.resize(1280, 800)
    tab.see("#next")
    table = tab.part("table")
    tab.picture(IMAGES / "studio-table.png", 800)

    tab.go("roles", table)
    tab.role("occupation", "sensitive")
    tab.role("ward", "unchanged")
    body = "document.querySelector('.body').dataset"
    tab.wait(f"{body}.judged === {body}.revision")
    tab.click("tr[data-column=diagnosis] button.name")
    tab.picture(IMAGES / "studio-roles.png", 800)
    tab.resize(375, 800)
    tab.picture(IMAGES / "studio-narrow.png", 1150)
    tab.resize(1280, 800)

    tab.go("hierarchies", table, "?column=1")
    tab.see(".tree")
    tab.picture(IMAGES / "studio-hierarchies.png", 1150)

    tab.go("guarantees", table)
    tab.see("#requirements .badge")
    tab.picture(IMAGES / "studio-guarantees.png", 1250)

    tab.go("compare", table)
    tab.wait("!document.querySelector('#start').disabled")
    tab.click("#start")
    tab.see("[data-choose]", 300)
    tab.click("[data-choose]")
    tab.picture(IMAGES / "studio-compare.png", 1150)

    tab.go("publish", table)
    tab.click("#start")
    tab.wait("document.querySelector('#results').dataset.done", 300)
    tab.see("#repair, [data-apply], #repairs .notice, #sign", 300)
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

    output = folder / "output.csv"  # what another tool might have made of the table
    patients = pl.read_csv(folder / "patients.csv", infer_schema=False)
    coarse = pl.col("zip").str.slice(0, 3) + "**"
    patients.drop("name").with_columns(coarse).write_csv(output)
    tab.go("judge", table)
    tab.upload("input[type=file]", output)
    tab.see("#results iframe", 300)
    tab.picture(IMAGES / "studio-judge.png", 1150)


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
