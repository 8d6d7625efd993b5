"""Check that the columns of a release have the roles, types and distances of the job.

A column under another role, or a sensitive one under another distance, would be judged by another
guarantee than the one that was asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from pydantic import ValidationError

from discreet.hierarchies.cells import SUPPRESSED
from discreet.hierarchies.files import rows_of_hierarchy, rows_of_published
from discreet.io.column_dictionary import canonical_text
from discreet.methods.base import Method, Task
from discreet.releases.manifest import Manifest, PersonEntry, Promise, RareEntry
from discreet.requirements.base import Requirement
from discreet.requirements.judge import shown_parameters
from discreet.table.code_maps import code_of_text
from discreet.table.coded_table import CodedTable, Column, Tables
from discreet.table.persons import Scope
from discreet.table.roles import Role, Unit


def unlike_method(manifest: Manifest, task: Task, method: Method) -> list[str]:
    """Return where a release is not one that the job's method makes of its original.

    The method, its parameters, its guarantees beside the requirements, and the rows that it may
    suppress are those of the job.
    """
    if manifest.method.name != method.name:
        return [f"the manifest says the method {manifest.method.name}, the job {method.name}"]
    try:
        stated = type(method).model_validate(manifest.method.parameters).parameters()
    except ValidationError:
        stated = None
    problems = []
    if stated != method.parameters():
        problems.append(f"the parameters of {method.name} are not those of the job")
    # What the method guarantees, and how much it may suppress.
    promised = [promise.to_requirement() for promise in manifest.promises]
    problems += [
        f"{method.name} guarantees {requirement.name} {shown_parameters(requirement)}, and the "
        "release does not"
        for requirement in method.promises(task)
        if requirement not in promised
    ]
    of_persons = task.basis.persons is not None and task.basis.keeping.scope is Scope.PERSONS
    most = None if of_persons else method.most_suppressed(task.table.rows)
    if most is not None and manifest.suppressed_rows > most:
        problems.append(
            f"{manifest.suppressed_rows} rows are suppressed; the job allows at most {most}"
        )
    return problems


def unlike_original(tables: Tables, manifest: Manifest, task: Task) -> list[str]:
    """Return where the manifest's columns and guarantees differ from the original's job."""
    published = {
        name: role
        for entry in manifest.tables.values()
        for name, role in entry.columns.items()
        if role is not Role.STRUCTURE
    }
    # Columns: the same names, under the same roles.
    original = task.table.columns
    unknown = [name for name in published if name not in original]
    lost = [name for name in original if name not in published]
    problems = [
        f"'{name}' is published as {role}; for the original it is {original[name].role}"
        for name, role in published.items()
        if name in original and role is not original[name].role
    ]
    # What the manifest states of persons and rare values follows from the job.
    if manifest.unit is Unit.PERSON and task.basis.unit is not Unit.PERSON:
        problems.append(
            "the manifest says that every person has one row, which no identifier shows"
        )
    if manifest.person != PersonEntry.of(task):
        problems.append("the manifest says something else of a person's rows than the job")
    problems += _other_rare_values(manifest, task)
    problems += [
        f"the manifest says another finest level of '{name}' than the job"
        for name, entry in manifest.attributes.items()
        if name in task.hierarchies and (entry.finest or 0) != task.hierarchies[name].finest
    ]
    if unknown:
        problems.append(f"columns that the original lacks: {', '.join(unknown)}")
    if lost:
        problems.append(f"columns of the original are in no table: {', '.join(lost)}")
    # Every requirement of the job is among the guarantees.
    promised = [promise.to_requirement() for promise in manifest.promises]
    problems += [
        f"the job asks for {requirement.name} {shown_parameters(requirement)}, which the release "
        "does not guarantee"
        for requirement in _asked(tables, task)
        if requirement not in promised
    ]
    return problems or list(_other_distances(tables, manifest, task))


def _other_rare_values(manifest: Manifest, task: Task) -> list[str]:
    """Return the problem of a manifest that says something else of rare values than the job."""
    stated, expected = manifest.rare, RareEntry.of(task)
    if stated is None or expected is None:
        same = stated is expected
    else:
        same = (
            stated.suppressed_rows == expected.suppressed_rows
            and stated.attributes.keys() == expected.attributes.keys()
            and all(
                entry.least == expected.attributes[name].least
                and entry.masked <= expected.attributes[name].masked
                and entry.lifted.keys() <= expected.attributes[name].lifted.keys()
                for name, entry in stated.attributes.items()
            )
        )
    return [] if same else ["the manifest says something else of rare values than the job"]


def unfounded_promises(
    derived: Sequence[Promise], tables: Tables, task: Task, method: Method
) -> list[str]:
    """Return guarantees that no file proves, and that neither the job nor its method gives.

    A guarantee beyond the job is welcome where it follows from the files. Any other was invented.
    """
    expected = [*_asked(tables, task), *method.promises(task)]
    return [
        f"the manifest guarantees {promise.requirement} {promise.parameters}, which the job does "
        "not ask for and the files do not prove"
        for promise in derived
        if promise.unproved is not None and promise.to_requirement() not in expected
    ]


def _asked(tables: Tables, task: Task) -> list[Requirement]:
    """Return the requirements of a job, with the published values that they name."""
    values = {c.name: set(c.text.to_list()) for table in tables.values() for c in table.sensitive}
    return [requirement.naming(values) for requirement in task.requirements]


def _other_distances(tables: Tables, manifest: Manifest, task: Task) -> Iterator[str]:
    """Yield a problem for each sensitive attribute whose type or distance is not the job's."""
    for table in tables.values():
        for column in table.sensitive:
            source = task.table[column.name]
            if _is_masked(column, source):
                continue
            same = (column.type, column.distance) == (source.type, source.distance)
            if not same or _other_tree(column, manifest, task):
                yield (
                    f"the manifest says '{column.name}' is {column.type} with the "
                    f"{column.distance} distance, not as the job has it"
                )


