"""Measures of a release, whatever its kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from discreet.algorithms.method import Task
from discreet.data.table import CodedTable
from discreet.metrics.measure import measure_generalized
from discreet.metrics.measure_exact import measure_bucketized, measure_decomposed
from discreet.metrics.projected import measure_projected
from discreet.metrics.queries import QueryWorkload
from discreet.releases.bucketized import BucketizedKind
from discreet.releases.decomposed import DecomposedKind
from discreet.releases.generalized import RECORDS
from discreet.releases.manifest import Manifest
from discreet.releases.projected import ProjectedKind


class Utility(Protocol):
    """What the measures of every kind can do."""

    def __str__(self) -> str:
        """For a terminal."""

    def to_dict(self, *, private: bool = False) -> dict[str, Any]:
        """For the manifest, or for the publisher alone with what a release must not hold."""


def measure_release(
    tables: Mapping[str, CodedTable],
    task: Task,
    manifest: Manifest,
    *,
    queries: int = 0,
    seed: int = 0,
) -> Utility:
    """Measure a release of any kind against the original; no queries where none are asked for."""
    workload = QueryWorkload(queries=queries) if queries else None
    if manifest.kind == ProjectedKind.name:
        return measure_projected(tables, task, manifest, workload, seed)
    if manifest.kind == BucketizedKind.name:
        return measure_bucketized(task.table, tables, manifest.suppressed_rows, workload, seed)
    if manifest.kind == DecomposedKind.name:
        return measure_decomposed(task.table, tables, manifest, workload, seed)
    return measure_generalized(
        task.table,
        task.hierarchies,
        tables[RECORDS],
        manifest.suppressed_rows,
        levels=getattr(manifest.method, "levels", None),
        queries=workload,
        seed=seed,
        links=task.links,
    )
