"""From a ledger to the input of a re-publication method: history, C and the domain."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import InputError
from discreet.io.correlations import read_correlation
from discreet.job.model import Job
from discreet.ledger.history import history_of, past_contents, values_of
from discreet.ledger.terms import domain_of_series, require_same_terms, terms_of
from discreet.methods.base import Task
from discreet.methods.series.beliefs.correlation import Correlation
from discreet.methods.shared.different_values import sole_sensitive
from discreet.table.coded_table import Column, exact_value

if TYPE_CHECKING:
    from discreet.ledger.ledger import Ledger


def with_history(task: Task, job: Job, ledger: Ledger) -> Task:
    """Return the task with the ledger's history; its dictionary is the domain of the series."""
    entries = ledger.entries()
    method = job.method
    correlation = _correlation(job)
    require_same_terms(
        ledger.name, entries, method.name, terms_of(method.parameters(), correlation)
    )
    if not method.needs_history or task.people is None:
        return task
    ledger.require_sound()
    (column,) = sole_sensitive(task.table, method.name)
    past = past_contents(ledger, entries, column.name)
    named = {*(correlation.values if correlation else ()), *method.declared_domain}
    domain = domain_of_series(entries, past, column.name)
    given = column
    column = _with_domain(column, {*values_of(past, column.name), *named, *(domain or ())})
    _require_one_spelling(column)
    if domain is not None:
        _require_inside(given, domain, named)
    table = replace(task.table, columns={**task.table.columns, column.name: column})
    history = history_of(
        past, column.name, task.people, column.text.to_list(), fixed=domain is not None
    )
    task = replace(task, table=table, history=history, correlation=correlation)
    return _with_marks(task, given, column)


def _with_marks(task: Task, given: Column, column: Column) -> Task:
    """Return the task with marks for all values of the series; earlier ones are sensitive."""
    if column.name not in task.sensitive_values:
        return task
    mark = dict(zip(given.text.to_list(), task.sensitive_values[column.name], strict=True))
    marks = np.array([mark.get(text, True) for text in column.text.to_list()], bool)
    return replace(task, sensitive_values={**task.sensitive_values, column.name: marks})


def _correlation(job: Job) -> Correlation | None:
    """Return the correlation table of a job's method, empty where the job names no file."""
    path, unstated = job.method.correlations
    if unstated is None:
        return None
    if path is None:
        return Correlation(unstated=unstated)
    return read_correlation(job.folder / path, unstated)


def _with_domain(column: Column, values: Collection[str | None]) -> Column:
    try:
        return column.with_domain(values)
    except ValueError:
        raise InputError(
            f"Column '{column.name}' has the type {column.type}, and some values of the "
            "correlation table or of 'domain' cannot be read as such. Correct them."
        ) from None


def _require_one_spelling(column: Column) -> None:
    """Refuse a series that writes one number in several ways: an attacker reads one value."""
    texts = column.text.drop_nulls().to_list()
    if len({exact_value(text, column.type) for text in texts}) < len(texts):
        raise InputError(
            f"Column '{column.name}': the table, earlier releases, 'domain' or the correlation "
            "table write one number in several ways, such as 7 and 007. Write every number in its "
            "plain form: 7, not 007 or 7.0."
        )


def _require_inside(
    column: Column, domain: Collection[str | None], named: Collection[str | None]
) -> None:
    """Refuse values outside the domain of the series."""
    known = set(domain)
    remedy = (
        "The domain of a series is fixed by its first rho-different release: its values, those of "
        "the correlation table, and those that the job lists under 'domain'. A value that joins "
        "later would change an attacker's belief about earlier releases."
    )
    outside = np.array([value not in known for value in column.text.to_list()], bool)
    rows = int(outside[column.codes].sum())
    if rows:
        raise InputError(
            f"Column '{column.name}': {rows} rows have a value outside the domain of the series. "
            f"{remedy} Replace these values by a value of the domain, such as a catch-all 'other' "
            "that 'domain' listed from the start; or leave the rows out; or start a new series of "
            "other records with a new ledger."
        )
    added = sum(value not in known for value in named)
    if added:
        raise InputError(
            f"The job's 'domain' or correlation table names {added} values outside the domain of "
            f"the series. {remedy} Remove these values."
        )
