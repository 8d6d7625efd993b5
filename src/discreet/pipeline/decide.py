"""The verdict decides: a release that must not be published never takes its place.

*Do not publish* refuses a release unless its publisher gives a reason to accept the risk; the
reason is in the private record, in the ledger and in evidence packs. *Look at these* publishes.
The files beside the tables are written here too: report, manifest, signature, private files.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

from discreet.errors import InputError, RiskError
from discreet.io.atomic import write_private
from discreet.io.signatures import SigningKey
from discreet.pipeline.prove import risk_file
from discreet.pipeline.release import Proof, Release
from discreet.releases.audit.figures import Picture
from discreet.releases.audit.files import REPORT
from discreet.releases.audit.persons import packed_rows
from discreet.releases.manifest import FILE_NAME, Manifest, sha256_of
from discreet.report.risk_verdict import REFUSE

JOB_FILE = "job.yaml"  # in advice, where the name of the file is not known
LONGEST_REASON = 2000  # characters
REFUSED = ".refused"  # in the names of private files where an earlier release keeps its own


def require_reason(reason: str | None) -> str | None:
    """Return a reason to accept a risk, on one line; refuse one that says nothing."""
    if reason is None:
        return None
    line = " ".join(reason.split())
    if not line or not line.isprintable() or len(line) > LONGEST_REASON:
        raise InputError(
            "Accepting a risk needs a reason in words, which is recorded: --accept-risk "
            f'"reason", or accept_risk="reason" in Python. At most {LONGEST_REASON:,} characters.'
        )
    return line


def decide(
    release: Release,
    manifest: Manifest,
    proof: Proof,
    path: Path,
    accept_risk: str | None,
    *,
    report: bool,
    held: bool,
    job_file: Path | str = JOB_FILE,
) -> str | None:
    """Raise where the verdict forbids a release; return the reason that was needed, if any.

    A refused release leaves its private files beside its place. A ``held`` one is written to a
    folder that is private itself, and leaves it only with a reason.
    """
    judged = replace(release, manifest=manifest)
    judged.adopt(proof, manifest)
    verdict = judged.verdict()
    release.private["verdict"] = verdict.to_dict()
    release.private.pop("accepted_risk", None)
    # A refused release is published with a reason alone; else its private files explain it.
    refused = verdict.word == REFUSE
    if refused and accept_risk is not None:
        release.private["accepted_risk"] = accept_risk
        return accept_risk
    if refused and not held:
        beside = path.with_name(f"{path.name}{REFUSED}") if os.path.lexists(path) else path
        write_private_files(beside, judged, report)
        raise RiskError(
            "\n".join([*verdict.lines(), *_next_steps(path, beside, report, job_file)]),
            verdict,
            beside.with_name(f"{beside.name}.private.{'html' if report else 'json'}"),
        )
    return None


def _next_steps(path: Path, beside: Path, report: bool, job_file: Path | str) -> list[str]:
    stays = ["The earlier release there is unchanged."] if os.path.lexists(path) else []
    return [
        " ".join([f"Nothing was written to {path}.", *stays]),
        "What to do next:",
        f"  - Read the private {'report' if report else 'record'}: "
        f"{beside.with_name(beside.name)}.private.{'html' if report else 'json'}",
        f"  - Find changes of the job for a better verdict: discreet repair {job_file}",
        '  - Or accept the risk: --accept-risk "reason" publishes, and records the reason.',
    ]


def clear_refused(path: Path) -> None:
    """Remove the private files of a refused release, once another one took its place."""
    for ending in (".private.json", ".private.html", ".private.rows.csv"):
        path.with_name(f"{path.name}{REFUSED}{ending}").unlink(missing_ok=True)


def write_explanation(
    folder: Path,
    manifest: Manifest,
    picture: Picture,
    report: bool,
    key: SigningKey | None,
    language: str = "en",
) -> None:
    """Write the page and the manifest of a release into its folder, and sign it with a key.

    The page is a function of the manifest, the tables and the language that the page itself
    names, so an audit can render it again; its hash is in the manifest.
    """
    if report:
        from discreet.report.pages.release_page import release_page
        from discreet.statements import speaking

        with speaking(language):
            page = release_page(manifest, picture).html()
        (folder / REPORT).write_text(page, encoding="utf-8")
        manifest.report_sha256 = sha256_of(folder / REPORT)
    (folder / FILE_NAME).write_text(manifest.to_json(), encoding="utf-8")
    if key is not None:
        key.sign(folder, FILE_NAME)


def write_private_files(path: Path, release: Release, report: bool) -> None:
    """Write the publisher's private files beside a release: figures, and a page of them.

    Where persons keep several rows, a later audit finds them by the source row of each published
    row.
    """
    rows_of_source = release.formed.source_rows() if release.manifest.keeps_rows else None
    if rows_of_source is not None:
        packed = {name: packed_rows(rows) for name, rows in rows_of_source.items()}
        release.private["source_rows"] = packed
    text = json.dumps(release.private, indent=1) + "\n"
    write_private(path.with_name(f"{path.name}.private.json"), text)
    place = path.with_name(f"{path.name}.private.html")
    rows = path.with_name(f"{path.name}.private.rows.csv")
    place.unlink(missing_ok=True)  # of a release that this one replaces
    rows.unlink(missing_ok=True)
    if not report:
        return
    write_private(place, release.private_page().html())
    attacks = None if release.review is None else release.review.attacks
    if attacks is not None and attacks.at_risk:
        write_private(rows, risk_file(attacks.at_risk))
