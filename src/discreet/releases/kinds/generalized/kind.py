"""The kind of generalized releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.knowledge.terms import terms_of
from discreet.methods.base import Generalized, Task
from discreet.releases.adversary_view import AdversaryView
from discreet.releases.audit.matching import excess_problems, unmatched_rows
from discreet.releases.audit.tracing import untraced_rows
from discreet.releases.kinds.base import Kind, View
from discreet.releases.kinds.generalized.adversary_view import view_of_classes
from discreet.releases.kinds.generalized.implied import read_generalized, sum_cells
from discreet.releases.kinds.generalized.tables import (
    RECORDS,
    mask_problems,
    numbered_persons,
    recoded_table,
)
from discreet.releases.manifest import Manifest
from discreet.releases.table_forms import Form
from discreet.releases.wording import coarseness
from discreet.requirements.base import Domains
from discreet.table.coded_table import CodedTable
from discreet.table.counts import count_classes
from discreet.table.published import PERSON, PublishedTable
from discreet.table.roles import Role
from discreet.utility.cell_sums import CellSums, measures_of
from discreet.utility.figures import Measures
from discreet.utility.reading import ImpliedReading

ATTRIBUTES = tuple(role for role in Role if role.published and role is not Role.STRUCTURE)


class GeneralizedKind(Kind):
    """One table, a row for each published person."""

    name: ClassVar[str] = "generalized"
    outcome: ClassVar[type] = Generalized
    has_records: ClassVar[bool] = True

    def tables(self, task: Task, outcome: Generalized) -> dict[str, PublishedTable]:
        records = recoded_table(RECORDS, list(task.table), outcome)
        if task.kept is None or not task.keeping.numbered:
            return {RECORDS: records}
        return {RECORDS: numbered_persons(records, task.kept, task.orders)}

    def forms(self, tables: int) -> Mapping[str, Form]:
        return {RECORDS: Form(ATTRIBUTES, at_will=(PERSON,))}

    def suppressed(self, outcome: Generalized) -> int:
        return int((outcome.class_of_row < 0).sum())

    def views(
        self, tables: Mapping[str, CodedTable], domains: Domains, *, refined: bool
    ) -> list[View]:
        records = tables[RECORDS]
        linked = [column for column in records.quasi_sensitive if column.name in domains]
        counts = count_classes(
            records.classes, records.sensitive, refined=refined, quasi_sensitive=linked
        )
        return [View(counts, domains)]

    def sizes(self, tables: Mapping[str, CodedTable]) -> dict[str, NDArray[np.int64]]:
        return {"": tables[RECORDS].classes.size}

    def shard_problems(self, tables: Mapping[str, CodedTable], manifest: Manifest) -> list[str]:
        return mask_problems(tables[RECORDS])

    def changes(
        self, tables: Mapping[str, CodedTable], task: Task, manifest: Manifest
    ) -> list[str]:
        excess = unmatched_rows(tables[RECORDS], task, manifest.method.levels_of(RECORDS) or {})
        return [
            *_said(tables[RECORDS], task, manifest, excess),
            *_added_terms(tables[RECORDS], task),
        ]

    def traced_changes(
        self,
        tables: Mapping[str, CodedTable],
        task: Task,
        manifest: Manifest,
        source_rows: Mapping[str, NDArray[np.int32]],
    ) -> list[str]:
        records = tables[RECORDS]
        excess = untraced_rows(
            records, task, manifest.method.levels_of(RECORDS) or {}, source_rows[RECORDS]
        )
        return _said(records, task, manifest, excess)

    def reading(
        self, tables: Mapping[str, CodedTable], task: Task, manifest: Manifest
    ) -> ImpliedReading[Measures]:
        return read_generalized(
            task.table,
            task.hierarchies,
            tables[RECORDS],
            manifest.suppressed_rows,
            levels=manifest.method.levels_of(RECORDS),
            links=task.links,
        )

    def sums(
        self, tables: Mapping[str, CodedTable], task: Task, manifest: Manifest
    ) -> dict[str, CellSums]:
        levels, sensitive = manifest.method.levels_of(RECORDS), task.table.sensitive
        columns = [*task.table.quasi_identifiers, *sensitive]
        return {"": sum_cells(tables[RECORDS], columns, task.hierarchies, levels)}

    def measures(
        self,
        sums: Mapping[str, CellSums],
        task: Task,
        manifest: Manifest,
        facts: Mapping[str, Any],
    ) -> Measures:
        levels = manifest.method.levels_of(RECORDS)
        return measures_of(sums[""], task.table, manifest.suppressed_rows, levels)

    def adversary_views(
        self,
        tables: Mapping[str, CodedTable],
        task: Task,
        manifest: Manifest,
        rng: np.random.Generator,
    ) -> list[AdversaryView]:
        levels = manifest.method.levels_of(RECORDS) or {}
        return [view_of_classes(RECORDS, tables[RECORDS], task, levels, rng)]

    def quasi_identifier_sentences(self, manifest: Manifest, quasi: Sequence[str]) -> list[str]:
        levels = manifest.method.levels_of(RECORDS)
        if levels:
            return [f"Quasi-identifiers {coarseness(quasi, levels)}."]
        sentences = [
            "Quasi-identifiers are as coarse as each group needs: " + ", ".join(quasi) + "."
        ]
        hierarchies = getattr(manifest.method, "hierarchies", None)
        if hierarchies:
            named = ", ".join(f"{name} ({place})" for name, place in hierarchies.items())
            sentences.append(f"Each cell is a label of the column's hierarchy: {named}.")
        return sentences


def _said(records: CodedTable, task: Task, manifest: Manifest, excess: int | None) -> list[str]:
    problems = []
    if task.table.rows - records.rows - manifest.suppressed_rows:
        problems.append(
            f"the original has {task.table.rows} rows, the release accounts for "
            f"{records.rows + manifest.suppressed_rows}"
        )
    return problems + excess_problems(excess, records.rows, RECORDS)


def _added_terms(records: CodedTable, task: Task) -> list[str]:
    """Terms that are published more often than the original has them."""
    problems = []
    for column in records.quasi_sensitive:
        published, source = terms_of(column), terms_of(task.table[column.name])
        occurring = source.counts(task.table[column.name].counts)
        held = dict(zip(source.names.to_list(), occurring, strict=True))
        seen = zip(published.names.to_list(), published.counts(column.counts), strict=True)
        added = sum(count > held.get(name, 0) for name, count in seen)
        if added:
            problems.append(
                f"{added} terms of '{column.name}' are published more often than they occur"
            )
    return problems
