"""Profile a table before it is published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from discreet.errors import InputError
from discreet.io.in_place import Place, coded_counts, numbered_persons
from discreet.job.identifying import Uses
from discreet.job.model import Job
from discreet.job.proposing.untyped_table import read_untyped
from discreet.job.table_profile import Profile, profile_table, share_of_unique
from discreet.knowledge.population_figures import (
    PopulationFigures,
    persons_of_classes,
    population_figures,
)
from discreet.methods.base import Progress, Task, no_progress
from discreet.pipeline.prepare import prepare, prepare_task
from discreet.pipeline.read import (
    SourceRows,
    counting_place,
    of_persons,
    require_columns,
    specs_of_job,
    specs_of_others,
)
from discreet.table.coded_table import Column
from discreet.table.roles import Role


def profile(
    data: Any,
    job: Job | Mapping[str, Any] | str | Path | None = None,
    *,
    source: Mapping[str, Any] | None = None,
    table: str | None = None,
    query: str | None = None,
    progress: Progress = no_progress,
) -> Profile:
    """Profile a table: its identifying columns, and the guarantees that are feasible for it.

    ``data`` is a frame, a path, the URL of a database (with its ``table`` or a ``query``), or None
    for the job's own source; ``job`` may be a path. Without a job, a file is read by the options of
    ``source``, such as ``{"sheet": "People"}``, and roles are proposed from names and values. With
    one, a database counts by itself.
    """
    if job is None:
        untyped = read_untyped(data, options=source, table=table, query=query)
        result = profile_table(untyped.table, roles_known=False)
        return replace(result, notices=untyped.notices)
    if source:
        raise InputError("A job says how to read its source. Give options without a job.")
    job = Job.of(job)
    # Rows are read, unless a database counts them.
    place = _place(job, data, table, query)
    further: list[Column] = []
    if place is None:
        task = prepare(job, data, progress=progress)
        known = task.table.quasi_identifiers
    else:
        progress("counting", 0.0)
        counted, further, known = _count(job, place)
        task = prepare_task(job, counted, progress=progress)
    progress("profile", 0.0)
    # Persons, where several rows may be of one.
    one_row_each = None if task.basis.one_row_each is None else task.basis.one_row_each.counts
    return profile_table(
        task.table,
        task.hierarchies,
        links=task.links,
        repeated=task.basis.repeated,
        counts_rows=job.unit is not None,
        persons=one_row_each if task.basis.persons is None else task.basis.persons.counts,
        unique=None if task.basis.persons is None else share_of_unique(known, task.basis.persons),
        further=further,
        population=None if task.basis.persons is not None else _population(task),
        sensitive_values=task.secrets.sensitive_values,
    )


def _population(task: Task) -> PopulationFigures | None:
    """The risk that rows of the original are linked to the population."""
    if task.table.weights is not None:
        return None
    return population_figures(
        task.table,
        people=persons_of_classes(task.table, task.basis.population),
        size=task.basis.population_size,
        household=task.basis.household,
    )


def _place(job: Job, data: Any, table: str | None, query: str | None) -> Place | None:
    """The database that counts in place; None where rows are read.

    Rows are read where the order of a person's rows matters, and where columns are joined.
    """
    ordered = job.person is not None and job.person.order is not None
    if ordered or any(attribute.columns for attribute in job.attributes.values()):
        return None
    return counting_place(job, data, table, query)


def _count(job: Job, place: Place) -> tuple[SourceRows, list[Column], list[Column]]:
    """Count the columns that disclose together, and each insensitive one alone.

    Returns the source, the columns that were counted alone and, where persons keep their rows, the
    quasi-identifiers of the rows whose persons the source has.
    """
    # What each column is read as.
    present = place.columns()
    specs = specs_of_job(job) | specs_of_others(job, present)
    require_columns(present, specs, place.name)
    missing = job.source.missing if job.source else ()
    together = {name: one for name, one in specs.items() if one.role.published}
    # Rows that are collapsed are needed with their persons.
    person = job.person
    if person is not None and person.rows == "collapse":
        table, persons = coded_counts(place, together, person.column, missing)
        assert persons is not None
        return of_persons(job, person, SourceRows(table, {}), persons), [], []
    # Unchanged columns are counted alone, the others together.
    unchanged = [name for name, one in together.items() if one.role.unchanged]
    alone = {name: together.pop(name) for name in unchanged}
    further = [
        coded_counts(place, {name: one}, (), missing)[0][name] for name, one in alone.items()
    ]
    if person is None:
        uses = {name: _uses(place, name) for name in job.with_role(Role.IDENTIFIER)}
        return SourceRows(coded_counts(place, together, (), missing)[0], uses), further, []
    # Persons with one row each are counted; with several, their quasi-identifiers are.
    source = SourceRows(coded_counts(place, together, (), missing)[0], {})
    if person.rows == "one":
        counted = place.count((), person.column)
        assert counted.person is not None
        persons = numbered_persons(np.repeat(counted.person, counted.times))
        return of_persons(job, person, source, persons), further, []
    quasi = {name: one for name, one in together.items() if one.role is Role.QUASI_IDENTIFIER}
    known, persons = coded_counts(place, quasi, person.column, missing)
    assert persons is not None
    return of_persons(job, person, source, persons), further, list(known)


def _uses(place: Place, name: str) -> Uses:
    """Count how often the values of an identifier are used."""
    counted = place.count((), (name,))
    rows = counted.times if counted.person is None else counted.times[counted.person >= 0]
    return Uses(int(rows.sum()), len(rows), int(rows.max(initial=0)))
