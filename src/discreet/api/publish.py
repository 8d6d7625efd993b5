"""Publish a table: the main job from Python, on one machine or on Spark."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from discreet.io.frames import is_spark_frame
from discreet.job.model import Job
from discreet.methods.base import Progress, no_progress
from discreet.methods.full_domain.full_domain import minimal_nodes as find_minimal_nodes
from discreet.pipeline.prepare import prepare
from discreet.pipeline.record import open_ledger
from discreet.pipeline.run import Release, audit_in_memory, make_release
from discreet.pipeline.verify import verify_attacks
from discreet.releases.measure import measure_release
from discreet.table.interrupts import interruptible


def publish(
    data: Any, job: Job, *, seed: int | None = None, progress: Progress = no_progress
) -> Release:
    """Make a release of a table in memory, audited as it would be published.

    ``data`` is a pandas, Polars or Arrow table, a path, or None for the job's own source. With a
    ledger, the release knows what was published before; ``save`` records it. A Spark data frame is
    published on Spark, in files: its release has the same manifest, audit, tables and save.
    ``seed`` makes the method reproducible; the order of rows and the numbers of groups are drawn
    from secret entropy all the same.
    """
    if is_spark_frame(data):
        from discreet.engines.spark.publishing import publish_frame

        made: Any = publish_frame(data, job, seed=seed, progress=progress)
        return made  # type: ignore[no-any-return]
    ledger = open_ledger(job)
    with nullcontext() if ledger is None else ledger:
        if ledger is not None:
            ledger.settled()
        release = make_release(data, job, seed=seed, progress=progress, ledger=ledger)
        tables = audit_in_memory(release, progress, ledger)
    release.attacks = verify_attacks(job, tables, release.task, release.manifest, progress)
    measures = measure_release(tables, release.task, release.manifest)
    release.private["utility"] = measures.to_dict(private=True)
    return release


def minimal_nodes(data: Any, job: Job) -> list[dict[str, int]]:
    """All minimal full-domain recodings that meet a job's requirements, by their levels."""
    task = prepare(job, data)
    return interruptible(lambda: find_minimal_nodes(task))
