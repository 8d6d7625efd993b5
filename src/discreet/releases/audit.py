"""The audit: every promise derived again from published files alone.

Nothing here knows how a release was made. It reads the files that stand in the folder, checks
them against the manifest (hashes, rows, columns, nothing that does not belong there), forms the
classes anew from the published cells, and judges every requirement on their counts. With the
original table it also checks that nothing was lost or invented.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.algorithms.method import Task
from discreet.data.roles import Distance, Role, ValueType
from discreet.data.spec import ColumnSpec
from discreet.data.table import CodedTable
from discreet.errors import AuditError, ReleaseError
from discreet.hierarchies.files import hierarchy_from_rows
from discreet.io.atomic import hash_of_folder
from discreet.io.source import Source, Tell, tell_nobody
from discreet.io.tables import read_table
from discreet.knowledge.table import Knowledge
from discreet.models.requirement import Domain, Requirement
from discreet.releases.catalog import kind_of
from discreet.releases.linking import linked_domains, other_knowledge, underivable
from discreet.releases.manifest import FILE_NAME, Manifest, Promise, sha256_of
from discreet.releases.picture import Picture, picture_of
from discreet.shown import Shown

REPORT = "report.html"


@dataclass(frozen=True)
class Audit(Shown):
    """What an audit found."""

    promises: tuple[Promise, ...]
    problems: tuple[str, ...]  # contradictions between files, manifest and, if given, original
    compared: bool  # whether the original table was at hand
    readers: tuple[dict[str, Any], ...] = ()  # what readers of the release find beside its promises
    remarks: tuple[str, ...] = ()  # what could not be judged
    picture: Picture = field(default_factory=Picture, repr=False)  # of its groups, for the report

    @property
    def unproved(self) -> tuple[Promise, ...]:
        """The promises that could not be derived from what was at hand."""
        return tuple(promise for promise in self.promises if promise.unproved is not None)

    @property
    def ok(self) -> bool:
        """Whether every promise holds and nothing contradicts anything."""
        return not self.problems and all(promise.holds for promise in self.promises)

    def to_dict(self) -> dict[str, Any]:
        """The audit as plain data."""
        return {
            "ok": self.ok,
            "promises": [promise.model_dump(mode="json") for promise in self.promises],
            "problems": list(self.problems),
            "compared_with_original": self.compared,
            **({"readers": list(self.readers)} if self.readers else {}),
            **({"remarks": list(self.remarks)} if self.remarks else {}),
        }


def require_sound(audit: Audit) -> None:
    """Raise unless an audit found everything in order."""
    if audit.ok:
        return
    broken = [
        f"{promise.requirement} {promise.parameters} does not hold: achieved {promise.achieved}"
        for promise in audit.promises
        if not promise.holds
    ]
    listed = "".join(f"\n  - {line}" for line in [*broken, *audit.problems])
    raise AuditError(f"The release was not published: its own audit refused it.{listed}")


def hash_of_table(path: Path) -> str:
    """The hash of a table's file, or one over all files of a table in several."""
    return hash_of_folder(path) if path.is_dir() else sha256_of(path)


def audit_folder(
    folder: Path,
    original: Task | None = None,
    knowledge: Mapping[str, Knowledge] | None = None,
) -> Audit:
    """Audit a release folder; promises about linked labels need the knowledge or the original."""
    manifest = Manifest.load(folder)
    damages = _damages(folder, manifest)
    if damages:
        return Audit(tuple(_unproved(manifest)), tuple(damages), original is not None)
    return audit_tables(read_tables(folder, manifest), manifest, original, knowledge=knowledge)


