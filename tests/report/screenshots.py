"""Draw the pictures of docs/images anew: ``make screenshots``, or ``python -m`` this module.

The comparison is of Adult, which DISCREET_DATA must have.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.real_data import adult
from tests.report.browser import Browser, installed, running
from tests.saving import REASON

import discreet as dc
from discreet.api.demonstrate import JOB, make_patients
from discreet.pipeline.run import make_release

ADULT_ROWS = 6000
IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"


def draw(browser: Browser, folder: Path) -> None:
    """The report to sign; the published one, light, dark and narrow; a comparison."""
    make_patients(folder / "patients.csv")
    (folder / "job.yaml").write_text(JOB, encoding="utf-8")
    job = dc.Job.load(folder / "job.yaml")
    report = (
        make_release(None, job, seed=20).save(folder / "release", attack=60, accept_risk=REASON)
        / "report.html"
    )
    browser.open(folder / "release.private.html", width=1000).picture(IMAGES / "sign.png", 1280)
    browser.open(report, width=1000).picture(IMAGES / "report.png", 1280)
    browser.open(report, width=1000, dark=True).picture(IMAGES / "report-dark.png", 1280)
    browser.open(report, width=400).picture(IMAGES / "report-narrow.png", 1280)
    page = adult_comparison().save(folder / "comparison") / "comparison.html"
    browser.open(page, width=1000).picture(IMAGES / "compare.png", 1280)


def adult_comparison() -> dc.Comparison:
    """Four kinds of release of a part of Adult, two sensitive attributes."""
    known = ("sex", "age", "race", "marital-status", "workclass")
    job = dc.Job(
        attributes={
            **{name: {"role": "quasi-identifier"} for name in known},
            "occupation": {"role": "sensitive"},
            "education": {"role": "sensitive"},
            "native-country": {"role": "drop"},
            "salary-class": {"role": "drop"},
        },
        method=dc.Mondrian(),
    )
    frame = adult().sample(ADULT_ROWS, seed=1)
    methods = ["mondrian", "decomposition", {"codip": {"recoding": "mondrian"}}, "msa-diversity"]
    return dc.compare(frame, job, methods=methods, vary={"l": [2, 3]}, learning=True)


def main() -> None:
    """Draw all pictures."""
    program = installed()
    if program is None:
        sys.exit("No Chromium is installed: apt-get install chromium")
    IMAGES.mkdir(exist_ok=True)
    with running(program) as browser, tempfile.TemporaryDirectory() as folder:
        draw(browser, Path(folder))


if __name__ == "__main__":
    main()
