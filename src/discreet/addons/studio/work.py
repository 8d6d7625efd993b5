"""What a worker can do, by kind: each function gets its request, the run's folder and progress.

It returns plain data for the page and leaves pages and tables as files in the folder.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import discreet
from discreet import Job, LedgerSettings, Release
from discreet.addons.studio.release_preview import release_preview
from discreet.addons.studio.release_summary import summarize_release
from discreet.addons.studio.step_costs import step_costs
from discreet.pipeline.run import save_release

Request = Mapping[str, Any]
Progress = Callable[[str, float], None]

PAGE = "page.html"
PREVIEW = "preview.json"
RISK = "risk.json"
COMPARISON = "comparison.json"
JOB = "job.yaml"
RELEASE = "release"
LISTED_ROWS = 1000  # at risk


def _job(request: Request) -> Job:
    return Job.parse(request["job"], folder=Path(request["folder"]))


def publish(request: Request, folder: Path, progress: Progress) -> dict[str, Any]:
    """Publish a job to its output, or to the run's folder."""
    job = _job(request)
    place = Path(request.get("output") or folder / RELEASE)
    release = discreet.publish(None, job, progress=progress)
    save_release(
        release,
        place,
        format=job.output.format,
        force=bool(request.get("force")),
        progress=progress,
        sign=request.get("key"),
        attack=request.get("attack"),
        accept_risk=request.get("accept_risk"),
        held=request.get("output") is None,  # it leaves the private folder with a reason alone
    )
    progress("preview", 0.0)
    _write(folder / PREVIEW, release_preview(release))
    verdict = release.verdict().to_dict()
    attacks = None if release.review is None else release.review.attacks
    rows = [] if attacks is None or attacks.at_risk is None else list(attacks.at_risk)
    _write(
        folder / RISK,
        {
            "verdict": verdict,
            "rows": [
                {
                    "row": one.row,
                    "attribute": one.attribute,
                    "knows": one.knows,
                    "belief": one.belief,
                }
                for one in rows[:LISTED_ROWS]
            ],
            "more": max(len(rows) - LISTED_ROWS, 0),
        },
    )
    return {
        **summarize_release(place),
        "explanation": release.explanation,
        "verdict": verdict,
        "singling_out": release.private.get("singling_out")
        or release.to_dict().get("singling_out"),
        "utility": release.private.get("utility", {}),
        "folder": request.get("output"),
    }


def preview(request: Request, folder: Path, progress: Progress) -> dict[str, Any]:
    """Make a release in memory, and show it beside the original."""
    release: Release = discreet.publish(None, _job(request), progress=progress)
    progress("preview", 0.0)
    _write(folder / PREVIEW, release_preview(release))
    return {
        "manifest": release.to_dict(),
        "explanation": release.explanation,
        "utility": release.private.get("utility", {}),
    }


def compare(request: Request, folder: Path, progress: Progress) -> dict[str, Any]:
    """Compare methods and settings on the job's table."""
    found = discreet.compare(
        None,
        _job(request),
        methods=request.get("methods"),
        vary=request.get("vary"),
        budget=request.get("budget"),
        progress=progress,
    )
    found.save(folder)
    found.save_page(folder / PAGE, request.get("language", "en"))
    return found.to_dict()


def costs(request: Request, folder: Path, progress: Progress) -> dict[str, Any]:
    """Try each step of each guarantee on a sample."""
    return step_costs(_job(request), progress=progress)


def _original(request: Request) -> Job | Path:
    return Path(request["original"]) if "original" in request else _job(request)


def audit(request: Request, folder: Path, progress: Progress) -> dict[str, Any]:
    """Audit a release folder, with the original where it is given."""
    known = "original" in request or "job" in request
    found = discreet.audit(
        request["release"], original=_original(request) if known else None, progress=progress
    )
    found.save_page(folder / PAGE, request.get("language", "en"))
    return found.to_dict()


def attack(request: Request, folder: Path, progress: Progress) -> dict[str, Any]:
    """Attack a release folder."""
    found = discreet.attack(
        request["release"],
        original=_original(request),
        seconds=request.get("seconds"),
        progress=progress,
    )
    found.save_page(folder / PAGE, request.get("language", "en"))
    return found.to_dict()


def measure(request: Request, folder: Path, progress: Progress) -> dict[str, Any]:
    """Measure the utility of a release folder."""
    found = discreet.measure(request["release"], original=_original(request), progress=progress)
    found.save_page(folder / PAGE, request.get("language", "en"))
    return found.to_dict()


def series(request: Request, folder: Path, progress: Progress) -> dict[str, Any]:
    """Audit all releases of a ledger together."""
    progress("series", 0.0)
    settings = LedgerSettings.at(request["ledger"], key=request.get("key"))
    found = discreet.audit_series(ledger=settings)
    found.save_page(folder / PAGE, request.get("language", "en"))
    return found.to_dict()


def _write(place: Path, data: Any) -> None:
    place.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")


WORK: dict[str, Callable[[Request, Path, Progress], dict[str, Any]]] = {
    work.__name__: work
    for work in (publish, preview, compare, costs, audit, attack, measure, series)
}
