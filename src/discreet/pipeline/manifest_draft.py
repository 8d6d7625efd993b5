"""The manifest of a release before any proof: the statements of its job and its method.

A requirement without a meaning for a part of the values, and a method that forms its groups from
all values alike, protect the values too that a job declares non-sensitive. That is stricter, so
always safe, and the publisher is told.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from discreet import __version__
from discreet.errors import InfeasibleError, InputError
from discreet.hierarchies.files import rows_of_hierarchy, rows_of_published
from discreet.io.column_dictionary import render
from discreet.job.model import Job
from discreet.methods.base import Ability, Task
from discreet.methods.registry import method_entry
from discreet.pipeline.engine import FormedTables
from discreet.releases.manifest import (
    AttributeEntry,
    BitmapEntry,
    KnowledgeEntry,
    Manifest,
    PersonEntry,
    Promise,
    RareEntry,
    TableEntry,
)
from discreet.requirements.base import PublishedValues, Requirement, requirements_within
from discreet.requirements.covered_values import LevelledRequirement
from discreet.requirements.judge import covered
from discreet.table.coded_table import Column
from discreet.table.published import PublishedTable
from discreet.table.roles import Distance, Role, ValueType


def draft_manifest(job: Job, tables: FormedTables) -> Manifest:
    """Draft the manifest of a release, without the findings of its audit and its measures."""
    promises = promised(tables.task, (*tables.promises, *job.series_guarantees()), tables.gone)
    return form_manifest(
        job, tables.task, tables.kind, tables.facts, promises, tables.entries, tables.suppressed,
        masked=tables.masked, gone=tables.gone,
    )  # fmt: skip


def form_manifest(
    job: Job,
    task: Task,
    kind: str,
    facts: Mapping[str, Any],
    promises: Sequence[Requirement],
    tables: dict[str, TableEntry],
    suppressed: int,
    *,
    masked: Collection[str] = (),
    gone: Collection[str] = (),
) -> Manifest:
    """Draft the manifest for tables that are given one by one.

    ``masked`` are the sensitive attributes of which some cells are published as ``*``; ``gone``
    the bits that are not published, which the task lacks too.
    """
    # What '*' stands for must be clear.
    if task.secrets.rare is not None and set(masked) & set(task.secrets.rare.attributes):
        raise InputError(
            f"{job.method.name} masks cells itself, so that '*' could stand for any value. Remove "
            "'rare', or use another method."
        )
    parameters = without_names(job.method.parameters(), gone)
    return Manifest(
        discreet=__version__,
        kind=kind,
        method=method_entry(job.method.name, parameters, without_names(dict(facts), gone)),
        tables=tables,
        attributes={c.name: _attribute_entry(c, task, job, c.name in masked) for c in task.table},
        bitmaps={name: BitmapEntry.of(bitmap) for name, bitmap in task.bitmaps.items()},
        secrets=[list(secret) for secret in task.secrets.groups] or None,
        unit=task.basis.unit,
        person=PersonEntry.of(task),
        rare=RareEntry.of(task),
        source_rows=task.table.rows,
        published_rows=task.table.rows - suppressed,
        suppressed_rows=suppressed,
        promises=[
            Promise(
                requirement=requirement.name,
                parameters=requirement.parameters(),
                holds=False,
                achieved={},
            )
            for requirement in promises
        ],
    )


def name_published_values(manifest: Manifest, values: PublishedValues) -> None:
    """Remove from hierarchies and from parameters the values that no published row has.

    Only suppressed people have them. ``values`` are the published ones, by sensitive attribute.
    """
    for name, entry in manifest.attributes.items():
        rows, shown = entry.hierarchy, values.get(name)
        if rows is not None and shown is not None and {row[0] for row in rows}.issuperset(shown):
            entry.hierarchy = rows_of_published(rows, shown, ordered=entry.type.ordered)
    for promise in manifest.promises:
        requirement = promise.to_requirement().naming(values)
        promise.requirement, promise.parameters = requirement.name, requirement.parameters()


def published_bits(task: Task, tables: Iterable[PublishedTable]) -> set[str]:
    """Return the bits that are set in some published row."""
    bits = {bit for bitmap in task.bitmaps.values() for bit in bitmap.bits}
    published = set()
    for column in (column for table in tables for column in table.columns if column.name in bits):
        is_one = (render(column.dictionary) == "1").fill_null(False).to_numpy()
        if is_one[np.unique(column.codes)].any():
            published.add(column.name)
    return published


def require_members(task: Task, gone: Collection[str]) -> None:
    """Raise if no bit of an attribute remains: the column cannot be published at all."""
    for name, bitmap in task.bitmaps.items():
        if gone and set(bitmap.bits) <= set(gone):
            raise InputError(
                f"Column '{name}': every row with a member was suppressed, so nothing of it can "
                "be published. Give it the role 'drop', or ask for less, so that fewer rows are "
                "suppressed."
            )


def without_names(data: Any, gone: Collection[str]) -> Any:
    """Return parameters or facts without the entries of some attributes."""
    if isinstance(data, Mapping):
        return {k: without_names(value, gone) for k, value in data.items() if k not in gone}
    if isinstance(data, list | tuple):
        return [
            without_names(value, gone)
            for value in data
            if not (isinstance(value, str) and value in gone)
        ]
    return data


def promised(
    task: Task, by_method: Sequence[Requirement], gone: Collection[str] = ()
) -> list[Requirement]:
    """The job's requirements, and the method's own guarantees."""
    asked = list(task.requirements)
    others = requirements_within(by_method, task.table.columns, gone)
    return asked + [promise for promise in others if promise not in asked]


def _attribute_entry(column: Column, task: Task, job: Job, masked: bool) -> AttributeEntry:
    """Return the facts that an auditor needs to derive the guarantees about an attribute."""
    attribute = job.attributes.get(column.name)  # none for a bit
    sensitive = column.role is Role.SENSITIVE
    if masked:  # '*' is no number
        escaped = attribute is not None and attribute.escape
        return AttributeEntry(type=ValueType.TEXT, distance=Distance.EQUAL, escaped=escaped)
    hierarchy = task.hierarchies.get(column.name)
    tree = sensitive and hierarchy is not None and _needs_hierarchy(column, task)
    return AttributeEntry(
        type=column.type,
        distance=column.distance if sensitive else None,
        multi_valued=column.separator,
        escaped=attribute is not None and attribute.escape,
        hierarchy=rows_of_hierarchy(hierarchy, column) if tree and hierarchy else None,
        knowledge=_knowledge_entry(column, task, job),
        finest=None if hierarchy is None or sensitive else hierarchy.finest or None,
    )


def _needs_hierarchy(column: Column, task: Task) -> bool:
    """Whether a guarantee about a sensitive attribute follows only with its hierarchy."""
    if column.distance is Distance.HIERARCHICAL:
        return True
    return any(
        isinstance(requirement, LevelledRequirement)
        and requirement.level is not None
        and (not requirement.named or column.name in requirement.named)
        for requirement in task.requirements
    )


def _knowledge_entry(column: Column, task: Task, job: Job) -> KnowledgeEntry | None:
    attribute, knowledge = job.attributes.get(column.name), task.knowledge.get(column.name)
    spec = None if attribute is None else attribute.knowledge  # a bit is no attribute of the job
    if spec is None or knowledge is None:
        return None
    return KnowledgeEntry(
        columns=spec.columns,
        sha256=knowledge.sha256,
        prior="estimated" if knowledge.weight is None else "given",
    )


def _declared(job: Job) -> list[str]:
    """The attributes with values that the job declares sensitive or not."""
    return [
        name
        for name, attribute in job.attributes.items()
        if attribute.sensitive_values is not None or attribute.non_sensitive_values is not None
    ]


@contextmanager
def advising_to_spare(job: Job) -> Iterator[None]:
    """Add to an infeasible run that another method would not protect non-sensitive values."""
    try:
        yield
    except InfeasibleError as error:
        names = _declared(job)
        if not names or Ability.SENSITIVE_VALUES in job.method.abilities:
            raise
        listed = ", ".join(f"'{name}'" for name in names)
        raise InfeasibleError(
            f"{error} {job.method.name} protects all values of {listed} alike; mondrian, "
            "full-domain, local-recoding and codip spare those that are not sensitive.",
            error.failures,
        ) from error


def protected_alike(job: Job, manifest: Manifest) -> list[str]:
    """Return a sentence for each attribute whose non-sensitive values are protected as well."""
    roles = {n: role for one in manifest.tables.values() for n, role in one.columns.items()}
    promised = [promise.to_requirement() for promise in manifest.promises]
    sentences = []
    for name in _declared(job):
        columns = {of for of in roles if of == name or of.startswith(f"{name}=")}  # or its bits
        covering = dict.fromkeys(
            one.name
            for one in promised
            if one.coverage.all_values and columns & set(covered(one, roles))
        )
        if covering:
            sentences.append(
                f"Stricter than asked: as {job.method.name} guarantees it, {' and '.join(covering)}"
                f" also covers those values of '{name}' that the job declares non-sensitive."
            )
    return sentences
