"""Looking at a release that is there: audit, and measures against the original."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from discreet.algorithms.method import Progress, Task, no_progress
from discreet.attacks.link_through_sensitive import reader_findings
from discreet.errors import InputError
from discreet.job import Job
from discreet.metrics.release import Utility, measure_release
from discreet.preparation import prepare
from discreet.publishing import Release
from discreet.releases.audit import Audit, audit_folder, read_tables
from discreet.releases.decomposed import DecomposedKind
from discreet.releases.manifest import Manifest


def audit(
    release: Release | str | Path,
    *,
    original: Job | str | Path | None = None,
    progress: Progress = no_progress,
) -> Audit:
    """Derive every promise again from published files alone.

    With ``original``, a job or the path of one, also check that nothing was lost or invented. A
    release in memory was audited when it was made; that audit is returned.
    """
    if isinstance(release, Release):
        if release.audit is None:
            raise InputError("This release was not audited yet; save it, or use publish().")
        return release.audit
    task = None if original is None else prepare(_job(original), progress=progress)
    progress("audit", 0.0)
    folder = Path(release)
    found = audit_folder(folder, task)
    if not found.ok:
        return found
    manifest = Manifest.load(folder)
    if manifest.kind != DecomposedKind.name:
        return found
    return replace(found, readers=tuple(reader_findings(read_tables(folder, manifest), manifest)))


def measure(
    release: Release | str | Path,
    *,
    original: Any,
    job: Job | None = None,
    queries: int = 1000,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Utility:
    """Measure what a release is still worth against the original.

    ``original`` is a job or the path of one; for a release in memory, or with ``job``, it may be
    the frame that was published.
    """
    if isinstance(release, Release):
        task: Task = release.task
        manifest, tables = release.manifest, release.coded_tables()
    else:
        folder = Path(release)
        manifest = Manifest.load(folder)
        task = (
            prepare(_job(original), progress=progress)
            if job is None
            else prepare(job, original, progress=progress)
        )
        tables = read_tables(folder, manifest)
    progress("measures", 0.0)
    return measure_release(tables, task, manifest, queries=queries, seed=seed)


def _job(original: Any) -> Job:
    if isinstance(original, Job):
        return original
    if isinstance(original, str | Path):
        return Job.load(original)
    raise InputError(
        f"The original is a job or the path of a job file, not {type(original).__name__}. "
        "To compare with a frame, give its job too: job=…"
    )
