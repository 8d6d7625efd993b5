"""Profile a table before it is published."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from discreet.io.frames import code_frame
from discreet.io.in_place.place import Place, place_of
from discreet.job.identifying import Uses
from discreet.job.model import Job
from discreet.job.proposing.job_text import read_untyped
from discreet.job.table_profile import Profile, profile_table
from discreet.methods.base import Progress, no_progress
from discreet.pipeline.prepare import prepare, prepare_task
from discreet.pipeline.read import SourceRows, require_columns, specs_of_job
from discreet.table.coded_table import CodedTable, Column
from discreet.table.roles import Role


def profile(
    data: Any, job: Job | str | Path | None = None, *, progress: Progress = no_progress
) -> Profile:
    """Profile a table: its identifying columns, and the guarantees that are feasible for it.

    ``data`` is a frame, a path, or None for the job's own source; ``job`` may be a path. Without
    a job, roles are proposed from names and values. A database counts by itself, unless the job
    names persons.
    """
    if job is None:
        return profile_table(read_untyped(data), roles_known=False)
    job = Job.of(job)
    place = _place(job, data)
    if place is None:
        task = prepare(job, data, progress=progress)
        further: list[Column] = []
    else:
        progress("counting", 0.0)
        source, further = _count(job, place)
        task = prepare_task(job, source, progress=progress)
    progress("profile", 0.0)
    return profile_table(
        task.table,
        task.hierarchies,
        links=task.links,
        repeated=task.repeated,
        counts_rows=job.unit is not None,
        persons=None if task.persons is None else task.persons.counts,
        further=further,
    )


def _place(job: Job, data: Any) -> Place | None:
    """The database that counts in place; None where rows are read, as those of persons are."""
    if job.person is not None:
        return None
    if data is None and job.source is not None and job.source.url is not None:
        return place_of(job.source.url, job.folder, job.source.table, job.source.query)
    return place_of(data, job.folder, None, None)


def _count(job: Job, place: Place) -> tuple[SourceRows, list[Column]]:
    """Count the columns that disclose together, each insensitive one alone, and identifiers."""
    specs = specs_of_job(job)
    require_columns(place.columns(), specs, place.name)
    missing = job.source.missing if job.source else ()

    def table_of(names: Sequence[str]) -> CodedTable:
        counted = place.count(names)
        coded = code_frame(counted.frame, {name: specs[name] for name in names}, missing)
        return coded.counted(counted.times)

    alone = job.with_role(Role.INSENSITIVE)
    together = [name for name, one in specs.items() if one.role.published and name not in alone]
    further = [table_of([name])[name] for name in alone]
    uses = {}
    for name in job.with_role(Role.IDENTIFIER):
        counted = place.count((), (name,))
        rows = counted.times[counted.person >= 0] if counted.person is not None else counted.times
        uses[name] = Uses(int(rows.sum()), len(rows), int(rows.max(initial=0)))
    return SourceRows(table_of(together), uses), further
