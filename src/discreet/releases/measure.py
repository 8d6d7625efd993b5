"""Measures of a release, whatever its kind."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from discreet.errors import InputError
from discreet.methods.base import Task
from discreet.releases.manifest import Manifest
from discreet.releases.registry import kind_of
from discreet.table.coded_table import SourceRows, Tables
from discreet.utility.figures import ImpliedReading, Measures, ProjectedMeasures

if TYPE_CHECKING:
    from discreet.knowledge.population_figures import PopulationFigures

Utility = Measures | ProjectedMeasures


def read_utility(
    tables: Tables, task: Task, manifest: Manifest, source_rows: SourceRows | None = None
) -> ImpliedReading[Measures] | ImpliedReading[ProjectedMeasures]:
    """A release of any kind as measures read it, beside the original.

    ``source_rows`` has the original's row behind each row, by which households are known.
    """
    reading = kind_of(manifest.kind).reading(tables, task, manifest)
    risk = _population_risk(tables, task, manifest, source_rows or {})
    reading = replace(reading, population=risk)
    return reading if task.basis.persons is None else replace(reading, persons=task.basis.persons)


def _population_risk(
    tables: Tables, task: Task, manifest: Manifest, source_rows: SourceRows
) -> PopulationFigures | None:
    """The risk that published rows are linked to a population; of one row a person alone."""
    if not kind_of(manifest.kind).has_records or manifest.keeps_rows:
        return None
    ((name, table),) = tables.items()
    people = None
    if task.basis.population is not None:
        levels = manifest.method.levels_of(name) or {}
        try:
            people = task.basis.population.persons_fitting(table, levels)
        except InputError:  # cells that no person of the population fits
            return None
    elif manifest.method.publishes_tight_cells and not manifest.method.rounds_to_grid:
        return None  # cells cover fewer persons than the weights of their rows say
    row = source_rows.get(name)
    household = None if task.basis.household is None or row is None else task.basis.household[row]
    from discreet.knowledge.population_figures import population_figures

    return population_figures(
        table, people=people, size=task.basis.population_size, household=household
    )


def measure_release(
    tables: Tables,
    task: Task,
    manifest: Manifest,
    *,
    divergence: bool = True,
    source_rows: SourceRows | None = None,
) -> Utility:
    """Measure a release of any kind against the original, without queries."""
    reading = read_utility(tables, task, manifest, source_rows)
    return reading.measured(divergence=divergence)
