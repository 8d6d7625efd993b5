"""The audit: every guarantee derived again from published files alone.

Nothing here knows how a release was made. It reads the files that are in the folder, checks
them against the manifest (hashes, rows, columns, no other content), forms the
classes anew from the published cells, and judges every requirement on their counts. With the
original table it also checks that nothing was lost or invented.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import isclose
from pathlib import Path
from typing import Any

from discreet.errors import AuditError
from discreet.io.signatures import SIGNATURE, is_signed
from discreet.io.source import Tell, ignore_progress
from discreet.io.tables import read_table
from discreet.knowledge.table import Knowledge
from discreet.methods.base import Method, Progress, Task, no_progress
from discreet.regular_files import read_whole
from discreet.releases.audit.against_original import (
    as_published,
    hidden_members,
    unfounded_promises,
    unlike_method,
    unlike_original,
    with_typed_values,
)
from discreet.releases.audit.figures import Picture, misstated_figures
from discreet.releases.audit.files import (
    file_problems,
    form_problems_of_files,
    require_readable,
    source_of_table,
)
from discreet.releases.audit.persons import (
    NOT_IN_THE_FILES,
    TablePersons,
    changed_persons,
    number_form_problems,
    person_problems,
    persons_of_tables,
    promise_on_persons,
    promise_on_terms,
    suppressed_persons,
)
from discreet.releases.audit.row_order import source_order_problems
from discreet.releases.audit.shards import join_shards, judge_shard, not_derived, public_promise
from discreet.releases.kinds.base import ReleaseTally, form_problems, name_problems, number_problems
from discreet.releases.manifest import (
    FILE_NAME,
    Manifest,
    Promise,
    ReaderFinding,
    SinglingOut,
)
from discreet.releases.registry import kind_of
from discreet.releases.singling_out import misstated_singling_out, singling_out
from discreet.requirements.base import TOLERANCE
from discreet.requirements.judge import person_basis
from discreet.result import Result
from discreet.statements import Statement
from discreet.table.coded_table import CodedTable, SourceRows, Tables
from discreet.table.interrupts import interruptible
from discreet.table.persons import PersonBasis
from discreet.table.roles import ColumnSpec, Distance, Role, Unit, ValueType


@dataclass(frozen=True)
class Audit(Result):
    """Result of an audit."""

    promises: tuple[Promise, ...]
    problems: tuple[str, ...]  # contradictions between files, manifest and, if given, original
    compared: bool  # whether the original table was given
    unit: Unit = Unit.ROW  # people only where the original was given and shows one row each
    readers: tuple[ReaderFinding, ...] = ()  # attackers' knowledge beyond its guarantees
    remarks: tuple[str, ...] = ()  # checks that could not be decided
    signed: bool | None = None  # by the trusted key; None where no key was given
    picture: Picture = field(default_factory=Picture, repr=False)  # of its groups, for the report
    tally: ReleaseTally | None = field(default=None, repr=False)  # source of its figures
    series_warnings: tuple[str, ...] = ()  # of a release that joins a series, for the publisher
    singling_out: SinglingOut | None = None  # from the files; None where they are damaged
    # The same of persons, for the publisher, where the files do not say who has which rows.
    persons_singled_out: SinglingOut | None = None

    @property
    def unproved(self) -> tuple[Promise, ...]:
        """The guarantees that could not be derived from the given files."""
        return tuple(promise for promise in self.promises if promise.unproved is not None)

    @property
    def ok(self) -> bool:
        """Whether no problem was found, and every guarantee holds that could be derived.

        ``unproved`` lists the guarantees that could not be derived from the given files.
        """
        return not self.problems and all(
            promise.holds or promise.unproved is not None for promise in self.promises
        )

    def to_dict(self) -> dict[str, Any]:
        """The audit as plain data."""
        return {
            "ok": self.ok,
            "unproved": len(self.unproved),
            "guarantees": [
                {**promise.model_dump(mode="json"), "unproved": promise.unproved}
                for promise in self.promises
            ],
            "problems": list(self.problems),
            "compared_with_original": self.compared,
            **({} if self.signed is None else {"signed": self.signed}),
            **({"attackers": [r.to_dict() for r in self.readers]} if self.readers else {}),
            **({"remarks": list(self.remarks)} if self.remarks else {}),
            **(
                {}
                if self.singling_out is None
                else {"singling_out": self.singling_out.model_dump(mode="json", exclude_none=True)}
            ),
        }


def require_sound(audit: Audit) -> None:
    """Raise unless an audit proved every guarantee and found no problem."""
    if audit.ok and not audit.unproved:
        return
    broken = [
        f"{promise.requirement} {promise.parameters} does not hold: achieved {promise.achieved}"
        for promise in audit.promises
        if not promise.holds
    ]
    listed = "".join(f"\n  - {line}" for line in [*broken, *audit.problems])
    raise AuditError(f"The release was not published: it failed its own audit.{listed}")


def audit_folder(
    folder: Path,
    original: Task | None = None,
    knowledge: Mapping[str, Knowledge] | None = None,
    trust: str | Path | None = None,
    method: Method | None = None,
    source_rows: SourceRows | None = None,
    progress: Progress = no_progress,
) -> Audit:
    """Audit a release folder; guarantees about linked labels need the knowledge or the original.

    ``method`` is that of the original's job: the release must be one that it makes. ``trust`` is
    the public key by which the manifest, and with it every file, must be signed.
    """
    # Files that are damaged or not trusted are not read any further.
    manifest = Manifest.load(folder)
    signed = None if trust is None else is_signed(folder, FILE_NAME, trust)
    remarks: list[str] = []
    damages = file_problems(folder, manifest)
    if signed is None and (folder / SIGNATURE).exists():
        remarks.append("The manifest is signed. The signature was not checked: no key was trusted.")
    if signed is False:
        there = (folder / SIGNATURE).exists()
        damages.append(
            "the manifest does not match the signature of the trusted key"
            if there
            else "the manifest is not signed, but a signature by the trusted key is "
            "required (--trust)"
        )
    if damages:
        promises = tuple(_unproved(manifest))
        return Audit(
            promises, tuple(damages), original is not None, remarks=tuple(remarks), signed=signed
        )
    # Compare what the manifest says of the method and its rows with the job.
    hidden: list[str] = []
    if original is not None:
        hidden = hidden_members(original, manifest)
        original = as_published(original, manifest)
        if method is not None:
            hidden += unlike_method(manifest, original, method)
    # Derive the guarantees from the tables, and judge what no file proves by the job.
    tables = read_tables(folder, manifest, partial(progress, "reading the release"))
    progress("deriving guarantees", 0.0)
    audit = audit_tables(tables, manifest, original, source_rows, knowledge)
    if original is not None and method is not None:
        hidden += unfounded_promises(audit.promises, tables, original, method)
    if original is not None and method is not None and audit.tally is not None:
        persons = persons_of_tables(tables, manifest, original, source_rows)
        if persons is not None:
            hidden += suppressed_persons(persons, manifest, original, method)
    # The form of the files and every figure of the manifest: both could carry anything.
    progress("comparing files", 0.0)
    problems, unknown = form_problems_of_files(folder, manifest, tables, signed=bool(signed))
    problems += [*hidden, *misstated_guarantees(manifest, audit.promises)]
    if read_whole(folder / FILE_NAME) != manifest.to_json().encode():
        problems.append(f"'{FILE_NAME}' is not in the form in which discreet writes it")
    if audit.tally is not None:
        problems += misstated_figures(manifest, audit.tally, audit.picture)
    if audit.singling_out is not None:
        problems += misstated_singling_out(tables, manifest, audit.singling_out)
    if audit.ok and not problems and list(audit.readers) != manifest.readers:
        rows = kind_of(manifest.kind).finding_rows
        if manifest.readers or manifest.published_rows <= rows:  # else its report says why not
            problems.append("the manifest's 'readers' do not match its files")
    return replace(
        audit,
        problems=(*audit.problems, *problems),
        remarks=(*audit.remarks, *unknown, *remarks),
        signed=signed,
    )


def audit_tables(
    tables: Tables,
    manifest: Manifest,
    original: Task | None = None,
    source_rows: SourceRows | None = None,
    knowledge: Mapping[str, Knowledge] | None = None,
    *,
    compared: bool = True,
) -> Audit:
    """Audit published tables against a manifest.

    ``source_rows`` is known to the publisher who made the release: the original's row behind each
    row. ``knowledge`` is that of the original where there is one. Without ``compared``, guarantees
    are derived, but rows and their order are not compared with the original.
    """
    kind = kind_of(manifest.kind)
    # Tables of another shape are not judged at all.
    misshapen = form_problems(kind.forms(len(manifest.tables)), manifest)
    misshapen += number_form_problems(manifest)
    if misshapen:
        return Audit(tuple(_unproved(manifest)), tuple(misshapen), original is not None)
    # Judge the guarantees, and what all originals of these tables have in common.
    shard = interruptible(lambda: judge_shard(tables, manifest, original, knowledge or {}))
    joined = join_shards([shard], manifest)
    problems = [*name_problems(manifest), *miscounted(tables, manifest), *joined.problems]
    worlds = kind.worlds(tables, manifest, source_rows)
    if not problems:
        problems += worlds.problems()
    problems += number_problems(kind, tables) + kind.order_problems(tables)
    # Where persons have several rows, guarantees count persons.
    promises = joined.promises
    persons: Mapping[str, TablePersons] | None = None
    if manifest.keeps_rows:
        persons = persons_of_tables(tables, manifest, original, source_rows)
        promises = tuple(
            _on_persons(promise, persons, tables, manifest, original, knowledge or {})
            for promise in promises
        )
        problems += [] if persons is None else person_problems(tables, manifest, persons)
    # Rows that were lost or invented show beside the original alone.
    untested: list[str] = []
    unchecked = [] if original is not None else _stated_alone(manifest)
    if original is not None and compared:
        changes, untested = _changes(tables, manifest, original, source_rows)
        problems += changes
    return Audit(
        promises,
        tuple(problems),
        original is not None and compared,
        manifest.unit if original is not None or manifest.keeps_rows else Unit.ROW,
        () if problems else tuple(worlds.readers()),
        remarks=() if problems else (*worlds.remarks(), *untested, *unchecked),
        picture=joined.picture,
        tally=joined.tally,
        singling_out=singling_out(tables, manifest),
        persons_singled_out=None
        if persons is None or manifest.keeping.numbered
        else singling_out(tables, manifest, {name: rows.number for name, rows in persons.items()}),
    )


def _stated_alone(manifest: Manifest) -> list[str]:
    """Return what of rare values only the original shows."""
    rare = {} if manifest.rare is None else manifest.rare.attributes
    names = [name for name, entry in rare.items() if entry.masked or entry.lifted]
    return [Statement("rare.stated", columns=names)] if names else []


def _on_persons(
    promise: Promise,
    persons: Mapping[str, TablePersons] | None,
    tables: Tables,
    manifest: Manifest,
    original: Task | None,
    knowledge: Mapping[str, Knowledge],
) -> Promise:
    """Judge a guarantee that counts persons, where rows of one person are published."""
    requirement = promise.to_requirement()
    if persons is None:
        return not_derived(requirement, NOT_IN_THE_FILES)
    if promise.unproved is not None:
        return promise
    if person_basis(requirement) is None:
        return not_derived(requirement, Statement("unproved.several-rows"))
    if person_basis(requirement) is PersonBasis.TERMS:
        ((name, rows),) = persons.items()
        return promise_on_terms(
            promise, tables[name], rows.number, rows.of_class, manifest, original, knowledge
        )
    return promise_on_persons(requirement, persons)


def _changes(
    tables: Tables, manifest: Manifest, original: Task, source_rows: SourceRows | None
) -> tuple[list[str], list[str]]:
    """Return losses and inventions against the original and tables in its order, and remarks."""
    unlike = unlike_original(tables, manifest, original)
    if unlike:
        return unlike, []
    tables, original = with_typed_values(tables, original)
    kind = kind_of(manifest.kind)
    related, untested = source_order_problems(tables, original, manifest)
    related += changed_persons(tables, manifest, original, source_rows)
    return related + kind.changes(tables, original, manifest, source_rows), untested


def read_tables(
    folder: Path, manifest: Manifest, tell: Tell = ignore_progress
) -> dict[str, CodedTable]:
    """The published tables of a folder, coded from the files."""
    require_readable(folder, manifest)
    tables = {}
    for name, entry in manifest.tables.items():
        tables[name] = read_table(source_of_table(folder, entry), specs_of(manifest, name), tell)
    return tables


def specs_of(manifest: Manifest, table: str) -> dict[str, ColumnSpec]:
    """Return the specifications by which the columns of a published table are read.

    Quasi-identifiers are cells, so text; so are columns that the release made, such as the column
    'value' of a decomposition, even if an attribute has the same name.
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


