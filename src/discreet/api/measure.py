"""Measure the utility of a release against the original."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from discreet.api.compare import Original, School
from discreet.api.opened_release import job_of_release, names_job, opened_release
from discreet.job.model import Job
from discreet.methods.base import Progress, no_progress
from discreet.pipeline.release import Release
from discreet.releases.measure import Utility, read_utility


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
    """Measure the utility of a release against the original.

    ``original`` is a job or the path of one; for a release in memory, or with ``job``, it may be
    the frame that was published. The job (``measure:``) gives the number and the kinds of queries,
    unless ``queries`` gives their number. ``learning`` runs the job again on 70 % of the people,
    learns from that release, and tests on the others.
    """
    tables, task, manifest = opened_release(release, original, job, progress)
    described = job_of_release(release, original, job)
    progress("measures", 0.0)
    reading = read_utility(tables, task, manifest)
    measures: Utility = reading.measured(
        described.measure.workload(queries), seed, divergence=described.measure.divergence
    )
    if not learning:
        return measures
    by_frame = job is not None or (isinstance(release, Release) and not names_job(original))
    people = Original.read(described, original if by_frame else None, progress)
    school = School(people, described.measure.targets, seed)
    return replace(measures, learning=school.learning(people.job, seed, progress))
