"""A release and its original, opened for a verb that needs both."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.job.model import Job
from discreet.methods.base import Progress, Task
from discreet.pipeline.prepare import prepare
from discreet.pipeline.release import Release
from discreet.regular_files import path_of
from discreet.releases.audit.against_original import as_published
from discreet.releases.audit.audit import read_tables
from discreet.releases.audit.persons import source_rows_beside
from discreet.releases.manifest import Manifest
from discreet.table.coded_table import CodedTable


def opened_release(
    release: Release | str | Path, original: Any, job: Job | None, progress: Progress
) -> tuple[Mapping[str, CodedTable], Task, Manifest]:
    """The published tables, the original and the manifest of a release."""
    if isinstance(release, Release):
        return release.coded_tables(), release.task, release.manifest
    folder = path_of(release, "The release")
    manifest = Manifest.load(folder)
    if job is None:
        task = prepare(job_of_original(original), progress=progress)
    else:
        task = prepare(job, original, progress=progress)
    return read_tables(folder, manifest), as_published(task, manifest), manifest


def source_rows_of(
    release: Release | str | Path, manifest: Manifest
) -> Mapping[str, NDArray[np.int32]] | None:
    """The source row of each published row, where a person has several; None if it is unknown."""
    if not manifest.keeps_rows:
        return None
    if isinstance(release, Release):
        return release.formed.source_rows()
    return source_rows_beside(Path(release))


def job_of_release(release: Release | str | Path, original: Any, job: Job | None) -> Job:
    """The job that made a release."""
    if job is not None:
        return job
    if isinstance(release, Release) and not names_job(original):
        return release.job
    return job_of_original(original)


def names_job(original: Any) -> bool:
    return isinstance(original, Job) or str(original).endswith((".yaml", ".yml"))


def job_of_original(original: Any) -> Job:
    if isinstance(original, Job):
        return original
    if isinstance(original, str | Path):
        return Job.load(original)
    raise InputError(
        f"The original is a job or the path of a job file, not {type(original).__name__}. "
        "To compare with a frame, give its job too: job=…"
    )
