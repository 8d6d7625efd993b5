"""Publish a table: the main job from Python, on one machine or on Spark."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, overload

from discreet.io.frames import is_spark_frame, plain_frame
from discreet.job.model import Job
from discreet.methods.base import Progress, no_progress
from discreet.methods.full_domain.full_domain import minimal_nodes as find_minimal_nodes
from discreet.pipeline.engine import Engine, engine_named
from discreet.pipeline.prepare import prepare
from discreet.pipeline.record import ledger_for_reading
from discreet.pipeline.release import Release
from discreet.pipeline.run import make_release, prove_release
from discreet.table.interrupts import interruptible

if TYPE_CHECKING:
    import polars as pl

    PolarsFrame = TypeVar("PolarsFrame", pl.DataFrame, pl.LazyFrame)


@overload
def publish(
    data: str | Path | None,
    job: Job | Mapping[str, Any] | str | Path,
    *,
    seed: int | None = None,
    progress: Progress = no_progress,
) -> Release[pl.DataFrame]: ...


@overload
def publish(
    data: PolarsFrame,
    job: Job | Mapping[str, Any] | str | Path,
    *,
    seed: int | None = None,
    progress: Progress = no_progress,
) -> Release[PolarsFrame]: ...


@overload
def publish(
    data: Any,
    job: Job | Mapping[str, Any] | str | Path,
    *,
    seed: int | None = None,
    progress: Progress = no_progress,
) -> Release[Any]: ...


def publish(
    data: Any,
    job: Job | Mapping[str, Any] | str | Path,
    *,
    seed: int | None = None,
    progress: Progress = no_progress,
) -> Release[Any]:
    """Make a release of a table in memory, audited as it would be published.

    ``data`` is a pandas, Polars or Arrow table, an object with the Arrow PyCapsule interface such
    as a DuckDB relation, a path, or None for the job's own source; ``job`` may be a path. With a
    ledger, the method takes earlier releases into account; ``save`` records the new one. A Spark
    data frame is published on Spark, in files that are removed with the release unless it is saved.
    ``seed`` makes the method reproducible; the order of rows and the numbers of groups are always
    drawn from secret entropy.
    """
    job, data = Job.of(job), plain_frame(data)
    engine: Engine[Any, Any] | None = None
    if is_spark_frame(data):
        engine = engine_named("spark").of_frame(data)
    with ledger_for_reading(job) as ledger:
        release = make_release(
            data, job, seed=seed, progress=progress, ledger=ledger, engine=engine
        )
        return prove_release(release, progress, ledger)


def minimal_nodes(data: Any, job: Job | Mapping[str, Any] | str | Path) -> list[dict[str, int]]:
    """All minimal full-domain recodings that meet a job's requirements, by their levels."""
    task = prepare(Job.of(job), data)
    return interruptible(lambda: find_minimal_nodes(task))
