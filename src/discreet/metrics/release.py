"""Measures of a release, whatever its kind."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.algorithms.method import Task
from discreet.data.table import CodedTable
from discreet.metrics.figures import Measures, ProjectedMeasures
from discreet.metrics.measure import read_generalized
from discreet.metrics.measure_exact import read_bucketized, read_decomposition
from discreet.metrics.projected import read_projected
from discreet.metrics.queries import QueryWorkload
from discreet.metrics.reading import Reading
from discreet.releases.bucketized import BucketizedKind
from discreet.releases.decomposed import DecomposedKind
from discreet.releases.generalized import RECORDS
from discreet.releases.manifest import Manifest
from discreet.releases.projected import ProjectedKind

Utility = Measures | ProjectedMeasures


def read_utility(
    tables: Mapping[str, CodedTable], task: Task, manifest: Manifest
) -> Reading[Measures] | Reading[ProjectedMeasures]:
    """A release of any kind as measures read it, beside the original."""
    if manifest.kind == ProjectedKind.name:
        return read_projected(tables, task, manifest)
    if manifest.kind == BucketizedKind.name:
        return read_bucketized(task.table, tables, manifest)
    if manifest.kind == DecomposedKind.name:
        return read_decomposition(task.table, tables, manifest)
    return read_generalized(
        task.table,
        task.hierarchies,
        tables[RECORDS],
        manifest.suppressed_rows,
        levels=getattr(manifest.method, "levels", None),
        links=task.links,
    )


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
    return read_utility(tables, task, manifest).measured(workload, seed)
