"""Measures of a release, whatever its kind."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.methods.base import Task
from discreet.releases.kinds.bucketized.tables import BucketizedKind
from discreet.releases.kinds.decomposed.tables import DecomposedKind
from discreet.releases.kinds.generalized.implied import read_generalized
from discreet.releases.kinds.generalized.tables import RECORDS
from discreet.releases.kinds.measure_exact import read_bucketized, read_decomposition
from discreet.releases.kinds.projected.implied import read_projected
from discreet.releases.kinds.projected.tables import ProjectedKind
from discreet.releases.manifest import Manifest
from discreet.table.coded_table import CodedTable
from discreet.utility.figures import Measures, ProjectedMeasures
from discreet.utility.queries import QueryWorkload
from discreet.utility.reading import ImpliedReading

Utility = Measures | ProjectedMeasures


def read_utility(
    tables: Mapping[str, CodedTable], task: Task, manifest: Manifest
) -> ImpliedReading[Measures] | ImpliedReading[ProjectedMeasures]:
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
        levels=manifest.method.levels_of(RECORDS),
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
