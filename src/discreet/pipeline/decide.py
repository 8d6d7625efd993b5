"""The verdict decides: a release that must not be published never takes its place.

*Do not publish* refuses a release unless its publisher gives a reason to accept the risk; the
reason is in the private record, in the ledger and in evidence packs. *Look at these* publishes.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from discreet.errors import InputError, RiskError
from discreet.pipeline.explain import write_private_files
from discreet.pipeline.release import Proof, Release
from discreet.releases.manifest import Manifest
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
