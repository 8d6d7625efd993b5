"""What can be guaranteed about a table at best, before any method runs.

Every requirement is closed under merging, so its figure is best where all rows are one class. A
requirement that fails even there is infeasible for every method that forms classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from discreet.addons.studio.opened_table import OpenedTable
from discreet.api.check import judged_task
from discreet.api.settings_grid import Setting, settings_of, suited_settings
from discreet.errors import DiscreetError
from discreet.io.frames import code_series
from discreet.job.model import Job
from discreet.job.table_check import check_table
from discreet.job.table_profile import sensitive_profile
from discreet.methods.base import Task
from discreet.methods.msa_diversity.msa_diversity import MsaDiversity
from discreet.methods.msa_diversity.share_bounds import bounds_of, require_feasible
from discreet.pipeline.prepare import sensitive_marks
from discreet.requirements.base import Requirement
from discreet.table.classes import classes_of
from discreet.table.coded_table import CodedTable, Column
from discreet.table.persons import Persons
from discreet.table.roles import ColumnSpec, Role

JUDGED = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
SHOWN = ("name", "values", "harmless_values", "largest_share")  # of a sensitive column
AS_ASKED = ("mondrian", "local-recoding", "msa-diversity")  # compared with the job's requirements


def feasible_guarantees(opened: OpenedTable, job: Job) -> dict[str, Any]:
    """Return for each requirement of a job its figure now and at best, as plain data."""
    table = _table_of(opened, job)
    persons = opened.persons(() if job.person is None else job.person.column)
    classes = classes_of(table.quasi_identifiers, table.rows)
    marks, _ = sensitive_marks(job, table, {})
    return {
        "rows": table.rows,
        "persons": None if persons is None else persons.count,
        "requirements": [_judged(job, table, persons, one) for one in job.requirements],
        "sensitive": [
            {name: getattr(found, name) for name in SHOWN}
            for column in table.sensitive
            for found in [sensitive_profile(column, classes, None, marks.get(column.name))]
        ],
    }


def _table_of(opened: OpenedTable, job: Job) -> CodedTable:
    """The columns of a job that requirements judge, by its types and roles."""
    columns = {
        name: _as_declared(opened.column(name), job, name)
        for name, attribute in job.attributes.items()
        if attribute.role in JUDGED and attribute.columns is None and name in opened.table.columns
    }
    return CodedTable(columns, opened.table.rows)


def _as_declared(column: Column, job: Job, name: str) -> Column:
    attribute = job.attributes[name]
    spec = ColumnSpec(
        attribute.role,
        attribute.type or column.type,
        attribute.distance,
        attribute.multi_valued,
    )
    declared = code_series(column.text.alias(name), spec, (), f"Column '{name}'")
    return replace(declared, codes=declared.codes[column.codes])


def _judged(
    job: Job, table: CodedTable, persons: Persons | None, requirement: Requirement
) -> dict[str, Any]:
    """Judge one requirement on the table as it is, and on the whole table as one class."""
    try:
        task = judged_task(job, table, [requirement], of_persons=persons is not None)
        now = check_table(task, persons).requirements
        best = check_table(_in_one_class(task), persons).requirements
    except DiscreetError as error:
        return {"requirement": requirement.name, "feasible": None, "text": str(error)}
    failing = sum(one.failing.members for one in now)
    units = table.rows if persons is None else persons.count
    return {
        "requirement": requirement.name,
        "holds_now": all(one.holds for one in now),
        "failing_share_now": min(failing / max(units, 1), 1.0),
        "best": {name: value for one in best for name, value in one.achieved.items()},
        "feasible": all(one.holds for one in best),
    }


def compared_settings(
    opened: OpenedTable, job: Job, larger: Sequence[int] = ()
) -> list[tuple[Setting, str | None]]:
    """Return the settings that a comparison of a job may run, each with why it is infeasible.

    They are those that suit the job, and its own method with some ``larger`` or smaller k.
    """
    table = _table_of(opened, job)
    persons = opened.persons(() if job.person is None else job.person.column)
    asked, *suited = suited_settings(job)
    settings = [asked, *settings_of(job, AS_ASKED, {}), *suited]
    if larger:
        settings += settings_of(job, [job.method.name], {"k": larger})
    judged, jobs = [], []
    for setting in settings:
        reason, settled = _infeasible(setting, job, table, persons)
        if settled is None or settled not in jobs:  # two settings may ask for the same
            judged.append((setting, reason))
            jobs.append(settled)
    return judged


def _infeasible(
    setting: Setting, job: Job, table: CodedTable, persons: Persons | None
) -> tuple[str | None, tuple[Any, ...] | None]:
    """Return why a setting cannot hold for the whole table as one class, and what it asks for."""
    names = [column.name for column in table.sensitive]
    requested = None
    try:
        applied = setting.job(job, names)
        asked = applied.requirements
        requested = (applied.method, asked)
        task = judged_task(applied, table, asked, of_persons=persons is not None)
        applied.method.promises(task)  # raises where the method cannot keep its own
        if isinstance(applied.method, MsaDiversity):
            require_feasible(task, bounds_of(task), applied.method.suppression)
        best = check_table(_in_one_class(task), persons).requirements if asked else ()
    except DiscreetError as error:
        return str(error), requested
    failing = ", ".join(one.requirement.name for one in best if not one.holds)
    return failing or None, requested


def _in_one_class(task: Task) -> Task:
    other_columns = {c.name: c for c in task.table if c.role is not Role.QUASI_IDENTIFIER}
    return replace(task, table=CodedTable(other_columns, task.table.rows, task.table.left_out))
