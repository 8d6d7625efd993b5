"""The manifest of a release that is being made, before its audit fills in what it proves."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from discreet import __version__
from discreet.algorithms.method import Task
from discreet.data.roles import Distance, Role, ValueType
from discreet.data.table import Column
from discreet.hierarchies.files import rows_of_hierarchy
from discreet.job import Job
from discreet.models.requirement import Requirement
from discreet.releases.manifest import (
    AttributeEntry,
    BitmapEntry,
    KnowledgeEntry,
    Manifest,
    MethodEntry,
    Promise,
    TableEntry,
)


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
) -> Manifest:
    """What a release says about itself, but for what its audit and its measures find.

    ``masked`` are the sensitive attributes of which some cells are published as ``*``.
    """
    return Manifest(
        discreet=__version__,
        kind=kind,
        method=MethodEntry(name=job.method.name, parameters=job.method.parameters(), **facts),
        tables=tables,
        attributes={c.name: _attribute_entry(c, task, job, c.name in masked) for c in task.table},
        bitmaps={name: BitmapEntry.of(bitmap) for name, bitmap in task.bitmaps.items()},
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


def show_published_leaves(manifest: Manifest, values: Mapping[str, Collection[str | None]]) -> None:
    """Leave out of hierarchies the values that no published row has.

    That they occur at all is known of suppressed people alone. ``values`` are the published ones.
    """
    for name, entry in manifest.attributes.items():
        rows, shown = entry.hierarchy, values.get(name)
        if rows is not None and shown is not None and {row[0] for row in rows}.issuperset(shown):
            entry.hierarchy = [row for row in rows if row[0] in shown]


def promised(task: Task, by_method: Sequence[Requirement]) -> list[Requirement]:
    """The job's requirements, and what the method promises beside them."""
    asked = list(task.requirements)
    return asked + [promise for promise in by_method if promise not in asked]


def _attribute_entry(column: Column, task: Task, job: Job, masked: bool) -> AttributeEntry:
    """What a reader must know to derive the promises about an attribute again."""
    attribute = job.attributes.get(column.name)  # none for a bit
    sensitive = column.role is Role.SENSITIVE
    if masked:  # '*' is no number
        escaped = attribute is not None and attribute.escape
        return AttributeEntry(type=ValueType.TEXT, distance=Distance.EQUAL, escaped=escaped)
    hierarchy = task.hierarchies.get(column.name)
    tree = sensitive and column.distance is Distance.HIERARCHICAL and hierarchy is not None
    return AttributeEntry(
        type=column.type,
        distance=column.distance if sensitive else None,
        multi_valued=column.separator,
        escaped=attribute is not None and attribute.escape,
        hierarchy=rows_of_hierarchy(hierarchy, column) if tree and hierarchy else None,
        knowledge=_knowledge_entry(column, task, job),
    )


def _knowledge_entry(column: Column, task: Task, job: Job) -> KnowledgeEntry | None:
    attribute, knowledge = job.attributes.get(column.name), task.knowledge.get(column.name)
    given = None if attribute is None else attribute.knowledge  # a bit is no attribute of the job
    if given is None or knowledge is None:
        return None
    return KnowledgeEntry(
        columns=given.columns,
        sha256=knowledge.sha256,
        prior="estimated" if knowledge.weight is None else "given",
    )
