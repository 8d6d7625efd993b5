"""Looking at a release that is there: audit, and measures against the original."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from discreet.algorithms.method import Progress, Task, no_progress
from discreet.errors import InputError
from discreet.io.knowledge import KnowledgeSource, read_knowledge
from discreet.job import Job
from discreet.knowledge.table import Knowledge
from discreet.metrics.release import Utility, measure_release
from discreet.preparation import prepare
from discreet.publishing import Release
from discreet.releases.audit import Audit, audit_folder, read_tables
from discreet.releases.manifest import Manifest


def audit(
    release: Release | str | Path,
    *,
    original: Job | str | Path | None = None,
    knowledge: Mapping[str, str | Path] | str | Path | None = None,
    progress: Progress = no_progress,
) -> Audit:
    """Derive every promise again from published files alone.

    With ``original``, a job or the path of one, also check that nothing was lost or invented. A
    release in memory was audited when it was made; that audit is returned. Promises about the
    labels that terms link to need the knowledge table: the original's, or ``knowledge``, the path
    of one or a path for each quasi-sensitive attribute.
    """
    if isinstance(release, Release):
        if release.audit is None:
            raise InputError("This release was not audited yet; save it, or use publish().")
        return release.audit
    task = None if original is None else prepare(_job(original), progress=progress)
    tables = {} if knowledge is None else _knowledge(Manifest.load(Path(release)), knowledge)
    progress("audit", 0.0)
    return audit_folder(Path(release), task, tables)


def _knowledge(
    manifest: Manifest, given: Mapping[str, str | Path] | str | Path
) -> dict[str, Knowledge]:
    """Read knowledge tables, whose columns the manifest names."""
    entries = {
        name: attribute.knowledge
        for name, attribute in manifest.attributes.items()
        if attribute.knowledge is not None
    }
    allowed = ", ".join(f"'{name}'" for name in entries) or "none"
    if not isinstance(given, Mapping):
        if len(entries) != 1:
            raise InputError(
                f"The release has {len(entries)} attributes with a knowledge table ({allowed}). "
                "Say which each table is for: ATTRIBUTE=FILE."
            )
        given = {next(iter(entries)): given}
    unknown = [name for name in given if name not in entries]
    if unknown:
        raise InputError(
            f"The release has no knowledge table for {', '.join(map(repr, unknown))}. "
            f"Attributes that have one: {allowed}."
        )
    return {
        name: read_knowledge(
            KnowledgeSource(path=str(path), **entries[name].columns.model_dump()), Path()
        )
        for name, path in given.items()
    }


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
