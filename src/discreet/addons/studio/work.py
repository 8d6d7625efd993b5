"""What a worker can do, by kind: each function gets its request, the run's folder and progress.

It returns plain data for the page and leaves pages and tables as files in the folder.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import discreet
from discreet import Job, LedgerSettings, Release
from discreet.addons.studio.answers import spoken_data
from discreet.addons.studio.release_preview import release_preview
from discreet.addons.studio.releases import JOB, RELEASE, RISK, write_record
from discreet.api.settings_grid import Setting
from discreet.io.atomic import write_private
from discreet.job.proposing.untyped_table import read_untyped
from discreet.pipeline.release import ATTACK_SECONDS
from discreet.pipeline.run import save_release
from discreet.table.roles import Role

Request = Mapping[str, Any]
Progress = Callable[[str, float], None]

PAGE = "page.html"
PREVIEW = "preview.json"
COMPARISON = "comparison.json"
JUDGEMENTS = ("check", "attack", "measure")  # of the table of another tool
LISTED_ROWS = 1000  # at risk


def _job(request: Request) -> Job:
    return Job.parse(request["job"], folder=Path(request["folder"]))


def publish(request: Request, folder: Path, progress: Progress) -> dict[str, Any]:
    """Publish a job to its output, or into the library, where the page finds all about it."""
    job, entry = _job(request), Path(request["entry"])
    output = request.get("output")
    place = entry / RELEASE if output is None else Path(output)
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
        held=output is None,  # it leaves the library with a reason alone
    )
    progress("preview", 0.0)
    _write(entry / PREVIEW, release_preview(release))
    attacks = None if release.review is None else release.review.attacks
    rows = [] if attacks is None or attacks.at_risk is None else list(attacks.at_risk)
    _write(
        entry / RISK,
        {
            "verdict": release.verdict().to_dict(),
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
    write_private(entry / JOB, request["job"])
    for name in request["files"]:  # hierarchies of the job
        (entry / name).parent.mkdir(mode=0o700, exist_ok=True)
        shutil.copyfile(Path(request["folder"]) / name, entry / name)
    write_record(entry, table=request["name"], place=output, folder=request["folder"])
    return {}


def repair(request: Request, folder: Path, progress: Progress) -> dict[str, Any]:
    """Search for changes of the job after which its release may be published."""
    repaired = discreet.repair(None, _job(request), budget=request["budget"], progress=progress)
    return repaired.to_dict()


def evidence(request: Request, folder: Path, progress: Progress) -> dict[str, Any]:
    """Make an evidence pack about a release folder; with the original it is private."""
    from discreet.addons.evidence.make import evidence as make_pack

    known = "original" in request or "job" in request
    pack = make_pack(
        request["release"],
        request["framework"],
        original=_original(request) if known else None,
        seconds=request.get("seconds"),
        progress=progress,
    )
    pack.save(folder / PAGE)
    return {"private": pack.private, "to_write": pack.to_write, "framework": request["framework"]}


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
    comparison = discreet.compare(
        None,
        _job(request),
        settings=[Setting(**setting) for setting in request["settings"]],
        budget=request.get("budget"),
        progress=progress,
    )
    comparison.save(folder)
    comparison.save_page(folder / PAGE, request.get("language", "en"))
    return {
        **comparison.to_dict(),
        "best": None if comparison.best is None else comparison.best.label,
    }


def judge(request: Request, folder: Path, progress: Progress) -> dict[str, Any]:
    """Check, attack and measure the table of another tool beside the original of a job."""
    job, place = _job(request), Path(request["output"])
    inputs = {"job": job, "original": None, "suppressed": request["suppressed"]}
    attacked = discreet.attack_table(place, **inputs, seconds=ATTACK_SECONDS, progress=progress)
    measured = discreet.measure_table(place, **inputs, progress=progress)
    progress("checking", 0.0)
    columns = read_untyped(place).table.columns
    roles = {
        role: [name for name in job.with_role(role) if name in columns]
        for role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
    }
    checked = discreet.check(
        place,
        quasi=roles[Role.QUASI_IDENTIFIER],
        sensitive=roles[Role.SENSITIVE],
        requirements=[
            one
            for one in job.requirements
            if {*(getattr(one, "named", None) or ())} <= {*roles[Role.SENSITIVE]}
        ],
        suppressed=request["suppressed"] or ["*"],
    )
    results = dict(zip(JUDGEMENTS, (checked, attacked, measured), strict=True))
    for part, result in results.items():
        result.save_page(folder / f"{part}.html", request.get("language", "en"))
    judged = {part: result.to_dict() for part, result in results.items()}
    judged["attack"]["summary"] = attacked.summary
    return judged


def _original(request: Request) -> Job | Path:
    return Path(request["original"]) if "original" in request else _job(request)


def examine(request: Request, folder: Path, progress: Progress) -> dict[str, Any]:
    """Audit, attack or measure a release folder, with the original where it is given."""
    inputs: dict[str, Any] = {"progress": progress}
    if "original" in request or "job" in request:
        inputs["original"] = _original(request)
    if request["kind"] == "attack":
        inputs["seconds"] = request.get("seconds")
    examined = getattr(discreet, request["kind"])(request["release"], **inputs)
    examined.save_page(folder / PAGE, request.get("language", "en"))
    return dict(examined.to_dict())


def series(request: Request, folder: Path, progress: Progress) -> dict[str, Any]:
    """Audit all releases of a ledger together."""
    progress("series", 0.0)
    settings = LedgerSettings.at(request["ledger"], key=request.get("key"))
    audited = discreet.audit_series(ledger=settings)
    audited.save_page(folder / PAGE, request.get("language", "en"))
    return audited.to_dict()


def _write(place: Path, data: Any) -> None:
    write_private(place, json.dumps(spoken_data(data), ensure_ascii=False))


WORK: dict[str, Callable[[Request, Path, Progress], dict[str, Any]]] = {
    **{
        work.__name__: work for work in (publish, preview, compare, judge, series, repair, evidence)
    },
    **dict.fromkeys(("audit", "attack", "measure"), examine),
}
