"""Measures of a release, whatever its kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from discreet.methods.base import Task
from discreet.releases.manifest import Manifest
from discreet.releases.registry import kind_of
from discreet.table.coded_table import CodedTable
from discreet.utility.figures import Measures, ProjectedMeasures
from discreet.utility.queries import QueryWorkload
from discreet.utility.reading import ImpliedReading

Utility = Measures | ProjectedMeasures


def read_utility(
    tables: Mapping[str, CodedTable], task: Task, manifest: Manifest
) -> ImpliedReading[Measures] | ImpliedReading[ProjectedMeasures]:
    """A release of any kind as measures read it, beside the original."""
    found = kind_of(manifest.kind).reading(tables, task, manifest)
    return found if task.kept is None else replace(found, persons=task.kept)


def measure_release(
    tables: Mapping[str, CodedTable],
    task: Task,
    manifest: Manifest,
    *,
    queries: int = 0,
    seed: int = 0,
    divergence: bool = True,
) -> Utility:
    """Measure a release of any kind against the original; no queries where none are asked for."""
    workload = QueryWorkload(queries=queries) if queries else None
    return read_utility(tables, task, manifest).measured(workload, seed, divergence=divergence)
