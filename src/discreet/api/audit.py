"""Audit a release: derive every guarantee again from its files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from discreet import __version__
from discreet.errors import InputError
from discreet.io.knowledge import KnowledgeSource, read_knowledge
from discreet.knowledge.table import Knowledge
from discreet.methods.base import Progress, Task, no_progress
from discreet.regular_files import path_of, read_text
from discreet.releases.audit.audit import Audit, audit_folder
from discreet.releases.audit.files import REPORT
from discreet.releases.audit.persons import source_rows_beside
from discreet.releases.manifest import Manifest

if TYPE_CHECKING:
    from discreet.job.model import Job
    from discreet.pipeline.release import Release


def audit(
    release: Release | str | Path,
    *,
    original: Job | str | Path | None = None,
    knowledge: Mapping[str, str | Path] | str | Path | None = None,
    trust: str | Path | None = None,
    database: str | None = None,
    progress: Progress = no_progress,
) -> Audit:
    """Derive every guarantee again from published files alone.

    With ``original``, a job or the path of one, also check that nothing was lost or invented. A
    release in memory was audited when it was made; that audit is returned. Guarantees about the
    labels that terms link to need the knowledge table: the original's, or ``knowledge``, the path
    of one or a path for each quasi-sensitive attribute. ``trust`` is the public key by which the
    manifest must be signed. ``database`` is the URL of the database that has the tables of a
    release made in place; they are counted there.
    """
    if hasattr(release, "audit"):
        if release.audit is None:
            raise InputError("This release was not audited yet; save it, or use publish().")
        return release.audit
    folder = path_of(release, "The release")
    if database is not None:
        from discreet.pipeline.engine import engine_named

        if original is not None or knowledge is not None or trust is not None:
            raise InputError(
                "Tables in a database are audited by themselves: leave out the original, the "
                "knowledge and the key. The signature of the manifest: discreet keys."
            )
        return engine_named("database").audited(folder, database)
    job, task = None, None
    if original is not None:
        from discreet.api.opened_release import job_of_original
        from discreet.pipeline.prepare import prepare

        job = job_of_original(original)
        task = prepare(job, progress=progress)
    tables = {} if knowledge is None else _knowledge(Manifest.load(folder), knowledge)
    return audit_files(folder, job, task, tables, trust, progress)


def audit_files(
    folder: Path,
    job: Job | None = None,
    task: Task | None = None,
    knowledge: Mapping[str, Knowledge] | None = None,
    trust: str | Path | None = None,
    progress: Progress = no_progress,
) -> Audit:
    """Audit a release folder, its page included; with the job and its task against the original."""
    method = None if job is None else job.method
    if job is not None and task is not None:
        task = replace(task, requirements=[*task.requirements, *job.series_guarantees()])
    rows = None if task is None or task.basis.persons is None else source_rows_beside(folder)
    findings = audit_folder(folder, task, knowledge, trust, method, rows, progress)
    return _with_report(findings, folder, Manifest.load(folder)) if findings.ok else findings


def _with_report(found: Audit, folder: Path, manifest: Manifest) -> Audit:
    """Add a check that the page of a release is the one that its manifest and tables give."""
    from discreet.report.pages.release_page import release_page
    from discreet.report.pieces import language_of_page
    from discreet.statements import speaking

    place = folder / REPORT
    if not place.exists():
        return found
    if manifest.discreet != __version__:
        problem = (
            f"'{REPORT}' was made by discreet {manifest.discreet} and can only be checked with "
            f"that version; this is {__version__}. Do not rely on the page"
        )
        if found.signed:  # the signature covers the hash of the page
            return replace(found, remarks=(*found.remarks, f"{problem}."))
        remedy = "Remove it, audit with that version, or check the publisher's signature (--trust)"
        return replace(found, problems=(*found.problems, f"{problem}. {remedy}"))
    page = read_text(place, encoding="utf-8")
    with speaking(language_of_page(page)):
        if page == release_page(manifest, found.picture).html():
            return found
    problem = f"'{REPORT}' is not the page that the manifest and the tables produce"
    return replace(found, problems=(*found.problems, problem))


def _knowledge(
    manifest: Manifest, paths: Mapping[str, str | Path] | str | Path
) -> dict[str, Knowledge]:
    """Read knowledge tables, whose columns the manifest names."""
    entries = {
        name: attribute.knowledge
        for name, attribute in manifest.attributes.items()
        if attribute.knowledge is not None
    }
    allowed = ", ".join(f"'{name}'" for name in entries) or "none"
    if not isinstance(paths, Mapping):
        if len(entries) != 1:
            raise InputError(
                f"The release has {len(entries)} attributes with a knowledge table ({allowed}). "
                "Name the attribute of each table: ATTRIBUTE=FILE."
            )
        paths = {next(iter(entries)): paths}
    unknown = [name for name in paths if name not in entries]
    if unknown:
        raise InputError(
            f"The release has no knowledge table for {', '.join(map(repr, unknown))}. "
            f"Attributes that have one: {allowed}."
        )
    return {
        name: read_knowledge(
            KnowledgeSource(path=str(path), **entries[name].columns.model_dump()), Path()
        )
        for name, path in paths.items()
    }
