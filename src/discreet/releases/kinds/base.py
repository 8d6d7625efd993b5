"""The seam between a kind of release and everything that reads one.

A kind says how an outcome becomes published tables, and how the counts that prove it safe are
derived again from such tables alone. Audit, measures and attacks go through it, so a new kind of
release is one new file.

The form of a kind of release: which tables it has, and which columns each may hold.

Whatever a manifest lists is read, but only what the form names is judged. A table or a column
beside it would be published without a guarantee, so an audit refuses it before anything else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import polars as pl

from discreet.methods.base import Task
from discreet.methods.manifest_entry import StatedRelease
from discreet.releases.adversary_view import AdversaryView
from discreet.releases.manifest import Manifest, ReaderFinding, TableEntry
from discreet.requirements.base import Domains, Requirement, Verdict
from discreet.requirements.judge import full_check
from discreet.statements import Statement
from discreet.table.coded_table import SourceRows, Tables
from discreet.table.counts import ClassCounts, summed
from discreet.table.published import GROUP, PublishedTable
from discreet.table.roles import Role
from discreet.typing import Ints
from discreet.utility.cell_sums import CellSums
from discreet.utility.figures import ImpliedReading, Measures, ProjectedMeasures


@dataclass(frozen=True)
class ReleaseTally:
    """Counts over published tables from which all figures follow; those of parts add up."""

    classes: Mapping[str, int] = field(default_factory=dict)  # by table, or "" for the release
    squares: Mapping[str, int] = field(default_factory=dict)  # Σ |class|², likewise
    masked: Mapping[str, int] = field(default_factory=dict)  # by protected attribute: cells '*'
    counterfeits: int = 0
    closeness: float = 0.0  # of the worst class, of projections
    escapes: frozenset[str] = frozenset()  # columns with a backslash in some cell
    rows: Mapping[str, int] = field(default_factory=dict)  # by table, but those of every shard
    # by sensitive attribute: cells '*' and labels of rare values, by cell
    rare: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def __add__(self, other: ReleaseTally) -> ReleaseTally:
        return ReleaseTally(
            summed(self.classes, other.classes),
            summed(self.squares, other.squares),
            summed(self.masked, other.masked),
            self.counterfeits + other.counterfeits,
            max(self.closeness, other.closeness),
            self.escapes | other.escapes,
            summed(self.rows, other.rows),
            {
                name: summed(self.rare.get(name, {}), other.rare.get(name, {}))
                for name in dict.fromkeys([*self.rare, *other.rare])
            },
        )


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
    structure = (*form.structure, *form.at_will)
    for column, role in entry.columns.items():
        if role not in form.roles and not (role is Role.STRUCTURE and column in structure):
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
    # Every name has one role, is in some table, and has an entry.
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
    # Names in bits, secrets and the method are those of published columns.
    sensitive = {name for name, role in published.items() if role is Role.SENSITIVE}
    quasi = {name for name, role in published.items() if role is Role.QUASI_IDENTIFIER}
    problems += [
        f"'{bit}' of the sets of '{attribute}' is not a published sensitive column"
        for attribute, entry in manifest.bitmaps.items()
        for bit in (*entry.members, *(() if entry.rest is None else (entry.rest,)))
        if bit not in sensitive
    ]
    problems += [
        f"'secrets' names '{name}', which is not a sensitive column or is named twice"
        for name, times in Counter(n for secret in manifest.secrets or () for n in secret).items()
        if name not in sensitive or times > 1
    ]
    promised = [promise.parameters for promise in manifest.promises]
    problems += manifest.method.problems(StatedRelease(manifest.tables, quasi, promised))
    return sorted(problems)


@dataclass(frozen=True, eq=False)
class View:
    """Counts that a guarantee must hold for: one a release, or one a projection."""

    counts: ClassCounts
    domains: Domains


class Worlds:
    """What follows from all originals that published tables allow; nothing, for most kinds."""

    def problems(self) -> list[str]:
        """Return what no original explains; asked of whole tables without other problems."""
        return []

    def remarks(self) -> list[str]:
        """Return what the published tables leave open, in sentences; no reason to refuse them."""
        return []

    def readers(self) -> list[ReaderFinding]:
        """Return what attackers learn beyond the guarantees."""
        return []

    def evidence(self) -> Any:
        """Return what ``Kind.joined_problems`` needs of each shard beside its tally."""
        return None


class Kind(ABC):
    """One kind of release: its form, what adds up over its parts, and what attackers believe.

    The first table of the form has a row for each published row; with ``spreads_sensitive``, every
    table has. With ``numbers_groups``, its column of group numbers links it to the others.
    """

    name: ClassVar[str]
    outcome: ClassVar[type]  # what a method returns for a release of this kind
    publishes_counts: ClassVar[bool] = True  # how often a group has each value, not only which
    makes_alike: ClassVar[bool] = True  # whether the rows of a group have the same cells
    numbers_groups: ClassVar[bool] = False  # whether tables have a column of group numbers
    has_records: ClassVar[bool] = False  # whether one table has everything, a row a person
    spreads_sensitive: ClassVar[bool] = False  # over several tables about the same people
    has_sensitive_table: ClassVar[bool] = False  # whole sensitive rows, linked to no group
    finding_rows: ClassVar[int] = 0  # up to so many rows a release in parts tells what readers find
    derivable: ClassVar[tuple[type[Requirement], ...]] = (Requirement,)  # that the files can prove

    # Form: outcome → tables → groups and their counts.

    @abstractmethod
    def tables(self, task: Task, outcome: Any) -> dict[str, PublishedTable]:
        """The tables to publish, rows in the source's order (they are shuffled in writing)."""

    @abstractmethod
    def forms(self, tables: int) -> Mapping[str, Form]:
        """The tables of a release that has so many, and the columns that each may hold."""

    @abstractmethod
    def views(self, tables: Tables, domains: Domains, *, refined: bool) -> list[View]:
        """The counts that decide the guarantees, from published tables alone."""

    def order_problems(self, tables: Tables) -> list[str]:
        """Return what the order of rows discloses, by all rows or by the first thousands."""
        return []

    @abstractmethod
    def changes(
        self,
        tables: Tables,
        task: Task,
        manifest: Manifest,
        source_rows: SourceRows | None = None,
        *,
        part: bool = False,
    ) -> list[str]:
        """Return what was lost or invented, against the original table.

        The publisher knows the source row behind each row; a kind may check these instead of
        searching for a way to match published and source rows. The tables may be those of a
        ``part`` of the source, which its own method run formed.
        """

    def sentences(self, manifest: Manifest) -> list[str]:
        """Return how rows and sensitive values are laid out over the tables."""
        return []

    def quasi_identifier_sentences(self, manifest: Manifest, quasi: Sequence[str]) -> list[str]:
        """Return how the quasi-identifiers were published."""
        return [Statement("quasi-identifiers", columns=quasi)]

    # Shard: what is judged and summed by parts of whole groups, and joined.

    @abstractmethod
    def shard_problems(self, tables: Tables, manifest: Manifest) -> list[str]:
        """Return what the classes or groups of a shard contradict in themselves."""

    def joined_problems(
        self, manifest: Manifest, tally: ReleaseTally, evidence: Sequence[Any]
    ) -> list[str]:
        """Return what all shards together contradict, in themselves or in the manifest."""
        problems = [
            f"the manifest says {manifest.published_rows} published rows; '{name}' has "
            f"{tally.rows.get(name, 0)}"
            for name in tables_of_rows(self, manifest)
            if tally.rows.get(name, 0) != manifest.published_rows
        ]
        if manifest.published_rows + manifest.suppressed_rows != manifest.source_rows:
            problems.append(
                f"published and suppressed rows ({manifest.published_rows} + "
                f"{manifest.suppressed_rows}) are not the {manifest.source_rows} source rows"
            )
        return problems

    @abstractmethod
    def sums(self, tables: Tables, task: Task, manifest: Manifest) -> dict[str, CellSums]:
        """Sum what is measured over the cells of a shard, by table, or under "" for the release."""

    @abstractmethod
    def measures(
        self, sums: Mapping[str, CellSums], task: Task, manifest: Manifest, facts: Mapping[str, Any]
    ) -> Measures | ProjectedMeasures:
        """Return the figures that follow from the sums over all shards."""

    # Beliefs: the distribution that a release implies, and what attackers make of it.

    @abstractmethod
    def reading(
        self, tables: Tables, task: Task, manifest: Manifest
    ) -> ImpliedReading[Measures] | ImpliedReading[ProjectedMeasures]:
        """Return the release as measures read it, beside the original."""

    def adversary_views(
        self, tables: Tables, task: Task, manifest: Manifest, rng: np.random.Generator
    ) -> list[AdversaryView]:
        """Return what an attacker sees of each table; nothing where groups have no counts."""
        return []

    def worlds(
        self, tables: Tables, manifest: Manifest, source_rows: SourceRows | None = None
    ) -> Worlds:
        """Return what follows from all originals that the tables allow.

        The publisher knows the original's row behind each row, which saves a search for it.
        """
        return Worlds()

    def weaknesses(self, manifest: Manifest) -> list[str]:
        """Return what this kind of release leaves open, each with the attack that measures it."""
        sensitive = [
            [name for name, role in table.columns.items() if role is Role.SENSITIVE]
            for table in manifest.tables.values()
        ]
        requirements = [promise.to_requirement() for promise in manifest.promises]
        joined = any(requirement.algebra.refined for requirement in requirements)
        weaknesses: list[str] = []
        if any(len(names) > 1 for names in sensitive) and not joined:
            weaknesses.append(Statement("weakness.background-join"))
        if any(sensitive):
            weaknesses.append(Statement("weakness.definetti"))
        return weaknesses