def _is_masked(column: Column, source: Column) -> bool:
    """Return whether some cells are ``*``, so that the column is not numeric any more."""
    return SUPPRESSED in column.text.to_list() and SUPPRESSED not in source.text.to_list()


def _other_tree(column: Column, manifest: Manifest, task: Task) -> bool:
    entry = manifest.attributes.get(column.name)
    hierarchy = task.hierarchies.get(column.name)
    if entry is None or entry.hierarchy is None:
        return False
    if hierarchy is None:
        return True
    rows = rows_of_hierarchy(hierarchy, task.table[column.name])
    shown = {row[0] for row in entry.hierarchy}
    known = rows_of_published(rows, shown, ordered=entry.type.ordered)
    return any(row not in known for row in entry.hierarchy)


def with_typed_values(tables: Tables, task: Task) -> tuple[dict[str, CodedTable], Task]:
    """Return release and original with numbers compared by value where a file holds no spellings.

    An insensitive column keeps the spellings of the source in a CSV file, and is compared letter by
    letter there; a Parquet file holds the numbers of its declared type.
    """
    typed = {
        column.name
        for table in tables.values()
        for column in table.insensitive
        if column.type.ordered
        and column.values.dtype != pl.String
        and task.table[column.name].values.dtype == pl.String
    }

    if not typed:  # the same tables keep the values derived from them
        return dict(tables), task

    def compared_by_value(table: CodedTable) -> CodedTable:
        columns = {c.name: _by_value(c) if c.name in typed else c for c in table}
        return replace(table, columns=columns)

    compared = {name: compared_by_value(table) for name, table in tables.items()}
    return compared, replace(task, table=compared_by_value(task.table))


def _by_value(column: Column) -> Column:
    """Return a column in which all spellings of a number are one value, with its canonical text."""
    text = canonical_text(column.text, column.type)
    distinct = text.unique(maintain_order=True)
    code = code_of_text(distinct, text).astype(np.int32)
    _, first = np.unique(code, return_index=True)
    numbers = None if column.numbers is None else column.numbers[first]
    codes = code.take(column.codes)
    return replace(column, codes=codes, text=distinct, values=distinct, numbers=numbers)


def as_published(task: Task, manifest: Manifest) -> Task:
    """Return the original without the bits of members that no published row has."""
    return task.without(_absent_bits(task, manifest))


def _absent_bits(task: Task, manifest: Manifest) -> set[str]:
    published = {name for entry in manifest.tables.values() for name in entry.columns}
    return {
        bit
        for name, bitmap in task.bitmaps.items()
        if published.intersection(bitmap.bits)
        for bit in bitmap.bits
        if bit not in published
    }


def hidden_members(task: Task, manifest: Manifest) -> list[str]:
    """Return a problem where more people have a member that is not published than may be hidden.

    A method that masks cells hides members of published people too.
    """
    if manifest.method.masks_cells:
        return []
    most = 0
    for bit in _absent_bits(task, manifest):
        column = task.table[bit]
        ones = (column.text == "1").fill_null(False).to_numpy()
        most = max(most, int(column.counts[ones].sum()))
    if most <= manifest.suppressed_rows:
        return []
    return [
        f"{most} rows of the original have a set member that no table has a column for, and "
        f"{manifest.suppressed_rows} rows are said to be suppressed"
    ]
