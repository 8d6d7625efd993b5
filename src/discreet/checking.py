"""Looking at a release that is there: audit, attacks, and measures against the original."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter, ValidationError

from discreet import __version__
from discreet.algorithms.method import Progress, Task, no_progress
from discreet.attacks.attack import Attack
from discreet.attacks.catalog import AnyAttack
from discreet.attacks.link_through_sensitive import readers_of_folder
from discreet.attacks.running import AttackReport, run_attacks
from discreet.comparing import Original, School
from discreet.data.table import CodedTable
from discreet.errors import InputError
from discreet.io.knowledge import KnowledgeSource, read_knowledge
from discreet.job import Job
from discreet.knowledge.table import Knowledge
from discreet.metrics.release import Utility, read_utility
from discreet.preparation import prepare
from discreet.publishing import Release
from discreet.regular_files import require_regular
from discreet.releases.audit import Audit, audit_folder, read_tables
from discreet.releases.files import REPORT
from discreet.releases.manifest import Manifest, ReaderFinding
from discreet.releases.originals import as_published
from discreet.verifying import read_population


def audit(
    release: Release | str | Path,
    *,
    original: Job | str | Path | None = None,
    knowledge: Mapping[str, str | Path] | str | Path | None = None,
    trust: str | Path | None = None,
    progress: Progress = no_progress,
) -> Audit:
    """Derive every promise again from published files alone.

    With ``original``, a job or the path of one, also check that nothing was lost or invented. A
    release in memory was audited when it was made; that audit is returned. Promises about the
    labels that terms link to need the knowledge table: the original's, or ``knowledge``, the path
    of one or a path for each quasi-sensitive attribute. ``trust`` is the public key by which the
    manifest must be signed.
    """
    if isinstance(release, Release):
        if release.audit is None:
            raise InputError("This release was not audited yet; save it, or use publish().")
        return release.audit
    job = None if original is None else _job(original)
    task = None if job is None else prepare(job, progress=progress)
    tables = {} if knowledge is None else _knowledge(Manifest.load(Path(release)), knowledge)
    progress("audit", 0.0)
    folder = Path(release)
    found = audit_folder(folder, task, tables, trust, None if job is None else job.method)
    if not found.ok:
        return found
    manifest = Manifest.load(folder)
    found = _with_report(found, folder, manifest)
    readers = [ReaderFinding(**one) for one in readers_of_folder(folder, manifest)]
    problems = found.problems
    if manifest.readers != readers:
        problems += ("the manifest says something else of what readers find than its files",)
    return replace(found, readers=tuple(readers), problems=problems)


def _with_report(found: Audit, folder: Path, manifest: Manifest) -> Audit:
    """Add whether the page of a release is the one that its manifest and its tables give."""
    from discreet.report.release_page import release_page

    place = folder / REPORT
    if not place.exists():
        return found
    if manifest.discreet != __version__:
        said = (
            f"'{REPORT}' was made by discreet {manifest.discreet} and can only be checked with "
            f"that version; this is {__version__}. Do not rely on the page"
        )
        return replace(found, remarks=(*found.remarks, said))
    if place.read_text(encoding="utf-8") == release_page(manifest, found.picture).html():
        return found
    said = f"'{REPORT}' is not the page that the manifest and the tables give"
    return replace(found, problems=(*found.problems, said))


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
    queries: int | None = None,
    learning: bool = False,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Utility:
    """Measure what a release is still worth against the original.

    ``original`` is a job or the path of one; for a release in memory, or with ``job``, it may be
    the frame that was published. How many queries there are, and of which sort, is the job's to
    say (``measure:``) unless ``queries`` gives their number. ``learning`` runs the job again on
    70 % of the people, learns from that release, and tests on the others.
    """
    tables, task, manifest = _opened(release, original, job, progress)
    given = _job_of(release, original, job)
    progress("measures", 0.0)
    reading = read_utility(tables, task, manifest)
    measures: Utility = reading.measured(given.measure.workload(queries), seed)
    if not learning:
        return measures
    by_frame = job is not None or (isinstance(release, Release) and not _names_job(original))
    people = Original.read(given, original if by_frame else None, progress)
    school = School(people, given.measure.targets, seed)
    return replace(measures, learning=school.learning(people.job, seed, progress))


def _job_of(release: Release | str | Path, original: Any, job: Job | None) -> Job:
    """The job that made a release."""
    if job is not None:
        return job
    if isinstance(release, Release) and not _names_job(original):
        return release.job
    return _job(original)


def _names_job(original: Any) -> bool:
    return isinstance(original, Job) or str(original).endswith((".yaml", ".yml"))


def attack(
    release: Release | str | Path,
    *,
    original: Any,
    job: Job | None = None,
    attacks: Sequence[Attack | str | Mapping[str, Any]] | None = None,
    population: str | Path | None = None,
    threshold: float = 0.5,
    progress: Progress = no_progress,
) -> AttackReport:
    """Attack a release with every adversary that applies, or with those that are named.

    ``original`` is a job or the path of one; for a release in memory, or with ``job``, it may be
    the frame that was published. It lends the people's quasi-identifiers, and the truth by which
    beliefs are scored. ``population`` is a table of everybody's quasi-identifiers, or a job.
    """
    if not 0 <= threshold <= 1:
        raise InputError(f"threshold: a belief is between 0 and 1; found {threshold:g}.")
    tables, task, manifest = _opened(release, original, job, progress)
    everybody = None
    if population is not None:
        everybody = read_population(Path(population), _job_of(release, original, job))
    return run_attacks(
        tables,
        task,
        manifest,
        attacks=None if attacks is None else parse_attacks(attacks),
        population=everybody,
        threshold=threshold,
        progress=progress,
    )


def parse_attacks(attacks: Sequence[Attack | str | Mapping[str, Any]]) -> list[Attack]:
    """Attacks from their names, or from a name with its parameters."""
    try:
        return TypeAdapter(list[AnyAttack]).validate_python(list(attacks))
    except ValidationError as error:
        raise InputError(
            "attacks: " + "; ".join(detail["msg"] for detail in error.errors(include_url=False))
        ) from None


def read_attacks(path: str | Path) -> list[Attack]:
    """Attacks with their parameters from a YAML file: a list of them."""
    require_regular(Path(path), "Attacks")
    try:
        written = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = "" if mark is None else f", line {mark.line + 1}"
        raise InputError(f"{path}{line}: not valid YAML.") from None
    if not isinstance(written, list):
        raise InputError(f"{path}: a list of attacks is wanted, such as '- linking'.")
    return parse_attacks(written)


def _opened(
    release: Release | str | Path, original: Any, job: Job | None, progress: Progress
) -> tuple[dict[str, CodedTable], Task, Manifest]:
    """The published tables, the original and the manifest of a release."""
    if isinstance(release, Release):
        return release.coded_tables(), release.task, release.manifest
    folder = Path(release)
    manifest = Manifest.load(folder)
    if job is None:
        task = prepare(_job(original), progress=progress)
    else:
        task = prepare(job, original, progress=progress)
    return read_tables(folder, manifest), as_published(task, manifest), manifest


def _job(original: Any) -> Job:
    if isinstance(original, Job):
        return original
    if isinstance(original, str | Path):
        return Job.load(original)
    raise InputError(
        f"The original is a job or the path of a job file, not {type(original).__name__}. "
        "To compare with a frame, give its job too: job=…"
    )