def audit_tables(
    tables: Mapping[str, CodedTable],
    manifest: Manifest,
    original: Task | None = None,
    source_rows: Mapping[str, NDArray[np.int32]] | None = None,
    knowledge: Mapping[str, Knowledge] | None = None,
) -> Audit:
    """Audit published tables against a manifest.

    ``source_rows`` is known to whoever made the release: the original's row behind each row.
    ``knowledge`` is that of the original where there is one.
    """
    kind = kind_of(manifest.kind)
    requirements = [promise.to_requirement() for promise in manifest.promises]
    refined = any(requirement.needs_refined_counts for requirement in requirements)
    found = linked_domains(tables, manifest, original, knowledge or {})
    views = kind.views(tables, domains_of(tables, manifest) | found, refined=refined)
    promises = []
    for requirement in requirements:
        reason = underivable(requirement, found, manifest)
        if reason is None:
            promises.append(Promise.of(requirement, kind.verdict(requirement, views)))
        else:
            promises.append(_not_derived(requirement, reason))
    problems = kind.inconsistencies(tables, manifest) + other_knowledge(found, manifest)
    if original is not None:
        if source_rows is None:
            problems += kind.changes(tables, original, manifest)
        else:
            problems += kind.traced_changes(tables, original, manifest, source_rows)
    remarks = () if problems else tuple(kind.remarks(tables))
    by_table = dict(zip(tables, views, strict=False))  # one view a projection, else one in all
    return Audit(
        tuple(promises),
        tuple(problems),
        original is not None,
        remarks=remarks,
        picture=picture_of(by_table, kind),
    )


def read_tables(
    folder: Path, manifest: Manifest, tell: Tell = tell_nobody
) -> dict[str, CodedTable]:
    """The published tables of a folder, coded from what the files say."""
    tables = {}
    for name, entry in manifest.tables.items():
        delimiter = "," if entry.file.endswith(".csv") else None
        source = Source(path=folder / entry.file, delimiter=delimiter)
        tables[name] = read_table(source, specs_of(manifest, name), tell)
    return tables


def specs_of(manifest: Manifest, table: str) -> dict[str, ColumnSpec]:
    """How the columns of a published table are read.

    Quasi-identifiers are cells, so text; so is what the release made, such as the column 'value' of
    a decomposition, whatever attribute has the same name.
    """
    return {
        column: _spec(manifest, column, role)
        for column, role in manifest.tables[table].columns.items()
    }


def _spec(manifest: Manifest, column: str, role: Role) -> ColumnSpec:
    attribute = manifest.attributes.get(column)
    if attribute is None or role in (Role.QUASI_IDENTIFIER, Role.STRUCTURE):
        return ColumnSpec(role, ValueType.TEXT, Distance.EQUAL, None)
    return ColumnSpec(role, attribute.type, attribute.distance, attribute.multi_valued)


def _not_derived(requirement: Requirement, reason: str) -> Promise:
    """A promise that nobody could check: it is not claimed."""
    return Promise(
        requirement=requirement.name,
        parameters=requirement.parameters(),
        holds=False,
        achieved={},
        unproved=reason,
    )


def domains_of(tables: Mapping[str, CodedTable], manifest: Manifest) -> dict[str, Domain]:
    """What the requirements may know about each sensitive attribute, from the release alone."""
    domains = {}
    for table in tables.values():
        for column in table.sensitive:
            attribute = manifest.attributes.get(column.name)
            rows = attribute.hierarchy if attribute else None
            hierarchy = hierarchy_from_rows(column, rows, "manifest") if rows else None
            domains[column.name] = Domain(tuple(column.text.to_list()), column.distance, hierarchy)
    return domains


def _damages(folder: Path, manifest: Manifest) -> list[str]:
    """What does not stand in the folder as the manifest says."""
    expected = {FILE_NAME, REPORT} | {entry.file for entry in manifest.tables.values()}
    problems = [
        f"'{extra}' is in the folder and not in the manifest"
        for extra in sorted(path.name for path in folder.iterdir() if path.name not in expected)
    ]
    for name, entry in manifest.tables.items():
        path = folder / entry.file
        if Path(entry.file).name != entry.file:
            raise ReleaseError(f"{FILE_NAME}: table '{name}' points outside the folder.")
        if not path.exists():
            problems.append(f"'{entry.file}' is missing")
        elif entry.sha256 and hash_of_table(path) != entry.sha256:
            problems.append(f"'{entry.file}' was changed after it was published (sha256)")
    return problems


def _unproved(manifest: Manifest) -> list[Promise]:
    """The promises of a damaged release: none holds until the files are whole."""
    return [promise.model_copy(update={"holds": False}) for promise in manifest.promises]
