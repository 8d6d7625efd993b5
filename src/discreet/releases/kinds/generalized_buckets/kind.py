"""Bucketized releases whose quasi-identifiers are as coarse as each group needs.

The tables are those of a bucketized release; all people of a group have the same cells in
``quasi_identifiers``. An attacker who knows every person's group learns no more from them than from
exact quasi-identifiers, so what is guaranteed against that attacker holds here too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.hierarchies.covering_classes import coverages_of, fitting_groups
from discreet.methods.base import Bucketized, GeneralizedBuckets, Task
from discreet.releases.adversary_view import AdversaryView
from discreet.releases.audit.matching import excess_problems, unmatched_rows
from discreet.releases.audit.tracing import untraced_rows
from discreet.releases.kinds.base import Kind
from discreet.releases.kinds.bucketized.kind import BucketizedKind, moved_rows
from discreet.releases.kinds.bucketized.tables import PEOPLE, SENSITIVE
from discreet.releases.kinds.generalized_buckets.adversary_view import view_of_cells
from discreet.releases.kinds.generalized_buckets.implied import read_cells, sum_cells_of_groups
from discreet.releases.manifest import Manifest
from discreet.table.classes import classes_of
from discreet.table.coded_table import CodedTable
from discreet.table.published import GROUP, PublishedTable
from discreet.utility.cell_sums import CellSums
from discreet.utility.figures import Measures
from discreet.utility.reading import ImpliedReading

ALONE = (
    "Presence: a person who is alone in a group, among counterfeits, has exact quasi-identifiers "
    "(membership)."
)


class GeneralizedBucketsKind(BucketizedKind):
    """Two tables that share the group; the people of a group look alike."""

    name: ClassVar[str] = "generalized-buckets"
    outcome: ClassVar[type] = GeneralizedBuckets
    makes_alike: ClassVar[bool] = True

    def tables(self, task: Task, outcome: Bucketized) -> dict[str, PublishedTable]:
        assert isinstance(outcome, GeneralizedBuckets)
        tables = super().tables(task, outcome)
        group = outcome.group_of_row[outcome.group_of_row >= 0]
        columns = []
        for column in tables[PEOPLE].columns:
            cells = outcome.cells.get(column.name)
            if cells is not None:
                labels = pl.Series(column.name, list(cells.labels), dtype=pl.String)
                codes = cells.cell_of_class.take(group)
                column = replace(column, codes=codes, dictionary=labels)
            columns.append(column)
        return {**tables, PEOPLE: replace(tables[PEOPLE], columns=columns)}

    def shard_problems(self, tables: Mapping[str, CodedTable], manifest: Manifest) -> list[str]:
        problems = super().shard_problems(tables, manifest)
        people = tables[PEOPLE]
        parts = classes_of([people[GROUP], *people.quasi_identifiers], people.rows).count
        mixed = parts - int((people[GROUP].counts > 0).sum())
        if mixed:
            problems.append(f"{mixed} groups of '{PEOPLE}' have rows with different cells")
        return problems

    def people_problems(self, people: CodedTable, task: Task, manifest: Manifest) -> list[str]:
        problems = []
        if task.table.rows != people.rows + manifest.suppressed_rows:
            problems.append(
                f"the original has {task.table.rows} rows, the release accounts for "
                f"{people.rows + manifest.suppressed_rows}"
            )
        return problems + excess_problems(unmatched_rows(people, task, {}), people.rows, PEOPLE)

    def sole_groups(self, people: CodedTable, task: Task) -> NDArray[np.int64]:
        groups = people[GROUP].cardinality
        first = np.zeros(groups, np.int64)
        first[people[GROUP].codes[::-1]] = np.arange(people.rows)[::-1]
        own = [task.table[column.name] for column in people.quasi_identifiers]
        kinds = classes_of(own, task.table.rows)
        fits = fitting_groups(
            coverages_of(people, own, task.hierarchies, {}),
            [column.codes[kinds.first_row] for column in own],
            [column.codes[first] for column in people.quasi_identifiers],
        )
        sole = np.full(kinds.count, -1, np.int64)
        if fits is not None:
            start, group = fits
            once = np.diff(start) == 1
            sole[once] = group[start[:-1][once]]
        return sole[kinds.class_of_row]

    def traced_changes(
        self,
        tables: Mapping[str, CodedTable],
        task: Task,
        manifest: Manifest,
        source_rows: Mapping[str, NDArray[np.int32]],
    ) -> list[str]:
        people, rows = tables[PEOPLE], source_rows.get(PEOPLE)
        if rows is None or task.table.rows != people.rows + manifest.suppressed_rows:
            return self.changes(tables, task, manifest)
        untraced = untraced_rows(people, task, {}, rows)
        if untraced:
            return excess_problems(untraced, people.rows, PEOPLE)
        group_of_row = np.full(task.table.rows, -1, np.int64)
        group_of_row[rows] = people[GROUP].codes
        return moved_rows(people, tables[SENSITIVE], task, group_of_row)

    def reading(
        self, tables: Mapping[str, CodedTable], task: Task, manifest: Manifest
    ) -> ImpliedReading[Measures]:
        return read_cells(task, tables, manifest.suppressed_rows)

    def sums(
        self, tables: Mapping[str, CodedTable], task: Task, manifest: Manifest
    ) -> dict[str, CellSums]:
        return {"": sum_cells_of_groups(task, tables)}

    def adversary_views(
        self,
        tables: Mapping[str, CodedTable],
        task: Task,
        manifest: Manifest,
        rng: np.random.Generator,
    ) -> list[AdversaryView]:
        return [view_of_cells(tables[PEOPLE], tables[SENSITIVE], task, rng)]

    def quasi_identifier_sentences(self, manifest: Manifest, quasi: Sequence[str]) -> list[str]:
        return ["Quasi-identifiers are as coarse as each group needs: " + ", ".join(quasi) + "."]

    def sentences(self, manifest: Manifest) -> list[str]:
        groups = getattr(manifest.method, "groups", None)
        if groups is None:
            return []
        return [
            f"The rows are in {groups:,} groups with random numbers; nothing else links them to "
            "sensitive values."
        ]

    def weaknesses(self, manifest: Manifest) -> list[str]:
        return [*Kind.weaknesses(self, manifest), ALONE]