def tables_of_rows(kind: Kind, manifest: Manifest) -> list[str]:
    """Return the tables with a row for each published row."""
    if kind.spreads_sensitive:
        return list(manifest.tables)
    return list(kind.forms(len(manifest.tables)))[:1]


def class_columns(kind: Kind, manifest: Manifest, table: str) -> list[str] | None:
    """Return the columns by which rows of a table belong together; they share a shard.

    None for a table that has no such columns, of which every shard has all rows.
    """
    columns = manifest.tables[table].columns
    if kind.numbers_groups:
        return [GROUP] if GROUP in columns else None
    return [name for name, role in columns.items() if role is Role.QUASI_IDENTIFIER]


def class_sizes(kind: Kind, tables: Tables) -> dict[str, Ints]:
    """Return the rows of each class or group, by table, or under "" for the whole release."""
    if kind.spreads_sensitive:
        return {name: table.classes.size for name, table in tables.items()}
    rows = tables[next(iter(kind.forms(len(tables))))]
    return {"": rows[GROUP].counts if kind.numbers_groups else rows.classes.size}


def absent_tables(kind: Kind, tables: Tables, manifest: Manifest) -> list[str]:
    """Return what is wrong with a shard that lacks tables: every group is in every table.

    Tables that spread the sensitive attributes have classes of their own.
    """
    lacking = [name for name in manifest.tables if name not in tables]
    return ["a group is not in every table"] if lacking and not kind.spreads_sensitive else []


