"""Bucketized releases whose quasi-identifiers are as coarse as each group needs.

The tables are those of a bucketized release; all people of a group have the same cells in
``quasi_identifiers``. An attacker who knows every person's group learns no more from them than from
exact quasi-identifiers, so what is guaranteed against that attacker holds here too.

The utility of groups with generalized quasi-identifiers: figures, and the implied distribution.

Each sensitive row of a group lies evenly over the values that the group's cells cover. Counterfeits
take their part of the group's mass, so that the mass of a group is its number of people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.hierarchies.coverage import coverage_of_cells, identity
from discreet.hierarchies.covering_classes import coverages_of, fitting_groups
from discreet.methods.base import Bucketized, GeneralizedBuckets, Task
from discreet.releases.kinds.base import Kind
from discreet.releases.kinds.bucketized import (
    PEOPLE,
    SENSITIVE,
    BucketizedKind,
    people_counted,
)
from discreet.releases.kinds.generalized import sum_cells
from discreet.releases.kinds.grouped import first_rows
from discreet.releases.kinds.implied_groups import group_numbers, source_codes
from discreet.releases.manifest import Manifest
from discreet.statements import Statement
from discreet.table.classes import classes_of
from discreet.table.coded_table import CodedTable
from discreet.table.published import GROUP, PublishedTable
from discreet.utility.cell_sums import CellSums
from discreet.utility.implied import ImpliedGeneralized

ALONE = Statement("weakness.membership.alone")


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

    def sole_groups(self, people: CodedTable, task: Task) -> NDArray[np.int64]:
        first = first_rows(people[GROUP].codes, people[GROUP].cardinality)
        source = [task.table[column.name] for column in people.quasi_identifiers]
        kinds = classes_of(source, task.table.rows)
        fits = fitting_groups(
            coverages_of(people, source, task.hierarchies, {}),
            [column.codes[kinds.first_row] for column in source],
            [column.codes[first] for column in people.quasi_identifiers],
        )
        sole = np.full(kinds.count, -1, np.int64)
        if fits is not None:
            start, group = fits
            once = np.diff(start) == 1
            sole[once] = group[start[:-1][once]]
        return sole[kinds.class_of_row]

    def sums_of_people(self, people: CodedTable, original: CodedTable, task: Task) -> CellSums:
        cells = sum_cells(people, original.quasi_identifiers, task.hierarchies, None)
        return replace(CellSums.of_sizes(people[GROUP].counts), loss=cells.loss, bits=cells.bits)

    def implied(
        self,
        original: CodedTable,
        tables: Mapping[str, CodedTable],
        task: Task,
        manifest: Manifest,
    ) -> ImpliedGeneralized:
        """p2: the sensitive rows of all groups, each beside the cells of its group."""
        people, sensitive = tables[PEOPLE], tables[SENSITIVE]
        group, groups = group_numbers(people, sensitive), people[GROUP].cardinality
        first = first_rows(people[GROUP].codes, groups)
        weight = people_counted(sensitive)
        held = np.bincount(group, weight, groups)
        mass = (people[GROUP].counts / np.maximum(held, 1))[group]
        if weight is not None:
            mass = mass * weight
        columns, coverages = [], {}
        for column in original.quasi_identifiers:
            cells = people[column.name]
            columns.append(replace(cells, codes=cells.codes[first][group]))
            hierarchy = task.hierarchies.get(column.name)
            coverages[column.name] = coverage_of_cells(cells, column, hierarchy, None)
        for column in original.sensitive:
            columns.append(replace(column, codes=source_codes(sensitive, column)))
            coverages[column.name] = identity(column)
        gone = manifest.suppressed_rows
        return ImpliedGeneralized(columns, coverages, sensitive.rows, gone, mass)

    def quasi_identifier_sentences(self, manifest: Manifest, quasi: Sequence[str]) -> list[str]:
        return [Statement("quasi-identifiers.by-group", columns=quasi)]

    def sentences(self, manifest: Manifest) -> list[str]:
        groups = getattr(manifest.method, "groups", None)
        if groups is None:
            return []
        return [Statement("groups.random-numbers", groups=groups)]

    def weaknesses(self, manifest: Manifest) -> list[str]:
        return [*Kind.weaknesses(self, manifest), ALONE]
