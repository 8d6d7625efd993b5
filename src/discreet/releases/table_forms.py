"""The form of a kind of release: which tables it has, and which columns each may hold.

Whatever a manifest lists is read, but only what the form names is judged. A table or a column
beside it would be published without a guarantee, so an audit refuses it before anything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from discreet.methods.manifest_entry import StatedRelease
from discreet.releases.manifest import Manifest, TableEntry
from discreet.table.roles import Role


@dataclass(frozen=True)
class Form:
    """What a table of a kind may hold."""

    roles: tuple[Role, ...]  # of the attributes that may be in it
    structure: tuple[str, ...] = ()  # columns that the release made: all must be there
    at_will: tuple[str, ...] = ()  # and those that may be
    wanted: Role | None = None  # at least one attribute has this role
    may_lack: bool = False  # whether a release may do without the table


def form_problems(forms: Mapping[str, Form], manifest: Manifest) -> list[str]:
    """Where the tables and columns that a manifest lists are not those of its kind."""
    problems = [
        f"'{name}' is not a table of a {manifest.kind} release"
        for name in manifest.tables
        if name not in forms
    ]
    for name, form in forms.items():
        entry = manifest.tables.get(name)
        if entry is not None:
            problems += _column_problems(name, entry, form)
        elif not form.may_lack:
            problems.append(f"the table '{name}' is missing")
    return problems


def _column_problems(table: str, entry: TableEntry, form: Form) -> Iterator[str]:
    made = (*form.structure, *form.at_will)
    for column, role in entry.columns.items():
        if role not in form.roles and not (role is Role.STRUCTURE and column in made):
            yield f"'{table}' has a column '{column}' ({role}), which does not belong there"
    for column in form.structure:
        if entry.columns.get(column) is not Role.STRUCTURE:
            yield f"'{table}' lacks its column '{column}'"
    if form.wanted is not None and form.wanted not in entry.columns.values():
        yield f"'{table}' has no column with the role '{form.wanted}'"


def name_problems(manifest: Manifest) -> list[str]:
    """Where a manifest names attributes that it does not publish, or says nothing of one.

    A name that is not checked could carry anything.
    """
    published: dict[str, Role] = {}
    problems = []
    for table, entry in manifest.tables.items():
        for name, role in entry.columns.items():
            if role is Role.STRUCTURE:
                continue
            if published.setdefault(name, role) is not role:
                problems.append(f"'{name}' has another role in '{table}' than in other tables")
    problems += [f"'{name}' is in no table" for name in manifest.attributes.keys() - published]
    problems += [
        f"the manifest has no entry for '{name}' under 'attributes'"
        for name in published.keys() - manifest.attributes.keys()
    ]
    sensitive = {name for name, role in published.items() if role is Role.SENSITIVE}
    quasi = {name for name, role in published.items() if role is Role.QUASI_IDENTIFIER}
    problems += [
        f"'{bit}' of the sets of '{attribute}' is not a published sensitive column"
        for attribute, entry in manifest.bitmaps.items()
        for bit in (*entry.members, *(() if entry.rest is None else (entry.rest,)))
        if bit not in sensitive
    ]
    promised = [promise.parameters for promise in manifest.promises]
    problems += manifest.method.problems(StatedRelease(manifest.tables, quasi, promised))
    return sorted(problems)