def number_problems(kind: Kind, tables: Tables) -> list[str]:
    """Where groups are not numbered from 1 to their number: other numbers could carry values."""
    if not kind.numbers_groups:
        return []
    name = next(iter(kind.forms(len(tables))))
    text = tables[name][GROUP].text
    number = text.cast(pl.Int64, strict=False)
    plain = number.null_count() == 0 and bool((number.cast(pl.String) == text).all())
    if plain and number.min() == 1 and number.max() == len(text):
        return []
    return [f"the groups of '{name}' are not numbered from 1 to {len(text)}"]


def verdict_on(kind: Kind, requirement: Requirement, views: Sequence[View]) -> Verdict | None:
    """Judge one guarantee: it must hold in every view that has its attributes.

    None where no view has them. A shard of tables that spread the sensitive attributes need not
    have every one, so each is judged by what the guarantee says of its attributes.
    """
    if not isinstance(requirement, kind.derivable):  # it needs counts, which are not published
        return Verdict(False, {})
    verdicts = []
    for view in views:
        wanted = set(requirement.attributes(view.counts)) - {""}
        if kind.spreads_sensitive:
            part = requirement.within(tuple(view.counts.values))
            if part is not None:
                verdicts.append(part.check(view.counts, view.domains))
        elif wanted <= {*view.counts.values, *view.counts.sets}:
            verdicts.append(full_check(requirement, view.counts, view.domains))
    if not verdicts:
        return None
    return Verdict.worst(verdicts, smaller_is_better=requirement.algebra.smaller_is_better)


def coarseness(
    quasi: Sequence[str], levels: Mapping[str, int], table: str | None = None
) -> Statement:
    """Return which quasi-identifiers were made coarser, and which were left exact."""
    coarser = [
        Statement("quasi-identifiers.level", column=name, level=levels[name])
        for name in quasi
        if levels.get(name)
    ]
    exact = [name for name in quasi if not levels.get(name)]
    parts = {"coarser": coarser} if coarser else {}
    parameters: dict[str, Any] = {**parts, **({"exact": exact} if exact or not coarser else {})}
    form = f"quasi-identifiers.{'-and-'.join(parameters)}"
    if table is not None:
        form, parameters["table"] = f"{form}.in-table", table
    return Statement(form, **parameters)