def miscounted(tables: Tables, manifest: Manifest) -> list[str]:
    """Tables whose number of rows is not that of the manifest."""
    return [
        f"the manifest says {entry.rows} rows of '{name}'; it has {tables[name].rows}"
        for name, entry in manifest.tables.items()
        if entry.rows != tables[name].rows
    ]


def misstated_guarantees(manifest: Manifest, derived: Sequence[Promise]) -> list[str]:
    """Guarantees whose statement in the manifest differs from the files."""
    problems = [
        f"the manifest calls {stated.requirement} {stated.parameters} unproved, which no published "
        "release does"
        for stated in manifest.promises
        if stated.unproved is not None
    ]
    public = [public_promise(promise, manifest) for promise in derived]
    return problems + [
        f"the manifest says of {stated.requirement} {stated.parameters} that it "
        f"{_said(stated)}; the files say that it {_said(proved)}"
        for stated, proved in zip(manifest.promises, public, strict=True)
        if proved.unproved is None
        and not (
            stated.holds == proved.holds
            and _same_figures(stated.achieved, proved.achieved)
            and _same_figures(stated.by_attribute, proved.by_attribute, lenient=True)
            and stated.vacuous_for == proved.vacuous_for
        )
    ]


def _said(promise: Promise) -> str:
    figures = {**promise.by_attribute, **promise.achieved}
    nothing = "" if promise.vacuous_for is None else ", and excludes nothing"
    return (
        f"{'holds' if promise.holds else 'does not hold'}, with {figures or 'no figure'}{nothing}"
    )


def _same_figures(
    stated: Mapping[str, float | None], derived: Mapping[str, float | None], lenient: bool = False
) -> bool:
    """Return whether figures agree up to rounding; an unbounded one is null or may be absent."""
    left_out = {
        name for name in derived if name not in stated and lenient and derived[name] is None
    }
    if stated.keys() != derived.keys() - left_out:
        return False
    return all(
        (figure is None and derived[name] is None)
        or (
            figure is not None
            and (other := derived[name]) is not None
            and isclose(figure, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
        )
        for name, figure in stated.items()
    )


def _unproved(manifest: Manifest) -> list[Promise]:
    """Return the guarantees of a damaged release: none is proved until the files are intact."""
    nothing: dict[str, Any] = {"holds": False, "achieved": {}, "by_attribute": {}}
    return [promise.model_copy(update=nothing) for promise in manifest.promises]
