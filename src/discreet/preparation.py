"""From a job and its data to the task that a method runs on."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from discreet.algorithms.method import Progress, Task, no_progress
from discreet.algorithms.signatures import sole_sensitive
from discreet.data.roles import Role, ValueType
from discreet.data.spec import ColumnSpec
from discreet.data.table import CodedTable, Column
from discreet.errors import HierarchyError, InputError, JobError
from discreet.hierarchies.cells import escaped, looks_like_notation
from discreet.hierarchies.hierarchy import Hierarchy
from discreet.hierarchies.specs import Automatic
from discreet.io.correlations import read_correlation
from discreet.io.databases import read_frame
from discreet.io.frames import code_frame, frame_columns
from discreet.io.names import check_columns
from discreet.io.source import Source
from discreet.io.tables import column_names, read_table
from discreet.job import Job
from discreet.ledger.history import history_of, past_contents, values_of
from discreet.ledger.keys import People, hash_people
from discreet.ledger.ledger import Ledger
from discreet.ledger.record import require_people
from discreet.models.correlation import Correlation

_NOTATION_START = r"^\s*[\[{*]"


def prepare(
    job: Job,
    data: Any = None,
    *,
    rng: np.random.Generator | None = None,
    progress: Progress = no_progress,
    ledger: Ledger | None = None,
) -> Task:
    """Read the data (the job's own source if none is given), build hierarchies, check it all.

    With a ledger, the keyed hashes of people and what was published before come along.
    """
    progress("reading", 0.0)
    table, people = _read(job, data, ledger)
    progress("hierarchies", 0.0)
    hierarchies = _build_hierarchies(job, table)
    table, hierarchies = _guard_notation(job, table, hierarchies)
    task = Task(table, hierarchies, job.requirements, rng or np.random.default_rng(), progress)
    if ledger is not None and people is not None:
        progress("ledger", 0.0)
        task = _with_history(replace(task, people=people), job, ledger)
    problems = [
        f"requirements[{number}]: {problem}"
        for number, requirement in enumerate(job.requirements)
        for problem in requirement.problems(task.domains)
    ]
    if problems:
        raise JobError(problems)
    return task


def read_data(job: Job, data: Any = None) -> CodedTable:
    """The coded table of a job, from its source, from a path or from a frame."""
    return _read_columns(job, data, None)


def _read(job: Job, data: Any, ledger: Ledger | None) -> tuple[CodedTable, People | None]:
    """The coded table and, for a ledger, the keyed hash of every row's person."""
    if ledger is None:
        return read_data(job, data), None
    person = job.person
    table = _read_columns(job, data, person)
    columns = dict(table.columns)
    named = columns.pop(person)
    if named.has_null:
        lacking = int((named.codes == named.cardinality - 1).sum())
        raise InputError(
            f"Column '{person}': {lacking} rows have no identifier. A ledger knows people by it; "
            "fill the cells in, or leave the rows out."
        )
    hashes = hash_people(named.text.to_list(), ledger.key)
    people = hashes[named.codes]
    require_people(people, person)
    table = replace(table, columns=columns, left_out=(*table.left_out, person))
    return table, people


def _with_history(task: Task, job: Job, ledger: Ledger) -> Task:
    """The task with what the ledger knows, and with a dictionary that has all earlier values."""
    if not job.method.needs_history or task.people is None:
        return task
    ledger.require_sound()
    (column,) = sole_sensitive(task.table, job.method.name)
    past = past_contents(ledger, column.name)
    correlation = None
    named: set[str | None] = set()
    path, unstated = job.method.correlations
    if unstated is not None:
        correlation = (
            Correlation(unstated=unstated)
            if path is None
            else read_correlation(job.folder / path, unstated)
        )
        named = correlation.values
    column = column.with_domain({*values_of(past, column.name), *named})
    table = replace(task.table, columns={**task.table.columns, column.name: column})
    history = history_of(past, column.name, task.people, column.text.to_list())
    return replace(task, table=table, history=history, correlation=correlation)


def _read_columns(job: Job, data: Any, person: str | None) -> CodedTable:
    """The coded table; ``person`` names an identifier that is to be coded too."""
    specs = {
        name: ColumnSpec(attribute.role, attribute.type, attribute.distance, attribute.multi_valued)
        for name, attribute in job.attributes.items()
    }
    if person is not None:
        specs[person] = ColumnSpec(Role.INSENSITIVE, ValueType.TEXT)
    if data is None and job.source is not None and job.source.url is not None:
        source = job.source
        data = read_frame(str(source.url), job.folder, source.table, source.query)
        _require_columns(frame_columns(data), specs, "the database's table")
        return code_frame(data, specs, source.missing)
    if data is None or isinstance(data, str | Path):
        source = source_of(job, data)
        _require_columns(column_names(source), specs, str(source.path))
        return read_table(source, specs)
    _require_columns(frame_columns(data), specs, "the table")
    return code_frame(data, specs, job.source.missing if job.source else ())


def source_of(job: Job, path: str | Path | None = None) -> Source:
    """The source that a job reads; a given path stands in for the job's own."""
    if path is not None:
        elsewhere = {"path", "url", "table", "query"}
        given = {} if job.source is None else job.source.model_dump(exclude=elsewhere)
        return Source(path=Path(path), **given)
    if job.source is None:
        raise InputError("The job has no source and no data was given. Add 'source: {path: …}'.")
    return job.source.model_copy(update={"path": job.folder / job.source.path})


def _require_columns(present: Sequence[str], named: Collection[str], place: str) -> None:
    problems = check_columns(present, named)
    if problems:
        raise JobError(problems, place)


def _build_hierarchies(job: Job, table: CodedTable) -> dict[str, Hierarchy]:
    """The hierarchy of every column that has one; all problems at once."""
    built: dict[str, Hierarchy] = {}
    problems: list[str] = []
    for column in table:
        spec = job.attributes[column.name].hierarchy
        if spec is None and column.role is Role.QUASI_IDENTIFIER and job.method.needs_hierarchies:
            spec = Automatic()
        if spec is None:
            continue
        try:
            built[column.name] = spec.build(column, job.folder)
        except HierarchyError as error:
            problems.append(str(error))
    if problems:
        raise HierarchyError("\n".join(problems))
    return built


def _guard_notation(
    job: Job, table: CodedTable, hierarchies: dict[str, Hierarchy]
) -> tuple[CodedTable, dict[str, Hierarchy]]:
    """Refuse, or escape where the job says so, source values that look like published notation."""
    columns = dict(table.columns)
    refused: list[str] = []
    for column in table:
        if column.role not in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
            continue
        if job.attributes[column.name].escape:
            columns[column.name], hierarchies = _escape(column, hierarchies)
        elif _notation_values(column):
            refused.append(column.name)
    if refused:
        names = ", ".join(repr(name) for name in refused)
        raise InputError(
            f"Column {names}: some values are '*' or look like a range '[a, b]' or a set "
            "'{a, b}' and would be misread in a release. Change them, or add 'escape: true' to the "
            "attribute, which publishes them behind a backslash."
        )
    return replace(table, columns=columns), hierarchies


def _notation_values(column: Column) -> Sequence[str]:
    text = column.text.drop_nulls()
    suspects = text.filter(text.str.contains(_NOTATION_START))
    return [value for value in suspects.to_list() if looks_like_notation(value)]


def _escape(
    column: Column, hierarchies: dict[str, Hierarchy]
) -> tuple[Column, dict[str, Hierarchy]]:
    text = [None if value is None else escaped(value) for value in column.text.to_list()]
    series = pl.Series(column.text.name, text, dtype=pl.String)
    hierarchy = hierarchies.get(column.name)
    if hierarchy is not None:
        leaves = replace(hierarchy.levels[0], labels=tuple(text))
        levels = (leaves, *hierarchy.levels[1:])
        hierarchies = {**hierarchies, column.name: replace(hierarchy, levels=levels)}
    return replace(column, text=series, values=series), hierarchies
