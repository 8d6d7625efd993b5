"""The seam between a kind of release and everything that reads one.

A kind says how an outcome becomes published tables, and how the counts that prove it safe are
derived again from such tables alone. Audit, measures and attacks go through it, so a new kind of
release is one new file.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.methods.base import Task
from discreet.releases.adversary_view import AdversaryView
from discreet.releases.manifest import Manifest, ReaderFinding
from discreet.releases.release_tally import ReleaseTally
from discreet.releases.table_forms import Form
from discreet.requirements.base import Domains, Requirement, Verdict
from discreet.table.coded_table import CodedTable, Column
from discreet.table.counts import ClassCounts
from discreet.table.published import PublishedTable
from discreet.table.roles import Role
from discreet.utility.cell_sums import CellSums
from discreet.utility.figures import Measures, ProjectedMeasures
from discreet.utility.reading import ImpliedReading


@dataclass(frozen=True, eq=False)
class View:
    """Counts that a guarantee must hold for: one a release, or one a projection."""

    counts: ClassCounts
    domains: Domains


class Kind(ABC):
    """One kind of release."""

    name: ClassVar[str]
    outcome: ClassVar[type]  # what a method returns for a release of this kind
    publishes_counts: ClassVar[bool] = True  # how often a group has each value, not only which
    makes_alike: ClassVar[bool] = True  # whether the rows of a group have the same cells
    numbers_groups: ClassVar[bool] = False  # whether tables have a column of group numbers
    has_records: ClassVar[bool] = False  # whether one table has everything, a row a person
    spreads_sensitive: ClassVar[bool] = False  # over several tables about the same people
    has_sensitive_table: ClassVar[bool] = False  # whole sensitive rows, linked to no group
    finding_rows: ClassVar[int] = 0  # up to so many rows a release in parts tells what readers find

    @abstractmethod
    def tables(self, task: Task, outcome: Any) -> dict[str, PublishedTable]:
        """The tables to publish, rows in the source's order (they are shuffled in writing)."""

    @abstractmethod
    def forms(self, tables: int) -> Mapping[str, Form]:
        """The tables of a release that has so many, and the columns that each may hold."""

    @abstractmethod
    def suppressed(self, outcome: Any) -> int:
        """Return how many source rows are in no table."""

    @abstractmethod
    def views(
        self, tables: Mapping[str, CodedTable], domains: Domains, *, refined: bool
    ) -> list[View]:
        """The counts that decide the guarantees, from published tables alone."""

    @abstractmethod
    def sizes(self, tables: Mapping[str, CodedTable]) -> dict[str, NDArray[np.int64]]:
        """Return the rows of each class or group, by table, or under "" for the whole release."""

    def counterfeits(self, tables: Mapping[str, CodedTable]) -> int:
        """Return how many sensitive rows the release says belong to no person."""
        return 0

    def class_columns(self, manifest: Manifest, table: str) -> list[str] | None:
        """Return the columns by which rows of a table belong together; they share a shard.

        None for a table that has no such columns, of which every shard has all rows.
        """
        columns = manifest.tables[table].columns
        return [name for name, role in columns.items() if role is Role.QUASI_IDENTIFIER]

    def absent_tables(self, tables: Mapping[str, CodedTable], manifest: Manifest) -> list[str]:
        """Return what is wrong with a shard that lacks tables: every group is in every table."""
        lacking = [name for name in manifest.tables if name not in tables]
        return ["a group is not in every table"] if lacking else []

    @abstractmethod
    def shard_problems(self, tables: Mapping[str, CodedTable], manifest: Manifest) -> list[str]:
        """Return what the classes or groups of a shard contradict in themselves."""

    def evidence(self, tables: Mapping[str, CodedTable], manifest: Manifest) -> Any:
        """Return what ``joined_problems`` needs of each shard beside its tally."""
        return None

    def joined_problems(
        self, manifest: Manifest, tally: ReleaseTally, evidence: Sequence[Any]
    ) -> list[str]:
        """Return what all shards together contradict, in themselves or in the manifest."""
        problems = [
            f"the manifest says {manifest.published_rows} published rows; '{name}' has "
            f"{tally.rows.get(name, 0)}"
            for name in self.tables_of_rows(manifest)
            if tally.rows.get(name, 0) != manifest.published_rows
        ]
        if manifest.published_rows + manifest.suppressed_rows != manifest.source_rows:
            problems.append(
                f"published and suppressed rows ({manifest.published_rows} + "
                f"{manifest.suppressed_rows}) are not the {manifest.source_rows} source rows"
            )
        return problems

    def person_classes(self, table: CodedTable) -> NDArray[np.int64]:
        """Return the class of each row of a table whose rows belong to persons."""
        return table.classes.class_of_row.astype(np.int64)

    def person_values(
        self, table: CodedTable, task: Task | None, rows: NDArray[np.int32] | None
    ) -> list[Column]:
        """Return the sensitive values of each row, from the table or by its source rows."""
        return table.sensitive

    def tables_of_rows(self, manifest: Manifest) -> list[str]:
        """Return the tables with a row for each published row."""
        return list(self.forms(len(manifest.tables)))[:1]

    def world_problems(
        self,
        tables: Mapping[str, CodedTable],
        manifest: Manifest,
        source_rows: Mapping[str, NDArray[np.int32]] | None = None,
    ) -> list[str]:
        """Return what no original explains; asked of whole tables without other problems.

        The publisher knows the original's row behind each row, which saves a search for it.
        """
        return []

    def structure_problems(self, tables: Mapping[str, CodedTable]) -> list[str]:
        """Where columns or orders that the release made are not in their one canonical form.

        Asked of whole tables only: numbers of groups are judged together.
        """
        return []

    def order_problems(self, tables: Mapping[str, CodedTable]) -> list[str]:
        """What the order of rows discloses. Some thousands of rows show it: all, or the first."""
        return []

    def remarks(self, tables: Mapping[str, CodedTable], manifest: Manifest) -> list[str]:
        """Return what the published tables leave open, in sentences; no reason to refuse them."""
        return []

    def readers(self, tables: Mapping[str, CodedTable], manifest: Manifest) -> list[ReaderFinding]:
        """Return what attackers learn beyond the guarantees."""
        return []

    @abstractmethod
    def changes(
        self, tables: Mapping[str, CodedTable], task: Task, manifest: Manifest
    ) -> list[str]:
        """Return what was lost or invented, against the original table."""

    def traced_changes(
        self,
        tables: Mapping[str, CodedTable],
        task: Task,
        manifest: Manifest,
        source_rows: Mapping[str, NDArray[np.int32]],
    ) -> list[str]:
        """The same for the publisher who made the release, and knows each row's source row.

        A kind may check these instead of searching for a way to match published and source rows.
        """
        return self.changes(tables, task, manifest)

    def traced_part(
        self,
        tables: Mapping[str, CodedTable],
        task: Task,
        manifest: Manifest,
        source_rows: Mapping[str, NDArray[np.int32]],
    ) -> list[str]:
        """The same for the tables of a part of the source, which its own method run formed."""
        return self.traced_changes(tables, task, manifest, source_rows)

    @abstractmethod
    def reading(
        self, tables: Mapping[str, CodedTable], task: Task, manifest: Manifest
    ) -> ImpliedReading[Measures] | ImpliedReading[ProjectedMeasures]:
        """Return the release as measures read it, beside the original."""

    def adversary_views(
        self,
        tables: Mapping[str, CodedTable],
        task: Task,
        manifest: Manifest,
        rng: np.random.Generator,
    ) -> list[AdversaryView]:
        """Return what an attacker sees of each table; nothing where groups have no counts."""
        return []

    @abstractmethod
    def sums(
        self, tables: Mapping[str, CodedTable], task: Task, manifest: Manifest
    ) -> dict[str, CellSums]:
        """Sum what is measured over the cells of a shard, by table, or under "" for the release."""

    @abstractmethod
    def measures(
        self,
        sums: Mapping[str, CellSums],
        task: Task,
        manifest: Manifest,
        facts: Mapping[str, Any],
    ) -> Measures | ProjectedMeasures:
        """Return the figures that follow from the sums over all shards."""

    def verdict(self, requirement: Requirement, views: Sequence[View]) -> Verdict | None:
        """Judge one guarantee: it must hold in every view that has its attributes.

        None where no view has them.
        """
        verdicts = []
        for view in views:
            wanted = set(requirement.attributes(view.counts)) - {""}
            if wanted <= {*view.counts.values, *view.counts.sets}:
                verdicts.append(requirement.full_check(view.counts, view.domains))
        if not verdicts:
            return None
        return Verdict.worst(verdicts, smaller_is_better=requirement.smaller_is_better)

    def quasi_identifier_sentences(self, manifest: Manifest, quasi: Sequence[str]) -> list[str]:
        """Return how the quasi-identifiers were published."""
        return ["Quasi-identifiers: " + ", ".join(quasi) + "."]

    def sentences(self, manifest: Manifest) -> list[str]:
        """Return how rows and sensitive values are laid out over the tables."""
        return []

    def weaknesses(self, manifest: Manifest) -> list[str]:
        """Return what this kind of release leaves open, each with the attack that measures it."""
        sensitive = [
            [name for name, role in table.columns.items() if role is Role.SENSITIVE]
            for table in manifest.tables.values()
        ]
        requirements = [promise.to_requirement() for promise in manifest.promises]
        joined = any(requirement.needs_refined_counts for requirement in requirements)
        found = []
        if any(len(names) > 1 for names in sensitive) and not joined:
            found.append(
                "Several sensitive attributes: an attacker who knows one sensitive value of a "
                "target may learn the others (background-join)."
            )
        if any(sensitive):
            found.append(
                "Learning: all groups together may show which quasi-identifiers predict a value "
                "(definetti)."
            )
        return found
