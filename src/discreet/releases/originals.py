"""Whether a release speaks of the columns of its original, and of each as the job does.

A column under another role, or a sensitive one under another distance, would be judged by another
promise than the one that was asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from discreet.algorithms.method import Task
from discreet.data.roles import Role
from discreet.data.table import CodedTable, Column
from discreet.hierarchies.cells import SUPPRESSED
from discreet.hierarchies.files import rows_of_hierarchy
from discreet.releases.manifest import Manifest


def unlike_original(tables: Mapping[str, CodedTable], manifest: Manifest, task: Task) -> list[str]:
    """What the manifest says of columns and promises that the original and its job do not."""
    published = {
        name: role
        for entry in manifest.tables.values()
        for name, role in entry.columns.items()
        if role is not Role.STRUCTURE
    }
    original = task.table.columns
    unknown = [name for name in published if name not in original]
    lost = [name for name in original if name not in published]
    problems = [
        f"'{name}' is published as {role}; for the original it is {original[name].role}"
        for name, role in published.items()
        if name in original and role is not original[name].role
    ]
    if unknown:
        problems.append(f"columns that the original lacks: {', '.join(unknown)}")
    if lost:
        problems.append(f"columns of the original are in no table: {', '.join(lost)}")
    promised = [promise.to_requirement() for promise in manifest.promises]
    problems += [
        f"the job asks for {asked.name} {asked.parameters()}, which the release does not promise"
        for asked in task.requirements
        if asked not in promised
    ]
    return problems or list(_other_distances(tables, manifest, task))


def _other_distances(
    tables: Mapping[str, CodedTable], manifest: Manifest, task: Task
) -> Iterator[str]:
    """Sensitive attributes whose values are as far from each other as the job says."""
    for table in tables.values():
        for column in table.sensitive:
            source = task.table[column.name]
            if _is_masked(column, source):
                continue
            same = (column.type, column.distance) == (source.type, source.distance)
            if not same or _other_tree(column.name, manifest, task):
                yield (
                    f"the manifest says '{column.name}' is {column.type} with the "
                    f"{column.distance} distance, not as the job has it"
                )


def _is_masked(column: Column, source: Column) -> bool:
    """Whether some cells are ``*``, so that the others are no numbers any more."""
    return SUPPRESSED in column.text.to_list() and SUPPRESSED not in source.text.to_list()


def _other_tree(name: str, manifest: Manifest, task: Task) -> bool:
    entry = manifest.attributes.get(name)
    if entry is None or entry.hierarchy is None or name not in task.hierarchies:
        return False
    rows = rows_of_hierarchy(task.hierarchies[name], task.table[name])
    return any(row not in rows for row in entry.hierarchy)
