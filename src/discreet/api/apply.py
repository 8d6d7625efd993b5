"""Apply the recoding of a full-domain release to a new batch of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from discreet.api.check import task_of_check
from discreet.errors import AuditError, InputError, PromiseError
from discreet.io.frames import code_frame
from discreet.job.model import Job
from discreet.job.table_check import Check, check_table
from discreet.ledger.ledger import Ledger
from discreet.methods.base import Progress, Task, no_progress
from discreet.methods.full_domain.full_domain import FullDomain
from discreet.methods.full_domain.manifest_entry import FullDomainEntry
from discreet.pipeline.one_machine import OneMachine
from discreet.pipeline.prepare import prepare
from discreet.pipeline.read import SourceRows, shared_persons
from discreet.pipeline.release import Release
from discreet.pipeline.run import make_release, prove_release
from discreet.regular_files import path_of
from discreet.releases.audit.audit import audit_folder, read_tables, specs_of
from discreet.releases.manifest import Manifest
from discreet.requirements.base import Requirement
from discreet.table.coded_table import CodedTable
from discreet.table.roles import Role

SAME_PERSONS = (
    "A second release of the same persons can be intersected with the first. Leave them out, or "
    "publish a series with a ledger (m-invariance, rho-different)."
)


def apply(
    release: str | Path,
    data: Any,
    *,
    original: Job | str | Path,
    beside: Sequence[str | Path] = (),
    suppression: float | None = None,
    progress: Progress = no_progress,
) -> Release:
    """Recode new rows to the levels of a full-domain release, and prove them beside it.

    ``release`` is the folder of the earlier release, ``original`` the job that made it, ``data``
    the new rows, about other persons. Every guarantee must hold for the new rows by themselves,
    since an attacker may know who is in which batch, and for the rows of all together: of the
    release, of the batches ``beside`` it that were applied before, and of this one. Failing classes
    are suppressed, up to the share of the job or that of ``suppression``.
    """
    # The earlier release is sound, and about other persons.
    job, folder = Job.of(original), path_of(release, "The release")
    manifest = Manifest.load(folder)
    levels = _levels(job, manifest)
    progress("reading", 0.0)
    earlier = prepare(job)
    progress("audit", 0.0)
    _require_sound(folder, job, earlier)
    _require_other_persons(job, data)
    assert isinstance(job.method, FullDomain)
    # Recode the new rows to its levels; each value keeps its cell.
    share = job.method.suppression if suppression is None else suppression
    again = job.using(FullDomain(levels=levels, suppression=share, minimize=job.method.minimize))
    new_release = make_release(data, again, progress=progress, engine=_SameDomains(earlier.table))
    _require_same_cells(earlier, new_release.task, levels)
    prove_release(new_release, progress)
    # All rows together keep every requirement.
    batches = [_batch(path_of(one, "A batch"), levels) for one in beside]
    before = [read_tables(folder, manifest), *batches]
    together = _together(
        job, new_release.task.requirements, [*before, new_release.coded_tables()], manifest
    )
    if not together.ok:
        broken = [one.requirement.name for one in together.requirements if not one.holds]
        raise PromiseError(
            f"The rows of {folder} and the new rows together do not keep {', '.join(broken)}, "
            "though each part does. Publish all rows anew by 'discreet publish'."
        )
    new_release.private["together"] = together.to_dict()
    return new_release


def _levels(job: Job, manifest: Manifest) -> dict[str, int]:
    """The levels of a release that the job made by full-domain."""
    entry = manifest.method
    if not isinstance(entry, FullDomainEntry) or not isinstance(job.method, FullDomain):
        raise InputError(
            f"Only a release by full-domain has levels that apply to other rows; this one is by "
            f"'{entry.name}' and its job names '{job.method.name}'."
        )
    if job.person is not None and job.person.rows == "keep":
        raise InputError(
            "A release with 'rows: keep' cannot be applied: its rows do not show which belong to "
            "one person, so nothing can be counted on the persons of both batches together. "
            "Publish all rows anew, or use 'rows: collapse'."
        )
    if any(attribute.rare is not None for attribute in job.attributes.values()):
        raise InputError(
            "A release whose rare values were treated cannot be applied: a value may be rare in "
            "one batch and not in the other, which would reveal it. Publish all rows anew."
        )
    if job.ledger is not None:
        raise InputError("A job with a ledger publishes a series. Use 'discreet publish'.")
    return dict(entry.levels)


def _batch(folder: Path, levels: Mapping[str, int]) -> Mapping[str, CodedTable]:
    """The tables of a batch that was applied before, at the same levels."""
    manifest = Manifest.load(folder)
    entry = manifest.method
    same = isinstance(entry, FullDomainEntry) and entry.levels == levels
    if not same or not audit_folder(folder).ok:
        raise AuditError(f"{folder} fails its audit, or was not made at the levels of the release.")
    return read_tables(folder, manifest)


def _require_sound(folder: Path, job: Job, earlier: Task) -> None:
    """Raise unless the earlier release still keeps its guarantees."""
    findings = audit_folder(folder, earlier, method=job.method)
    if not findings.ok or findings.unproved:
        raise AuditError(
            f"{folder} fails its audit, so nothing is applied to it. Run 'discreet audit {folder} "
            "--original JOB' for the reasons."
        )


def _require_other_persons(job: Job, data: Any) -> None:
    """Raise where an identifier shows persons of the earlier release among the new rows."""
    for names, count in shared_persons(job, None, data).items():
        if count:
            place = " and ".join(f"'{name}'" for name in names)
            raise InputError(
                f"{count:,} values of {place} are among the rows of the release too. {SAME_PERSONS}"
            )


class _SameDomains(OneMachine):
    """One machine that reads new rows with the quasi-identifiers of earlier ones as well."""

    def __init__(self, earlier: CodedTable) -> None:
        self.earlier = earlier

    def read(self, job: Job, data: Any, ledger: Ledger | None, progress: Progress) -> SourceRows:
        source = super().read(job, data, ledger, progress)
        columns = dict(source.table.columns)
        for column in self.earlier.quasi_identifiers:
            known = columns[column.name].with_domain(column.text.to_list())
            columns[column.name] = known
        return replace(source, table=replace(source.table, columns=columns))


def _require_same_cells(earlier: Task, now: Task, levels: Mapping[str, int]) -> None:
    """Raise where a value of the earlier rows would be published in another cell now."""
    changed = []
    for name, level in levels.items():
        before = _cells(earlier, name, level)
        after = _cells(now, name, level)
        if any(after.get(value) != cell for value, cell in before.items()):
            changed.append(f"'{name}'")
    if changed:
        raise InputError(
            f"The hierarchy of {', '.join(changed)} depends on the rows: with the new values, "
            "earlier ones would be published in other cells. State it in the job, such as "
            "{intervals: [5, 10]}, publish once with it, and apply that release."
        )


def _cells(task: Task, name: str, level: int) -> dict[str | None, str | None]:
    """The published cell of each value at a level."""
    text = task.table[name].text.to_list()
    at = task.hierarchies[name].levels[level]
    return {text[leaf]: at.labels[node] for leaf, node in enumerate(at.node_of_leaf.tolist())}


def _together(
    job: Job,
    requirements: Sequence[Requirement],
    releases: Sequence[Mapping[str, CodedTable]],
    manifest: Manifest,
) -> Check:
    """Judge requirements on the published rows of several releases."""
    # The columns that are judged, which all releases have.
    (name,) = manifest.tables
    specs = {
        column: spec
        for column, spec in specs_of(manifest, name).items()
        if spec.role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
    }
    parts = []
    for tables in releases:
        table = tables[name]
        judged = {column.name: column for column in (*table.quasi_identifiers, *table.sensitive)}
        differing = [f"'{column}'" for column in sorted(judged.keys() ^ specs.keys())]
        if differing:
            raise InputError(
                f"Only some of the tables have {', '.join(differing)}: sets of new rows have other "
                "members. Publish all rows anew."
            )
        cells = {c: judged[c].text.gather(pl.Series(judged[c].codes)) for c in specs}
        parts.append(pl.DataFrame(cells))
    return check_table(task_of_check(job, code_frame(pl.concat(parts), specs), requirements))
