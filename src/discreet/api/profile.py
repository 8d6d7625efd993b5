"""Profile a table before it is published."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discreet.job.model import Job
from discreet.job.proposing.job_text import read_untyped
from discreet.job.table_profile import Profile, profile_table
from discreet.methods.base import Progress, no_progress
from discreet.pipeline.prepare import prepare


def profile(
    data: Any, job: Job | str | Path | None = None, *, progress: Progress = no_progress
) -> Profile:
    """Profile a table: its identifying columns, and the guarantees that are feasible for it.

    ``data`` is a frame, a path, or None for the job's own source; ``job`` may be a path. Without
    a job, roles are proposed from names and values.
    """
    if job is None:
        return profile_table(read_untyped(data), roles_known=False)
    job = Job.of(job)
    task = prepare(job, data, progress=progress)
    progress("profile", 0.0)
    return profile_table(
        task.table,
        task.hierarchies,
        links=task.links,
        repeated=task.repeated,
        counts_rows=job.unit is not None,
        persons=None if task.persons is None else task.persons.counts,
    )
